"""Closed forms written from the mechanisms' definitions. They import nothing but the architecture's specs.

Each function says in its comment what it adds up; none of them walks a graph.
"""

from tokenviz.architecture import GQA, Architecture, DenseFFN, GatedDeltaNet, MoE


def macs(a: Architecture, context: int) -> int:
    """Multiply-accumulates of one token after `context` cached ones."""
    return sum(_section_macs(s.body, a.d_model, context + 1) for layer in a.layers for s in layer.sections) + (
        a.vocab * a.d_model  # one dot product for each token of the vocabulary
    )


def _section_macs(body: object, d: int, span: int) -> int:
    if isinstance(body, GQA):
        n, kv = body.kv_heads * body.group * body.head_dim, body.kv_heads * body.head_dim
        queries = 2 * n if body.gate else n
        # q (and gate), k, v, out; then for each query head and position one dot product and one weighted sum
        return d * (queries + 2 * kv) + n * d + 2 * n * span
    if isinstance(body, GatedDeltaNet):
        qk, v = body.key_heads * body.key_dim, body.value_heads * body.value_dim
        state = body.value_heads * body.key_dim * body.value_dim
        # qkv, z, a, b, out; the taps of every channel; read at k, rank-1 update, read at q
        return d * (2 * qk + v + v + 2 * body.value_heads) + v * d + (2 * qk + v) * body.taps + 3 * state
    if isinstance(body, DenseFFN):
        return 3 * d * body.width
    if isinstance(body, MoE):
        routed = 3 * d * body.width * body.per_token + d * body.experts
        shared = 3 * d * body.shared.width + d * body.shared.gated if body.shared else 0
        return routed + shared
    raise AssertionError(f"no closed form for {type(body).__name__}")


def parameters(a: Architecture) -> int:
    """Unique parameters of the text model."""
    ends = a.vocab * a.d_model * (1 if a.tied else 2) + a.d_model
    return ends + sum(_section_parameters(s.body, a.d_model) + a.d_model for layer in a.layers for s in layer.sections)


def _section_parameters(body: object, d: int) -> int:
    if isinstance(body, GQA):
        n, kv = body.kv_heads * body.group * body.head_dim, body.kv_heads * body.head_dim
        queries = 2 * n if body.gate else n
        norms = 2 * body.head_dim if body.qk_norm else 0
        biases = n + 2 * kv if body.bias else 0
        return d * (queries + 2 * kv) + n * d + norms + biases + (d if body.out_bias else 0)
    if isinstance(body, GatedDeltaNet):
        qk, v = body.key_heads * body.key_dim, body.value_heads * body.value_dim
        # the four projections and out; taps; A_log and dt_bias; one norm gain shared by the heads
        return (
            d * (2 * qk + 2 * v + 2 * body.value_heads)
            + v * d
            + (2 * qk + v) * body.taps
            + 2 * body.value_heads
            + body.value_dim
        )
    if isinstance(body, DenseFFN):
        return 3 * d * body.width + ((2 * body.width + d) if body.bias else 0)
    if isinstance(body, MoE):
        shared = 3 * d * body.shared.width + d * body.shared.gated if body.shared else 0
        return 3 * d * body.width * body.experts + d * body.experts + shared
    raise AssertionError(f"no closed form for {type(body).__name__}")


def exponentials(a: Architecture, context: int) -> int:
    """Exponentials of one token, softmax over the vocabulary included."""
    return a.vocab + sum(_section_exponentials(s.body, context + 1) for layer in a.layers for s in layer.sections)


def _section_exponentials(body: object, span: int) -> int:
    if isinstance(body, GQA):
        heads = body.kv_heads * body.group
        return heads * span + (heads * body.head_dim if body.gate else 0)
    if isinstance(body, GatedDeltaNet):
        channels = 2 * body.key_heads * body.key_dim + body.value_heads * body.value_dim
        # SiLU of every channel; sigmoid(b), softplus and decay of each head; SiLU of z
        return channels + 3 * body.value_heads + body.value_heads * body.value_dim
    if isinstance(body, DenseFFN):
        return body.width
    if isinstance(body, MoE):
        return (
            body.experts + body.width * body.per_token + (body.shared.width + body.shared.gated if body.shared else 0)
        )
    raise AssertionError(f"no closed form for {type(body).__name__}")


def kv_bytes_per_position(a: Architecture) -> int:
    """2-byte keys and values of one position over all full-attention layers."""
    bodies = [s.body for layer in a.layers for s in layer.sections]
    return sum(2 * b.kv_heads * b.head_dim * 2 for b in bodies if isinstance(b, GQA) and b.window is None)


def fixed_state_bytes(a: Architecture) -> tuple[int, int]:
    """(recurrent state in fp32, convolution columns in 2 bytes, taps - 1 of them)."""
    bodies = [s.body for layer in a.layers for s in layer.sections]
    deltas = [b for b in bodies if isinstance(b, GatedDeltaNet)]
    recurrent = sum(4 * b.value_heads * b.key_dim * b.value_dim for b in deltas)
    channels = [2 * b.key_heads * b.key_dim + b.value_heads * b.value_dim for b in deltas]
    return recurrent, sum(2 * c * (b.taps - 1) for b, c in zip(deltas, channels, strict=True))
