"""What the Pipeline page says: cards against the graph, search, legend, kept state, files."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest

from tokenviz import graph_export
from tokenviz.catalog import bundled_models, load_model
from tokenviz.export import to_csv
from tokenviz.graph import StateKind
from tokenviz.ledger import classes, total_counts
from tokenviz.notation import ConfigError
from tokenviz.schedule import schedule_block, summarise
from tokenviz.trace import traced
from tokenviz.traffic import kept, value_bytes
from tokenviz.views import pipeline, saved
from tokenviz.views.palette import OP_CLASSES
from tokenviz.views.pipeline_cards import Card, describe
from tokenviz.views.pipeline_elements import bubbled
from tokenviz.views.pipeline_groups import box_id, bubble_id, cell_id, drawn_as, groups, panel_id, parse
from tokenviz.views.pipeline_sheet import sheet
from tokenviz.views.pipeline_strip import strip_html
from tokenviz.views.scene import Bubble, Cell, overlaps
from tokenviz.views.svg import to_svg

BIG = "qwen3.8-2.4t-a95b"
SAMPLE = [BIG, "qwen3.8-27b", "qwen3.5-0.8b", "llama-2-7b-hf"]


def ask(name: str, **changes: object):
    model = load_model(name)
    scenario = model.scenario(**changes)
    return model, scenario, traced(model.architecture, scenario)


def key_of(name: str, kind: str) -> str:
    return next(g.key for g in groups(ask(name)[2]) if g.block.kind == kind)


def card(name: str, element: str) -> Card:
    _, scenario, step = ask(name)
    found = describe(step, scenario, element)
    assert found is not None
    return found


def fact(found: Card, name: str) -> str:
    return dict(found.facts)[name]


def texts(found: Card, heading: str) -> list[str]:
    return [link.text for link in dict(found.links)[heading]]


# ------------------------------------------------------------------------------------------------ cards


@pytest.mark.parametrize("name", SAMPLE)
def test_every_drawn_element_has_a_card_and_every_link_leads_to_one(name: str) -> None:
    model, scenario, step = ask(name)
    scene = pipeline.scene(model.architecture, scenario)
    ids = {*scene.items, *(p.id for p in scene.panels)}
    for element in ids:
        found = describe(step, scenario, element)
        assert found is not None, element
        assert {link.id for _, links in found.links for link in links} <= ids
        assert found.says.endswith(".")


@pytest.mark.parametrize(
    "element", [None, "", "x", "nothing/t:norm", "lookup/t:nothing", "lookup/o:nothing", "lookup/z:x"]
)
def test_what_is_no_element_has_no_card(element: str | None) -> None:
    _, scenario, step = ask(BIG)
    assert describe(step, scenario, element) is None


def test_a_products_cell_says_why_it_is_fixed_or_dynamic() -> None:
    """W·x and q·k: the same arithmetic, another class, and the reason names the operands' lifetimes."""
    block = key_of(BIG, "attention")
    fixed, dynamic = card(BIG, cell_id(block, "q.products")), card(BIG, cell_id(block, "scores.products"))
    assert fact(fixed, "Class") == "fixed linear"
    assert fact(dynamic, "Class") == "dynamic multiply/divide"
    _, _, step = ask(BIG)
    ops = {op.id: op for op in step.blocks[block].ops}
    assert fact(fixed, "Why") == ops["q.products"].reason
    assert fact(dynamic, "Why") == ops["scores.products"].reason
    assert fact(fixed, "Why") != fact(dynamic, "Why")


def test_counts_of_an_operation_are_exact() -> None:
    """scores: 4 K/V heads × 16 queries each × 1,000,001 positions × 256 = 16,384,016,384 MACs; times 23 layers."""
    assert 4 * 16 * 1_000_001 * 256 == 16_384_016_384
    found = card(BIG, cell_id(key_of(BIG, "attention"), "scores.products"))
    assert fact(found, "multiply–accumulate pairs (MAC)") == "16,384,016,384 a layer, 376,832,376,832 a token"
    assert fact(found, "Timestep").startswith("18 of the block's 31")


