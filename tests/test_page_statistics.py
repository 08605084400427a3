"""The page itself, run without a browser: every section for the three profiles, comparison, links and wrong input."""

import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tokenviz.catalog import load_model
from tokenviz.ui_statistics import TABS
from tokenviz.ui_statistics_parts import csv_of
from tokenviz.views.statistics import Side, rows_table

ROOT = Path(__file__).parent.parent
PROFILES = {
    "qwen3.8-2.4t-a95b": (10_612, 6_886, 4, 1.54),
    "qwen3.8-27b": (5_337, 3_897, 4, 1.37),
    "qwen3.5-0.8b": (2_001, 1_467, 4, 1.36),
}
CHARTS = {"Parallelism": 3, "Operations": 1, "Arithmetic": 1, "Data movement": 2, "What would help": 1,
          "On a machine": 2, "Every operation": 0}  # fmt: skip


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    app.switch_page("pages/statistics.py").run()
    assert not app.exception, app.exception
    return app


def tables(app: AppTest) -> list[pd.DataFrame]:
    """Every table of the page, with its raw values: those that sort by themselves, then the data grids."""
    protos = [c.proto for c in app.get("bidi_component") if c.proto.component_name.endswith("tokenviz_table")]
    data = [json.loads(p.json) for p in protos]
    own = [pd.DataFrame(d["rows"], columns=[c["name"] for c in d["columns"]]) for d in data]
    return own + [d.value for d in app.dataframe]


def files(app: AppTest) -> list[str]:
    """Names of the files that the sorting tables save."""
    protos = [c.proto for c in app.get("bidi_component") if c.proto.component_name.endswith("tokenviz_table")]
    return [json.loads(p.json)["file"] for p in protos]


def test_files_are_named_after_their_models_and_tables() -> None:
    assert files(opened(model="qwen3.8-27b")) == [
        f"qwen3.8-27b-{what}.csv" for what in ("running", "totals", "widths", "critical-path")
    ]
    beside = files(opened(model="qwen3.8-27b", vs="qwen3.5-0.8b"))
    assert beside == [
        "qwen3.8-27b-running.csv", "qwen3.5-0.8b-running.csv",
        *(f"qwen3.8-27b-vs-qwen3.5-0.8b-{what}.csv" for what in ("totals", "widths", "slack", "critical-path")),
    ]  # fmt: skip
    for section in TABS:
        found = files(opened(model="qwen3.8-27b", vs="qwen3.5-0.8b", section=section))
        assert len(found) == len(set(found))
        assert all(re.fullmatch(r"[\w.-]+\.csv", name) for name in found)


def charts(app: AppTest) -> int:
    return len(app.get("vega_lite_chart"))


@pytest.mark.parametrize("section", TABS)
@pytest.mark.parametrize("name", PROFILES)
def test_every_section_of_every_profile(name: str, section: str) -> None:
    app = opened(model=name, section=section)
    operations, depth, *_ = PROFILES[name]
    assert f"**{operations:,}** operations, **{depth:,}** of them in one chain" in app.markdown[0].value
    assert charts(app) == CHARTS[section]
    assert not app.error
    totals = [t for t in tables(app) if "convention" in t]
    assert [tuple(t.iloc[0])[1:] for t in totals] == ([PROFILES[name]] if section == "Parallelism" else [])


COMPARED = {
    "Parallelism": [{"convention"}, {"timesteps", "operations"}, {"transforms", "operations"},
                    {"block", "transform", "operations"}],
    "Operations": [{"class", "operations"}, {"class", "block", "operations"}, {"operation", "operations"},
                   {"operation", "block", "operations"}],
    "Arithmetic": [{"family"}, {"family", "block", "total"}, {"exponentials"}, {"family", "block", "transform"}],
    "Data movement": [{"origin", "lifetime"}, {"origin", "block", "bytes"}],
    "What would help": [{"change"}],
    "On a machine": [{"resource", "lower bound (s)", "at most tokens/s"}, {"what must fit"}, {"block", "transform"}],
    "Every operation": [{"block", "transform", "operation"}],
}  # fmt: skip
"""Columns of the tables that a section compares: what a row is, and the figures that stand beside each other."""
FIGURES = {
    "Parallelism": {"operations", "critical path", "peak", "average"},
    "Arithmetic": {"total", "fixed part", "per cached position"},
    "Data movement": {"bytes", "bytes/s", "fixed part", "per cached position"},
    "What would help": {
        "tokens per step", "operations per step", "critical path per step", "critical path per token",
        "least bytes per token", "most bytes per token", "FLOP per byte, least", "FLOP per byte, most",
        "state kept (bytes)",
    },
    "On a machine": {"MACs", "bytes", "FLOP per byte", "lower bound, one device (s)"},
    "Every operation": {
        "operations", "values in", "values out", "weight bytes", "state bytes read", "state bytes written", "mac",
        "multiply", "add", "compare", "exp", "log1p", "rsqrt", "divide",
    },
}  # fmt: skip
"""Figures that have a row each."""


