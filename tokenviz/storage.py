"""How many bytes the weights take as they are stored: all of them, and those that one step reads.

A scenario's `weights` precision holds for every weight, unless the config declares a quantisation of its own: then the
matrices of the layers are stored in that format and everything else (embedding, head, norms, biases, convolution taps,
routers, and the modules that the declaration leaves alone) at the model's precision.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from tokenviz.architecture import Parallel, Section
from tokenviz.formats import FORMATS, Format, Quantization, stored_bytes
from tokenviz.graph import Block, BlockRef, DecodeStep, Op, Role, Value
from tokenviz.notation import size
from tokenviz.scenario import Scenario
from tokenviz.weights import weight_reads

HOLDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "attention": ("self_attn", "self_attention", "attention", "attn", "mixer"),
        "deltanet": ("linear_attn",),
        "mamba": ("mamba", "mixer"),
        "mamba2": ("mamba", "mixer"),
        "short conv": ("conv",),
        "ffn": ("mlp", "feed_forward", "mixer"),
        "moe": ("mlp", "feed_forward", "block_sparse_moe", "mixer"),
    }
)
"""Kind of a mechanism -> the module of a layer that holds its weights in published checkpoints."""

LEAVES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "attention.gate": ("q_proj",),
        "attention.out": ("o_proj", "out_proj"),
        "latent attention.kv_a": ("kv_a_proj_with_mqa",),
        "latent attention.out": ("o_proj",),
        "kimi delta.out": ("o_proj",),
        "deltanet.qkv": ("in_proj_qkv", "in_proj_qkvz"),
        "deltanet.z": ("in_proj_z", "in_proj_qkvz"),
        "deltanet.b": ("in_proj_b", "in_proj_ba"),
        "deltanet.a": ("in_proj_a", "in_proj_ba"),
        "mamba.in": ("in_proj",),
        "moe.router": ("gate", "router"),
        "moe.shared_score": ("shared_expert_gate",),
    }
)
"""Kind and our own name of a weight -> its published module, where that is not the name and ``_proj``."""


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
    """Dimensions of what sums the products of a contraction."""
    return block.values[block.consumers[products.result][0].result].dims


def modules(block: Block, ref: BlockRef, weight: Value) -> tuple[str, ...]:
    """Names under which published checkpoints know a weight's module; quantisation configs speak of these."""
    if weight.scope:
        return {"embedding": ("model.embed_tokens",), "head": ("lm_head",)}.get(weight.scope, (weight.scope,))
    kind, name = _mechanism(block, weight)
    return tuple(
        f"model.layers.{ref.layer}.{holder}.{leaf}"
        for holder in HOLDERS.get(kind, HOLDERS["attention"])
        for leaf in _leaves(kind, name, weight)
    )


def _mechanism(block: Block, weight: Value) -> tuple[str, str]:
    """Kind and own name of a weight; where mechanisms run side by side, its id begins with its branch."""
    name = weight.id.rsplit(".", 1)[0]
    body = block.spec.body if isinstance(block.spec, Section) else None
    if not isinstance(body, Parallel):
        return block.kind, name
    branch, _, rest = name.partition(".")
    names = [b.name for b in body.branches]
    return block.kind.split("|")[names.index(branch)] if branch in names else block.kind, rest or name


def _leaves(kind: str, name: str, weight: Value) -> tuple[str, ...]:
    known = LEAVES.get(f"{kind}.{name}")
    if known is not None:
        return known
    if "E" in weight.dims:
        return (f"experts.{name}_proj",)
    if name.startswith("shared_"):
        own = f"{name.removeprefix('shared_')}_proj"
        return f"shared_experts.{own}", f"shared_expert.{own}"
    return f"{name}_proj", name


def converts(quantization: Quantization, block: Block, ref: BlockRef, weight: Value) -> bool:
    """Whether a declared quantisation stores this weight in its format. Routers and single scores never are."""
    if weight.scope or weight.id not in matrix_inputs(block):
        return False
    return _mechanism(block, weight)[1] != "router" and not any(
        quantization.keeps(name) for name in modules(block, ref, weight)
    )


def places(step: DecodeStep, quantization: Quantization | None) -> Iterator[tuple[BlockRef, int]]:
    """Places of the sequence that stand for all whose weights are stored alike, with how many those are.

    One for each distinct block, unless the quantisation tells layers apart by their number: then every place.
    """
    if quantization is not None and quantization.names_layers:
        yield from ((ref, 1) for ref in step.sequence)
        return
    first: dict[str, BlockRef] = {}
    for ref in step.sequence:
        first.setdefault(ref.block, ref)
    for key, count in step.multiplicity.items():
        yield first[key], count


def format_of(block: Block, ref: BlockRef, weight: Value, scenario: Scenario) -> Format:
    """The format in which a weight is stored at a place of the sequence."""
    declared = scenario.quantization
    if declared is not None and converts(declared, block, ref, weight):
        return declared.layout
    return FORMATS[scenario.weights]


@dataclass(frozen=True, slots=True)
class Load:
    """A weight that is read at a place of the sequence, and at `count` - 1 others just like it."""

    ref: BlockRef
    count: int
    weight: Value
    read: int  # elements
    stored_bytes: int  # the whole weight

    def bytes_of(self, read: int) -> int:
        """Bytes of `read` of its elements as they are stored, rounded up."""
        return -(-self.stored_bytes * read // self.weight.size)


def weight_loads(step: DecodeStep, scenario: Scenario) -> Iterator[Load]:
    """Every weight at every place that stores it differently, in the order of the sequence."""
    for ref, count in places(step, scenario.quantization):
        block = step.blocks[ref.block]
        inputs = matrix_inputs(block)
        for weight, read in weight_reads(block):
            form = format_of(block, ref, weight, scenario)
            row = inputs.get(weight.id, weight.shape[-1])
            yield Load(ref, count, weight, read, stored_bytes(weight.shape, row, form, metadata=scenario.metadata))


def over_layers(loads: Iterable[Load], amount: Callable[[Load], int]) -> int:
    """An amount summed over all layers; a weight that several blocks share counts once, at its largest."""
    total = 0
    shared: dict[str, int] = {}
    for load in loads:
        n = amount(load)
        if load.weight.scope:
            shared[load.weight.scope] = max(n, shared.get(load.weight.scope, 0))
        else:
            total += n * load.count
    return total + sum(shared.values())


def weight_bytes(step: DecodeStep, scenario: Scenario) -> tuple[int, int]:
    """(bytes of all weights as stored, bytes that one step reads)."""
    loads = tuple(weight_loads(step, scenario))
    stored = over_layers(loads, lambda load: load.stored_bytes)
    return stored, over_layers(loads, lambda load: load.bytes_of(load.read))
