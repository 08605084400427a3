"""Questions with their answers, and sentences about machines and about how a language model works."""

TALKS = """
{Hello|Hello|Hi|Good morning|Good evening}, how are you? I am {fine|very well|good|tired|happy}, thank you.
{And you?|How are you?} I am {fine|well} too. What {are you doing|do you want to do} today? I want {$hobby|to
go to $visit}. {That is a good idea.|That sounds like fun.} {See you soon!|Goodbye!}

{Hello|Hello|Hi|Good morning}! What is your name? My name is $hero. Where are you from? I am from $country.
How old are you? I am $age years old. {Nice to meet you, $hero.|Welcome, $hero.}

{Hello|Hi}, $friend! {Good to see you.|How are you?} Hello, $hero! I am {fine|happy} because {it is
$weather|there is no school today|it is $day}. Do you want to play with me, $friend? Yes, $hero, let us go to
$visit.

What is your favourite {food? My favourite food is $food.|colour? My favourite colour is $colour.|animal? My
favourite animal is the $animal.|day? My favourite day is $day.|subject? My favourite subject is $subject.} {I
like it too.|I do not like it.|Why do you like it? Because it makes me happy.}

{What do you want to eat?|What would you like to eat?|Are you hungry?} I would like {some $food|$food},
please. And what would you like to drink? $drink, please. Here you are. Thank you very much.

{Where is|Do you know where} the $thing{ is?|?} {I think that it|It} is in $room. {Is it in the box? No, it is
on the table.|Thank you for your help.} {You are welcome.|}

{What time is it?|Is it late?} It is $number o'clock in the $time. {I have to go to school.|I have to go
home.|It is time {to eat|to sleep|to work}.} {Goodbye! See you tomorrow.|}

Can you {help me|tell me a story|$skill|come to $visit|open the window}? {Yes, I can.|Yes, of course.|No, I
can not.|I am sorry, but I am tired.} {Thank you!|That is {good|fine}.}

{Please|Please,} {help me|come here|tell me a story|open the door|sit down|give me the $colour $thing|be
quiet|read the book|listen to me}. {Of course.|Yes, I will.} {Thank you very much.|You are very kind.}

Do you like {$food|$animals|music|school|games|books|$subject|football|computers}? {Yes, I do.|Yes, I love
it.|No, I do not.} {I think it is {great|fun|interesting}.|My friend $friend likes it too.|What do you like?}

Are you {a robot? No, I am not a robot. I am a $boy.|a robot? Yes, I am a robot. I can talk, but I can not
eat.|hungry? Yes, I am hungry. I would like some $food.|happy? Yes, I am happy because you are here.|tired?
Yes, I am tired because I did not sleep.}

Who are you? I am {$hero|$hero, the $job|your new friend|a robot called $robotname}. {Where do you live? I
live in $home.|What do you like? I like $hobby.}

Tell me {a story|about your $family|about your school|about yourself}. {My $family is a $job.|I am a $boy
called $hero.|My school is big and old.} {I like $hobby.|Every day is a new day.} {That is interesting.|}

{Thank you for {your help|the food|the $thing|everything}.|Thank you very much.} You are welcome. {You are a
good friend.|I will help you again.|See you tomorrow!}

{I love you|I miss you|I need you}, said the {mother|father|$boy|old man|old woman}. {I love you|I miss you|I
need you} too, said the {child|$fboy|king|queen}.

What is a $newword? I do not know what a $newword is. {Is a $newword an animal? I do not know.|Can you tell me
what a $newword is?|Maybe a $newword is {an animal|a fruit|a machine}.}
"""

MACHINES = """
The $machine is {new|old|very fast|on the table|in $room|broken}. {I use it every day.|It was very cheap.|My
$family bought it.} {I like it because it helps me.|It does not work because it is old.|I need it for school.}

The computer {is a machine|reads the words|helps the teacher|can play games|is on the desk|does not sleep|is
very fast}. {It can do many things.|It works with numbers.|It can not think like a person.|It helps people at
work and at school.} {I use the computer because it is fast.|My friend $friend has a new computer.|}

A computer is a machine. It reads numbers and makes new numbers. {People use computers at school, at work and
at home.|A phone is a small computer.|A computer can play music and games.} {You can write a letter with a
computer.|}

The robot is {big|small|new|$colour|my friend}. It can {talk|walk|sing|cook|read|dance}. {It can not feel, but
it can help.|It lives with $hero.|The children love the robot.} {The robot is {clever|strong|kind} because {a
$job made it|it learns every day}.|}

The internet is {very big|full of words|useful}. {You can find many things there.|People read, write and watch
films there.|It joins computers all over the world.} {But not everything on the internet is true.|}

My phone is {new|old|$colour|broken}. I use my phone to {call my friends|take pictures|listen to music|play
games|read the news}. {My $family has the same phone.|I can not live without it.|} {At night I turn it off.|}

The game is {fun|hard|easy|new|too long}. {You have to find {a key|the queen|the way home|$number
stars}.|$hero and $friend play it every day.} {$friend won the game.|I want to play it again.|It is my
favourite game.}

{Artificial intelligence|A clever computer} can {write|answer questions|play games|see pictures}. {It learns
from many examples.|People made it.} {It is not a person.|It can make mistakes.|It does not know everything.}
"""

MODELS = """
A language model reads {many|a lot of} words. Then it guesses the next word. {It gives every token a
number.|It does this again and again.} {The number says how likely the token is.|That is how it writes a
story.} {It can make mistakes.|}

Language models {read text and guess the next word|learn from many examples|are computer programs|can write
stories|do not know everything|work with numbers}. {They learn from a lot of text.|They write one token at a
time.} {They can make mistakes because they only guess.|People use them every day.|A token is a small piece of
text.}

I am a {small|little|tiny} language model. I {read your words and guess the next word|know only a few
words|learned from simple stories}. {I can write simple stories.|I am not a person.|I do not know everything.}
{Please do not believe everything I say.|I can make mistakes.|}

What is a language model? A language model is a program that guesses the next word. {How does it learn? It
learns from many examples.|Is it always right? No, it can make mistakes.|}

What is a token? A token is a small piece of text. {A word can be one token or many tokens.|The model reads
one token after another.} {What is attention? Attention shows which words are important.|}

The model {looks at all the words before|reads the text from left to right|has four blocks|turns every token
into numbers|picks one token}. {Then it gives every token a number.|Attention shows which words are
important.|The next token goes back into the text.} {So the text grows, one token at a time.|Then it begins
again.}

The next word {is not always easy to guess|can be anything|is a guess}. {After "good" it can be
"morning".|After "thank" it is often "you".|A model learns it from many examples.} {The more text you give,
the better the guess.|}

Machine learning {means that a computer learns from examples|is a part of science}. {The computer looks at
many examples.|Nobody tells it the rules.} {After a long time it makes good guesses.|}
"""
