"""Charts, tables and words of the Statistics page: what they say is what the library counts."""

import json
from types import MappingProxyType
from typing import Any

import altair as alt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import models
from tokenviz.catalog import Model, load_model
from tokenviz.graph import COUNTERS
from tokenviz.ledger import arithmetic, classes, exponentials, sub_operations
from tokenviz.machines import Machine, bounds, machines, roofline
from tokenviz.schedule import profile
from tokenviz.timeline import critical_shares, running
from tokenviz.views import statistics as words
from tokenviz.views import statistics_bytes as moved
from tokenviz.views import statistics_help as helps
from tokenviz.views import statistics_time as time
from tokenviz.views import statistics_work as work
from tokenviz.views.charts import DECADE, filled, kind_scale, named, opened_at
from tokenviz.views.format import exact, plural, seconds, share, si, signed, times, wrapped
from tokenviz.views.statistics import Side
from tokenviz.views.statistics_compare import compared, compared_sentence
from tokenviz.whatif import Change, what_if

PROFILES = ["qwen3.8-2.4t-a95b", "qwen3.8-27b", "qwen3.5-0.8b"]


def side(name: str, **changes: Any) -> Side:
    model = load_model(name)
    return Side(model, model.scenario(**changes))


def all_charts(s: Side, theme: str) -> list[Any]:
    n = s.scenario.context
    found = {"base": what_if(s.model.architecture, s.scenario, Change()),
             "many": what_if(s.model.architecture, s.scenario, Change(batch=8))}  # fmt: skip
    b = bounds(machines()[0], s.scenario, bytes_moved=1, macs=1, chain=1, latency_s=1, needed_bytes=1)
    return [
        time.timeline_chart(time.timeline_data(s.step, 5), kinds=work.kind_names(s.step), lane_count=4, window=(0, 9),
                            last=99, theme=theme, finding="f"),
        time.widths_chart(time.widths_data(s.step), bars=4, theme=theme, finding="f"),
        time.slack_chart(time.slack_data(s.step), bars=4, theme=theme, finding="f"),
        work.classes_chart(work.classes_data(s.step), bars=8, theme=theme, finding="f"),
        work.families_chart(work.families_data(s.dependence, n), bars=8, theme=theme, finding="f"),
        moved.split_chart(moved.split_data(s.dependence, n), bars=3, theme=theme, finding="f"),
        moved.growth_chart(moved.growth_data(s.dependence, n), theme=theme, finding="f"),
        helps.whatif_chart(helps.whatif_data(found), bars=2, theme=theme, finding="f"),
        helps.bounds_chart(helps.bounds_data(b), bars=3, theme=theme, finding="f"),
        helps.roofline_chart(helps.roofline_data(roofline(s.step, s.scenario), machines()[0], s.scenario),
                             kinds=work.kind_names(s.step), theme=theme, finding="f"),
    ]  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_is_valid_and_carries_its_finding(theme: str) -> None:
    with alt.data_transformers.disable_max_rows():
        for chart in all_charts(side("qwen3.5-0.8b", context=1_000), theme):
            spec = chart.to_dict()
            assert json.loads(json.dumps(spec)) == spec
            assert spec["title"]["text"]["expr"].endswith(': "f"')


def test_both_panels_of_the_roofline_say_what_their_height_is() -> None:
    spec = all_charts(side("qwen3.5-0.8b", context=1_000), "light")[-1].to_dict()
    titles = [{layer["encoding"]["y"]["axis"]["title"] for layer in panel["layer"]} for panel in spec["vconcat"]]
    assert titles == [
        {"At most FLOP/s, on one device (log scale)"},
        {"Least time of each transform, on one device (log scale)"},
    ]


def test_a_template_filled_is_the_chart() -> None:
    s = side("qwen3.5-0.8b")
    data = time.widths_data(s.step)
    template = time.widths_chart(named(data), bars=4).to_dict()
    spec = filled(template, data, 'a "quoted" finding')
    assert spec["datasets"]["widths"] is data["widths"]
    assert all(layer["mark"] == whole["mark"] and layer["encoding"] == whole["encoding"] for layer, whole in zip(
        template["layer"], time.widths_chart(data, bars=4).to_dict()["layer"], strict=True))  # fmt: skip
    assert json.dumps('a "quoted" finding') in spec["title"]["text"]["expr"]


