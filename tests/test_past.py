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
    assert [a.rebuild is not None for a in made] == [i > 128 - len(made[0].window) for i in range(200)]
    for number, was in enumerate(made):
        seen = again(DECODER, past, session, number)
        assert (seen.token, seen.window, seen.positions, seen.index, seen.rebuild) == (
            was.token, was.window, was.positions, was.index, was.rebuild,
        )  # fmt: skip
        np.testing.assert_array_equal(seen.result.logits, was.result.logits)
        for one, other in zip(seen.session.state.arrays.values(), was.session.state.arrays.values(), strict=True):
            np.testing.assert_array_equal(one, other)


def test_only_so_many_are_kept_and_a_cache_only_while_one_of_them_reads_it() -> None:
    past, session, made = written("Tom", MOST_KEPT + 140)
    assert len(past.steps) == MOST_KEPT == 256
    assert past.state is None  # all of the 256 rebuilt theirs
    assert again(DECODER, past, session, 0).token == made[140].token
    past, session, made = written("Tom", 200)
    assert past.state is not None
    assert past.state.position == 128
    assert again(DECODER, past, session, 60).token == made[60].token


def test_a_token_drawn_again_replaces_the_last() -> None:
    past, session, made = written("My name is", 3)
    other = past.without_last().after(made[1].session, made[2])
    assert other.steps == past.steps
    assert again(DECODER, other, session, 2).token == made[2].token
