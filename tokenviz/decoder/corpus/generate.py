"""Documents from a seed: which kind of text comes next, and how a story is put together."""

import random
import re
from collections.abc import Iterator
from functools import cache

from tokenviz.decoder.corpus import notes, scenes, stories, talks
from tokenviz.decoder.corpus.facts import FACTS
from tokenviz.decoder.corpus.grammar import Cast, expand, pick

MAX_FACTS = 4
# Of 100 documents, this many are of each kind.
MIX = {
    "story": 34,
    "creature": 9,
    "fact": 12,
    "note": 14,
    "scene": 9,
    "letter": 2,
    "talk": 7,
    "you": 6,
    "machine": 4,
    "model": 3,
}
_KINDS = tuple(kind for kind, share in MIX.items() for _ in range(share))
_COLOURED = re.compile(r"\$colour (\$toy|\$thing|[a-z]+)")
_QUESTION_SHARE = 0.3


@cache
def paragraphs(text: str) -> tuple[str, ...]:
    """The templates of a text in which they are parted by blank lines."""
    return tuple(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _story(rng: random.Random) -> str:
    plot = pick(rng, paragraphs(stories.PLOTS))
    template = f"{pick(rng, paragraphs(stories.OPENINGS))} {plot}"
    if rng.random() >= _QUESTION_SHARE:
        return template
    objects = set(_COLOURED.findall(plot))
    if len(objects) == 1 and plot.count("$colour") > 1:
        return f"{template} {stories.COLOUR_QUESTION.replace('$object', objects.pop())}"
    return f"{template} {pick(rng, paragraphs(stories.QUESTIONS))}"


def _facts(rng: random.Random) -> str:
    return " ".join(pick(rng, FACTS)(rng) for _ in range(1 + int(rng.random() * MAX_FACTS)))


def _template(kind: str, rng: random.Random) -> str:
    match kind:
        case "story":
            return _story(rng)
        case "fact":
            return _facts(rng)
    texts = {
        "creature": stories.CREATURE_STORIES,
        "note": notes.NOTES,
        "scene": scenes.SCENES,
        "letter": notes.LETTERS,
        "talk": talks.TALKS,
        "you": notes.YOU,
        "machine": talks.MACHINES,
        "model": talks.MODELS,
    }
    return pick(rng, paragraphs(texts[kind]))


def document(rng: random.Random) -> str:
    """One document: a story, some facts, a note, a letter, a talk; a few sentences without a line break."""
    return expand(_template(pick(rng, _KINDS), rng), Cast(rng), rng)


def documents(count: int, seed: int) -> Iterator[str]:
    """``count`` documents; the same seed gives the same documents, and a longer run begins with the shorter one's.

    >>> list(documents(2, seed=1)) == list(documents(3, seed=1))[:2]
    True
    """
    rng = random.Random(seed)
    for _ in range(count):
        yield document(rng)