def test_a_template_opens_at_any_window() -> None:
    names = ["runs", "blocks", "cells", "ops", "now"]
    template = time.timeline_chart(named(names), kinds=(("moe", "Experts"),), lane_count=4, last=9).to_dict()
    moved_to = opened_at(template, (3, 7))
    assert [p["value"] for p in moved_to["params"] if p["name"] == "part"] == [{"x": [3, 7]}]
    assert [p["value"] for p in template["params"] if p["name"] == "part"] == [{"x": [0, 1]}]


def test_kinds_keep_their_colours() -> None:
    one = kind_scale([("moe", "Experts"), ("attention", "Attention")]).to_dict()
    two = kind_scale([("attention", "Attention"), ("ffn", "Feed-forward"), ("new", "New")]).to_dict()
    assert two["domain"] == ["Attention", "Feed-forward", "New"]
    assert one["range"][1] == two["range"][0]
    assert len(set(two["range"])) == 3


# ------------------------------------------------------------------------------------------------ time


@pytest.mark.parametrize("name", PROFILES)
def test_the_picture_holds_every_operation_at_its_timestep(name: str) -> None:
    s = side(name)
    data = time.timeline_data(s.step, 3)
    cells, ops = data["cells"], data["ops"]
    assert len(cells) == s.summary.operations
    assert cells.groupby("t").size().tolist() == profile(s.step).tolist()
    assert not cells.duplicated(["t", "lane"]).any()
    t = 1_000
    shown = cells[cells["t"] == t].merge(ops, on="op").merge(data["blocks"], on="place")
    expected = [(p.op.label, p.transform.title, p.op.op_class.value, p.block.title) for p in running(s.step, t)]
    assert sorted(zip(shown["operation"], shown["transform"], shown["class"], shown["block"], strict=True)) == sorted(
        expected
    )
    runs = data["runs"]
    assert int(((runs["end"] - runs["t"]) * runs["width"]).sum()) == s.summary.operations
    assert len(runs) < 0.2 * s.summary.critical_path
    critical = cells.merge(ops, on="op")
    assert int(critical["critical"].sum()) == s.summary.critical_path


def test_the_window_is_three_blocks_wherever_t_is() -> None:
    step = side("qwen3.5-0.8b").step
    # lookup 2, first mixer 42 (its norm is looked up), feed-forward 17, mixer 48, feed-forward 17
    assert time.window_at(step, 0) == time.window_at(step, 2) == (0, 61)
    assert time.window_at(step, 44) == (2, 109)
    # the end: attention 31, feed-forward 17, output 13
    assert time.window_at(step, 1_466) == (1_467 - 13 - 17 - 31, 1_467)


def test_what_runs_as_a_table_and_the_folded_critical_path() -> None:
    s = side("qwen3.8-27b")
    table = time.running_table(running(s.step, 2))
    assert table["transform"].tolist() == [
        "q, k, v projection", "Output gate projection", "Correction projection", "Decay projection",
    ]  # fmt: skip
    assert set(table["place"]) == {"layers.0.mixer"}
    path = time.critical_table(critical_shares(s.step))
    assert int(path["operations"].sum()) == s.summary.critical_path
    assert not path.duplicated(["block", "transform"]).any()


def test_the_critical_path_lists_every_block_in_its_order() -> None:
    """Every DeltaNet layer but the first computes its norm of 6 operations: 68 × 6 = 408, ahead of the projection."""
    path = time.critical_table(critical_shares(side("qwen3.8-2.4t-a95b").step))
    assert int(path["operations"].sum()) == 6_886
    assert path["block"].drop_duplicates().tolist() == ["Lookup", "DeltaNet", "Experts", "Attention", "Output scores"]
    assert path["block"].ne(path["block"].shift()).sum() == 5  # each block's rows stand together
    own = path[path["block"] == "DeltaNet"]
    assert list(zip(own["transform"], own["operations"], strict=True))[:2] == [
        ("RMSNorm", 408), ("q, k, v projection", 138),
    ]  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(models())
