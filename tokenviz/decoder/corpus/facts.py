"""Facts and questions from the small tables of the lexicon: capitals, colours, opposites, animals, work, reasons."""

import random
from collections.abc import Callable

from tokenviz.decoder.corpus.grammar import pick
from tokenviz.decoder.corpus.lexicon import (
    ANIMAL_FACTS,
    CAPITALS,
    COLOUR_FACTS,
    DAYS,
    JOB_FACTS,
    KINDS,
    MONTHS,
    NUMBERS,
    OPPOSITES,
    REASONS,
)


def capital(rng: random.Random) -> str:
    """Which city is the capital of a country."""
    country = pick(rng, tuple(CAPITALS))
    city = CAPITALS[country]
    return pick(
        rng,
        (
            f"The capital of {country} is {city}. {{{city} is a big city.|Many people live in {city}.|}}",
            f"What is the capital of {country}? The capital of {country} is {city}.",
            f"{country} is a country. Its capital is {city}.",
            f"{city} is the capital of {country}. {{$hero lives in {city}.|I want to visit {city}.|}}",
            f"{city} is a city in {country}. {{It is the capital of {country}.|}}",
        ),
    )


def colour(rng: random.Random) -> str:
    """What colour a thing has."""
    thing, verb, shade = pick(rng, COLOUR_FACTS)
    return pick(
        rng,
        (
            f"{thing} {verb} {shade}.",
            f"What colour {verb} {thing}? {thing} {verb} {shade}.",
            f"{{I know that|Everybody knows that}} {thing} {verb} {shade}. {{My favourite colour is {shade} too.|}}",
        ),
    )


def opposite(rng: random.Random) -> str:
    """A word and its opposite."""
    first, second = pick(rng, OPPOSITES)
    if rng.random() < 0.5:
        first, second = second, first
    return pick(
        rng,
        (
            f"The opposite of {first} is {second}.",
            f"What is the opposite of {first}? The opposite of {first} is {second}.",
        ),
    )


def animal(rng: random.Random) -> str:
    """What an animal is, eats, does, or how many legs it has."""
    name, young, sound, food, legs = pick(rng, ANIMAL_FACTS)
    lines = [
        f"A {name} is an animal. {{It has {legs} legs.|It {sound}.|It likes {food}.}}",
        f"A {name} has {legs} legs.",
        f"How many legs does a {name} have? A {name} has {legs} legs.",
        f"What does a {name} eat? A {name} eats {food}.",
        f"A {name} eats {food}. {{It {sound}.|It has {legs} legs.|}}",
        f"The {name} {sound}. {{It is {{hungry|happy|tired}}.|It lives in $place.|}}",
    ]
    if young:
        lines.append(f"A young {name} is called a {young}. {{The {young} is very small.|The {young} is hungry.|}}")
    return pick(rng, lines)


def kind(rng: random.Random) -> str:
    """What kind of thing something is."""
    name, group = pick(rng, KINDS)
    return pick(
        rng,
        (
            f"A {name} is a {group}.",
            f"What is a {name}? A {name} is a {group}.",
            f"Is a {name} a {group}? Yes, a {name} is a {group}.",
        ),
    )


def job(rng: random.Random) -> str:
    """What somebody does at work, and where."""
    who, does, where = pick(rng, JOB_FACTS)
    return pick(
        rng,
        (
            f"A {who} {does}. {{A {who} works in {where}.|$hero is a {who}.|}}",
            f"What does a {who} do? A {who} {does}.",
            f"Where does a {who} work? A {who} works in {where}.",
        ),
    )


def reason(rng: random.Random) -> str:
    """Why something is so."""
    question, statement, because = pick(rng, REASONS)
    return pick(
        rng,
        (
            f"Why {question}? {statement} because {because}.",
            f"{statement} because {because}.",
            f"Do you know why {statement}? Because {because}.",
        ),
    )


def order(rng: random.Random) -> str:
    """Which day or month follows another."""
    items, word = pick(rng, ((DAYS, "day"), (MONTHS, "month")))
    place = int(rng.random() * len(items))
    here, after = items[place], items[(place + 1) % len(items)]
    return pick(
        rng,
        (
            f"After {here} comes {after}.",
            f"Which {word} comes after {here}? After {here} comes {after}.",
            f"{here} comes before {after}.",
            f"{here} is a {word}. The next {word} is {after}.",
        ),
    )


def counting(rng: random.Random) -> str:
    """Numbers up to ten, days of the week, months and seasons of the year."""
    start = pick(rng, (0, 0, 0, 1, 2, 3, 4, 5))
    numbers = ", ".join(NUMBERS[start:])
    return pick(
        rng,
        (
            f"{numbers}. {{I can count.|$hero can count to ten.|}}",
            f"{{$hero counted|Let us count}}: {numbers}.",
            "There are seven days in a week. There are twelve months in a year.",
            "A year has four seasons: spring, summer, autumn and winter. $season is my favourite season.",
        ),
    )


FACTS: tuple[Callable[[random.Random], str], ...] = (
    capital,
    capital,
    colour,
    opposite,
    animal,
    kind,
    job,
    reason,
    order,
    counting,
)
