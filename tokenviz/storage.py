"""How many bytes the weights take as they are stored: all of them, and those that one step reads.

A scenario's `weights` precision holds for every weight, unless the config declares a quantisation of its own: then the
matrices of the layers are stored in that format and everything else (embedding, head, norms, biases, convolution taps,
routers, and the modules that the declaration leaves alone) at the model's precision.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from tokenviz.formats import Quantization, stored_bytes
from tokenviz.graph import Block, BlockRef, DecodeStep, Op, Role, Value
from tokenviz.notation import size
from tokenviz.scenario import Scenario
from tokenviz.weights import weight_reads

MODULES: Mapping[str, str] = {
    "q": "self_attn.q_proj", "gate": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj",
    "out": "self_attn.o_proj",
}  # fmt: skip
"""Published module names of a mixer's weights; what is not listed is ``self_attn.`` and our own name."""


@lru_cache(maxsize=512)
def matrix_inputs(block: Block) -> dict[str, int]:
    """Weight id -> values in each row, for the weights that a contraction multiplies as a matrix."""
    found: dict[str, int] = {}
    for op in block.ops:
        if op.primitive == "products":
            summed = [d for d in op.attrs["a"] if d in op.attrs["b"] and d not in _result_dims(block, op)]
            first = block.values[str(op.operands[0])]
            extents = dict(zip(first.dims, first.shape, strict=True))
            for operand in op.operands:
                for root in block.values[str(operand)].roots:
                    value = block.values[root]
                    if value.role is Role.WEIGHT and "C" not in value.dims:
                        found[root] = size(extents[d] for d in summed)
    return found


def _result_dims(block: Block, products: Op) -> tuple[str, ...]:
    following = next(op for op in block.consumers[products.result])
    return block.values[following.result].dims


def modules(ref: BlockRef, weight: Value) -> tuple[str, ...]:
    """Names under which published checkpoints know a weight's module; quantisation configs speak of these."""
    if weight.scope:
        return {"embedding": ("model.embed_tokens",), "head": ("lm_head",)}.get(weight.scope, (weight.scope,))
    name, layer = weight.id.rsplit(".", 1)[0], f"model.layers.{ref.layer}"
    if ref.section == "mixer":
        return (f"{layer}.{MODULES.get(name, f'self_attn.{name}')}",)
    if name == "router":
        return f"{layer}.mlp.gate", f"{layer}.mlp.router"
    if "E" in weight.dims:
        return (f"{layer}.mlp.experts.{name}_proj",)
    if name.startswith("shared_"):
        return (f"{layer}.mlp.shared_experts.{name.removeprefix('shared_')}_proj",)
    return (f"{layer}.mlp.{name}_proj",)


def converts(quantization: Quantization, ref: BlockRef, weight: Value, inputs: Mapping[str, int]) -> bool:
    """Whether a declared quantisation stores this weight in its format."""
    names = modules(ref, weight)
    inside = weight.id in inputs and not weight.scope and not names[0].endswith("mlp.gate")
    return inside and not any(quantization.keeps(name) for name in names)


def places(step: DecodeStep, quantization: Quantization | None) -> Iterator[tuple[BlockRef, int]]:
    """Places whose weights are stored alike, with how many there are: one for each distinct block, unless the
    quantisation tells layers apart by their number."""
    if quantization is not None and quantization.names_layers:
        yield from ((ref, 1) for ref in step.sequence)
        return
    first: dict[str, BlockRef] = {}
    for ref in step.sequence:
        first.setdefault(ref.block, ref)
    for key, count in step.multiplicity.items():
        yield first[key], count


def format_of(block: Block, ref: BlockRef, weight: Value, scenario: Scenario) -> str:
    """The format in which a weight is stored at a place of the sequence."""
    declared = scenario.quantization
    if declared is not None and converts(declared, ref, weight, matrix_inputs(block)):
        return declared.format
    return scenario.weights


def weight_bytes(step: DecodeStep, scenario: Scenario) -> tuple[int, int]:
    """(bytes of all weights as stored, bytes that one step reads); shared weights count once, at their widest read."""
    stored = read_total = 0
    shared: dict[str, tuple[int, int]] = {}
    for ref, count in places(step, scenario.quantization):
        block = step.blocks[ref.block]
        inputs = matrix_inputs(block)
        for weight, read in weight_reads(block):
            form = format_of(block, ref, weight, scenario)
            whole = stored_bytes(
                weight.shape, inputs.get(weight.id, weight.shape[-1]), form, metadata=scenario.metadata
            )
            part = -(-whole * read // weight.size)
            if weight.scope:
                shared[weight.scope] = whole, max(part, shared.get(weight.scope, (0, 0))[1])
            else:
                stored, read_total = stored + whole * count, read_total + part * count
    return stored + sum(w for w, _ in shared.values()), read_total + sum(r for _, r in shared.values())