def test_width_and_slack_rows_add_up(model: Model) -> None:
    s = Side(model, model.scenario(context=3))
    rows = time.widths_data(s.step)["widths"]
    assert int(rows["operations"].sum()) == s.summary.operations
    assert int(rows["timesteps"].sum()) == s.summary.critical_path
    assert rows["share"].sum() == pytest.approx(1)
    assert int(time.slack_data(s.step)["slack"]["operations"].sum()) == s.summary.operations


# ------------------------------------------------------------------------------------------------ work


@settings(max_examples=20, deadline=None)
@given(models(), st.integers(0, 5_000))
def test_work_tables_add_up(model: Model, context: int) -> None:
    s = Side(model, model.scenario(context=context))
    kinds = list(work.kinds_of(s.step))
    by_class, by_label = work.classes_table(s.step), work.labels_table(s.step)
    assert dict(zip(by_class["class"], by_class["operations"], strict=True)) == {
        c.value: n for c, n in classes(s.step).items()
    }
    assert dict(zip(by_label["operation"], by_label["operations"], strict=True)) == sub_operations(s.step)
    for table in (by_class, by_label):
        assert (table[kinds].sum(axis=1) == table["operations"]).all()
        assert table["share"].sum() == pytest.approx(1)
        assert table["operations"].is_monotonic_decreasing
    counts = arithmetic(s.step)
    families = work.families_table(s.dependence, context)
    own = {work.FAMILY_NAMES[c]: counts[c] for c in COUNTERS if counts[c]}
    assert dict(zip(families["family"], families["total"], strict=True)) == own
    assert (families["fixed part"] + families["per cached position"] * context == families["total"]).all()
    assert (families[sorted(kinds)].sum(axis=1) == families["total"]).all()
    ledger = work.ledger_table(s.dependence, context)
    assert ledger.groupby("family")["total"].sum().to_dict() == {**dict.fromkeys(set(ledger["family"]), 0), **own}


@pytest.mark.parametrize("name", PROFILES)
def test_exponentials_split_is_the_ledgers(name: str) -> None:
    s = side(name)
    split, own = work.exponentials_split(s.dependence, s.scenario.context), exponentials(s.step)
    assert (split["attention softmax"], split["all others"]) == (own["attention_softmax"], own["other"])


# ------------------------------------------------------------------------------------------------ bytes


@settings(max_examples=20, deadline=None)
@given(models(), st.integers(0, 5_000))
def test_traffic_table_adds_up(model: Model, context: int) -> None:
    s = Side(model, model.scenario(context=context))
    table = moved.traffic_table(s.dependence, context, 10.0)
    assert int(table["bytes"].sum()) == s.traffic.total
    assert (table["bytes/s"] == table["bytes"] * 10).all()
    assert (table["fixed part"] + table["per cached position"] * context == table["bytes"]).all()
    assert table["share"].sum() == pytest.approx(1)
    assert (table[sorted(work.kinds_of(s.step))].sum(axis=1) == table["bytes"]).all()
    assert int(moved.split_data(s.dependence, context)["split"]["bytes"].sum()) == s.traffic.total
    assert moved.state_share(s.dependence, context) == pytest.approx(1 - s.traffic.weights / s.traffic.total)


def test_the_growth_chart_marks_the_crossing() -> None:
    s = side("qwen3.8-2.4t-a95b")
    data = moved.growth_data(s.dependence, 1_000_000)
    assert data["cross"]["label"].tolist() == ["1,979,739"]
    assert data["here"]["bytes"].tolist() == [s.traffic.total]
    sums = data["growth"].pivot_table(index="context", columns="origin", values="bytes")
    assert (sums.drop(columns="all").sum(axis=1) == sums["all"]).all()


# ------------------------------------------------------------------------------------------------ help


def test_relief_says_what_each_change_does() -> None:
    s = side("qwen3.5-0.8b")
    base = what_if(s.model.architecture, s.scenario, Change())

    def line(**change: Any) -> str:
        return helps.relief(base, what_if(s.model.architecture, s.scenario, Change(**change)))

    assert line() == "Relieves nothing."
    assert (
        line(weights="fp8")
        == "Relieves bandwidth for weights (2× less); bandwidth for state and the serial chain stay."
    )
    assert line(batch=4) == ("Relieves bandwidth for weights (4× less); bandwidth for state and the serial chain stay.")
    assert line(positions=2).startswith("Relieves bandwidth for ")


