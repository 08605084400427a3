"""The Network page's questions: prompt, examples, sampling, and the buttons that make tokens.

ask(decoder) -> Run     draws them all and gives the text in the making
"""

import json
from dataclasses import dataclass, replace
from functools import lru_cache

import streamlit as st

from tokenviz import ui_link
from tokenviz.catalog import data_dir
from tokenviz.decoder.generate import Advance, Session, advance, begin
from tokenviz.decoder.model import Decoder, load_decoder
from tokenviz.decoder.past import Past, again
from tokenviz.decoder.sampling import MAX_SEED, Sampling
from tokenviz.ui_network_prompt import prompt, put, take

MOST_AT_ONCE = 100
WARMTHS = (0.05, 2.0)
SHARES = (0.05, 1.0)
COLUMNS = (11, 9)
"""Widths of what is asked and what is answered, of the map and its inspector."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A text in the making: the session before the last token, that token's advance with all its values, the past."""

    text: str
    sampling: Sampling
    before: Session
    last: Advance
    past: Past
    rebuilt: str = ""  # what a rebuild during the last request said
    redrawn: bool = False  # whether the last token was drawn by other settings than those before it

    def on(self, decoder: Decoder) -> "Run":
        """One token more."""
        made = advance(decoder, self.last.session, self.sampling)
        says = made.rebuild.says(decoder.window) if made.rebuild else ""
        before = self.last.session
        return replace(self, before=before, last=made, past=self.past.after(before, made), rebuilt=says, redrawn=False)

    def at(self, decoder: Decoder, number: int) -> Advance:
        """Prediction `number` of those that are remembered; all but the last are computed again."""
        if number == len(self.past.steps) - 1:
            return self.last
        return again(decoder, self.past, self.last.session, number)


def started(decoder: Decoder, text: str, sampling: Sampling) -> Run:
    """A new text with its first token."""
    session = begin(decoder, text)
    made = advance(decoder, session, sampling)
    return Run(text, sampling, session, made, Past().after(session, made))


@lru_cache(maxsize=1)
def examples() -> tuple[tuple[str, str], ...]:
    """Prompts with what each of them shows."""
    entries = json.loads((data_dir() / "decoder" / "examples.json").read_text("utf-8"))["examples"]
    return tuple((entry["prompt"], entry["shows"]) for entry in entries)


