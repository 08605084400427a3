"""Text to token numbers and back: byte-level byte-pair encoding in plain Python.

A text is cut into words by a pattern that looks at ASCII only, each word becomes UTF-8 bytes, and neighbouring pieces
are joined in the order in which training learnt to join them. Bytes are tokens of their own, so any text has an
encoding and comes back unchanged. The file read is a Hugging Face ``tokenizer.json``.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

END = "<|end|>"
END_ID = 0
PATTERN = r" ?[A-Za-z]+| ?[0-9]| ?[^ A-Za-z0-9]+| +(?= )| +"
_WORDS = re.compile(PATTERN)
_NAMED_CONTROLS = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


class TokenizerError(ValueError):
    """A tokenizer file that cannot be used, or a token number that does not exist."""


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """The bytes of every token and the rank of every join. Build it with :func:`load_tokenizer`."""

    tokens: tuple[bytes, ...]
    ids: Mapping[bytes, int]
    ranks: Mapping[tuple[bytes, bytes], int]

    @property
    def size(self) -> int:
        """Number of tokens, V."""
        return len(self.tokens)

    def encode(self, text: str) -> list[int]:
        """Token numbers of ``text``; typed text never becomes the end token, not even ``<|end|>`` itself."""
        data = (word.encode("utf-8", "surrogatepass") for word in _WORDS.findall(text))
        return [self.ids[piece] for word in data for piece in self._joined(word)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ``ids``; end tokens are left out and a cut character becomes U+FFFD."""
        return b"".join(self._bytes(i) for i in ids if i != END_ID).decode("utf-8", "replace")

    def piece(self, token_id: int) -> str:
        """One token as a person may read it: ``' the'``, ``'\\n'``, ``'<0xE4>'``, ``'<|end|>'``."""
        return END if token_id == END_ID else visible(self._bytes(token_id))

    def pieces(self, ids: Iterable[int]) -> tuple[str, ...]:
        """:meth:`piece` of each of ``ids``."""
        return tuple(self.piece(i) for i in ids)

    def _bytes(self, token_id: int) -> bytes:
        if not 0 <= token_id < len(self.tokens):
            raise TokenizerError(f"token {token_id} does not exist; the vocabulary has 0 to {len(self.tokens) - 1}")
        return self.tokens[token_id]

    def _joined(self, word: bytes) -> list[bytes]:
        """The pieces of one word: the lowest-ranked neighbouring pair is joined first, everywhere it occurs."""
        parts = [word[i : i + 1] for i in range(len(word))]
        while len(parts) > 1:
            best = min(set(pairwise(parts)), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            parts = _join(parts, best)
        return parts


def _join(parts: list[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    joined: list[bytes] = []
    i = 0
    while i < len(parts):
        if (parts[i], *parts[i + 1 : i + 2]) == pair:
            joined.append(pair[0] + pair[1])
            i += 2
        else:
            joined.append(parts[i])
            i += 1
    return joined


def visible(data: bytes) -> str:
    """Bytes as safe, visible text: whole characters as they are, the rest as ``<0xE4>`` or ``<U+202E>``.

    >>> visible(b" the"), visible(b"\\xe4\\xb8"), visible("\\u202e".encode()), visible(b"\\n")
    (' the', '<0xE4><0xB8>', '<U+202E>', '\\\\n')
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(byte) if 0x20 <= byte < 0x7F else f"<0x{byte:02X}>" for byte in data)
    return "".join(_visible_character(character) for character in text)


def _visible_character(character: str) -> str:
    if character in _NAMED_CONTROLS:
        return _NAMED_CONTROLS[character]
    # C: controls and marks that reverse or hide text; Zl and Zp: separators that break a line.
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}:
        return f"<U+{ord(character):04X}>"
    return character


def byte_letters() -> tuple[str, ...]:
    """The printable letter that stands for each byte in a byte-level ``tokenizer.json``, at the byte's index.

    Printable Latin-1 bytes stand for themselves; the others take the letters from U+0100 on, in order.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in printable else next(others)) for byte in range(256))


def load_tokenizer(path: Path) -> Tokenizer:
    """Read ``tokenizer.json``; raises :class:`TokenizerError` naming the file and what is wrong with it."""
    byte_of = {letter: byte for byte, letter in enumerate(byte_letters())}

    def as_bytes(token: str) -> bytes:
        return token.encode() if token == END else bytes(byte_of[letter] for letter in token)

    try:
        model = json.loads(path.read_text("utf-8"))["model"]
        by_id = {int(i): as_bytes(token) for token, i in model["vocab"].items()}
        merges = [(as_bytes(left), as_bytes(right)) for left, right in model["merges"]]
        tokens = tuple(by_id[i] for i in range(len(by_id)))
    except OSError as error:
        raise TokenizerError(f"{path}: cannot be read ({error.strerror}); it ships in data/decoder") from error
    except (KeyError, TypeError, ValueError) as error:
        raise TokenizerError(f"{path}: not a byte-level BPE tokenizer.json ({error!r}); train it again") from error
    ids = {token: i for i, token in enumerate(tokens) if i != END_ID}
    return Tokenizer(tokens, ids, {pair: rank for rank, pair in enumerate(merges)})
