"""Going back: any of the latest predictions of a text, computed again exactly as it was.

    past = Past().after(session, advance)       remembers one more prediction
    again(decoder, past, latest, number)        its advance once more, with every value recorded

What is remembered of a prediction is a few numbers: the tokens before it are the beginning of the text, and the cache
that it read is the beginning of the cache as it is now, because a cache only grows until it is rebuilt. A prediction
that rebuilt its cache read none. So one cache is enough for all predictions.
"""

from dataclasses import dataclass, replace
from types import MappingProxyType

from tokenviz.decoder.generate import Advance, Session, advance
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.sampling import Sampling
from tokenviz.execute import State, initial_state

MOST_KEPT = 256
"""Predictions that can be opened again."""


@dataclass(frozen=True, slots=True)
class Before:
    """Where one prediction began: how many tokens there were, where the window began, how many cached ones it read."""

    tokens: int
    first: int
    cached: int  # 0 where the cache was rebuilt
    drawn: int
    sampling: Sampling


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """The latest predictions of one text, oldest first, and the longest cache that any of them read."""

    steps: tuple[Before, ...] = ()
    state: State | None = None

    def after(self, session: Session, made: Advance) -> "Past":
        """One prediction more: `made` went on from `session`."""
        cached = made.attended - made.positions
        step = Before(len(session.ids), session.first, cached, session.drawn, made.sampling)
        steps = (*self.steps, step)[-MOST_KEPT:]
        state = self.state if made.rebuild else made.session.state
        return Past(steps, state if any(s.cached for s in steps) else None)

    def without_last(self) -> "Past":
        """Before the last prediction, which is to be drawn once more."""
        return replace(self, steps=self.steps[:-1])


def again(decoder: Decoder, past: Past, latest: Session, number: int) -> Advance:
    """The prediction at place `number` of `past.steps`; `latest` is the text's session after all of them."""
    step = past.steps[number]
    state = initial_state(decoder.step(1).step)
    if step.cached and past.state is not None:
        kept = {name: array[: step.cached] for name, array in past.state.arrays.items()}
        state = State(step.cached, MappingProxyType(kept))
    session = replace(latest, ids=latest.ids[: step.tokens], first=step.first, state=state, drawn=step.drawn)
    return advance(decoder, session, step.sampling)
