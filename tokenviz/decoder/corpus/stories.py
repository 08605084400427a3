"""Short stories: how one opens, what happens, and a question about it.

Templates are paragraphs parted by blank lines. Each says the hero's name four times or more, since that is what teaches
the model to copy a name, and names a thing's colour in several sentences.
"""

# The hero of CREATURE_STORIES is an 'it': an animal without a name, or one with a made-up name.
OPENINGS = """
{Once upon a time|Once upon a time|Long ago} there was a $size $boy {called|named} $hero. {$hero lived in
$home.||}

{Once there was|There was} a $size $boy {called|named} $hero. {$hero lived in $home.||}

$hero was a {$kind|$size} $boy. {$hero lived in $home with $his $family.|$hero lived in $home.|}

{This is a story about|I will tell you a story about} a $kind $boy {called|named} $hero.

In a {small|big|quiet} {town|village|city} there lived a $boy {called|named} $hero.

A $boy {called|named} $hero lived in $home.
"""

PLOTS = """
$hero had a $colour $toy. Every day $hero played with the $colour $toy in $place. One day $hero could not find
it. "Where is my $colour $toy?" asked $hero. $He looked everywhere. Then $hero saw $friend with the $colour
$toy. "I found it {under a tree|near the river|in the grass}," said $friend. $hero was very happy. "Thank you,
$friend!" said $hero.

One $time $hero was hungry because $he had not eaten. $He wanted to make $dish. $hero asked $his friend
$friend to help. $hero and $friend went to the shop to buy {eggs and milk|cheese|salt}. Then they cooked in
the kitchen. "This is the best $dish in the world!" said $friend. $hero smiled.

One day $hero went to $place. It was $weather. Then it began to rain. $hero saw a $size $pet under a tree. The
$pet was cold and wet. $hero took the $pet home and gave it {milk|water|food}. "You can live with me," said
$hero. Now $hero and the $pet are {good|best} friends.

One night $hero heard a sound. $hero was afraid because the room was dark. "Who is there?" asked $hero. Nobody
answered. $He turned on the light. It was only a $size $colour $pet! $hero laughed. "You are only a $pet,"
said $hero. $hero was not afraid any more.

It was the first day of school. $hero was afraid because $he did not know anybody. In the classroom $hero met
a $fboy called $friend. "Hello, my name is $friend," said the $fboy. "My name is $hero," said $hero. "Do you
want to play with me?" asked $friend. "Yes!" said $hero. From that day $hero and $friend were best friends.

$hero had a friend called $friend. $friend was very fast. "Let us have a race to $place," said $friend. $hero
ran and ran. $friend stopped because $fhe was tired. $hero did not stop. $hero won the race! "You are faster
than me," said $friend. $hero was happy and $friend was happy too.

One day $hero found a small seed in $place. "What will it be?" asked $hero. $hero put the seed in the ground
and gave it water every day. $He waited and waited. In the $season a {$colour flower|big tree|small plant}
came up. "Look, $friend!" said $hero. $hero and $friend were so happy.

One day $friend did not come to school. $hero was sad because $friend was $his best friend. "$friend is sick,"
said the teacher. After school $hero went to see $friend. $hero took some {soup|fruit|chocolate|cake} with
$him. $friend smiled. "Thank you, $hero," said $friend. "You are a good friend." The next day $friend felt
better.

$hero had a computer. One day the computer did not work. $hero did not know what to do. $He asked $friend for
help because $friend knew a lot about computers. $friend looked at the computer and turned it off. Then $fhe
turned it on again. The computer worked! "How did you do that?" asked $hero. "It was easy," said $friend.
$hero learned something new.

One $time $hero wanted to talk to $his {grandmother|grandfather}. $He took the phone and called. "Hello, it is
$hero," said $hero. "Hello, $hero! How are you?" the answer came. $hero told a long story about school and
about $his friend $friend. "Come and visit me soon, $hero." $hero was happy because $he loved $his family.

$hero and $friend liked to play games. One day they played a new game on the computer. $friend won the game.
$hero was angry because $he wanted to win. "It is only a game," said $friend. $hero thought about it. "You are
right, $friend," said $hero. "Let us play again." Then $hero and $friend played all $time and laughed a lot.

It was the birthday of $hero. $hero was $age years old. $friend came with a $colour box. "What is in the
$colour box?" asked $hero. $hero opened the $colour box. There was a $thing in it. "I love it!" said $hero.
"Thank you, $friend." Then $hero and $friend ate cake. It was the best day of the year.

$hero wanted to learn to $skill. It was very hard. "I can not do it," said $hero. "You can do it, $hero," said
$his $family. Every day $hero tried again. After $number days $hero could $skill. "Look at me!" said $hero.
$His $family was very proud of $him. $hero was proud too.

One day $hero went to the forest with $friend. They walked and walked. Then $hero did not know the way. "We
are lost," said $hero. $friend was afraid, but $hero was not afraid. $hero saw a light. It was a house. An old
{man|woman} lived there and showed $hero and $friend the way home. "You were very brave, $hero," said $friend.

$hero had $number {apples|bananas|eggs|pieces of cake}. $friend had no food and was hungry. "Do you want some
of my food?" asked $hero. "Yes, please," said $friend. $hero gave half of the food to $friend. "You are so
kind, $hero," said $friend. $hero was happy because it is good to share.

$hero liked to draw. One day $hero drew a $colour house. $hero drew a $animal next to the $colour house. "That
is a beautiful picture," said the teacher. $friend looked at the $colour house too. "Can you draw one for me?"
asked $friend. $hero drew another $colour house and gave it to $friend.

$hero loved music. Every day $hero played the {piano|drum} at home. One day $friend heard the music. "Who is
playing?" asked $friend. "It is me," said $hero. "It is beautiful," said $friend. Then $hero played and
$friend sang a song. All the people in the {town|street|house} came to listen to $hero and $friend.

It was winter. $hero looked out of the window. Everything was white. "It is snow!" cried $hero. $hero took
$his $colour coat and ran out. $friend was there too. $hero and $friend made a big man of snow. "He is cold,"
said $friend. $hero gave him the $colour coat. Then $hero and $friend laughed and went home to drink hot
{tea|milk|chocolate}.

One day $hero broke a cup. It was the $colour cup of $his {mother|father}. $hero was afraid. "What should I
do?" thought $hero. Then $he told the truth. "I broke the $colour cup," said $hero. "I am sorry." "Thank you
for telling the truth, $hero." After that $hero always told the truth.

$hero loved books. One day $hero went to the library. $He found an old $colour book. $hero opened the $colour
book and began to read. It was a story about a $animal and a king. $hero read the $colour book all day because
it was so good. "Can I read it too?" asked $friend. "Yes," said $hero, and gave $friend the $colour book.

$hero and $friend played football in the park. $hero had a $colour ball. $hero kicked the $colour ball very
far. It fell into the river! "Oh no, my ball!" cried $hero. A dog jumped into the water and took the $colour
ball. The dog gave it back to $hero. "What a clever dog!" said $friend. $hero and $friend played with the dog
until the evening.

One night $hero could not sleep. $hero looked out of the window and saw the moon. "How far is the moon?"
thought $hero. $He asked $his $family. "The moon is very far away." "One day I will go there," said $hero.
$hero read many books and learned a lot of science. When $hero was old, $he went to the moon.

One day $hero got a letter. $hero opened it. The letter was from $friend. "Dear $hero, I live in {another
town|another country} now," said the letter. "I miss you." $hero was sad because $friend was far away. $hero
took a pen and wrote a long letter to $friend. After $number days $friend came to visit. $hero was so happy.

$hero wanted to build a robot. $hero worked every day after school. $friend helped $him. After $number days
the robot was ready. It was big and $colour. "Hello, $hero," said the $colour robot. $hero and $friend could
not believe it. The $colour robot could walk, talk and make $dish. $hero, $friend and the robot had a lot of
fun.

$hero went to the city by {train|bus}. $hero sat next to a $fboy called $friend. "Where are you going?" asked
$friend. "I am going to $visit," said $hero. "I am going there too," said $friend. So $hero and $friend went
to $visit. They had a very good day. When $hero came home, $he was tired but happy.

$hero had a lot of homework. $hero was tired because it was late. "I do not understand it," said $hero.
$friend came to help. "What is the question?" asked $friend. $hero read the question and $friend explained it.
Now $hero understood. The next day the teacher said, "Very good, $hero!"

One day $hero asked the computer a question. "What is the best thing in the world?" asked $hero. The computer
read the words and guessed the next word. "A friend," wrote the computer. $hero thought about $his friend
$friend. "The computer is right," said $hero. $hero went to see $friend and they played until the evening.

$hero lost $his $colour $thing in $place. $hero was sad because the $colour $thing was new. $hero asked
$friend, but $friend had not seen it. Then a $animal came with the $colour $thing in its mouth! "That is my
$colour $thing!" cried $hero. $hero took the $colour $thing and thanked the $animal.

One day $hero saw a $royal in $place. "I have everything, but I have no friends," the $royal said. "I can be
your friend," said $hero. $hero came every day and they talked and played. The $royal gave $hero a {$colour
$thing|horse|house}. "I do not need it," said $hero. "I only want to be your friend."

$hero was a $job. Every {day|morning} $hero worked in {the city|the town|a big house|a small room}. $hero
loved the work because $he could help people. One day $friend came and asked for help. $hero helped $friend
all day. "You are a very good $job, $hero," said $friend. $hero was tired, but $he was happy.
"""

