"""A link that asks for something impossible: one sentence, the page as it starts, and no word about good links."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tokenviz import ui_link
from tokenviz.catalog import DEFAULT_MODEL, bundled_models

ROOT = Path(__file__).parent.parent


def opened(page: str = "", **query: str | list[str]) -> AppTest:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    if page:
        app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def said(app: AppTest) -> str:
    """What the page says about its link, as a reader sees it."""
    return " ".join(w.value.replace("\\", "") for w in app.warning if "The link asks" in w.value.replace("\\", ""))


BAD = [
    ("", {"model": "nope"}, "model=nope: give one of", f"Shown: {DEFAULT_MODEL}."),
    ("", {"model": "qwen3.8-27B"}, "model=qwen3.8-27B: give one of", "such as qwen3.8-27b"),
    ("", {"context": "-5"}, "context=-5: give a whole number from 0 to 100,000,000.", "Shown: 1,000,000."),
    ("", {"context": "abc"}, "context=abc: give a whole number from 0 to 100,000,000.", "Shown: 1,000,000."),
    ("", {"context": "5.5"}, "context=5.5: give a whole number", "Shown: 5."),
    ("", {"context": ""}, "context=: give a whole number", "Shown: 1,000,000."),
    ("", {"rate": "-1"}, "rate=-1: give a number from 0.1 to 1,000,000.", "Shown: 100."),
    ("", {"rate": "nan"}, "rate=nan: give a number", "Shown: 100."),
    ("", {"metadata": "perhaps"}, "metadata=perhaps: give true or false.", "Shown: off."),
    ("", {"output": "Greedy"}, "output=Greedy: give one of softmax, greedy.", "Shown: softmax."),
    ("", {"weights": "int3"}, "weights=int3: give one of as published, ", "Shown: as published."),
    ("", {"t": "999999"}, "t=999999: give a whole number from 0 to", "Shown: 0."),
    ("statistics", {"section": "Nope"}, "section=Nope: give one of Parallelism, Operations,", "Shown: Parallelism."),
    ("statistics", {"vs": "nope"}, "vs=nope: give one of", "Shown: nothing."),
    ("statistics", {"vs_context": "-1"}, "vs_context=-1: give a whole number", "Shown: the default."),
    ("statistics", {"timestep": "6886", "model": "qwen3.8-2.4t-a95b"}, "from 0 to 6,885.", "Shown: 0."),
    ("statistics", {"section": "On a machine", "machine": "H99"}, "machine=H99: give one of", "Shown: NVIDIA H200"),
    ("statistics", {"section": "What would help", "batch": "0"}, "batch=0: give a whole number from 1", "Shown: 1."),
    ("statistics", {"section": "Every operation", "classes": ["reduction", "magic"]}, "classes=magic: give one of",
     "Shown: reduction."),
    ("layout", {"chain": "Nope"}, "chain=Nope: give one of", "Shown: "),
    ("layout", {"sites": "sea"}, "sites=sea: give one of", "Shown: "),
]  # fmt: skip


@pytest.mark.parametrize(("page", "query", "asked", "shown"), BAD)
def test_a_bad_value_is_named_with_what_to_give_and_what_is_shown(
    page: str, query: dict[str, str | list[str]], asked: str, shown: str
) -> None:
    text = said(opened(page, **query))
    assert asked in text
    assert shown in text
    assert text.count("The link asks") == 1


GOOD = [
    ("", {}),
    ("", {"model": "qwen3.5-0.8b", "context": "1e6", "rate": "2.5", "metadata": "TRUE", "output": "greedy",
          "weights": "int4", "kv": "fp8", "t": "3"}),
    ("", {"model": "qwen3.8-27b", "gate": "as implemented", "utm_source": "mail"}),
    ("statistics", {"section": "Every operation", "rows": "every layer", "contains": "any words", "classes":
                    ["reduction", "route/store"], "blocks": "Attention"}),
    ("statistics", {"vs": "qwen3.8-27b", "vs_context": "0", "vs_weights": "int4", "second_timestep": "7"}),
    ("statistics", {"section": "On a machine", "machine": "type your own", "own_peak": "10", "chain_counted":
                    "as drawn", "devices": "", "link": "0"}),
    ("layout", {"grouping": "Operation types", "chain": "Whole token"}),
    ("network", {"section": "Nope", "chain": "Nope"}),
]  # fmt: skip


@pytest.mark.parametrize(("page", "query"), GOOD)
def test_a_good_link_and_keys_of_other_pages_say_nothing(page: str, query: dict[str, str | list[str]]) -> None:
    assert said(opened(page, **query)) == ""


def test_keys_of_another_page_say_nothing_here() -> None:
    assert said(opened("", section="Nope", chain="Nope")) == ""
    assert said(opened("layout", section="Nope")) == ""
    assert said(opened("statistics", chain="Nope", sites="sea")) == ""


def test_the_sentence_stays_until_something_changes() -> None:
    app = opened("statistics", vs="nope", section="Nope")
    assert said(app).count("The link asks") == 2
    assert said(app.run()).count("The link asks") == 2  # the same view again
    app.number_input(key="rate").set_value(50.0).run()
    assert said(app) == ""
    app.number_input(key="rate").set_value(100.0).run()  # back to what the first view had
    assert said(app) == ""


def test_a_long_value_is_cut_and_no_value_is_markup() -> None:
    app = opened("", model="<img src=x onerror=alert(1)>" + "x" * 500)
    (warning,) = [w.value for w in app.warning]
    assert "\\<img src\\=x" in warning
    assert "x" * 100 not in warning


def names(choices: Iterable[str], value: str) -> str:
    return ui_link.one_of(choices)(value)


def test_of_many_names_the_nearest_are_offered() -> None:
    assert "such as qwen3.5-0.8b" in names(bundled_models(), "qwen-3.5-0.8b")
    assert names("ab", "c") == "give one of a, b"
    assert names(map(str, range(20)), "zzzz") == "give one of 20 names (the field has them all)"