def test_a_looked_up_norm_counts_one_layer_less() -> None:
    """69 DeltaNet layers compute 68 norms: the square of 8,192 values takes 8,192 × 68 = 557,056 multiplications."""
    assert 8_192 * 68 == 557_056
    found = card(BIG, cell_id(key_of(BIG, "deltanet"), "norm.multiply"))
    assert fact(found, "multiplications") == "8,192 a layer, 557,056 a token"


def test_a_transform_says_when_it_runs_and_what_runs_beside_it() -> None:
    """The norm takes steps 1 to 6; the four projections start together at step 7."""
    found = card(BIG, box_id(key_of(BIG, "attention"), "k"))
    assert fact(found, "Runs") == "timesteps 7 to 8 of the block's 31"
    assert texts(found, "Runs beside") == ["Query projection", "Gate projection", "Value projection"]
    assert texts(found, "Waits for") == ["RMSNorm"]
    assert texts(found, "Waited for by") == ["k RMSNorm"]
    assert fact(found, "Parallel inside") == "1,024 results at once: 4 key/value heads × 256 head dimension"
    assert found.equation == r"k = W\,x"


def test_slack_and_the_share_of_the_critical_path() -> None:
    """z is ready long before the read-out that it gates: it may wait; the convolution's 9 steps are on every path."""
    _, _, step = ask(BIG)
    block = step.blocks[key_of(BIG, "deltanet")]
    slack = schedule_block(block).spans["z"].slack
    assert slack > 0
    assert fact(card(BIG, box_id(block.key, "z")), "Slack").startswith(f"could start {slack} timesteps later")
    assert fact(card(BIG, box_id(block.key, "z")), "Critical path") == "not on it"
    total = summarise(step).critical_path
    assert fact(card(BIG, box_id(block.key, "conv")), "Critical path").endswith(f"{9 * 69} of {total:,} timesteps")


@pytest.mark.parametrize("name", SAMPLE)
def test_shares_of_the_critical_path_add_up_to_it(name: str) -> None:
    _, scenario, step = ask(name)
    total = 0
    for group in groups(step):
        for t in group.block.transforms:
            words = fact(describe(step, scenario, box_id(group.key, t.id)), "Critical path")
            if "timesteps" in words:
                total += int(words.split(": ")[1].split(" of ")[0].replace(",", ""))
    assert total == summarise(step).critical_path


def test_the_memory_of_deltanet() -> None:
    """128 heads × 128 × 128 fp32 values of 4 bytes: 8,388,608 bytes a layer, fixed, read by its own transform."""
    assert 128 * 128 * 128 * 4 == 8_388_608
    found = card(BIG, bubble_id(key_of(BIG, "deltanet"), "S"))
    assert found.what == "state data"
    assert fact(found, "Bytes") == "8.39 MB a layer, 579 MB in 69 layers"
    assert fact(found, "Precision") == "fp32"
    assert fact(found, "Growth").startswith("Fixed size")
    assert texts(found, "Read by") == ["decay S, Delta update and read-out"]
    left = dict(found.links)["Left for the next token as"]
    assert fact(card(BIG, left[0].id), "Growth") == fact(found, "Growth")


def test_weights_say_what_one_token_reads_of_them() -> None:
    """10 of 512 experts are read: 10/512 = 1.95 %."""
    found = card(BIG, bubble_id(key_of(BIG, "moe"), "gate.weight", "gate"))
    assert fact(found, "Read for one token") == "336 MB a layer: 1.95 % of it"
    assert fact(found, "Bytes") == "17.2 GB a layer, 1.58 TB in 92 layers"


def test_a_block_card_adds_up() -> None:
    """69 DeltaNet layers of 68 operations, the first without its 6 norm operations: 69 × 68 - 6 = 4,686."""
    assert 69 * 68 - 6 == 4_686
    found = card(BIG, panel_id(key_of(BIG, "deltanet")))
    assert fact(found, "Operations") == "68 a layer, 4,686 a token"
    assert fact(found, "Layers").startswith("69: 0–2, 4–6")
    assert found.notes == ("In layer 0 the norm's 6 operations are not computed: their result is looked up.",)


# ------------------------------------------------------------------------------------------------ paths