def test_what_if_rows_are_per_token() -> None:
    s = side("qwen3.8-27b")
    found = {"base": what_if(s.model.architecture, s.scenario, Change()),
             "batch 4": what_if(s.model.architecture, s.scenario, Change(batch=4))}  # fmt: skip
    table = helps.whatif_table(found)
    assert table["most bytes per token"].tolist() == [o.most_bytes / o.tokens for o in found.values()]
    assert table["relieves"][0] == "the base"
    parts = helps.whatif_data(found)["parts"]
    assert parts.groupby("change")["bytes"].sum().to_dict() == {n: o.most_bytes / o.tokens for n, o in found.items()}


def test_roofline_rows() -> None:
    s = side("qwen3.8-2.4t-a95b")
    machine = machines()[0]
    points = roofline(s.step, s.scenario)
    table = helps.roofline_table(points, machine, s.scenario)
    assert int(table["bytes"].sum()) == s.traffic.total
    data = helps.roofline_data(points, machine, s.scenario)
    shown = data["points"]
    assert len(shown) == sum(1 for p in points if p.macs and p.bytes_moved)
    assert (shown["flops"] <= max(machine.peak_flops_per_s.values())).all()
    assert 1 <= sum(1 for label in shown["label"] if label) <= 5
    # a machine whose roof is flat from 1 FLOP per byte on: attention's 16 FLOP per byte sit under compute
    flat = Machine("flat", MappingProxyType({"bf16": 10**13}), 10**13, 10**12, "", None)
    low = helps.roofline_data(points, flat, s.scenario)["points"].set_index("transform")
    assert low["flops"].max() == 10**13
    assert low.loc["Scores", "ceiling"] == "compute"
    assert low.loc["Router", "ceiling"] == "bandwidth"
    silent = next(m for m in machines() if not m.peak_flops_per_s)
    assert len(helps.roofline_data(points, silent, s.scenario)["roof"]) == 2


# ------------------------------------------------------------------------------------------------ words, comparison


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("qwen3.8-2.4t-a95b", "Decoding one token is almost entirely serial: **10,612** operations, **6,886** of them "
         "in one chain; **1.54** run at once on average, never more than **4**. It moves **282 GB**, 66.2 % of it "
         "weights and 33.8 % state."),
        ("qwen3.8-27b", "Decoding one token is almost entirely serial: **5,337** operations, **3,897** of them in one "
         "chain; **1.37** run at once on average, never more than **4**. It moves **78.7 GB**, 16.3 % of it "
         "weights and 83.7 % state."),
    ],
)  # fmt: skip
def test_the_finding(name: str, sentence: str) -> None:
    assert words.finding(side(name)) == sentence


def test_other_findings() -> None:
    s = side("qwen3.8-2.4t-a95b")
    assert words.gate_note(s).startswith("Operations are 10,612 as the published study read")
    assert "and 10,589 as it is implemented" in words.gate_note(s)
    assert words.gate_note(side("meta-llama-3.1-8b")) == ""
    assert words.families_finding(s) == (
        "847 G MAC (1.69 TFLOP) and 1.48 G exponentials, 99.6 % of them attention softmax"
    )
    assert words.growth_finding(s) == "From 1,979,739 cached positions on, K/V reads exceed the active weights"
    assert "from about 1.98 M cached positions on (exactly 1,979,739 before the new token)" in words.growth_words(s)
    assert words.split_finding(side("qwen3.5-0.8b")) == "88.8 % of the 13.8 GB of one token are K/V"
    assert words.timeline_finding(s) == "A chain of 6,886 timesteps, at most 4 operations at once"
    assert words.growth_finding(side("mamba2-2.7b")) == "No byte depends on the context"


def test_totals_table_has_four_conventions() -> None:
    table = words.totals_table(side("qwen3.8-2.4t-a95b").step)
    assert table["convention"].tolist() == [
        "as drawn (operations)", "dataflow (operations)", "scalar depth (scalar operations)", "fused (kernels)",
    ]  # fmt: skip
    assert table.iloc[0][["operations", "critical path", "peak", "average"]].tolist() == [10_612, 6_886, 4, 1.54]