CREATURE_STORIES = """
{Once upon a time there was|There was|Once there was} a $size {robot|robot|monster} {called|named} $robotname.
$robotname lived in $home. One day $robotname was sad because it had no friends. $robotname went to $place and
met a $boy called $hero. "Hello, I am $robotname," it said. "I am $hero," said the $boy. "Do you want to
play?" $robotname was so happy. Now $robotname and $hero play every day.

{Once upon a time there was|There was|Once there was} a $size $animal {called|named} $robotname. One day
$robotname was hungry. $robotname looked for food in $place. There it met a $animal2. "Do you have some food?"
asked $robotname. "Yes, I have {an apple|some bread|a fish}," said the $animal2. The $animal2 gave half of it
to $robotname. "Thank you," said $robotname. From that day $robotname and the $animal2 were friends.

{There was|Once there was} a robot {called|named} $robotname. $robotname could {talk|sing|dance|cook|read},
but it could not {fly|swim|laugh|sleep}. Every day $robotname helped people in the
{town|city|school|hospital}. One day $robotname stopped. "What is wrong with $robotname?" asked $hero. $hero
gave $robotname a new {battery|computer|part}. Then $robotname opened its eyes. "Thank you, $hero," said
$robotname.

$hero had a $pet {called|named} $robotname. $robotname was small and $colour. $hero loved $robotname very
much. One day $robotname was not there. "Where are you, $robotname?" cried $hero. $hero looked in $room. There
was $robotname! It was asleep in a box. $hero laughed and took $robotname home.

A $animal lived in $place. The $animal was very $feeling because it had {no friends|lost its way|seen a
$animal2}. One day the $animal met a $animal2. "Why are you here?" asked the $animal2. "I want to find a
friend," said the $animal. "I can be your friend," said the $animal2. The $animal and the $animal2 walked to
the river. From that day they were always together.

The $animal and the $animal2 lived near the river. The $animal was big and the $animal2 was small. "I am
stronger than you," said the $animal. One day the $animal fell into a hole. "Help!" cried the $animal. The
$animal2 came with a long {rope|stick}. The $animal2 helped the $animal. "Thank you," said the $animal. "You
are small, but you are very clever."

The little $pet was {in the garden|in the house|under the table}. It saw a $colour {bird|fish|ball|box}. The
$pet wanted to play. It jumped and jumped. $hero saw the $pet and laughed. "Come here, little $pet," said
$hero. The $pet came and sat next to $hero. $hero gave the $pet some {milk|food|water}.

The {old|big|clever} robot $robotname worked in a {school|library|kitchen|hospital}. Every day the children
asked $robotname many questions. "$robotname, why is the sky blue?" asked $hero. $robotname thought about it.
"I do not know, but I can read a book about it," said $robotname. So $robotname and $hero read the book. Now
$robotname and $hero know why.
"""

QUESTIONS = """
Who is the story about? The story is about $hero. {What did you learn? It is good to have friends.|}

Who is the friend of $hero? $friend is the friend of $hero.

What is the name of the $boy? The name of the $boy is $hero. {Did you like the story? Yes, I liked it very
much.|}

{The end.|That is the end of the story.}
"""

COLOUR_QUESTION = "What colour was the $object? The $object was $colour."
