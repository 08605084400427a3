"""From documents to batches: the tokenizer learns from the text, then the text becomes one stream of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer
from tokenizers import decoders as token_decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as Steps
from tokenizers.trainers import BpeTrainer

from tokenviz.decoder.tokenizer import END, END_ID, PATTERN

# Merges settle early: more lines change the rank of rare pairs only.
_TOKENIZER_LINES = 60_000
_ENCODE_LINES = 20_000


def train_tokenizer(lines: Sequence[str], vocab_size: int) -> Tokenizer:
    """A byte-level BPE tokenizer with the end token as number 0."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = Steps([Split(Regex(PATTERN), "isolated"), ByteLevel(False, use_regex=False)])
    tokenizer.decoder = token_decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=vocab_size, special_tokens=[END], initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(lines[:_TOKENIZER_LINES], trainer)
    return tokenizer


@dataclass(frozen=True, slots=True)
class Stream:
    """All tokens in one row, and where each document (its end token first) begins."""

    tokens: NDArray[np.uint16]
    starts: NDArray[np.int64]

    def windows(self, count: int, length: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """``count`` windows of ``length + 1`` tokens: half begin with a document, half anywhere."""
        last = len(self.tokens) - length - 1
        anywhere = rng.integers(0, last, count)
        at_start = np.minimum(rng.choice(self.starts, count), last)
        begin = np.where(np.arange(count) % 2 == 0, at_start, anywhere)
        return self.tokens[begin[:, None] + np.arange(length + 1)].astype(np.int64)


def stream(lines: Sequence[str], tokenizer: Tokenizer) -> Stream:
    """The documents as one row of tokens, an end token before each."""
    parts: list[NDArray[np.uint16]] = []
    for first in range(0, len(lines), _ENCODE_LINES):
        encodings = tokenizer.encode_batch_fast(lines[first : first + _ENCODE_LINES])
        parts += [np.array([END_ID, *encoding.ids], dtype=np.uint16) for encoding in encodings]
    lengths = np.array([len(part) for part in parts])
    return Stream(np.concatenate(parts), np.concatenate(([0], np.cumsum(lengths)[:-1])))