@pytest.mark.parametrize("section", TABS)
def test_the_same_model_twice_differs_nowhere(section: str) -> None:
    app = opened(model="qwen3.5-0.8b", vs="qwen3.5-0.8b", section=section)
    beside = [t for t in tables(app) if any(str(c).endswith("difference") for c in t)]
    for columns in COMPARED[section]:
        assert any(columns <= set(table) for table in beside), columns
    assert {f for t in beside if "figure" in t for f in t["figure"]} == FIGURES.get(section, set())
    for table in beside:
        for column in [c for c in table if str(c).endswith("difference")]:
            first = column.removesuffix(", difference") if column != "difference" else "first"
            second = f"{first} (second)" if column != "difference" else "second"
            assert (table[column] == 0).all()
            assert (table[first] == table[second]).all()
    assert charts(app) == 2 * CHARTS[section]
    assert any("operations 0, critical path 0, bytes per token 0 B" in m.value for m in app.markdown)


def test_another_context_of_the_same_model_is_signed() -> None:
    app = opened(model="qwen3.8-27b", vs="qwen3.8-27b", vs_context="0", section="Data movement")
    table = next(t for t in tables(app) if "origin" in t).set_index(["origin", "figure"])
    assert table["difference"]["K/V read", "bytes"] == -65_536 * 1_000_000
    assert table["difference"]["K/V read", "per cached position"] == 0
    split = next(t for t in tables(app) if "bytes, difference" in t).set_index(["origin", "block"])
    assert split["bytes, difference"]["K/V read", "Attention"] == -65_536 * 1_000_000
    # 4-bit weights are the profile's own precision, kept for the same model
    assert any("qwen3\\.8\\-27b · 0 cached · int4" in m.value for m in app.markdown)


def test_a_timestep_lists_what_runs() -> None:
    app = opened(model="qwen3.8-2.4t-a95b", timestep="2")
    assert tables(app)[0]["operation"].tolist() == ["products"] * 4
    app.slider(key="timestep").set_value(0).run()
    assert tables(app)[0]["operation"].tolist() == ["look up row pair"]
    app.selectbox(key="jump").set_value("layers.91.ffn · Experts").run()
    # before the end: the output block (norm 6, scores 2, softmax 5) and the last section's 31
    assert app.slider(key="timestep").value == 6_886 - 13 - 31
    assert set(tables(app)[0]["place"]) == {"layers.91.ffn"}


def test_a_timestep_beyond_a_shorter_model_moves_to_its_end() -> None:
    app = opened(model="qwen3.8-2.4t-a95b", timestep="6885")
    app.selectbox(key="model").set_value("qwen3.5-0.8b").run()
    assert not app.exception
    assert app.slider(key="timestep").value == 1_466


def test_the_pipeline_page_shows_the_same_timestep_and_back() -> None:
    app = opened(model="qwen3.5-0.8b", timestep="7")
    app.slider(key="timestep").set_value(55).run()
    app.switch_page("pages/pipeline.py").run()
    assert app.number_input(key="t").value == 55
    app.number_input(key="t").set_value(60).run()
    app.switch_page("pages/statistics.py").run()
    assert app.slider(key="timestep").value == 60
    assert "Timestep 60:" in " ".join(c.value for c in app.caption)


def test_rows_filter_and_downloads() -> None:
    app = opened(section="Every operation", rows="every layer", contains="value mix", model="qwen3.8-2.4t-a95b")
    rows = next(t for t in tables(app) if "weight bytes" in t)
    # products and sum in each of 23 attention layers
    assert len(rows) == 23 * 2
    labels = [b.label for b in app.get("download_button")]
    assert labels == [
        "All rows as CSV",
        "Distinct blocks as CSV",
        "Schedule for Perfetto (Chrome trace)",
    ]


