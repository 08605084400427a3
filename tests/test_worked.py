"""One value worked out: the formula's numbers give the recorded value, for every output of all stations."""

import re
from itertools import islice

import numpy as np
import pytest

from tokenviz.decoder.events import outputs
from tokenviz.decoder.generate import Advance, advance, begin, generate
from tokenviz.decoder.map import prediction_map
from tokenviz.decoder.model import load_decoder
from tokenviz.decoder.sampling import Sampling
from tokenviz.decoder.worked import WAYS, Worked, work_out

DECODER = load_decoder()
MAP = prediction_map(DECODER.architecture)
SAMPLING = Sampling(temperature=0.9, seed=4)
PREFILL, CACHED = islice(generate(DECODER, "Once upon a time there was a little girl called Lucy.", SAMPLING, 2), 2)
FULL = advance(DECODER, advance(DECODER, begin(DECODER, "word " * 200), SAMPLING).session, SAMPLING)
CASES = {"prefill": PREFILL, "cached": CACHED, "rebuilt": FULL}


def work(made: Advance, name: str, index: tuple[int, ...], output: int = 0) -> Worked:
    found = work_out(DECODER, MAP, made, MAP.nodes[name], output, index)
    assert found is not None
    return found


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", [s for s in MAP.steps if MAP.nodes[s].kind != "select"])
def test_the_formula_gives_the_recorded_value(case: str, name: str) -> None:
    made, chance = CASES[case], np.random.default_rng(7)
    for number, recorded in enumerate(outputs(made, MAP.nodes[name]).values()):
        corners = [tuple(0 for _ in recorded.shape), tuple(extent - 1 for extent in recorded.shape)]
        drawn = [tuple(int(chance.integers(extent)) for extent in recorded.shape) for _ in range(6)]
        largest = float(np.abs(recorded[np.isfinite(recorded)]).max())
        for index in (*corners, *drawn):
            assert work(made, name, index, number).value == pytest.approx(
                float(recorded[index]), abs=2e-5 * max(1, largest)
            ), index


def test_every_station_that_records_a_value_has_a_way() -> None:
    assert {MAP.nodes[s].kind for s in MAP.steps} - {"select"} == set(WAYS)


@pytest.mark.parametrize(
    ("name", "index", "count"),
    [
        ("layers.0.mixer.q", (3, 1, 0, 5), 128), ("layers.2.mixer.scores", (12, 0, 1, 4), 32),
        ("layers.1.mixer.mix", (12, 1, 1, 30), 13), ("layers.3.ffn.down", (2, 100), 352),
        ("output.scores", (12, 1023), 128),
    ],
)  # fmt: skip
def test_the_products_add_up(name: str, index: tuple[int, ...], count: int) -> None:
    found = work(PREFILL, name, index)
    assert found.terms is not None
    left, right, products = found.terms.T
    assert len(products) == count
    np.testing.assert_array_equal(products, left * right)
    whole = products.sum() / (np.sqrt(32) if name.endswith("mixer.scores") else 1)
    assert whole == pytest.approx(found.value, rel=1e-12)


def test_shares_are_parts_of_a_whole() -> None:
    found = work(PREFILL, "layers.1.mixer.softmax", (12, 0, 0, 3))
    assert found.terms is not None
    assert found.axis == "key"
    assert found.terms[3, 1] / found.terms[:, 1].sum() == found.value
    assert work(PREFILL, "output.softmax", (12, 9)).axis == "token"


def test_a_key_after_its_query_is_not_allowed() -> None:
    found = work(PREFILL, "layers.0.mixer.mask", (2, 0, 0, 3))
    assert found.value == -np.inf
    assert r"-\infty" in found.formula
    assert "3 > 2" in found.formula
    assert work(CACHED, "layers.0.mixer.mask", (0, 0, 0, 13)).value > -np.inf  # its position is 13


def test_rope_names_the_position_of_a_cached_token() -> None:
    found = work(CACHED, "layers.0.mixer.rope", (0, 1, 3), 1)
    assert r"\varphi &= 13 \cdot 10000^{-3/16}" in found.formula
    assert "k_{3}" in found.formula
    assert "k_{19}" in found.formula


def test_the_numbers_that_a_formula_prints_give_its_result() -> None:
    left, right = work(PREFILL, "layers.0.ffn.residual", (4, 77)).formula.rsplit("=", 2)[1:]
    sign, first, second = (-1 if " - " in left else 1), *re.findall(r"[\d.]+", left)
    start = -float(first) if left.strip().startswith("-") else float(first)
    assert start + sign * float(second) == pytest.approx(float(right), abs=2e-3)


@pytest.mark.parametrize("name", ["context", "layers.0.mixer.cache", "layers.0.mixer.sharing", "select"])
def test_what_computes_no_value_has_no_formula(name: str) -> None:
    assert work_out(DECODER, MAP, PREFILL, MAP.nodes[name], 0, (0, 0, 0)) is None
