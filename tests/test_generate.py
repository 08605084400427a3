"""Generation: what is read, what is drawn, the full window, and texts that nobody expects."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tokenviz.catalog import data_dir
from tokenviz.cli import main
from tokenviz.decoder.generate import PromptError, advance, begin, generate, read_prompt
from tokenviz.decoder.model import load_decoder
from tokenviz.decoder.sampling import Sampling, SamplingError, draw, number, shaped, softmax
from tokenviz.execute import execute, initial_state

DECODER = load_decoder()
GREEDY = Sampling(temperature=0)
EXAMPLES = json.loads((data_dir() / "decoder" / "examples.json").read_text())
SCORES = np.log(np.array([1.0, 4.0, 2.0, 3.0]))  # shares 0.1, 0.4, 0.2, 0.3


@pytest.mark.parametrize("example", EXAMPLES["examples"], ids=lambda e: e["answers"][0]["text"])
def test_the_examples_say_what_their_file_says(example: dict) -> None:
    made = list(generate(DECODER, example["prompt"], GREEDY, 24))
    text = DECODER.tokenizer.decode(a.token for a in made)
    assert text.startswith(example["greedy"]) or example["greedy"].startswith(text)
    for answer in example["answers"]:
        first = DECODER.tokenizer.encode(answer["text"])[0]
        if len(DECODER.tokenizer.encode(answer["text"])) == 1:
            assert made[0].draw.before[first] == pytest.approx(answer["probability"], abs=1e-4)


# ------------------------------------------------------------------------------------------------ shares


def test_temperature_divides_the_scores() -> None:
    np.testing.assert_allclose(softmax(SCORES), [0.1, 0.4, 0.2, 0.3])
    # T = 1/2 squares the shares: 1, 16, 4, 9 of 30
    np.testing.assert_allclose(shaped(SCORES, Sampling(temperature=0.5)), np.array([1, 16, 4, 9]) / 30)


def test_top_k_and_top_p_keep_the_likely_ones() -> None:
    one = {"temperature": 1.0}
    np.testing.assert_allclose(shaped(SCORES, Sampling(top_k=2, **one)), [0, 4 / 7, 0, 3 / 7])
    np.testing.assert_allclose(shaped(SCORES, Sampling(top_p=0.39, **one)), [0, 1, 0, 0])
    np.testing.assert_allclose(shaped(SCORES, Sampling(top_p=0.41, **one)), [0, 4 / 7, 0, 3 / 7])
    # of the two that top-k leaves, 4/7 = 0.57 alone reaches 0.5
    np.testing.assert_allclose(shaped(SCORES, Sampling(top_k=2, top_p=0.5, **one)), [0, 1, 0, 0])
    np.testing.assert_allclose(shaped(SCORES, GREEDY), [0, 1, 0, 0])


def test_ties_go_to_the_lower_number() -> None:
    np.testing.assert_allclose(shaped(np.zeros(4), Sampling(top_k=2)), [0.5, 0.5, 0, 0])
    assert draw(np.zeros(4), GREEDY, 0).token == 0


@settings(max_examples=60, deadline=None)
@given(
    some.lists(some.floats(-1e4, 1e4), min_size=1, max_size=30), some.floats(0.01, 10), some.floats(0.001, 1),
    some.one_of(some.none(), some.integers(1, 40)), some.integers(0, 2**32 - 1),
)  # fmt: skip
def test_shares_add_up_to_one_and_only_a_share_is_drawn(scores, temperature, top_p, top_k, seed) -> None:
    sampling = Sampling(temperature=temperature, top_p=top_p, top_k=top_k, seed=seed)
    made = draw(np.array(scores), sampling, 3)
    assert made.before.sum() == pytest.approx(1, abs=1e-12)
    assert made.after.sum() == pytest.approx(1, abs=1e-12)
    assert made.after[made.token] > 0
    assert np.count_nonzero(made.after) <= (top_k or len(scores))


def test_draws_follow_the_shares() -> None:
    drawn = np.array([draw(SCORES, Sampling(temperature=1.0, seed=1), i).token for i in range(4000)])
    found = np.bincount(drawn, minlength=4) / 4000
    # the standard error of a share of 0.4 in 4,000 draws is 0.0078; five of them
    np.testing.assert_allclose(found, [0.1, 0.4, 0.2, 0.3], atol=5 * 0.0078)


def test_a_number_depends_on_seed_and_place_alone() -> None:
    assert number(7, 3) == number(7, 3)
    assert len({number(s, i) for s in range(4) for i in range(4)}) == 16


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"temperature": -0.1}, "temperature is -0.1"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"top_k": 0}, "top-k is 0"),
        ({"top_p": 0.0}, "top-p is 0.0"),
        ({"top_p": 1.5}, "top-p is 1.5"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_a_bad_control_is_named(bad: dict, message: str) -> None:
    with pytest.raises(SamplingError, match=message):
        Sampling(**bad)


# ------------------------------------------------------------------------------------------------ text


def test_the_same_seed_writes_the_same_text_and_another_one_another() -> None:
    def text(seed: int) -> list[int]:
        return [a.token for a in generate(DECODER, "My name is", Sampling(temperature=1.0, seed=seed), 12)]

    assert text(5) == text(5)
    assert len({tuple(text(seed)) for seed in range(5)}) > 1


def test_first_all_positions_are_new_then_one() -> None:
    made = list(generate(DECODER, "Tom opened the door.", GREEDY, 3))
    first = len(DECODER.tokenizer.encode("Tom opened the door.")) + 1
    assert [(a.positions, a.attended) for a in made] == [(first, first), (1, first + 1), (1, first + 2)]


def test_trailing_spaces_are_no_tokens() -> None:
    assert read_prompt(DECODER, "My name is  ").ids == read_prompt(DECODER, "My name is").ids


def test_a_text_that_ended_stops() -> None:
    made = list(generate(DECODER, "The capital of France is", GREEDY, 200))
    assert made[-1].token == 0
    assert made[-1].session.ended
    assert len(made) < 200
    assert not begin(DECODER, "").ended  # the start token is no end


# ------------------------------------------------------------------------------------------------ the window


def test_a_full_window_is_rebuilt_for_its_latest_tokens() -> None:
    session = begin(DECODER, "word " * 200)
    assert len(session.ids) == 128
    first = advance(DECODER, session, GREEDY)
    assert (first.positions, first.attended, first.rebuild) == (128, 128, None)
    second = advance(DECODER, first.session, GREEDY)
    assert second.rebuild is not None
    # 128 cached and the one drawn make 129; the latest 128 stay
    assert (second.positions, second.attended) == (128, 128)
    assert (second.rebuild.dropped, second.rebuild.kept) == (1, 128)
    assert second.window == first.session.ids[-128:]
    assert second.rebuild.says(128) == (
        "n = 128 again: the cache was rebuilt. All 128 positions were full when one more token came: the oldest token "
        "left, and the latest 128 were computed again from position 0."
    )
    alone = DECODER.step(128)
    again = execute(alone, None, initial_state(alone.step), second.window)
    np.testing.assert_array_equal(second.result.logits, again.logits)
    third = advance(DECODER, second.session, GREEDY)
    assert (third.positions, third.attended, third.rebuild) == (128, 128, second.rebuild)  # at every token from now on
    assert third.window == second.session.ids[-128:]


def test_the_window_is_used_to_its_last_position() -> None:
    session = begin(DECODER, "Tom")
    seen = []
    for _ in range(260):
        made = advance(DECODER, session, Sampling(temperature=1.0))
        session = made.session
        seen.append((made.positions, made.attended))
    first = seen[0][1]
    filling = [(first, first), *((1, m) for m in range(first + 1, 129))]
    assert seen == filling + [(128, 128)] * (260 - len(filling))


def test_a_long_prompt_keeps_its_end() -> None:
    ids = [0, *DECODER.tokenizer.encode("Tom " * 200)]
    prompt = read_prompt(DECODER, "Tom " * 200)
    assert prompt.dropped == len([0, *DECODER.tokenizer.encode(("Tom " * 200).rstrip(" "))]) - 128
    assert len(prompt.ids) == 128
    assert prompt.ids[-1] == ids[-2]  # the last token of the text without its trailing space
    assert 0 not in prompt.ids


def test_a_prompt_beyond_the_limit_is_refused_with_the_limit() -> None:
    with pytest.raises(PromptError, match=r"4,001 characters; give at most 4,000"):
        read_prompt(DECODER, "a" * 4001)
    with pytest.raises(PromptError, match="tokens is 0"):
        next(generate(DECODER, "a", GREEDY, 0))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a",
        "😀",
        "שלום עולם",
        "\x00\x1b[31m\u202e",
        "<script>alert(1)</script>",
        "<|end|>",
        "\ud800",
        "ä" * 300,
    ],
    ids=["empty", "space", "one", "emoji", "right to left", "controls", "script", "end", "surrogate", "long bytes"],
)
def test_any_text_is_read_and_continued(text: str) -> None:
    made = next(generate(DECODER, text, Sampling(seed=2), 1))
    assert made.draw.before.sum() == pytest.approx(1, abs=1e-12)
    assert float(made.result.probabilities[-1].sum()) == pytest.approx(1, abs=1e-5)
    assert np.isfinite(made.result.logits).all()


def test_an_empty_prompt_is_the_start_token() -> None:
    assert read_prompt(DECODER, "").ids == (0,)


# ------------------------------------------------------------------------------------------------ command line


def test_the_command_prints_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["generate", "Tom opened the door.", "--tokens", "3", "--temperature", "0", "--json"]
    assert main(call) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["text"] == " He was happy"
    assert [t["text"] for t in report["tokens"]] == [" He", " was", " happy"]
    assert report["tokens"][0]["probability"] == pytest.approx(0.98242, abs=1e-4)
    assert (report["tokens"][0]["n"], report["tokens"][1]["n"]) == (1 + 8, 1)
    assert report["prompt_tokens"][0] == {"id": 0, "text": "<|end|>"}
    assert main(call[:-1]) == 0
    assert capsys.readouterr().out == "Tom opened the door. He was happy\n"


def test_the_command_says_what_the_window_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "word " * 200, "--tokens", "2"]) == 0
    notes = capsys.readouterr().err.splitlines()
    dropped = read_prompt(DECODER, "word " * 200).dropped
    assert notes[0] == f"note: the window holds 128 tokens; the prompt's first {dropped} were left out"
    assert notes[1].startswith("note: n = 128 again: the cache was rebuilt.")


@pytest.mark.parametrize("bad", [["--top-p", "0"], ["--tokens", "0"], ["--tokens", "x"], ["--temperature", "-1"]])
def test_bad_input_is_one_sentence_and_status_2(bad: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "a", *bad]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert len(out.err.splitlines()) == 1
