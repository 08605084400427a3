"""How a template becomes text: alternatives, slots, then spelling of 'a' and 'an' and capitals.

A template holds ``{this|that}`` alternatives (they may be nested) and ``$slots``. Slots are filled from a *cast*, which
chooses a word the first time a slot is asked for and keeps it, so a document never changes its hero's name or pronoun.
"""

import random
import re
from collections.abc import Sequence
from typing import TypeVar

from tokenviz.decoder.corpus.lexicon import BOYS, GIRLS, SYLLABLE_ENDS, SYLLABLE_STARTS, WORDS

Item = TypeVar("Item")

_CHOICE = re.compile(r"\{([^{}]*)\}")
_SLOT = re.compile(r"\$([A-Za-z]+[0-9]?)")
_ARTICLE = re.compile(r"\b([Aa])n? (?=([a-zA-Z]+))")
_SENTENCE_START = re.compile(r'((?:^|[.!?] |\." )"?|, ")([a-z])')
_MAX_ROUNDS = 200

_PRONOUNS = {
    "boy": {"he": "he", "him": "him", "his": "his", "boy": "boy", "man": "man", "son": "son"},
    "girl": {"he": "she", "him": "her", "his": "her", "boy": "girl", "man": "woman", "son": "daughter"},
}


def pick(rng: random.Random, items: Sequence[Item]) -> Item:
    """One of ``items``, each equally likely; uses only ``random()``, whose sequence is fixed across Python versions."""
    return items[int(rng.random() * len(items))]


def made_up_name(rng: random.Random) -> str:
    """A name that is in no list, of two or three syllables, for instance 'Bloti'."""
    syllables = [pick(rng, SYLLABLE_STARTS) + pick(rng, SYLLABLE_ENDS) for _ in range(pick(rng, (1, 2, 2)))]
    return "".join([*syllables, pick(rng, SYLLABLE_STARTS[:14]), pick(rng, SYLLABLE_ENDS[:5])]).capitalize()


class Cast(dict[str, str]):
    """The words of one document. A missing slot is chosen once and kept; ``$animal2`` differs from ``$animal``."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self._rng = rng
        self._add_person("", pick(rng, ("boy", "girl")))
        self._add_person("f", pick(rng, ("boy", "girl")))
        self["robotname"] = made_up_name(rng)
        self["newword"] = made_up_name(rng).lower()

    def _add_person(self, prefix: str, gender: str) -> None:
        names = [name for name in (BOYS if gender == "boy" else GIRLS) if name != self.get("hero")]
        self["friend" if prefix else "hero"] = pick(self._rng, names)
        for slot, word in _PRONOUNS[gender].items():
            self[prefix + slot] = word
            self[(prefix + slot).capitalize()] = word.capitalize()

    def __missing__(self, slot: str) -> str:
        name, index = (slot[:-1], int(slot[-1])) if slot[-1].isdigit() else (slot, 1)
        words = WORDS.get(name)
        if words is None:
            raise KeyError(f"the grammar has no slot '${slot}': add it to WORDS in lexicon.py or to the cast")
        taken = {self[name if i == 1 else f"{name}{i}"] for i in range(1, index)}
        self[slot] = pick(self._rng, [word for word in words if word not in taken])
        return self[slot]


def expand(template: str, cast: Cast, rng: random.Random) -> str:
    """Choose every alternative and fill every slot, again and again until neither is left.

    >>> rng = random.Random(1)
    >>> cast = Cast(rng)
    >>> cast["one"] = "{owl|owl}"
    >>> expand("{a|a} {big|big} tree and a $one", cast, rng)
    'A big tree and an owl'
    """
    text = " ".join(template.split())
    for _ in range(_MAX_ROUNDS):
        if "{" in text:
            text = _CHOICE.sub(lambda match: pick(rng, match[1].split("|")), text)
        elif "$" in text:
            text = _SLOT.sub(lambda match: cast[match[1]], text)
        else:
            return tidy(text)
    raise ValueError(f"the template never ends: {template[:60]!r}; look for a slot that contains itself")


def tidy(text: str) -> str:
    """Single spaces, 'a' or 'an' by the next word, and a capital at the start of each sentence.

    >>> tidy('there  was a owl. "an big one?" asked Tom.')
    'There was an owl. "A big one?" asked Tom.'
    """
    text = re.sub(r" +([.,!?])", r"\1", re.sub(r" {2,}", " ", text)).strip()
    text = re.sub(r'([.!?]")\.', r"\1", text)
    text = _ARTICLE.sub(_article, text)
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)


def _article(match: re.Match[str]) -> str:
    word = match[2].lower()
    vowel = (word[0] in "aeiou" and not word.startswith(("one", "uni", "use"))) or word.startswith("hour")
    return f"{match[1]}{'n' if vowel else ''} "
