"""The words of the training text: names, word lists and the small tables of facts that the model learns.

Every list is a slot of the grammar: ``$animal`` takes one word of ``WORDS["animal"]`` and keeps it for the document.
"""

from collections.abc import Mapping
from types import MappingProxyType


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


GIRLS = _words(
    "Anna, Lucy, Mia, Sara, Nora, Ella, Rosa, Lily, Zoe, Maya, Ivy, Nina, Emma, "
    " Hana, Grace, Priya, Alice, Kate, Amy, Leila"
)
BOYS = _words(
    "Ben, Tom, Max, Leo, Sam, Finn, Omar, Jack, Luke, Noah, Adam, "
    " Hugo, Oscar, Amir, Kofi, Ravi, Daniel, Peter, Paul, Tim"
)

# Made-up names are built from syllables, so that no table can hold them all and the model has to copy them.
SYLLABLE_STARTS = _words("b, d, f, g, k, l, m, n, p, r, s, t, v, z, bl, dr, gr, pl, tr, sn, qu, w, y")
SYLLABLE_ENDS = _words("a, i, o, u, e, am, im, om, ib, ob, ub, ip, op, ot, ut, ix, ax, en, un, or")

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "colour": _words("red, blue, green, yellow, black, white, brown, orange, pink, purple"),
        "animal": _words(
            "dog, cat, bird, horse, cow, duck, frog, mouse, rabbit, bear, fox, lion, pig, elephant, tiger, monkey, owl"
        ),
        "animals": _words("dogs, cats, birds, horses, cows, ducks, frogs, rabbits, bears, lions, elephants, monkeys"),
        "pet": _words("dog, cat, rabbit, bird, horse, mouse"),
        "toy": _words("ball, kite, drum, boat, car, train, robot, bike"),
        "thing": _words("hat, bag, book, cup, box, key, pen, phone, coat, clock"),
        "food": _words(
            "pizza, pizza, bread, cake, soup, rice, cheese, chocolate, apples, bananas, ice cream, pasta, fish, eggs"
        ),
        "dish": _words("pizza, pizza, cake, bread, soup, pasta"),
        "fruit": _words("apple, banana, orange, pear"),
        "drink": _words("water, milk, tea, juice, coffee"),
        "place": _words(
            "the park, the garden, the river, the forest, the market, the farm, "
            "the village, the old house, the town, the lake"
        ),
        "visit": _words(
            "the park, the zoo, the library, the museum, the market, the town, the city, the farm, the shop"
        ),
        "room": _words("the kitchen, the bedroom, the garden, the classroom, the library"),
        "home": _words(
            "a small house by the sea, a big house near the park, a house in the town, a white house on a hill, "
            "a city near the river, a village near the forest, a house near the school"
        ),
        "family": _words("mother, father, sister, brother, grandmother, grandfather"),
        "job": _words("teacher, doctor, farmer, baker, driver, writer, singer, nurse, cook, scientist"),
        "subject": _words("science, music, art, history, maths, English, sport"),
        "hobby": _words(
            "to read, to sing, to draw, to play football, to play games, to dance, to cook, to swim, to write stories, "
            "to ride a bike, to play the piano, to watch films, to listen to music"
        ),
        "skill": _words("swim, ride a bike, read, draw, dance, sing, cook, play the piano, play football, write"),
        "good": _words("happy, kind, clever, brave, funny, nice, strong"),
        "size": _words("little, little, small, big, young"),
        "royal": _words("king, queen"),
        "spot": _words("on the table, under the tree, in the garden, near the door, on the chair, next to the window"),
        "feeling": _words("happy, sad, tired, hungry, angry, afraid, excited"),
        "kind": _words("kind, clever, brave, happy, quiet, funny"),
        "weather": _words("sunny, cold, warm, rainy, windy, cloudy, hot"),
        "day": _words("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday"),
        "season": _words("spring, summer, autumn, winter"),
        "time": _words("morning, afternoon, evening"),
        "number": _words("two, three, four, five, six, seven, eight, nine, ten"),
        "age": _words("six, seven, eight, nine, ten, eleven, twelve"),
        "machine": _words("computer, computer, phone, robot, camera, car, television"),
        "country": _words("France, Italy, Spain, Germany, Japan, China, India, Egypt, Canada, England, Greece, Norway"),
    }
)

