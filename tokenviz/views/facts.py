"""What a model is, in the few numbers that have more than one honest meaning: each says which one it is.

facts(model, scenario) -> Fact rows      label, exact value, what it means
fact_line(...) -> str                    one line of HTML with everything behind it: facts, assumptions
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from tokenviz.architecture import Architecture
from tokenviz.catalog import Model
from tokenviz.graph import DecodeStep
from tokenviz.prediction import Added, loaded, prediction_heads
from tokenviz.scenario import Scenario
from tokenviz.storage import weight_bytes
from tokenviz.traffic import Kept, Parameters, kept, parameters
from tokenviz.views.format import exact, plural, si


@dataclass(frozen=True, slots=True)
class Fact:
    """A number, exactly, and which of its meanings is meant."""

    label: str
    value: int
    unit: str
    meaning: str

    @property
    def text(self) -> str:
        """The number with its unit."""
        return f"{exact(self.value)} {self.unit}".rstrip()


def facts(model: Model, step: DecodeStep, scenario: Scenario) -> tuple[Fact, ...]:
    """Parameters, stored bytes, K/V slope, windows and fixed state of a model, each under the name of its meaning."""
    heads = loaded(model.architecture, scenario)
    size = heads.size(parameters(step, model.architecture.tied))
    return (
        *_parameter_facts(size, model.architecture),
        *_weight_facts(step, scenario, heads),
        *_state_facts(heads.keeps(kept(step, scenario), scenario.context), scenario),
        *_head_facts(prediction_heads(model.architecture, scenario), scenario),
    )


def _head_facts(heads: Added, scenario: Scenario) -> Iterable[Fact]:
    """What the prediction heads are, where a model has some, and whether the other numbers include them."""
    if not heads.parameters:
        return
    included = "included above" if scenario.prediction else "not included above"
    yield Fact("Prediction heads, parameters", heads.parameters, "", f"{included}; the step does not run them")
    yield Fact("Prediction heads, K/V slope", heads.kv_bytes_per_position, "B", f"{included}; for each position")


def _parameter_facts(size: Parameters, architecture: Architecture) -> Iterable[Fact]:
    """Total, and active without and with the tables of which one token reads a single row."""
    d_model, positions = architecture.d_model, architecture.embedding.positions
    tables = {} if size.tied else {"embedding": size.embedding}
    if positions is not None:
        tables["position"] = positions * d_model
    shared = " the embedding table is also the output matrix and read whole" if size.tied else ""
    yield Fact("Parameters, total", size.total, "", "every weight of the text model once, all experts included")
    if not tables:
        yield Fact("Parameters, active", size.active, "", f"what one token reads: chosen experts only;{shared}")
        return
    named = f"the {' and '.join(tables)} table{'s' if len(tables) > 1 else ''}"
    bare = size.active - len(tables) * d_model  # one row of each is read
    yield Fact(
        f"Parameters, active, without {named}", bare, "",
        f"what one token multiplies by: chosen experts only{shared and ';' + shared}",
    )  # fmt: skip
    yield Fact(
        f"Parameters, active, with {named}", bare + sum(tables.values()), "",
        "as model names usually count; one token reads a single row",
    )  # fmt: skip


def _weight_facts(step: DecodeStep, scenario: Scenario, heads: Added) -> Iterable[Fact]:
    stored, read = weight_bytes(step, scenario)
    stored += heads.stored_weight_bytes
    how = f"{scenario.quantization.format} as declared, else {scenario.weights}" if scenario.quantization else (
        scenario.weights
    )  # fmt: skip
    with_scales = "with" if scenario.metadata else "without"
    yield Fact("Weights, stored", stored, "B", f"all of them in {how}, {with_scales} block scales and zero points")
    yield Fact("Weights, read for one token", read, "B", f"active ones in {how}, one embedding row unless tied")


def _state_facts(keeps: Kept, scenario: Scenario) -> Iterable[Fact]:
    n = scenario.context
    yield Fact("K/V cache, slope", keeps.kv_per_position, "B", f"for each cached position, in {scenario.kv}")
    if keeps.window_per_position:
        yield Fact(
            "Window caches, logical", keeps.window, "B",
            f"the positions that windowed layers still attend to, after {exact(n)}; stops growing when they are full",
        )  # fmt: skip
        yield Fact(
            "Window caches, reserved", keeps.window_per_position * n, "B",
            f"if an engine keeps every position of those layers: {exact(keeps.window_per_position)} B each",
        )  # fmt: skip
    yield Fact("Fixed state, recurrent", keeps.recurrent, "B", f"in {scenario.state}, the same at every context")
    yield Fact("Fixed state, convolution", keeps.convolution, "B", "taps - 1 columns, the same at every context")
    total = keeps.kv + keeps.window + keeps.recurrent + keeps.convolution
    yield Fact(
        f"Kept for {plural(n, 'position')}, in all", total, "B", "slope × positions + logical windows + fixed state"
    )


def summary(model: Model, rows: tuple[Fact, ...], scenario: Scenario) -> str:
    """The model in one line of plain text: name, both sizes, context."""
    total, active = rows[0], rows[1]
    return (
        f"{model.name} · {si(total.value)} parameters in total, {si(active.value)} "
        f"{active.label.removeprefix('Parameters, ').replace(', ', ' ')} · {exact(scenario.context)} cached"
    )


def fact_line(model: Model, step: DecodeStep, scenario: Scenario, assumptions: tuple[str, ...]) -> str:
    """The line above every page about the model; it opens to the facts and the assumptions. HTML, all text escaped."""
    rows = facts(model, step, scenario)
    body = "".join(
        f"<tr><th scope='row'>{escape(row.label)}</th><td>{escape(row.text)}</td><td>{escape(row.meaning)}</td></tr>"
        for row in rows
    )
    listed = "".join(f"<li>{escape(text)}</li>" for text in assumptions)
    count = plural(len(assumptions), "assumption")
    said = escape(summary(model, rows, scenario))
    return (
        f"<details class='tv-model'><summary><span>{said}</span> · <b>{count}</b>"
        "</summary><div class='tv-facts'>"
        f"<section><h6>What this model is</h6><table>{body}</table></section>"
        f"<section><h6>{count} behind the numbers</h6><ol>{listed}</ol></section></div></details>"
    )
