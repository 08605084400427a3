"""The gallery: every bundled model in it, sizes and kinds read off the graphs; and the facts, each named."""

from html.parser import HTMLParser
from itertools import groupby

import pytest

from tests import oracles
from tests.test_configs import TRUTHS
from tokenviz.analysis import assumptions
from tokenviz.catalog import Model, Profile, bundled_models, load_model, model_from_text
from tokenviz.families import known
from tokenviz.gallery import KINDS, Row, gallery, kinds
from tokenviz.scenario import Scenario
from tokenviz.trace import traced
from tokenviz.views.facts import Fact, fact_line, facts, summary

ROWS = {row.name: row for row in gallery()}
COUNTED = [row for row in gallery() if not row.refused]


def facts_of(name: str, **changes: object) -> dict[str, Fact]:
    model = load_model(name)
    scenario = model.scenario(**changes)
    return {fact.label: fact for fact in facts(model, traced(model.architecture, scenario), scenario)}


def test_every_bundled_model_is_in_the_gallery_once():
    assert sorted(row.name for row in gallery()) == sorted(bundled_models())


def test_families_stay_together():
    families = [row.family for row in gallery()]
    assert len(list(groupby(families))) == len(set(families))
    assert set(families) <= set(known().values())


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: row.name)
def test_sizes_equal_the_published_truths(row: Row):
    truth = next(value for key, value in TRUTHS.items() if key.split("__", 1)[-1].lower() == row.name)
    assert (row.total, row.layers) == (truth["parameters"], truth["layers"])
    assert row.kv_bytes_per_position == truth["kv_bytes_per_position"]
    assert row.window_bytes_per_position == truth["window_bytes_per_position"]
    shown = facts_of(row.name)
    active = [f.value for f in shown.values() if f.label.startswith("Parameters, active") and "without" not in f.label]
    assert active == [truth["active_with_tables"]]


def test_a_refused_model_says_why_and_has_no_numbers():
    row = ROWS["deepseek-v4-flash"]
    assert row.refused.startswith("hc_mult is 4")
    assert (row.family, row.total, row.kinds, row.fixed_bytes) == ("DeepSeek V4", 0, (), 0)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qwen3.8-2.4t-a95b", ("experts", "hybrid")),
        ("qwen3.8-27b", ("dense", "hybrid")),
        ("meta-llama-3.1-8b", ("dense",)),
        ("mixtral-8x7b-v0.1", ("experts",)),
        ("mamba2-2.7b", ("state space",)),
        ("falcon-h1-0.5b-instruct", ("dense", "hybrid")),
        ("kimi-linear-48b-a3b-instruct", ("experts", "hybrid", "latent attention")),
        ("deepseek-v3", ("experts", "latent attention")),
        ("gpt-oss-20b", ("experts", "windows")),
        ("lfm2-2.6b", ("dense", "hybrid")),
    ],
)
def test_kinds_follow_from_the_mechanisms(name, expected):
    assert kinds(load_model(name).architecture) == expected
    assert set(expected) <= set(KINDS)


def test_slope_and_fixed_state_of_a_hybrid():
    # 16 attention layers × 4 heads × 256 × (K and V) × 2 B; 48 layers × 48 heads × 128 × 128 × 4 B, and
    # 48 × 10,240 channels × 3 columns × 2 B
    row = ROWS["qwen3.8-27b"]
    assert row.kv_bytes_per_position == 16 * 4 * 256 * 2 * 2 == 65_536
    assert row.recurrent_bytes == 48 * 48 * 128 * 128 * 4 == 150_994_944
    assert row.conv_bytes == 48 * 10_240 * 3 * 2
    assert row.fixed_bytes == row.recurrent_bytes + row.conv_bytes


def test_a_full_window_keeps_one_position_less_than_it_spans():
    # gpt-oss-20b: 12 windowed layers of 128 positions, 8 heads × 64 × (K and V) × 2 B
    row = ROWS["gpt-oss-20b"]
    assert row.window_bytes_per_position == 12 * 8 * 64 * 2 * 2
    assert row.full_window_bytes == 127 * row.window_bytes_per_position


# ------------------------------------------------------------------------------------------------ the facts


def test_active_parameters_with_and_without_the_embedding_table():
    shown = facts_of("gpt-oss-20b")
    assert shown["Parameters, active, with the embedding table"].value == 4_187_440_704
    assert shown["Parameters, active, without the embedding table"].value == 3_608_307_264
    shown = facts_of("qwen3.8-2.4t-a95b")
    assert shown["Parameters, total"].value == 2_419_804_697_984
    assert shown["Parameters, active, with the embedding table"].value == 95_287_866_752
    assert shown["Parameters, active, without the embedding table"].value == 93_253_629_312


