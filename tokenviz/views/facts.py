"""What a model is, in the few numbers that have more than one honest meaning: each says which one it is.

facts(model, scenario) -> Fact rows      label, exact value, what it means
fact_line(...) -> str                    one line of HTML with everything behind it: facts, assumptions
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from tokenviz.catalog import Model
from tokenviz.graph import DecodeStep
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
    size, keeps = parameters(step, model.architecture.tied), kept(step, scenario)
    return (
        *_parameter_facts(size, model.architecture.d_model),
        *_weight_facts(step, scenario),
        *_state_facts(keeps, scenario),
    )


def _parameter_facts(size: Parameters, d_model: int) -> Iterable[Fact]:
    yield Fact("Parameters, total", size.total, "", "every weight of the text model once; all experts")
    if size.tied:
        yield Fact(
            "Parameters, active", size.active, "",
            "what one token reads: chosen experts only; the embedding table is also the output matrix, so all of it",
        )  # fmt: skip
        return
    yield Fact(
        "Parameters, active, without the embedding table", size.active - d_model, "",
        "what one token multiplies by: chosen experts only",
    )  # fmt: skip
    yield Fact(
        "Parameters, active, with the embedding table", size.active - d_model + size.embedding, "",
        "as model names usually count; of the table one token reads a single row",
    )  # fmt: skip


def _weight_facts(step: DecodeStep, scenario: Scenario) -> Iterable[Fact]:
    stored, read = weight_bytes(step, scenario)
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
    yield Fact("Fixed state, recurrent", keeps.recurrent, "B", "fp32, the same at every context")
    yield Fact("Fixed state, convolution", keeps.convolution, "B", "taps - 1 columns, the same at every context")
    total = keeps.kv + keeps.window + keeps.recurrent + keeps.convolution
    yield Fact(
        f"Kept for {plural(n, 'position')}, in all", total, "B", "slope × positions + logical windows + fixed state"
    )


def summary(model: Model, rows: tuple[Fact, ...], scenario: Scenario) -> str:
    """The model in one line of plain text: name, both sizes, context."""
    by_label = {row.label: row.value for row in rows}
    active = next(value for label, value in by_label.items() if label.startswith("Parameters, active"))
    return (
        f"{model.name} · {si(by_label['Parameters, total'])} parameters in total, {si(active)} active for one token · "
        f"{exact(scenario.context)} cached"
    )


def fact_line(model: Model, step: DecodeStep, scenario: Scenario, assumptions: tuple[str, ...]) -> str:
    """The line above every page; it opens to the facts and the assumptions. HTML, all text escaped."""
    rows = facts(model, step, scenario)
    body = "".join(
        f"<tr><th scope='row'>{escape(row.label)}</th><td>{escape(row.text)}</td><td>{escape(row.meaning)}</td></tr>"
        for row in rows
    )
    listed = "".join(f"<li>{escape(text)}</li>" for text in assumptions)
    count = plural(len(assumptions), "assumption")
    return (
        f"<details class='tv-model'><summary><span>{escape(summary(model, rows, scenario))}</span> · <b>{count}</b>"
        "</summary><div class='tv-facts'>"
        f"<section><h6>What this model is</h6><table>{body}</table></section>"
        f"<section><h6>{count} behind the numbers</h6><ol>{listed}</ol></section></div></details>"
    )
