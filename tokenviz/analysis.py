"""Every headline figure of a step in one object: what the command line prints and the pages quote."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tokenviz import ledger, schedule
from tokenviz.catalog import Model
from tokenviz.graph import DecodeStep, StateKind
from tokenviz.prediction import loaded, prediction_heads
from tokenviz.scenario import Scenario
from tokenviz.storage import weight_bytes
from tokenviz.trace import traced
from tokenviz.traffic import Kept, Parameters, Traffic, kept, parameters, traffic

HEADS = "multi-token prediction heads"


@dataclass(frozen=True, slots=True)
class LayerKind:
    """Layers that look alike: how many there are, their operations and depth (norm of the first section included)."""

    kind: str
    count: int
    operations: int
    depth: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Analysis:
    """A model in a scenario, with all that is read off its graph."""

    model: Model
    scenario: Scenario
    step: DecodeStep
    summary: schedule.Summary
    layers: tuple[LayerKind, ...]
    arithmetic: Mapping[str, int]
    exponentials: Mapping[str, int]
    parameters: Parameters
    traffic: Traffic
    kept: Kept
    stored_weight_bytes: int
    assumptions: tuple[str, ...]


def analyze(model: Model, scenario: Scenario) -> Analysis:
    """Trace the model and read everything off the graph."""
    step = traced(model.architecture, scenario)
    heads = loaded(model.architecture, scenario)
    return Analysis(
        model=model,
        scenario=scenario,
        step=step,
        summary=schedule.summarise(step),
        layers=layer_kinds(step),
        arithmetic=ledger.arithmetic(step),
        exponentials=ledger.exponentials(step),
        parameters=heads.size(parameters(step, model.architecture.tied)),
        traffic=traffic(step, scenario),
        kept=heads.keeps(kept(step, scenario), scenario.context),
        stored_weight_bytes=weight_bytes(step, scenario)[0] + heads.stored_weight_bytes,
        assumptions=assumptions(model, scenario),
    )


def layer_kinds(step: DecodeStep) -> tuple[LayerKind, ...]:
    """Layers folded by what they are made of, in order of first appearance; counts add up to the layers.

    The first layer's norm is looked up and not computed; it is counted here like its equals, and ``lookup_saves`` of
    the report says by how much that overstates the sum.
    """
    by_layer: dict[int, list[str]] = {}
    for ref in step.sequence:
        if ref.layer is not None:
            by_layer.setdefault(ref.layer, []).append(ref.block)
    full = _full_twins(step)
    counted: dict[tuple[str, ...], int] = {}
    for keys in by_layer.values():
        kind = tuple(full.get(k, k) for k in keys)
        counted[kind] = counted.get(kind, 0) + 1
    return tuple(_layer_kind(step, keys, count) for keys, count in counted.items())


def _layer_kind(step: DecodeStep, keys: tuple[str, ...], count: int) -> LayerKind:
    blocks = [step.blocks[k] for k in keys]
    return LayerKind(
        "+".join(b.kind for b in blocks), count, sum(len(b.ops) for b in blocks),
        sum(schedule.schedule_block(b).depth for b in blocks),
    )  # fmt: skip


def _full_twins(step: DecodeStep) -> dict[str, str]:
    """Block without its norm (looked up) -> the block of the same section that computes it, where one exists."""
    first = step.sequence[1].block
    sections = {key: b for key, b in step.blocks.items() if "residual" in b.inputs and "residual" in b.outputs}
    for key, block in sections.items():
        if key != first and block.spec == step.blocks[first].spec:
            return {first: key}
    return {}


def assumptions(model: Model, scenario: Scenario) -> tuple[str, ...]:
    """What was assumed to get from the config to the numbers, in sentences."""
    found = list(model.architecture.assumptions)
    if scenario.prediction and model.architecture.prediction is not None:
        found = [sentence for sentence in found if not sentence.startswith(HEADS)]
        found.append(f"{HEADS} are loaded: stored and kept bytes include theirs, the step does not run them")
    limit = model.architecture.max_positions
    if limit is not None and scenario.context + scenario.positions > limit:
        found.append(f"the context goes beyond the {limit:,} positions that the config declares")
    if model.gate_differs:
        reading = "as the published study read it" if scenario.gate == "study" else "as implemented (sigmoid)"
        found.append(f"the attention output gate is counted {reading}")
    blocks = traced(model.architecture, scenario).blocks.values()
    kinds = {state.kind for block in blocks for state in block.states}
    if StateKind.CONVOLUTION in kinds:
        found.append("convolution state keeps taps - 1 columns at activation precision")
    if StateKind.RECURRENT in kinds:
        found.append(f"recurrent state is {scenario.state}")
    return tuple(found)


def report(a: Analysis) -> dict[str, object]:
    """The analysis as plain data: exact integers, bytes, and nothing formatted."""
    return {
        "model": a.model.name,
        "context": a.scenario.context,
        "tokens_per_s": a.scenario.tokens_per_s,
        "output": a.scenario.output,
        "gate": a.scenario.gate,
        "weights": a.scenario.weights,
        "kv": a.scenario.kv,
        "state": a.scenario.state,
        "quantization": a.scenario.quantization.format if a.scenario.quantization else None,
        "stored_weight_bytes": a.stored_weight_bytes,
        "operations": a.summary.operations,
        "critical_path": a.summary.critical_path,
        "peak_parallelism": a.summary.peak_parallelism,
        "average_parallelism": a.summary.average_parallelism,
        "layers": [asdict(kind) for kind in a.layers],
        "lookup_operations": len(a.step.blocks["lookup"].ops),
        "output_operations": len(a.step.blocks[a.step.sequence[-1].block].ops),
        "lookup_saves": _lookup_saves(a),
        "parameters": asdict(a.parameters),
        "arithmetic": dict(a.arithmetic),
        "exp_by": dict(a.exponentials),
        "bytes_per_token": {**asdict(a.traffic), "total": a.traffic.total},
        "bytes_per_s": a.traffic.total * a.scenario.tokens_per_s,
        "kv_bytes_per_position": a.kept.kv_per_position,
        "kv_window_bytes": a.kept.window,
        "recurrent_state_bytes": a.kept.recurrent,
        "conv_state_bytes": a.kept.convolution,
        "kv_window_reserved_bytes": a.kept.window_per_position * a.scenario.context,
        "prediction_heads_loaded": a.scenario.prediction,
        "prediction_heads": asdict(prediction_heads(a.model.architecture, a.scenario)),
        "assumptions": list(a.assumptions),
        "unread_keys": list(a.model.architecture.unread_keys),
    }


def _lookup_saves(a: Analysis) -> int:
    """Operations that the paired lookup makes unnecessary: the first section's norm."""
    listed = sum(kind.operations * kind.count for kind in a.layers)
    ends = sum(len(a.step.blocks[ref.block].ops) for ref in (a.step.sequence[0], a.step.sequence[-1]))
    return listed + ends - a.summary.operations