def test_a_tied_table_is_said_to_be_read_whole():
    shown = facts_of("qwen3.5-0.8b")
    assert shown["Parameters, active"].value == shown["Parameters, total"].value == 752_393_024
    assert "output matrix" in shown["Parameters, active"].meaning


def test_learned_positions_are_a_table_of_their_own():
    # GPT-2: 1,024 rows of 768, of which one token reads one
    shown = facts_of("gpt2")
    whole = shown["Parameters, active, with the position table"].value
    assert whole == shown["Parameters, total"].value == 124_439_808
    assert shown["Parameters, active, without the position table"].value == whole - 1_024 * 768


def test_logical_and_reserved_windows_are_two_facts():
    # 12 layers × 2,048 B a position: 127 positions are still attended to, 4,096 reserved
    shown = facts_of("gpt-oss-20b", context=4_096)
    assert shown["Window caches, logical"].value == 127 * 12 * 2_048
    assert shown["Window caches, reserved"].value == 4_096 * 12 * 2_048
    assert "Window caches, logical" not in facts_of("meta-llama-3.1-8b")


def test_prediction_heads_say_whether_they_are_included():
    off, on = (facts_of("qwen3.8-27b", context=10, prediction=flag) for flag in (False, True))
    for shown, how in ((off, "not included above"), (on, "included above")):
        assert shown["Prediction heads, parameters"].value == 424_699_392
        assert shown["Prediction heads, K/V slope"].meaning.startswith(how)
    assert [shown["K/V cache, slope"].value for shown in (off, on)] == [65_536, 69_632]
    assert on["Weights, stored"].value - off["Weights, stored"].value == 424_699_392 // 2
    assert on["Parameters, total"].value - off["Parameters, total"].value == 424_699_392
    assert "Prediction heads, parameters" not in facts_of("gpt2")


def test_slope_and_fixed_part_add_up():
    shown = facts_of("qwen3.8-27b", context=262_144)
    assert shown["K/V cache, slope"].value * 262_144 == 17_179_869_184
    assert shown["Kept for 262,144 positions, in all"].value == 17_179_869_184 + 150_994_944 + 2_949_120


def test_precisions_change_the_facts_they_name():
    wide, narrow = facts_of("meta-llama-3.1-8b", kv="bf16"), facts_of("meta-llama-3.1-8b", kv="fp8")
    assert wide["K/V cache, slope"].value == 2 * narrow["K/V cache, slope"].value
    assert "fp8" in narrow["K/V cache, slope"].meaning
    bare, whole = facts_of("gpt-oss-20b"), facts_of("gpt-oss-20b", metadata=True)
    # one exponent byte for each 32 values of 4 bits: the experts' matrices grow by a sixteenth
    assert whole["Weights, stored"].value > bare["Weights, stored"].value
    assert "without" in bare["Weights, stored"].meaning
    assert "with block scales" in whole["Weights, stored"].meaning
    assert "mxfp4 as declared" in bare["Weights, stored"].meaning


def test_totals_agree_with_the_oracle():
    model = load_model("meta-llama-3.1-8b")
    assert facts_of("meta-llama-3.1-8b")["Parameters, total"].value == oracles.parameters(model.architecture)


class Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_line_names_both_sizes_and_opens_to_every_assumption():
    model = load_model("qwen3.8-2.4t-a95b")
    scenario = model.scenario()
    said = assumptions(model, scenario)
    page = Texts()
    page.feed(fact_line(model, traced(model.architecture, scenario), scenario, said))
    assert f"{len(said)} assumptions" in page.texts
    assert set(said) <= set(page.texts)
    assert page.tags.count("li") == len(said)
    rows = facts(model, traced(model.architecture, scenario), scenario)
    assert "2.42 T parameters in total, 93.3 G active without the embedding table" in summary(model, rows, scenario)


def test_text_from_a_config_stays_text():
    evil = "<img src=x onerror=alert(1)>"
    plain = model_from_text(
        '{"model_type":"llama","hidden_size":64,"intermediate_size":172,"num_hidden_layers":2,'
        '"num_attention_heads":4,"vocab_size":320}', "x",
    )  # fmt: skip
    model, scenario = Model(evil, plain.architecture, Profile(None, "implemented")), Scenario(context=5)
    page = Texts()
    page.feed(fact_line(model, traced(model.architecture, scenario), scenario, (evil,)))
    assert "img" not in page.tags
    assert evil in page.texts