@pytest.mark.parametrize("name", SAMPLE)
def test_ancestors_and_descendants_mirror_each_other_and_follow_the_feeds(name: str) -> None:
    for group in groups(ask(name)[2]):
        block = group.block
        ids = [box_id(block.key, t.id) for t in block.transforms]
        before = {i: pipeline.ancestors(block, i) for i in ids}
        after = {i: pipeline.descendants(block, i) for i in ids}
        assert all((a in before[b]) == (b in after[a]) for a in ids for b in ids)
        for t in block.transforms:
            assert {box_id(block.key, f) for f in block.feeds[t.id]} <= before[box_id(block.key, t.id)]
            assert box_id(block.key, t.id) not in before[box_id(block.key, t.id)]


def test_the_k_projection_does_not_wait_for_the_query() -> None:
    block = groups(ask(BIG)[2])[3].block
    before = pipeline.ancestors(block, cell_id(block.key, "k.products"))
    assert box_id(block.key, "norm") in before
    assert box_id(block.key, "q") not in before
    assert box_id(block.key, "scores") in pipeline.descendants(block, cell_id(block.key, "k.products"))


# ------------------------------------------------------------------------------------------------ lists, search, legend


@pytest.mark.parametrize("name", SAMPLE)
def test_the_list_holds_everything_drawn(name: str) -> None:
    model, scenario, step = ask(name)
    items = {i for i in pipeline.scene(model.architecture, scenario).items if parse(i).kind != "s"}
    assert {e.id for e in pipeline.entries(step)} == items


@pytest.mark.parametrize(
    ("words", "first"),
    [("softmax", "Softmax"), ("s_j max", "Softmax"), ("K cache", "K cache"), ("position rotated", "rotated × sin"),
     ("outer", "Router"), ("value mix products", "products"), ("state data S", "S"),
     ("q·k", "Scores")],
)  # fmt: skip
def test_search_looks_in_names_equations_and_classes(words: str, first: str) -> None:
    found = pipeline.find(pipeline.entries(ask(BIG)[2]), words)
    assert first in [e.name for e in found]


def test_search_needs_every_word_and_finds_nothing_in_nonsense() -> None:
    entries = pipeline.entries(ask(BIG)[2])
    assert pipeline.find(entries, "") == ()
    assert pipeline.find(entries, "softmax zebra") == ()
    both = pipeline.find(entries, "attention softmax")
    assert {e.id for e in both} <= {e.id for e in pipeline.find(entries, "softmax")}
    assert all("attention" in e.words and "softmax" in e.words for e in both)


@pytest.mark.parametrize("name", SAMPLE)
def test_legend_counts(name: str) -> None:
    model, scenario, step = ask(name)
    counts = pipeline.class_counts(step)
    assert sum(counts.values()) == summarise(step).operations
    assert counts == {str(c): n for c, n in classes(step).items()}
    scene = pipeline.scene(model.architecture, scenario)
    drawn: dict[str, set[str]] = {"static": set(), "ephemeral": set(), "state": set()}
    for bubble in scene.bubbles:
        drawn[bubble.lifetime].add(bubble.id.partition("@")[0])
    assert pipeline.lifetime_counts(step) == {k: len(v) for k, v in drawn.items()}


def test_legend_entries_leave_only_their_own_in_full_colour() -> None:
    model, scenario, _ = ask(BIG)
    scene = pipeline.scene(model.architecture, scenario)
    assert pipeline.faded(scene, ()) == ()
    kept_ids = set(scene.items) - set(pipeline.faded(scene, ["state"]))
    assert kept_ids == {b.id for b in scene.bubbles if b.lifetime == "state"}
    kept_ids = set(scene.items) - set(pipeline.faded(scene, ["compare/select"]))
    assert {i for i in kept_ids if "/o:" in i} == {
        c.id for b in scene.boxes for c in b.cells if c.op_class == "compare/select"
    }


# ------------------------------------------------------------------------------------------------ kept state


