"""The Network page's questions: prompt, examples, sampling, and the buttons that make tokens.

ask(decoder) -> Run     draws them all and gives the text in the making
"""

import json
from dataclasses import dataclass, replace
from functools import lru_cache

import streamlit as st

from tokenviz.catalog import data_dir
from tokenviz.decoder.generate import MAX_CHARACTERS, Advance, Session, advance, begin
from tokenviz.decoder.model import Decoder, load_decoder
from tokenviz.decoder.sampling import MAX_SEED, Sampling

MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A text in the making: the session before the last token, and that token's advance with all its values."""

    text: str
    sampling: Sampling
    before: Session
    last: Advance
    rebuilt: str = ""  # what a rebuild during the last request said

    def on(self, decoder: Decoder) -> "Run":
        """One token more."""
        made = advance(decoder, self.last.session, self.sampling)
        says = made.rebuild.says(decoder.window) if made.rebuild else ""
        return replace(self, before=self.last.session, last=made, rebuilt=says)


@lru_cache(maxsize=1)
def examples() -> tuple[tuple[str, str], ...]:
    """Prompts with what each of them shows."""
    entries = json.loads((data_dir() / "decoder" / "examples.json").read_text("utf-8"))["examples"]
    return tuple((entry["prompt"], entry["shows"]) for entry in entries)


# ------------------------------------------------------------------------------------------------ what is asked


def ask(decoder: Decoder) -> Run:
    """Prompt and sampling; a changed prompt starts a new text, changed sampling draws the last token again."""
    prompts = dict(examples())
    st.session_state.setdefault("network.prompt", examples()[0][0])
    text = st.text_area(
        "Prompt", key="network.prompt", height=68, max_chars=MAX_CHARACTERS, persist_state="session",
        help="Any text; Ctrl + Enter reads it. Spaces at its end are left out. An empty prompt starts a new text.",
    )  # fmt: skip
    st.pills(
        "Examples, each shows something", range(len(prompts)), format_func=lambda i: _short(examples()[i][1]),
        key="network.example", on_change=_take_example, default=None, label_visibility="collapsed",
    )  # fmt: skip
    if text in prompts:
        st.caption(f"This example shows: {prompts[text]}")
    with st.container(horizontal=True, vertical_alignment="center"):
        sampling = _controls()
    return settled(decoder, text or "", sampling)


def settled(decoder: Decoder, text: str, sampling: Sampling) -> Run:
    """The run that belongs to a prompt and its sampling; the first token is made at once."""
    run: Run | None = st.session_state.get("network.run")
    if run is None or run.text != text:
        session = begin(decoder, text)
        run = Run(text, sampling, session, advance(decoder, session, sampling))
    elif run.sampling != sampling:
        run = replace(run, sampling=sampling, last=advance(decoder, run.before, sampling))
    st.session_state["network.run"] = run
    return run


def _short(shows: str) -> str:
    return shows.split(":")[0].split(",")[0].rstrip(".")


def _take_example() -> None:
    chosen = st.session_state["network.example"]
    if chosen is not None:
        st.session_state["network.prompt"] = examples()[chosen][0]


def _sampling() -> Sampling:
    kept: Sampling = st.session_state.get("network.sampling", Sampling())
    temperature = "greedy" if kept.greedy else f"temperature {kept.temperature:g}"
    with st.popover(f"{temperature}, seed {kept.seed}", icon=":material/tune:", help="How the next token is drawn."):
        greedy = st.toggle("Greedy: always the most likely", key="network.greedy", persist_state="session")
        warmth = st.slider(
            "Temperature", 0.05, 2.0, 0.8, 0.05, key="network.temperature", persist_state="session", disabled=greedy,
            help="Scores are divided by it: below 1 the likely become likelier, above 1 all come closer.",
        )  # fmt: skip
        top_k = st.number_input(
            "Top-k (0: all)", 0, decoder_size(), 0, key="network.top_k", persist_state="session", disabled=greedy
        )
        top_p = st.slider(
            "Top-p", 0.05, 1.0, 1.0, 0.05, key="network.top_p", persist_state="session", disabled=greedy,
            help="The fewest tokens whose shares reach p; 1 keeps all.",
        )  # fmt: skip
        seed = st.number_input(
            "Seed", 0, MAX_SEED, 0, key="network.seed", persist_state="session", help="Same seed, same text."
        )
        st.number_input(
            "Tokens at once", 2, MOST_AT_ONCE, 10, key="network.count", persist_state="session",
            help="How many the button of that name makes.",
        )  # fmt: skip
    asked = Sampling(
        temperature=0.0 if greedy else float(warmth), top_k=int(top_k) or None, top_p=float(top_p), seed=int(seed)
    )
    st.session_state["network.sampling"] = asked
    return asked


def decoder_size() -> int:
    """Tokens of the vocabulary."""
    return load_decoder().tokenizer.size


# ------------------------------------------------------------------------------------------------ what is done


def _controls() -> Sampling:
    """The buttons of a row, and how the next token is drawn."""
    st.button("Next token", on_click=_more, args=(1,), type="primary", icon=":material/add:", key="network.one")
    st.button(
        "Play slowly", on_click=_play, icon=":material/slow_motion_video:", key="network.slow",
        help="Makes the next token and goes through its 77 steps on the map.",
    )  # fmt: skip
    count = int(st.session_state.get("network.count", 10))
    st.button(f"{count} tokens", on_click=_more, args=(None,), icon=":material/fast_forward:", key="network.many")
    st.toggle("Continuous", key="network.continuous", help="A token every 0.4 s until the text ends.")
    sampling = _sampling()
    st.button("Start again", on_click=_again, icon=":material/replay:", key="network.again")
    return sampling


def _more(count: int | None) -> None:
    """Make tokens until so many are made or the text has ended."""
    decoder, run = load_decoder(), st.session_state["network.run"]
    rebuilt = ""
    for made in range(count or int(st.session_state["network.count"])):
        if made and run.last.session.ended:
            break
        run = run.on(decoder)
        rebuilt = run.rebuilt or rebuilt
    st.session_state["network.run"] = replace(run, rebuilt=rebuilt)


def _play() -> None:
    _more(1)
    st.session_state["network.plays"] += 1
    st.session_state["network.continuous"] = False


def _again() -> None:
    st.session_state.pop("network.run", None)
    st.session_state["network.continuous"] = False
