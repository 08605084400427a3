"""The Layout page without a browser: what it says, asks and keeps, for the three published models."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tokenviz.catalog import PROFILES, load_model
from tokenviz.handoffs import chains, handoffs
from tokenviz.trace import traced
from tokenviz.ui_layout import CHAIN_NAMES
from tokenviz.views.format import share, si
from tokenviz.views.layout import centres_of, placed
from tokenviz.views.layout_plan import Request, plan

ROOT = Path(__file__).parent.parent
STAGES = Request("deltanet", "stages")


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=120)
    for name, value in {"model": "qwen3.5-0.8b", **query}.items():
        app.query_params[name] = value
    app.run()
    app.switch_page("pages/layout.py").run()
    assert not app.exception, app.exception[0].value
    return app


def frame(app: AppTest, *columns: str) -> Any:
    """The first table that has these columns."""
    return next(d.value for d in app.dataframe if set(columns) <= set(d.value.columns))


def strip(app: AppTest) -> str:
    """The line that says what W is."""
    return next(h.proto.body for h in app.get("html") if "layout-w" in h.proto.body)


@pytest.mark.parametrize("name", list(PROFILES))
def test_every_model_shows_its_finding_tables_and_layout_types(name: str) -> None:
    app = open_page(model=name)
    assert not app.error
    model = load_model(name)
    graph = handoffs(traced(model.architecture, model.scenario()), "deltanet")
    assert "In the DeltaNet chain of" in app.markdown[0].value
    assert f"along {len(graph.arrows)} arrows" in app.markdown[0].value
    assert "decay S" in app.markdown[0].value
    assert frame(app, "from", "values/token")["values/token"].sum() == graph.values
    assert frame(app, "operations/token", "fan-out")["operations/token"].sum() == sum(n.operations for n in graph.nodes)
    operations = {"qwen3.8-2.4t-a95b": 10_612, "qwen3.8-27b": 5_337, "qwen3.5-0.8b": 2_001}[name]
    assert frame(app, "arrangement", "operations/token")["operations/token"].sum() == operations
    titles = [s.value for s in app.subheader]
    assert titles == [
        "What is handed on", "Proposed layout types and why they differ",
        "How this informs distance, and what these counts mean",
    ]  # fmt: skip


@pytest.mark.parametrize("chain", ["deltanet", "attention", "ffn", "output", "token"])
def test_chain_and_grouping_come_from_the_address_bar(chain: str) -> None:
    step = traced(load_model("qwen3.5-0.8b").architecture, load_model("qwen3.5-0.8b").scenario())
    title = next(c.title for c in chains(step) if c.name == chain)
    app = open_page(chain=CHAIN_NAMES.get(chain, title), grouping="Operation types")
    graph = handoffs(step, chain, "types")
    assert len(frame(app, "from", "values/token", "layers")) == len(graph.arrows)
    caption = next(c.value for c in app.caption if "self-loops" in c.value)
    assert f"{graph.folded_values:,} that merging folded into self-loops" in caption
    assert f"{handoffs(step, chain).values:,}" in caption
    assert any("apparent" in c.value for c in app.caption)


def test_what_merging_folded_is_said() -> None:
    app = open_page(model="qwen3.8-27b", chain="Attention", grouping="Operation types")
    assert any("98,304 that merging folded into self-loops" in c.value for c in app.caption)


def test_a_chain_that_the_model_lacks_falls_back_to_its_first() -> None:
    app = open_page(model="llama-3.2-1b-instruct", chain="DeltaNet")
    assert app.selectbox(key="chain").value == "attention"


def test_the_token_rate_and_a_selection_move_nothing() -> None:
    app = open_page(view="Placed: refined")
    before = app.get("bidi_component")[-1].proto.json, strip(app)
    app.number_input(key="rate").set_value(250.0).run()
    assert (app.get("bidi_component")[-1].proto.json, strip(app)) == before
    app.selectbox(key="layout_node").set_value("deltanet/delta.multiply").run()
    assert strip(app) == before[1]


def test_the_context_changes_what_attention_hands_on() -> None:
    short, long = open_page(chain="Attention", context="10"), open_page(chain="Attention", context="1000")
    scores = [frame(a, "from", "values/token").iloc[0]["values/token"] for a in (short, long)]
    assert scores[1] > scores[0]


def test_a_selected_node_lists_what_it_takes_and_gives() -> None:
    app = open_page()
    app.selectbox(key="layout_node").set_value("deltanet/delta.multiply").run()
    assert app.session_state["layout_graph.selected"] == "deltanet/delta.multiply"
    said = "\n".join(m.value for m in app.markdown)
    assert "takes 4.72 M" in said  # the kept state, and 288 decays
    assert "save S: 4.72 M (retained)" in said
    assert "gives 9.44 M" in said  # the faded state, to two readers


def test_start_and_refined_differ_by_the_reduction() -> None:
    start, refined = strip(open_page(view="Placed: start")), strip(open_page(view="Placed: refined"))
    assert "at the start of the placement" in start
    assert "below its start" not in start
    assert "in the refined placement" in refined
    p = plan(load_model("qwen3.5-0.8b").architecture, load_model("qwen3.5-0.8b").scenario(), STAGES).placement
    assert f"{share(1 - p.objective / p.start_objective)} below its start ({si(p.start_objective)})" in refined
    assert f"{share(p.objective / p.lower_bound - 1)} above a lower bound ({si(p.lower_bound)})" in refined


def test_a_dragged_node_changes_w_and_snaps_back() -> None:
    app = open_page(view="Placed: refined")
    before = strip(app)
    model = load_model("qwen3.5-0.8b")
    found = plan(model.architecture, model.scenario(), STAGES)
    p = found.placement
    at = centres_of(placed(found.graph, p.positions, "x", (*p.start_positions, *p.positions)))
    x, y = at["deltanet/delta.save"]
    app.session_state["layout_graph.positions"] = {**at, "deltanet/delta.save": (x + 500.0, y + 500.0)}
    app.run()
    assert "as you dragged it" in strip(app)
    assert "than the refined placement" in strip(app)
    app.button(key="layout_snap").click().run()
    assert strip(app) == before


def test_options_reach_the_placement() -> None:
    plain = strip(open_page(chain="Output", view="Placed: refined"))
    for option in ({"distance": "manhattan"}, {"measure": "bytes"}):
        assert strip(open_page(chain="Output", view="Placed: refined", **option)) != plain


def test_everything_can_be_taken_home() -> None:
    app = open_page(chain="Output")
    labels = {b.proto.label for b in app.get("download_button")}
    assert labels == {"Hand-offs (CSV)", "Nodes (CSV)", "Positions (CSV)", "Drawing (SVG)", "All (JSON)"}