def test_the_ledger_of_the_largest_model() -> None:
    """K and V: 4 heads × 256 × 2 bytes = 2,048 bytes each; 1,000,000 positions of both: 4,096,000,000 bytes a layer."""
    _, scenario, step = ask(BIG)
    rows = {r.kept: r for r in saved.kept_rows(step, scenario)}
    assert 4 * 256 * 2 == 2_048
    state, keys, values = rows["recurrent state"], rows["K cache"], rows["V cache"]
    assert (state.layer_bytes, state.layers, state.precision, state.grows_bytes) == (8_388_608, 69, "fp32", 0)
    assert keys.grows_bytes + values.grows_bytes == 4_096
    assert keys.layer_bytes + values.layer_bytes == 4_096_000_000
    assert (keys.layers, keys.kind) == (23, StateKind.GROWING)
    words = saved.finding(saved.kept_rows(step, scenario))
    assert "8.39 MB of recurrent state (fp32) in place" in words
    assert "appends 4.10 kB per token to 4.10 GB" in words


def loadable(name: str) -> bool:
    try:
        load_model(name)
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("name", [n for n in bundled_models() if loadable(n)])
def test_the_ledger_adds_up_to_what_traffic_says_is_kept(name: str) -> None:
    _, scenario, step = ask(name, context=5_000)
    rows, total = saved.kept_rows(step, scenario), kept(step, scenario)
    by_kind = {k: sum(r.total_bytes for r in rows if r.kind is k) for k in StateKind}
    assert by_kind[StateKind.GROWING] == total.kv
    assert by_kind[StateKind.WINDOW] == total.window
    assert by_kind[StateKind.RECURRENT] == total.recurrent
    assert by_kind[StateKind.CONVOLUTION] == total.convolution
    growing = sum(r.total_grows_bytes for r in rows if r.kind is StateKind.GROWING)
    assert growing == total.kv_per_position


def test_growth_is_read_off_the_graph_at_each_context() -> None:
    model, scenario, _ = ask(BIG)
    rows = saved.growth_rows(model.architecture, scenario)
    at = {(c, n): b for c, n, b in rows}
    assert at[1_000, saved.GROWING_NAME] == 1_000 * 4_096 * 23
    assert len({b for _, n, b in rows if n == saved.FIXED_NAME}) == 1
    spec = saved.growth_spec(rows, {saved.GROWING_NAME: 5, saved.FIXED_NAME: 0}, 0, "dark")
    assert spec["datasets"]["mark"] == [{"context": 1}]
    assert [p["part"] for p in spec["datasets"]["now"]] == [saved.GROWING_NAME]


def test_a_window_bends_the_growth() -> None:
    """Mistral 0.2 has no window; Gemma 2's every other layer keeps at most 4,095 earlier positions."""
    model, scenario, _ = ask("gemma-2-9b")
    at = {c: b for c, n, b in saved.growth_rows(model.architecture, scenario) if n == saved.GROWING_NAME}
    assert at[2_000] == 2 * at[1_000]
    assert at[2_000_000] < 2 * at[1_000_000] + 1
    assert at[10_000] < 10 * at[1_000]


def test_the_ledger_as_a_table_and_a_file() -> None:
    _, scenario, step = ask(BIG)
    rows = saved.kept_rows(step, scenario)
    columns, cells = saved.ledger_cells(rows)
    assert [c[columns.index("per layer")] for c in cells] == ["123 kB", "8.39 MB", "2.05 GB", "2.05 GB", ""]
    assert cells[-1][columns.index("total now")] == "94.8 GB"
    lines = list(csv.DictReader(io.StringIO(to_csv(saved.ledger_columns(rows)))))
    assert [int(r["total_bytes"]) for r in lines] == [r.total_bytes for r in rows]


def test_a_model_that_keeps_nothing_says_so() -> None:
    assert saved.finding(()) == "This model keeps nothing from token to token."


# ------------------------------------------------------------------------------------------------ files