CAPITALS: Mapping[str, str] = MappingProxyType(
    {
        "France": "Paris",
        "Italy": "Rome",
        "Spain": "Madrid",
        "Germany": "Berlin",
        "Japan": "Tokyo",
        "China": "Beijing",
        "India": "Delhi",
        "Egypt": "Cairo",
        "Canada": "Ottawa",
        "England": "London",
        "Greece": "Athens",
        "Norway": "Oslo",
    }
)

# thing, verb, colour
COLOUR_FACTS = (
    ("the sky", "is", "blue"),
    ("the sea", "is", "blue"),
    ("grass", "is", "green"),
    ("snow", "is", "white"),
    ("milk", "is", "white"),
    ("the sun", "is", "yellow"),
    ("a banana", "is", "yellow"),
    ("a frog", "is", "green"),
    ("chocolate", "is", "brown"),
    ("the night", "is", "black"),
    ("fire", "is", "red"),
    ("blood", "is", "red"),
    ("a pig", "is", "pink"),
    ("a leaf", "is", "green"),
)

OPPOSITES = (
    ("hot", "cold"),
    ("big", "small"),
    ("day", "night"),
    ("happy", "sad"),
    ("old", "young"),
    ("fast", "slow"),
    ("good", "bad"),
    ("black", "white"),
    ("open", "closed"),
    ("up", "down"),
    ("yes", "no"),
    ("left", "right"),
    ("long", "short"),
    ("love", "hate"),
    ("war", "peace"),
    ("easy", "hard"),
)

# animal, its young, its sound (third person), what it eats, its legs
ANIMAL_FACTS = (
    ("dog", "puppy", "barks", "meat", "four"),
    ("cat", "kitten", "says meow", "fish", "four"),
    ("cow", "calf", "says moo", "grass", "four"),
    ("duck", "duckling", "says quack", "seeds", "two"),
    ("lion", "cub", "roars", "meat", "four"),
    ("bird", "chick", "sings", "seeds", "two"),
    ("horse", "foal", "runs fast", "grass", "four"),
    ("sheep", "lamb", "says baa", "grass", "four"),
    ("spider", "", "makes a web", "flies", "eight"),
    ("bee", "", "makes honey", "flowers", "six"),
)

KINDS = (
    ("apple", "fruit"),
    ("banana", "fruit"),
    ("orange", "fruit"),
    ("dog", "animal"),
    ("cat", "animal"),
    ("tiger", "animal"),
    ("rose", "flower"),
    ("car", "machine"),
    ("computer", "machine"),
    ("robot", "machine"),
    ("phone", "machine"),
    ("piano", "musical instrument"),
    ("drum", "musical instrument"),
    ("football", "ball"),
)

# who, what they do, where
JOB_FACTS = (
    ("teacher", "teaches children", "a school"),
    ("doctor", "helps sick people", "a hospital"),
    ("nurse", "helps sick people", "a hospital"),
    ("farmer", "grows food", "a farm"),
    ("baker", "makes bread", "a shop"),
    ("cook", "makes food", "a kitchen"),
    ("driver", "drives a bus", "the city"),
    ("scientist", "asks questions", "a laboratory"),
)

REASONS = (
    ("do we sleep", "we sleep", "we are tired"),
    ("do we eat", "we eat", "we are hungry"),
    ("do we drink water", "we drink water", "we are thirsty"),
    ("do birds sing", "birds sing", "they want to find a friend"),
    ("do we go to school", "we go to school", "we want to learn"),
    ("is the night dark", "the night is dark", "the sun is down"),
    ("is snow white", "snow is white", "it is full of light"),
    ("is the sky blue", "the sky is blue", "blue light moves around in the air"),
    ("do plants need the sun", "plants need the sun", "the sun gives them light"),
    ("do people read books", "people read books", "they want to know more"),
    ("do we need friends", "we need friends", "friends make us happy"),
    ("is the sea salty", "the sea is salty", "there is salt in the water"),
)

DAYS = WORDS["day"]
MONTHS = _words("January, February, March, April, May, June, July, August, September, October, November, December")
NUMBERS = _words("one, two, three, four, five, six, seven, eight, nine, ten")