def test_a_change_of_ones_own() -> None:
    app = opened(section="What would help", model="qwen3.5-0.8b", tokens="3", what_kv="fp8")
    table = next(t for t in tables(app) if "tokens per step" in t)
    assert table["change"].tolist()[-1] == "your own"
    assert table["tokens per step"].tolist()[-1] == 3


def test_a_machine_of_ones_own_and_one_that_is_too_small() -> None:
    app = opened(section="On a machine", model="qwen3.5-0.8b", machine="type your own")
    assert any("of your machine; the fewest that hold them" in m.value for m in app.markdown)
    assert any("Figures typed in by you" in c.value for c in app.caption)
    app = opened(section="On a machine", model="qwen3.8-2.4t-a95b", machine="NVIDIA H100 SXM", devices="1")
    assert any("**do not fit** into" in m.value for m in app.markdown)
    assert any("Source: NVIDIA" in c.value for c in app.caption)
    bounds = next(t for t in tables(app) if "lower bound (s)" in t and "binds" in t)
    assert bounds["binds"].tolist().count("yes") == 1


def test_how_it_is_counted_is_on_the_page() -> None:
    app = opened()
    text = " ".join(m.value for m in app.markdown)
    for title in ("As drawn", "Dataflow", "Scalar depth", "Fused"):
        assert f"**{title}.**" in text
    assert "[as drawn](#how-this-is-counted)" in text


def test_words_that_match_no_row_say_what_to_do() -> None:
    app = opened(section="Every operation", contains="nothing-like-this")
    assert [i.value for i in app.info] == ["No row matches. Remove a word or a filter."]


def test_the_critical_path_is_there_operation_by_operation() -> None:
    app = opened(model="qwen3.8-2.4t-a95b", path="by operation")
    path = next(t for t in tables(app) if "timestep" in t)
    assert path["timestep"].tolist() == list(range(6_886))
    folded = next(
        t for t in tables(opened(model="qwen3.8-2.4t-a95b")) if list(t) == ["block", "transform", "operations"]
    )
    # the path's operations by transform are the folded table's figures
    counted = path.groupby(["block", "transform"]).size().to_dict()
    assert {(b, t): n for b, t, n in folded.itertuples(index=False)} == counted


def test_prediction_heads_are_spoken_of_where_a_model_has_them() -> None:
    said = [c.value for c in opened(model="qwen3.8-2.4t-a95b", section="Data movement").caption]
    assert any("extra prediction heads" in text and "keep is left out" in text for text in said)
    said = [c.value for c in opened(model="qwen3.8-2.4t-a95b", section="Data movement", prediction="true").caption]
    assert any("keep is counted" in text for text in said)


def test_filters_come_from_the_link() -> None:
    app = opened(section="Every operation", model="qwen3.5-0.8b", blocks="Attention", classes="reduction")
    rows = next(t for t in tables(app) if "weight bytes" in t)
    assert (set(rows["block"]), set(rows["class"])) == ({"Attention"}, {"reduction"})


def test_no_table_shows_a_key_for_a_block_kind() -> None:
    for section in TABS:
        for table in tables(opened(section=section, model="qwen3.8-2.4t-a95b")):
            assert not {"deltanet", "moe", "attention", "ffn", "output", "lookup"} & set(map(str, table.columns))
            for column in {"block", "kind"} & set(table.columns):
                assert not {"deltanet", "moe", "attention", "ffn", "output"} & set(table[column])


def test_a_place_outside_the_layers_has_an_empty_layer_in_the_file() -> None:
    model = load_model("qwen3.5-0.8b")
    table = rows_table(Side(model, model.scenario()), folded=False)
    first = next(csv.DictReader(io.StringIO(csv_of(table))))
    assert first["layer"] == ""
    assert "<NA>" not in csv_of(table)


def test_a_second_model_that_cannot_be_counted_is_named_and_the_page_stays() -> None:
    app = opened(section="Data movement", vs="deepseek-v4-flash")
    (said,) = (w.value.replace("\\", "") for w in app.warning)
    assert said.startswith("deepseek-v4-flash cannot be compared: ")
    assert [t["origin"].iloc[0] for t in tables(app)] == ["active weights"]  # the first model's own


def test_two_models_are_compared_on_equally_many_devices() -> None:
    app = opened(section="On a machine", vs="gpt2")
    (rows,) = (t for t in tables(app) if "what must fit" in t)
    devices = rows[rows["what must fit"] == "devices"].iloc[0]
    assert devices["amount"] == devices["amount (second)"] > 1
    assert any("Both on 35 devices" in c.value for c in app.caption)
