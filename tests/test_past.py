"""Going back: each remembered prediction comes out again, bit for bit, across rebuilds of the cache."""

import numpy as np

from tokenviz.decoder.generate import Advance, Session, advance, begin
from tokenviz.decoder.model import load_decoder
from tokenviz.decoder.past import MOST_KEPT, Past, again
from tokenviz.decoder.sampling import Sampling

DECODER = load_decoder()


def written(text: str, count: int) -> tuple[Past, Session, list[Advance]]:
    past, session, made = Past(), begin(DECODER, text), []
    for number in range(count):
        made.append(advance(DECODER, session, Sampling(seed=number)))  # each with a sampling of its own
        past = past.after(session, made[-1])
        session = made[-1].session
    return past, session, made


def test_every_prediction_comes_out_again_exactly() -> None:
    past, session, made = written("Tom " * 60, 200)
    assert sum(a.rebuild is not None for a in made) >= 2
    for number, was in enumerate(made):
        seen = again(DECODER, past, session, number)
        assert (seen.token, seen.window, seen.positions, seen.index, seen.rebuild) == (
            was.token, was.window, was.positions, was.index, was.rebuild,
        )  # fmt: skip
        np.testing.assert_array_equal(seen.result.logits, was.result.logits)
        for one, other in zip(seen.session.state.arrays.values(), was.session.state.arrays.values(), strict=True):
            np.testing.assert_array_equal(one, other)


def test_only_so_many_are_kept_and_one_cache_for_each_window() -> None:
    past, session, made = written("Tom", MOST_KEPT + 140)
    assert len(past.steps) == MOST_KEPT == 256
    # every rebuild starts a window 65 tokens on; 256 predictions reach over at most 256 / 65 + 2 of them
    assert set(past.states) == {step.first for step in past.steps} | {session.first}
    assert len(past.states) <= 256 // 65 + 2
    assert again(DECODER, past, session, 0).token == made[140].token


def test_a_token_drawn_again_replaces_the_last() -> None:
    past, session, made = written("My name is", 3)
    other = past.without_last().after(made[1].session, made[2])
    assert other.steps == past.steps
    assert again(DECODER, other, session, 2).token == made[2].token