TABLES = {
    "totals": (
        lambda s: words.totals_table(s.step),
        ["convention"],
        ["operations", "critical path", "peak", "average"],
    ),
    "classes": (lambda s: work.classes_table(s.step), ["class"], ["operations"]),
    "labels": (lambda s: work.labels_table(s.step), ["operation"], ["operations"]),
    "families": (lambda s: work.families_table(s.dependence, s.scenario.context), ["family"], ["total", "fixed part"]),
    "ledger": (
        lambda s: work.ledger_table(s.dependence, s.scenario.context),
        ["family", "block", "transform"],
        ["total"],
    ),
    "traffic": (
        lambda s: moved.traffic_table(s.dependence, s.scenario.context, 1.0),
        ["origin", "lifetime"],
        ["bytes"],
    ),
    "rows": (words.rows_summary, ["block", "transform", "operation"], ["operations", "weight bytes"]),
    "path": (lambda s: time.critical_table(critical_shares(s.step)), ["block", "transform"], ["operations"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_identical_choices_give_zeros_and_swapping_changes_the_sign(name: str) -> None:
    make, keys, values = TABLES[name]
    one, two = make(side("qwen3.8-2.4t-a95b")), make(side("qwen3.5-0.8b", context=777))
    assert not one.duplicated(keys).any()
    again = make(side("qwen3.8-2.4t-a95b"))
    for value in values:
        same = compared(one, again, keys, [value])
        assert len(same) == len(one)
        forth, back = compared(one, two, keys, [value]), compared(two, one, keys, [value])
        assert len(forth) == len(back) == len(pd.concat([one[keys], two[keys]]).drop_duplicates())
        assert (same[f"{value}, difference"] == 0).all()
        assert (forth[f"{value} (second)"] - forth[value] == forth[f"{value}, difference"]).all()
        assert int(forth[value].sum()) == int(one[value].sum())
        assert int(forth[f"{value} (second)"].sum()) == int(two[value].sum())
        swapped = back.set_index(keys)[f"{value}, difference"]
        assert (forth.set_index(keys)[f"{value}, difference"] == -swapped.reindex(forth.set_index(keys).index)).all()
        assert (forth[f"{value}, difference"] != 0).any()


def test_many_figures_have_a_row_each_and_nothing_beside_nothing_has_none() -> None:
    one = pd.DataFrame({"row": ["a", "b"], "n": [3, 0], "x (s)": [0.5, 0.0], "z": [0, 0]})
    two = pd.DataFrame({"row": ["c", "a"], "n": [7, 2], "x (s)": [0.0, 0.75]})  # z is not counted there
    found = compared(one, two, ["row"], ["n", "x (s)", "z"])
    assert [type(x) for x in found["difference"]] == [int, float, int]
    assert found.to_dict("list") == {
        "row": ["a", "a", "c"], "figure": ["n", "x (s)", "n"], "first": [3, 0.5, 0], "second": [2, 0.75, 7],
        "difference": [-1, 0.25, 7],
    }  # fmt: skip
    # no figure but infinity on both sides is no difference
    same = pd.DataFrame({"row": ["a"], "n": [float("inf")]})
    assert compared(same, same, ["row"], ["n"])["n, difference"].tolist() == [0]


def test_the_sentence_beside_two_models() -> None:
    a, b = side("qwen3.8-2.4t-a95b"), side("qwen3.8-27b")
    assert compared_sentence(a, b) == "operations −5,275, critical path −2,989, bytes per token −203 GB"
    assert compared_sentence(b, a) == "operations +5,275, critical path +2,989, bytes per token +203 GB"
    assert compared_sentence(a, a) == "operations 0, critical path 0, bytes per token 0 B"


def test_rows_can_be_filtered() -> None:
    table = words.rows_table(side("qwen3.8-2.4t-a95b"), folded=True)
    assert "tanh" not in table  # a counter that nothing uses
    found = words.matching(table, "Attention softmax EXP", {"block": [], "class": []})
    assert set(found["operation"]) == {"exp"}
    assert set(found["transform"]) == {"Softmax"}
    only = words.matching(table, "", {"block": ["Experts"], "class": ["compare/select"]})
    assert only["operation"].tolist() == ["select"]
    assert len(words.matching(table, "", {})) == len(table)
    assert len(words.matching(table, "no such row", {})) == 0


def test_ten_thousand_rows() -> None:
    table = words.rows_table(side("qwen3.8-2.4t-a95b"), folded=False)
    assert len(table) == 10_612
    assert table["layer"].isna().sum() == 2 + 13
    assert int(table["layer"].max()) == 91


# ------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (0, "B", "0 B"), (999, "", "999"), (999.6, "", "1.00 k"), (1_000, "B", "1.00 kB"), (4_096, "B", "4.10 kB"),
        (33_449, "", "33.4 k"), (281_890_048_768, "B", "282 GB"), (1_472_001_472, "", "1.47 G"),
        (-5_275, "", "−5.28 k"), (28.2e12, "B/s", "28.2 TB/s"), (1.5, "", "1.50"),
    ],
)  # fmt: skip
def test_si(number: float, unit: str, text: str) -> None:
    assert si(number, unit) == text


def test_other_formats() -> None:
    assert [exact(n) for n in (1_234_567, -12)] == ["1,234,567", "−12"]
    assert [signed(n) for n in (3, 0, -5_275)] == ["+3", "0", "−5,275"]
    assert [signed(n, "B") for n in (2_000, 0)] == ["+2.00 kB", "0 B"]
    assert [seconds(s) for s in (0, 0.0587, 1.2e-6, 3.4e-10, 12.0)] == [
        "0 s",
        "58.7 ms",
        "1.20 µs",
        "0.34 ns",
        "12.0 s",
    ]
    assert [share(x) for x in (0.3342, 0.00001, 1.0, 0.0)] == ["33.4 %", "< 0.01 %", "100 %", "0.00 %"]
    assert [times(x) for x in (8.0, 3.9999, 63.98, 1.541, 1.5, 123.4, 1_234.5)] == [
        "8×", "4×", "64×", "1.54×", "1.5×", "123×", "1,234×",
    ]  # fmt: skip
    assert [plural(n, "operation") for n in (1, 2)] == ["1 operation", "2 operations"]
    assert wrapped("one two three", 7) == ["one two", "three"]


@pytest.mark.parametrize(("peak", "bandwidth", "bends"), [(1, 1_000, 2), (1_000, 1, 3), (10**9, 1, 2)])
def test_the_roof_stays_inside_the_chart_and_never_falls(peak: int, bandwidth: int, bends: int) -> None:
    s = side("qwen3.5-0.8b")
    machine = Machine("one", MappingProxyType({"bf16": peak}), bandwidth, 10**12, "", None)
    roof = helps.roofline_data(roofline(s.step, s.scenario), machine, s.scenario)["roof"]
    assert len(roof) == bends  # the ridge at 0.001, 1,000 and 10^9 FLOP per byte
    assert (roof["intensity"].iloc[0], roof["intensity"].iloc[-1]) == helps.ROOF_DOMAIN
    assert roof["flops"].is_monotonic_increasing
    assert roof["flops"].max() <= peak


def test_a_dense_model_shows_no_range_and_an_upper_end_is_called_at_least() -> None:
    def outcomes(name: str) -> dict[str, Any]:
        s = side(name)
        changes = {"as it is": Change(), "batch 8": Change(batch=8)}
        return {n: what_if(s.model.architecture, s.scenario, c) for n, c in changes.items()}

    dense = outcomes("meta-llama-3.1-8b")
    assert dense["batch 8"].fewest_bytes < dense["batch 8"].most_bytes  # rows of the embedding
    ends = helps.whatif_data(dense)["least"]
    assert (ends["fewest"] == ends["most"]).all()
    assert not ends["label"].str.contains(" to ").any()
    routed = outcomes("qwen3-30b-a3b")
    assert helps.whatif_data(routed)["least"]["label"].str.contains(" to ").tolist() == [False, True]
    assert "(at least " in helps.relief(routed["as it is"], routed["batch 8"])
    assert "at least" not in helps.relief(routed["as it is"], routed["as it is"])


def test_a_part_that_is_not_all_is_never_called_100_percent() -> None:
    assert (share(1), share(0.9996), share(0.9994), share(0.0004)) == ("100 %", "> 99.9 %", "99.9 %", "0.04 %")


def test_what_bends_says_so() -> None:
    assert words.bend_note(side("qwen3.8-27b")) == ""
    assert "638,976 to 647,167" in words.bend_note(side("llama-4-scout-17b-16e-instruct", context=640_000))
    assert "for good from" in words.growth_finding(side("llama-4-scout-17b-16e-instruct"))
    assert "for good" not in words.growth_finding(side("qwen3.8-27b"))


# ------------------------------------------------------------------------------------------------ few bars, log axes


@pytest.mark.parametrize(("name", "bars"), [("mamba2-2.7b", 2), ("gpt2", 3)])
def test_what_few_bars_are_named_by_stands_above_them_with_room_of_its_own(name: str, bars: int) -> None:
    step = side(name).step
    for chart, data in ((time.widths_chart, time.widths_data(step)), (time.slack_chart, time.slack_data(step))):
        assert len(next(iter(data.values()))) == bars
        spec = chart(data, bars=bars, finding="f").to_dict()
        axis = spec["layer"][0]["encoding"]["y"]["axis"]
        assert (axis["titleAngle"], axis["titleAlign"], axis["titleBaseline"], axis["titleX"]) == (
            0, "left", "bottom", 0,
        )  # fmt: skip
        plain = work.classes_chart(work.classes_data(step), bars=bars, finding="f").to_dict()
        assert spec["height"] - plain["height"] > axis.get("titleFontSize", 14) - axis["titleY"]


def test_log_axes_label_powers_of_ten_alone() -> None:
    s = side("gpt2", context=1_000)
    growth = moved.growth_chart(moved.growth_data(s.dependence, 1_000)).to_dict()
    families = work.families_chart(work.families_data(s.dependence, 1_000), bars=8).to_dict()
    for axis in (growth["layer"][0]["encoding"]["y"]["axis"], families["layer"][0]["encoding"]["x"]["axis"]):
        assert axis["labelExpr"] == f"{DECADE} ? format(datum.value, '~s') : ''"
        assert axis["labelOverlap"] is False
        assert axis["gridOpacity"] == {"condition": {"test": DECADE, "value": 0.4}, "value": 0}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("mamba2-2.7b", ["active weights", "fixed-size state", "all"]),
        ("phi-3-mini-4k-instruct", ["active weights", "K/V", "all"]),
        ("qwen3.8-27b", ["active weights", "K/V", "fixed-size state", "all"]),
    ],
)
def test_the_growth_chart_lists_the_lines_it_has(name: str, lines: list[str]) -> None:
    data = moved.growth_data(side(name).dependence, 1_000)
    assert data["lines"]["origin"].tolist() == list(data["growth"]["origin"].unique()) == lines
    spec = moved.growth_chart(named(data)).to_dict()
    legends = [spec["layer"][0]["encoding"][channel]["legend"] for channel in ("color", "strokeDash")]
    assert legends[0] == legends[1]  # so they are drawn as one
    assert legends[0]["values"] == {"expr": "pluck(data('lines'), 'origin')"}
    assert {"name": "lines"} in [layer["data"] for layer in spec["layer"]]  # or the browser never gets these rows


