"""Text to text, one token at a time: a K/V cache, a window that is rebuilt when it is full, every value recorded.

    begin(decoder, "My name is") -> Session             nothing computed yet
    advance(decoder, session, sampling) -> Advance      one token more; Advance.session goes on from there

A session is frozen: advancing makes a new one, so that two people never share any.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tokenviz.decoder.model import Decoder
from tokenviz.decoder.sampling import Draw, Sampling, draw
from tokenviz.decoder.tokenizer import END_ID
from tokenviz.execute import Bound, Result, State, execute, initial_state
from tokenviz.notation import TokenvizError

MAX_CHARACTERS = 4_000
MAX_TOKENS = 1_000


class PromptError(TokenvizError):
    """A prompt or a length that cannot be used."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as the model reads it: the start token and the text's tokens, as far as the window holds them."""

    text: str
    ids: tuple[int, ...]
    dropped: int  # the text's first tokens that do not fit, the start token included


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """One text in the making. `ids` are all its tokens from the kept part of the prompt on.

    The window is ``ids[first:]``; its first ``state.position`` tokens are in the cache, the rest is not computed yet.
    """

    prompt: Prompt
    ids: tuple[int, ...]
    first: int
    state: State
    drawn: int = 0

    @property
    def window(self) -> tuple[int, ...]:
        """The tokens that the model can see."""
        return self.ids[self.first :]

    @property
    def ended(self) -> bool:
        """Whether the last token drawn says that the text is over."""
        return self.drawn > 0 and self.ids[-1] == END_ID


@dataclass(frozen=True, slots=True)
class Rebuild:
    """The window was full: the first `dropped` tokens left, the latest `kept` were computed again from position 0."""

    dropped: int
    kept: int

    def says(self, window: int) -> str:
        """What happened, in words with its numbers."""
        left = "the oldest token" if self.dropped == 1 else f"the oldest {self.dropped} tokens"
        return (
            f"n = {self.kept} again: the cache was rebuilt. All {window} positions were full when one more token came: "
            f"{left} left, and the latest {self.kept} were computed again from position 0."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Advance:
    """One token made: what was computed, with every value recorded, and what was chosen.

    n = `positions` were computed now, m = `attended` are in the keys, for the tokens `window`.
    """

    result: Result
    draw: Draw
    sampling: Sampling
    window: tuple[int, ...]
    positions: int
    index: int  # how many tokens were drawn before
    rebuild: Rebuild | None
    session: Session

    @property
    def attended(self) -> int:
        """Positions available in the keys, m."""
        return len(self.window)

    @property
    def token(self) -> int:
        """The id that was chosen."""
        return self.draw.token


def read_prompt(decoder: Decoder, text: str) -> Prompt:
    """The tokens of a prompt: the start token, then the text without trailing spaces, at most a window of them.

    Raises:
        PromptError: the text is longer than 4,000 characters.
    """
    if len(text) > MAX_CHARACTERS:
        raise PromptError(
            f"the prompt has {len(text):,} characters; give at most {MAX_CHARACTERS:,} (the model sees the last "
            f"{decoder.window} tokens)"
        )
    ids = (END_ID, *decoder.tokenizer.encode(text.rstrip(" ")))
    kept = ids[-decoder.window :]
    return Prompt(text, kept, len(ids) - len(kept))


def begin(decoder: Decoder, text: str) -> Session:
    """A session that has read its prompt and computed nothing."""
    prompt = read_prompt(decoder, text)
    return Session(prompt, prompt.ids, 0, initial_state(decoder.step(1).step))


def advance(decoder: Decoder, session: Session, sampling: Sampling) -> Advance:
    """Compute the tokens that are not in the cache yet and draw the next one.

    The first call computes the whole prompt (n = m), later ones the token drawn last (n = 1). When the window is full,
    the latest tokens that fit are computed anew (n = m again): then this happens at every token.
    """
    session, rebuild = _with_room(decoder, session)
    waiting = session.window[session.state.position :]
    result = execute(_step(decoder, waiting), None, session.state, waiting, record=True)
    chosen = draw(result.logits[-1], sampling, session.drawn)
    after = replace(session, ids=(*session.ids, chosen.token), state=result.state, drawn=session.drawn + 1)
    return Advance(result, chosen, sampling, session.window, len(waiting), session.drawn, rebuild, after)


def _step(decoder: Decoder, waiting: tuple[int, ...]) -> Bound:
    return decoder.step(len(waiting))


def _with_room(decoder: Decoder, session: Session) -> tuple[Session, Rebuild | None]:
    dropped = len(session.window) - decoder.window
    if dropped <= 0:
        return session, None
    # Rotated keys belong to their position, so no cached key of the old window is right in the new one.
    moved = replace(session, first=session.first + dropped, state=initial_state(decoder.step(1).step))
    return moved, Rebuild(dropped, decoder.window)


def generate(decoder: Decoder, text: str, sampling: Sampling, tokens: int) -> Iterator[Advance]:
    """At most `tokens` advances of one text; it stops after the token that ends a text.

    Raises:
        PromptError: `tokens` is not from 1 to 1,000, or the prompt is too long.
    """
    if not 1 <= tokens <= MAX_TOKENS:
        raise PromptError(f"tokens is {tokens!r}; give a whole number from 1 to {MAX_TOKENS:,}")
    session = begin(decoder, text)
    for _ in range(tokens):
        made = advance(decoder, session, sampling)
        yield made
        session = made.session
        if session.ended:
            return
