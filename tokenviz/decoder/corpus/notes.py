"""Text in the first and second person: notes, letters, and sentences that speak to the reader."""

NOTES = """
{Hello, my|Hello! My|My|Hi, my} name is $hero. I am $age years old. I live in $home with my $family. {My
favourite food is $food because it is so good.|My favourite colour is $colour.} My best friend is $friend.
$friend {is very $kind|likes $hobby}. I like $friend because $fhe is my best friend.

My name is $hero. I am a {$kind|$size} $boy from $country. I like $hobby and $hobby2. My favourite subject is
$subject. My favourite animal is the $animal. When I grow up, I want to be a $job because I want to help
people.

I {like|love|want} $hobby. I do it every $day. My $family likes it too. {Sometimes|Often} we do it together.
Then we eat $food. It is a lot of fun.

My favourite {food is $food|colour is $colour|animal is the $animal|day is $day|season is $season|subject is
$subject|drink is $drink}. {I like it because it makes me happy.|I do not know why, but I love it.} What is
your favourite {food|colour|animal|day|subject}?

I have a $pet {called|named} $robotname. $robotname is small and $colour. Every day I play with $robotname.
$robotname likes to eat and to sleep. I love $robotname because it is my friend.

My best friend is called $friend. $friend is a $fboy. $Fhe is $age years old. $friend likes $hobby. Yesterday
$friend and I went to $visit. We had a lot of fun because $friend is very funny.

My {mother|sister|grandmother} is a $job. She works in {the city|the town|a school|a hospital}. She
{loves|likes} her work because she can help people. {In the evening she reads a book.|She also likes
$hobby.|Her favourite food is $food.}

My {father|brother|grandfather} is a $job. He works in {the city|the town|a school|a hospital}. He
{loves|likes} his work because he can help people. {In the evening he reads a book.|He also likes $hobby.|His
favourite food is $food.}

Today is $day. I am $feeling because {it is $weather|I have no school|I have a lot of homework|my friend is
here}. In the morning I {went to school|ate $food|played a game}. In the afternoon I want $hobby with my
friend $friend. $friend is always {late|happy|kind}.

Yesterday I went to $visit with my $family. It was $weather. We saw {a $animal|a lot of people|many
$animals|an old friend}. Then we ate $food. I was {happy|tired} because it was a {long|good|beautiful} day.

Tomorrow I will go to $visit with $friend. I hope that it will be $weather. We will take {some $food|a $colour
bag|a camera|a ball}. I think that it will be a {good|great} day.

I go to school every day. My school is {big|small|new|old}. My teacher is very $kind. I like $subject, but I
do not like $subject2 because it is hard. After school I play with my friends. In the evening I do my
homework.

I am {$feeling|a $boy|a student|your friend|a $job}. {I am here because I want to learn.|I want to be
{$good|happy|strong}.|I do not know what to do.} {Can you help me?|Do you want to play with me?|What about
you?|}

I {think|know|believe} that {$animals are very clever|$food is the best food in the world|friends are
important|the world is beautiful|love is important|people are kind|computers can help us|school is important}.
{What do you think?|My friend does not think so.|It makes me happy.|Do you think so too?}

I want to {go to $visit|eat $food|learn to $skill|be a $job|play a game|go home|sleep|buy a new $machine}. {It
is {late|$weather} today.|I am {tired|hungry|happy|excited}.|I need your help.|Do you want to come with me?}

If I had a lot of money, I would {buy a $colour $toy|buy a house by the sea|give it to my family|visit
$country}. {But I do not have a lot of money.|That would make me happy.|What would you do?}

I can $skill, but I can not {fly|swim|cook|drive a car|sing}. My friend $friend can {fly a kite|cook|sing|run
very fast}. $Fhe is very $good. One day I will learn it too.

We {live in $home|have a $colour house|are a happy family|are best friends|love music}. In the $season it is
$weather here. Every $day we {go to $visit|eat $food|play games|watch a film}. We like our life because we are
together.

She is {my {sister|mother|friend|teacher}|a $job|a {$kind|$size} girl}. She likes $hobby. Every day she {reads
a book|goes to school|drinks $drink|plays with her $pet}. She is happy because she has many friends.

He is {my {brother|father|friend|teacher}|a $job|a {$kind|$size} boy}. He likes $hobby. Every day he {reads a
book|goes to school|drinks $drink|plays with his $pet}. He is happy because he has many friends.

They are {my friends|my family|children|students|good people}. They {like|want} $hobby. Every day they {go to
school|play football|walk to $place|work together}. They are happy because they help each other.
"""

