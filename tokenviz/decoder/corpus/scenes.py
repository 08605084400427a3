"""A few sentences about one moment: somebody does something somewhere, and what comes of it."""

SCENES = """
The {$size $pet|$pet} {sat|slept|was} $spot. {It was {tired|hungry|happy|$colour}.|It {looked at|saw|waited
for} {a $animal|the $colour $thing|$hero}.} {$hero gave it some food.|Then it {ran away|went to sleep|began to
play}.} {It was a {$weather|quiet|beautiful} $time.|Nobody was at home.|}

The $animal {ran|walked|went|came} to $place. There it {met|saw|found} a {$size $animal2|$animal2|$colour
$thing|$size $boy}. {The $animal was {hungry|happy|afraid|tired}.|It was a {$weather|quiet} $time.} {The
$animal went home.|Then the $animal {slept|ate|laughed|ran away}.}

The {man|king|boy|old man} {opened the door|looked out of the window|took the $colour $thing|went to
$place|sat $spot|bought a $colour $thing}. {He was {tired|happy|angry|late}.|He did not say a word.|He wanted
$hobby.} {Then he {went home|saw a $animal|began to {sing|laugh|read}}.|It was {$weather|dark}.}

The {woman|queen|girl|old woman} {opened the door|looked out of the window|took the $colour $thing|went to
$place|sat $spot|bought a $colour $thing}. {She was {tired|happy|angry|late}.|She did not say a word.|She
wanted $hobby.} {Then she {went home|saw a $animal|began to {sing|laugh|read}}.|It was {$weather|dark}.}

$hero {opened the door|looked out of the window|went to $place|sat $spot|came home|bought a $colour $thing}.
$He was {tired|happy|angry|late|sad} because $he {had no $food|had lost $his $thing|had worked all day|wanted
to see $friend|was alone}. Then $hero {went to see $friend|called $friend|ate some $food|began to
{sing|laugh|read}}.

$hero and $friend {went to $visit|played in $place|ate $food|sat $spot|worked all day}. {It was
{$weather|late}.|They were {happy|tired|hungry}.} "{What do you see|Are you {happy|tired|hungry}|What do you
want to do}?" asked $friend. {"I am happy," said $hero.|"I do not know," said $hero.|"I want to go home," said
$hero.}

{People|Children|Students|Many people|Some people|All people} {like {$food|music|games|$animals}|want
{$hobby|to be happy|to learn|to help}|need {friends|food and water|love|sleep}|live in {a city|the town|a
village}|go to {school|work}}. {It {is good for them|makes them happy}.|They are {happy|tired|kind}.|You are
one of them.|}

{Every|Each} {day|morning|evening|$day} {$hero|the $job|my $family|the $animal|the old man} {goes to
$place|eats $food|drinks $drink|works hard|listens to music|reads a book}. {It is a good life.|Then it is time
to {sleep|eat|go home}.|Nobody knows why.|}

{Life|The world|Love|Music|School|Science|A book|A good friend|Time} is
{beautiful|important|good|interesting|a gift}. {It makes people happy.|It can be {hard|easy} too.|You can
learn a lot from it.} {I love it.|What do you think?|}

{It was a {dark|cold|long|quiet} night|It was {late|$weather|winter|summer|a beautiful day}}{ and|.} {the
$animal {was hungry|slept|sat $spot}|$hero {was tired|could not sleep|was alone|walked to $place}|nobody was
{there|at home|in the street}}. {Then {the light went out|there was a sound|it began to rain|$friend
came}.|The moon was big and {white|yellow}.}

{Suddenly|Then|One day|At night|After that}{ it was dark| it began to rain| there was a sound| the $animal ran
away| the door opened| $hero saw a $animal| everything was quiet}. {$hero was {afraid|happy|not
afraid}.|Nobody knew why.} {"What is that?" asked $friend.|"Who is there?" asked $hero.|Everybody ran home.}

{The {door|box|window|shop|school|library} was {open|closed|old|$colour}|The
{city|town|house|garden|sea|forest} is {big|beautiful|quiet|far away}|The {food|$food|cake|soup} is
{good|hot|cold|ready|very good}}. {$hero was happy.|I like it very much.|$hero went in.|There was a $colour
$thing.|}

{My {mother|father|sister|brother|teacher|friend}|The {teacher|king|queen|doctor|robot|old
man|president}|$hero} said, "{Go to bed|Come home soon|You are {late|right|kind}|Please come here|Sit down|It
is time to {eat|go|sleep}|I am {tired|hungry|happy}|Do your homework|Help me, please}." {I {said yes|did not
know why|went to $place}.|Then we {went home|ate $food|laughed}.|Nobody answered.}

The {president|king|queen} of {the country|$country} {lives in a big house|is very {kind|clever|old}|wants
{peace|to help the people}|came to $visit}. {The people are {happy|tired}.|Many people want to see {the
house|the city}.|It was {$weather|a good day}.}
"""
