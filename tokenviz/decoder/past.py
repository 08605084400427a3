"""Going back: any of the latest predictions of a text, computed again exactly as it was.

    past = Past().after(session, advance)       remembers one more prediction
    again(decoder, past, latest, number)        its advance once more, with every value recorded

What is remembered of a prediction is a few numbers: the tokens before it are the beginning of the text, and the cache
that it read is the beginning of the cache as it is now, because a cache only grows until it is rebuilt. So one cache is
kept for each rebuild, not one for each prediction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tokenviz.decoder.generate import Advance, Session, advance
from tokenviz.decoder.model import Decoder
from tokenviz.decoder.sampling import Sampling
from tokenviz.execute import State

MOST_KEPT = 256
"""Predictions that can be opened again."""


@dataclass(frozen=True, slots=True)
class Before:
    """Where one prediction began: how many tokens there were, where the window began, how many were cached."""

    tokens: int
    first: int
    cached: int
    drawn: int
    sampling: Sampling


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """The latest predictions of one text, oldest first, and the last cache of each window start."""

    steps: tuple[Before, ...] = ()
    states: Mapping[int, State] = field(default_factory=lambda: MappingProxyType({}))

    def after(self, session: Session, made: Advance) -> "Past":
        """One prediction more: `made` went on from `session`."""
        step = Before(len(session.ids), session.first, session.state.position, session.drawn, made.sampling)
        steps = (*self.steps, step)[-MOST_KEPT:]
        states = {**self.states, made.session.first: made.session.state}
        oldest = steps[0].first
        return Past(steps, MappingProxyType({first: state for first, state in states.items() if first >= oldest}))

    def without_last(self) -> "Past":
        """Before the last prediction, which is to be drawn once more."""
        return replace(self, steps=self.steps[:-1])


def again(decoder: Decoder, past: Past, latest: Session, number: int) -> Advance:
    """The prediction at place `number` of `past.steps`; `latest` is the text's session after all of them."""
    step = past.steps[number]
    kept = {name: array[: step.cached] for name, array in past.states[step.first].arrays.items()}
    state = State(step.cached, MappingProxyType(kept))
    session = replace(latest, ids=latest.ids[: step.tokens], first=step.first, state=state, drawn=step.drawn)
    return advance(decoder, session, step.sampling)
