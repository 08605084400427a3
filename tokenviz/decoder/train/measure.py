"""What the trained decoder can do, in numbers: held-out loss, copied names, pronouns, facts, example prompts."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tokenviz.decoder.corpus.grammar import made_up_name
from tokenviz.decoder.corpus.lexicon import BOYS, CAPITALS, GIRLS
from tokenviz.decoder.tokenizer import END_ID, Tokenizer
from tokenviz.decoder.train.loop import BATCH, loss_of
from tokenviz.decoder.train.model import SHAPE, Decoder
from tokenviz.decoder.train.text import Stream

_MADE_UP_NAMES = 100
_FLAT_TOP = 5


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt of the page, what it shows, and the texts whose probability is measured; none: the likeliest five."""

    prompt: str
    shows: str
    answers: tuple[str, ...]


EXAMPLES = (
    Example(
        "Once upon a time there was a little girl called Lucy. Lucy had a red ball. Every day",
        "A name is copied from the text before.",
        (" Lucy",),
    ),
    Example("Tom opened the door.", "A pronoun agrees with a name: Tom is a he.", (" He", " She")),
    Example("The capital of France is", "A small fact, learnt by heart.", (" Paris", " Rome")),
    Example("My name is", "A flat choice: many names are possible, none is likely.", ()),
    Example(
        "There was a robot called Zumpo. Zumpo could talk, but it could not sleep. Every day",
        "A word that it has never seen: cut into pieces, and copied piece by piece.",
        (" Zumpo",),
    ),
)


@torch.no_grad()
def logits(decoder: Decoder, ids: Sequence[int]) -> torch.Tensor:
    """Logits ``T V`` of one sequence, float32."""
    out: torch.Tensor = decoder(torch.tensor([list(ids)]))[0]
    return out


def prompt_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """The end token, then the text: how a document begins in training."""
    return [END_ID, *tokenizer.encode(text)]


def probability(decoder: Decoder, tokenizer: Tokenizer, prompt: str, answer: str) -> float:
    """The probability that ``answer`` comes next, the product over its tokens."""
    before, after = prompt_ids(tokenizer, prompt), tokenizer.encode(answer)
    shares = torch.log_softmax(logits(decoder, before + after)[len(before) - 1 : -1].double(), dim=-1)
    return float(torch.exp(shares[torch.arange(len(after)), torch.tensor(after)].sum()))


def greedy(decoder: Decoder, tokenizer: Tokenizer, prompt: str, count: int) -> str:
    """The likeliest continuation of ``count`` tokens at most; it stops at the end token."""
    ids = prompt_ids(tokenizer, prompt)
    first = len(ids)
    while len(ids) < first + count:
        ids.append(int(logits(decoder, ids[-SHAPE.max_position_embeddings :])[-1].argmax()))
        if ids[-1] == END_ID:
            break
    return tokenizer.decode(ids[first:])


def held_out_loss(decoder: Decoder, text: Stream) -> float:
    """Nats per token over all held-out text, cut into windows that do not overlap; float32."""
    length = SHAPE.max_position_embeddings
    count = (len(text.tokens) - 1) // length
    rows = np.arange(count)[:, None] * length + np.arange(length + 1)
    windows = text.tokens[rows].astype(np.int64)
    with torch.no_grad():
        losses = [loss_of(decoder, part).item() * len(part) for part in np.array_split(windows, count // BATCH + 1)]
    return sum(losses) / count


def probes(decoder: Decoder, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """Small examinations with a right answer: what was asked, how often, how often it was right (greedy)."""

    def says(prompt: str, answer: str) -> bool:
        return greedy(decoder, tokenizer, prompt, len(tokenizer.encode(answer))) == answer

    def story(kind: str) -> Callable[[str], bool]:
        return lambda name: says(
            f"There was a little {kind} called {name}. {name} lived in the town. One day", f" {name}"
        )

    rng = random.Random(0)
    made_up = [made_up_name(rng) for _ in range(_MADE_UP_NAMES)]
    results = {
        "a name is copied": [story("boy")(n) for n in BOYS] + [story("girl")(n) for n in GIRLS],
        "a made-up name is copied, all its pieces": [story("robot")(n) for n in made_up],
        "he or she, from a name alone": [
            says(f"{name} opened the door.", f" {word}")
            for names, word in ((BOYS, "He"), (GIRLS, "She"))
            for name in names
        ],
        "capital of a country": [says(f"The capital of {c} is", f" {city}.") for c, city in CAPITALS.items()],
    }
    return [{"what": what, "asked": len(right), "right": sum(right)} for what, right in results.items()]


def examples(decoder: Decoder, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """The page's example prompts with the probability of each answer."""
    return [
        {
            "prompt": example.prompt,
            "shows": example.shows,
            "answers": [
                {"text": text, "probability": round(probability(decoder, tokenizer, example.prompt, text), 5)}
                for text in example.answers or _likeliest(decoder, tokenizer, example.prompt)
            ],
            "greedy": greedy(decoder, tokenizer, example.prompt, 24),
        }
        for example in EXAMPLES
    ]


def _likeliest(decoder: Decoder, tokenizer: Tokenizer, prompt: str) -> list[str]:
    last = logits(decoder, prompt_ids(tokenizer, prompt))[-1]
    return [tokenizer.decode([int(i)]) for i in last.topk(_FLAT_TOP).indices]