def conforms(value: object, schema: dict) -> None:
    """The part of JSON Schema that the document uses."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}
    if "const" in schema:
        assert value == schema["const"]
    if "type" in schema:
        allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(isinstance(value, kinds[k]) for k in allowed), (value, allowed)
    assert set(schema.get("required", ())) <= set(value if isinstance(value, dict) else ())
    for name, inner in schema.get("properties", {}).items():
        conforms(value[name], inner)
    for item in value if "items" in schema else ():
        conforms(item, schema["items"])
    if "minimum" in schema and value is not None:
        assert value >= schema["minimum"]


@pytest.mark.parametrize("name", SAMPLE)
def test_the_graph_as_json_follows_its_schema_and_holds_every_operation(name: str) -> None:
    _, scenario, step = ask(name)
    document = json.loads(graph_export.to_json(step, name))
    conforms(document, dict(graph_export.SCHEMA))
    assert document["context"] == scenario.context
    operations = sum(b["count"] * sum(len(t["ops"]) for t in b["transforms"]) for b in document["blocks"])
    assert operations == summarise(step).operations
    macs = sum(
        b["count"] * op["counts"].get("mac", 0) for b in document["blocks"] for t in b["transforms"] for op in t["ops"]
    )
    assert macs == sum(total_counts(b.ops)["mac"] * n for b, n in step.folded())
    assert len(document["sequence"]) == len(step.sequence)


def test_the_schema_refuses_a_changed_document() -> None:
    document = json.loads(graph_export.to_json(ask("qwen3.5-0.8b")[2], "x"))
    del document["blocks"][0]["transforms"][0]["ops"][0]["reason"]
    with pytest.raises(AssertionError):
        conforms(document, dict(graph_export.SCHEMA))


def test_the_graph_as_graphml_parses_and_holds_every_operation() -> None:
    step = ask(BIG)[2]
    root = ElementTree.fromstring(graph_export.to_graphml(step, "<img onerror=1>"))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = [n.get("id") for n in root.iter(f"{space}node")]
    assert len([n for n in nodes if "/op:" in n]) == sum(len(b.ops) for b in step.blocks.values())
    assert all(len(list(n)) >= 4 for n in root.iter(f"{space}node"))  # kind, label, block and count at least
    assert {e.get("source") for e in root.iter(f"{space}edge")} <= set(nodes)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_whole_drawing_as_svg_parses_and_holds_every_box(theme: str) -> None:
    model, scenario, _ = ask(BIG)
    scene = pipeline.scene(model.architecture, scenario)
    root = ElementTree.fromstring(to_svg(scene, theme))
    written = {g.get("id") for g in root.iter("{http://www.w3.org/2000/svg}g")}
    assert {b.id for b in scene.boxes} | {b.id for b in scene.bubbles} <= written


def test_a_sheet_has_a_title_and_a_legend_of_all_colours_above_the_drawing() -> None:
    model, scenario, _ = ask(BIG)
    scene = pipeline.scene(model.architecture, scenario)
    whole, region = sheet(scene, "<b>", "words")
    assert overlaps(whole) == ()
    added = [item for name, item in whole.items.items() if name not in scene.items]
    assert all(item.rect.bottom < 0 for item in added)
    assert {b.lifetime for b in added if isinstance(b, Bubble)} == {"static", "ephemeral", "state"}
    assert {c.op_class for c in added if isinstance(c, Cell)} == set(OP_CLASSES)
    assert region.x < 0
    assert region.y < min(item.rect.y for item in added)
    assert region.right > scene.width
    assert region.bottom > scene.height
    assert "<b>" not in to_svg(whole, "light", region)


# ------------------------------------------------------------------------------------------------ the strip


def test_the_strip_has_one_mark_for_each_layer() -> None:
    html = strip_html(ask(BIG)[2])
    marks, _, key = html.partition('<div class="tokenviz-key">')
    assert marks.count("<i ") == 92
    assert "A DeltaNet + Experts, 69 layers" in key
    assert "B Attention + Experts, 23 layers" in key
    assert "3 × A, B; 23 times" in key


def test_bubbles_give_bytes_at_the_chosen_precision() -> None:
    model, scenario, step = ask(BIG, weights="int4")
    scene = pipeline.scene(model.architecture, scenario)
    block = key_of(BIG, "attention")
    value = step.blocks[block].values["q.weight"]
    assert value_bytes(value, scenario) == value.size // 2
    assert scene.items[bubble_id(block, "q.weight", "q")].size == "67.1 MB"
    assert all(root in drawn_as(step)[block].block.producers for root in bubbled(step.blocks[block]))