def checks() -> ui_link.Checks:
    """What the sampling's keys take in a link."""
    return {
        "temperature": ui_link.number(*WARMTHS), "top_k": ui_link.whole(0, decoder_size()),
        "top_p": ui_link.number(*SHARES), "seed": ui_link.whole(0, MAX_SEED), "greedy": ui_link.yes_or_no,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------ what is asked


def ask(decoder: Decoder) -> Run:
    """Prompt and sampling; a changed prompt starts a new text, changed sampling draws the last token again."""
    prompts = dict(examples())
    left, right = st.columns(COLUMNS, gap="small")
    with left:
        text = prompt(decoder, prompts)
    with right:
        st.pills(
            "Examples, each shows something", range(len(prompts)), format_func=lambda i: _short(examples()[i][1]),
            key="network.example", on_change=_take_example, default=None, wrap=True,
        )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            sampling = _controls()
    return settled(decoder, text, sampling)


def settled(decoder: Decoder, text: str, sampling: Sampling) -> Run:
    """The run that belongs to a prompt and its sampling; the first token is made at once."""
    run: Run | None = st.session_state.get("network.run")
    if run is None or run.text != text:
        run = started(decoder, text, sampling)
    elif run.sampling != sampling:
        made = advance(decoder, run.before, sampling)
        past = run.past.without_last().after(run.before, made)
        run = replace(run, sampling=sampling, last=made, past=past, redrawn=made.index > 0)
    st.session_state["network.run"] = run
    return run


def _short(shows: str) -> str:
    return shows.split(":")[0].split(",")[0].rstrip(".")


def _take_example() -> None:
    chosen = st.session_state["network.example"]
    if chosen is not None:
        put(examples()[chosen][0])
        st.session_state["network.example"] = None  # so that it can be taken again


def _sampling() -> Sampling:
    """The sampling's fields behind a button that names their values."""
    kept = st.session_state
    first = "temperature" not in kept  # nothing is known yet of what a link asks
    with st.popover(_named(_set()), icon=":material/tune:", help="How the next token is drawn."):
        greedy = st.toggle("Greedy: always the most likely", key="greedy", bind="query-params")
        st.slider(
            "Temperature", *WARMTHS, 0.8, 0.05, key="temperature", bind="query-params", disabled=greedy,
            help="Scores are divided by it: below 1 the likely become likelier, above 1 all come closer.",
        )  # fmt: skip
        st.number_input("Top-k (0: all)", 0, decoder_size(), 0, key="top_k", bind="query-params", disabled=greedy)
        st.slider(
            "Top-p", *SHARES, 1.0, 0.05, key="top_p", bind="query-params", disabled=greedy,
            help="The fewest tokens whose shares reach p; 1 keeps all.",
        )  # fmt: skip
        st.number_input("Seed", 0, MAX_SEED, 0, key="seed", bind="query-params", help="Same seed, same text.")
        st.number_input(
            "Tokens at once", 2, MOST_AT_ONCE, 10, key="network.count", persist_state="session",
            help="How many the button of that name makes.",
        )  # fmt: skip
    asked = _set()
    if first and asked != Sampling():
        st.rerun()  # the button above was named before its fields were read
    return asked


def _set() -> Sampling:
    """What the fields hold now."""
    kept, usual = st.session_state, Sampling()
    return Sampling(
        temperature=0.0 if kept.get("greedy") else float(kept.get("temperature", usual.temperature)),
        top_k=int(kept.get("top_k", 0)) or None, top_p=float(kept.get("top_p", usual.top_p)),
        seed=int(kept.get("seed", usual.seed)),
    )  # fmt: skip


def _named(sampling: Sampling) -> str:
    """What differs from drawing by the shares as they are, with the seed."""
    if sampling.greedy:
        return "greedy"
    parts = [f"temperature {sampling.temperature:g}"]
    parts += [f"top-k {sampling.top_k}"] if sampling.top_k else []
    parts += [f"top-p {sampling.top_p:g}"] if sampling.top_p < 1 else []
    return ", ".join([*parts, f"seed {sampling.seed}"])


def decoder_size() -> int:
    """Tokens of the vocabulary."""
    return load_decoder().tokenizer.size


# ------------------------------------------------------------------------------------------------ what is done


def _controls() -> Sampling:
    """The buttons of a row, and how the next token is drawn."""
    st.button("Next token", on_click=_more, args=(1,), type="primary", icon=":material/add:", key="network.one")
    st.button(
        "Play slowly", on_click=_play, icon=":material/slow_motion_video:", key="network.slow",
        help="Makes the next token and goes through its steps on the map, one by one.",
    )  # fmt: skip
    count = int(st.session_state.get("network.count", 10))
    st.button(f"{count} tokens", on_click=_more, args=(None,), icon=":material/fast_forward:", key="network.many")
    st.toggle("Continuous", key="network.continuous", help="A token every 0.4 s until the text ends.")
    sampling = _sampling()
    st.button("Start again", on_click=_again, icon=":material/replay:", key="network.again")
    return sampling


def _more(count: int | None) -> None:
    """Make tokens until so many are made or the text has ended."""
    decoder, run, text = load_decoder(), st.session_state["network.run"], take()
    count, rebuilt = count or int(st.session_state["network.count"]), ""
    if text != run.text:  # typed a moment ago: this text's first token is one of those that are asked for
        run, count = started(decoder, text, run.sampling), count - 1
    for made in range(count):
        if made and run.last.session.ended:
            break
        run = run.on(decoder)
        rebuilt = run.rebuilt or rebuilt
    st.session_state["network.run"] = replace(run, rebuilt=rebuilt)


def _play() -> None:
    _more(1)
    st.session_state["network.plays"] += 1
    st.session_state["network.played"] = st.session_state["network.run"].last.index
    st.session_state["network.continuous"] = False


def _again() -> None:
    take()
    st.session_state.pop("network.run", None)
    st.session_state["network.continuous"] = False