LETTERS = """
Dear $friend, how are you? I am fine. I am at $visit with my $family. It is $weather here. Every day we eat
$food. I hope that you are well. Please write to me soon. {Love|Your friend}, $hero.

Dear $friend, thank you for the $colour $thing. I love the $colour $thing because {it is so beautiful|$colour
is my favourite colour|I wanted a new $thing}. Can you come to my birthday on $day? We will eat $food and play
games. Your friend, $hero.

Dear {mother|father|grandmother|grandfather}, I am in $country now. The food is good and the people are kind.
Today I saw a $animal. I miss you. Love, $hero.

Dear teacher, I am sorry, but I can not come to school today because I am sick. I will do my homework at home.
Thank you. $hero.

{Happy birthday|Good luck}, dear $friend! You are $age years old today. I hope that you will be
{happy|healthy|strong} all year. You are my best friend. Love, $hero.
"""

YOU = """
You are {my {best friend|friend|$family}|a {$good $boy|robot|good friend|$job|very $kind person}|so
{$kind|$good}|very {$good|tired|late}|right|not alone|the best}. {You always help me.|I like you because you
are {kind|funny|clever}.|You can do it.|I am happy that you are here.|Thank you for everything.}

You are a robot. You can {talk|walk|sing|read|help people}, but you can not {eat|sleep|swim|feel}. {You are
made of metal.|A $job made you.|You are very clever.} {People like you because you help them.|Every day you
work in a {school|hospital|kitchen}.}

You can {$skill|go home|play with me|have my $thing|ask me a question}. {It is easy.|It is not hard.|I will
help you.|Everybody can do it.} {Let us begin.|Just try again.|}

If you are {hungry, you can eat {some $food|an $fruit}|thirsty, you can drink $drink|tired, you can go to
bed|cold, you can take a coat|sad, you can call a friend|afraid, you can turn on the light}. {That will help
you.|It is good for you.|Do not forget it.}

When it is {$weather|dark|late|$season}, {I like $hobby|we stay at home|the $animals sleep|the children play
in $place|you should take a coat}. {It is good to be together.|It is very {quiet|beautiful}.|}

How {are you? I am {fine|happy|very well}, thank you.|old are you? I am $age years old.|do you make $dish? You
need flour, water and time.|do you feel? I feel {good|tired|happy}.|do I get to $visit? Take the bus and then
walk.|does a computer work? A computer reads numbers and makes new numbers.}

Let us {go to $visit|play a game|eat some $food|read a book|go home|sing a song}. {That is a good idea.|Yes,
let us go.|I am ready.} {It will be fun.|We have a lot of time.}

There is a $colour $thing on the table. {The $colour $thing is {new|old|big|small}.|Whose $colour $thing is
it?} {It is the $colour $thing of $hero.|I got the $colour $thing from $friend.}

There are $number {$animals|children|people|books|students} in $visit. {They are {happy|quiet|tired|hungry}.|I
can see them.} {Do you see them too?|It is $weather today.|}

It is {$weather|$day|$season|late|dark} today. {I want to {go to $visit|stay at home|go out}.|We can {go to
$visit|play in $place|stay at home}.} {The children are {happy|tired|at school}.|The sky is {blue|grey}.|}

In {the $time|$season|the evening} {I like $hobby|we go to $visit|$hero plays in $place|the $animals sleep|the
city is quiet|my $family makes $food}. {It makes us happy.|It is {$weather|cold|warm} then.|It is my favourite
time.}

The {man|woman|child|teacher|doctor|king|queen|president|boy|girl} {is {very|so} {$good|tired|old|young}|wants
{$hobby|to go home|to help|some $food}|lives in $home|has a $colour $thing|said, "I am
{$feeling|here|sorry|ready}."}. {Everybody likes to listen.|People ask many questions.|It is a good day.|The
people are happy.}
"""