@pytest.mark.parametrize(
    ("context", "last"), [(0, 10_000_000), (1, 10_000_000), (10_000_000, 10_000_000), (100_000_000, 100_000_000)]
)
def test_the_growth_chart_reaches_the_chosen_context(context: int, last: int) -> None:
    s = side("qwen3.8-27b", context=context)
    data = moved.growth_data(s.dependence, context)
    assert (data["growth"]["context"].min(), data["growth"]["context"].max()) == (1, last)
    here = list(data["here"].itertuples(index=False, name=None))
    assert here == ([(context, s.traffic.total)] if context else [])
    assert "domain" not in moved.growth_chart(data).to_dict()["layer"][0]["encoding"]["x"]["scale"]


def test_the_growth_curve_has_both_sides_of_every_jump_that_can_be_seen() -> None:
    s = side("llama-4-scout-17b-16e-instruct")
    growth = moved.growth_data(s.dependence, 1_000_000)["growth"]
    curve = growth[growth["origin"] == "K/V"].set_index("context")["bytes"]
    assert len(curve) == moved.MOST_POINTS
    for n in range(8_192, 8_192 * 40, 8_192):
        before, after = (side(s.model.name, context=c).traffic for c in (n - 1, n))
        assert curve[n - 1] == before.kv_read + before.kv_write
        assert curve[n] == after.kv_read + after.kv_write < curve[n - 1]
