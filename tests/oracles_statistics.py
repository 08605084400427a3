"""Scalar counts and tree depths written by hand from each mechanism's definition. No graph is walked here."""

from collections import Counter

from tokenviz.architecture import GQA, Architecture, DenseFFN, GatedDeltaNet, MoE

Counts = Counter[str]


def clog(n: int) -> int:
    """Levels of a balanced binary tree over n values: the smallest k with 2^k >= n."""
    k = 0
    while 2**k < n:
        k += 1
    return k


def counts(a: Architecture, context: int, gate: str) -> dict[str, int]:
    """Every counter but MACs, for one token after `context` cached ones; `gate` as in the scenario."""
    total = rms(a.d_model) + softmax(a.vocab)  # final norm, probabilities
    for i, layer in enumerate(a.layers):
        for j, section in enumerate(layer.sections):
            if (i, j) != (0, 0):  # the first norm is looked up
                total += rms(a.d_model)
            total += body(section.body, a.d_model, context + 1, gate)
            total += Counter(add=a.d_model)  # residual add
    return dict(total)


def rms(width: int, rows: int = 1) -> Counts:
    # square w, mean 1 (times 1/w), times rsqrt w, times gain w; sum w - 1 and + eps 1; one rsqrt
    return Counter(multiply=rows * (3 * width + 1), add=rows * width, rsqrt=rows)


def l2(width: int, rows: int, scaled: bool) -> Counts:
    # square w, times rsqrt w, times 1/sqrt(d) w when asked; sum w - 1 and + eps 1; one rsqrt
    return Counter(multiply=rows * width * (3 if scaled else 2), add=rows * width, rsqrt=rows)


def sigmoid(n: int) -> Counts:
    # negate, exp, + 1, reciprocal
    return Counter(add=2 * n, exp=n, divide=n)


def silu(n: int) -> Counts:
    return sigmoid(n) + Counter(multiply=n)


def softmax(n: int, rows: int = 1) -> Counts:
    # max n - 1 compares, subtract n, exp n, sum n - 1, divide n
    return Counter(compare=rows * (n - 1), add=rows * (2 * n - 1), exp=rows * n, divide=rows * n)


def rope(rows: int, rotated: int) -> Counts:
    return Counter(multiply=2 * rows * rotated, add=rows * rotated)


def body(spec: object, d: int, span: int, gate: str) -> Counts:
    if isinstance(spec, GQA):
        return attention(spec, d, span, gate)
    if isinstance(spec, GatedDeltaNet):
        return delta(spec)
    if isinstance(spec, DenseFFN):
        # SiLU(gate) * up
        return silu(spec.width) + Counter(multiply=spec.width)
    if isinstance(spec, MoE):
        return experts(spec, d)
    raise AssertionError(f"no closed form for {type(spec).__name__}")


def attention(spec: GQA, d: int, span: int, gate: str) -> Counts:
    heads, width = spec.kv_heads * spec.group, spec.head_dim
    total = Counter(multiply=heads * span) + softmax(span, heads)  # times 1/sqrt(d) for each score
    if spec.qk_norm:
        total += rms(width, heads) + rms(width, spec.kv_heads)
    if spec.rope:
        total += rope(heads + spec.kv_heads, spec.rope.dims)
    if spec.gate:
        act = spec.gate.as_studied if gate == "study" else spec.gate.activation
        total += (sigmoid if act == "sigmoid" else silu)(heads * width) + Counter(multiply=heads * width)
    if spec.bias:
        total += Counter(add=(heads + 2 * spec.kv_heads) * width)
    return total


def delta(spec: GatedDeltaNet) -> Counts:
    channels = 2 * spec.key_heads * spec.key_dim + spec.value_heads * spec.value_dim
    u, v = spec.value_heads, spec.value_heads * spec.value_dim
    total = silu(channels)
    total += l2(spec.key_dim, spec.key_heads, True) + l2(spec.key_dim, spec.key_heads, False)
    total += sigmoid(u)  # correction strength
    total += Counter(add=u, exp=2 * u, log1p=u, multiply=u)  # + dt_bias, exp, log1p, times -exp(A), exp
    total += Counter(multiply=v * spec.key_dim + v, add=v)  # decay S; (v - read) times beta
    return total + rms(spec.value_dim, u) + silu(v) + Counter(multiply=v)  # gated norm


def experts(spec: MoE, d: int) -> Counts:
    e, x = spec.experts, spec.per_token
    total = softmax(e) + Counter(compare=x * e - x * (x + 1) // 2)  # k maxima: n - 1, n - 2, ... compares
    if spec.router.renormalise:
        total += Counter(add=x - 1, divide=x)
    total += silu(x * spec.width) + Counter(multiply=x * spec.width)
    total += Counter(multiply=x * d, add=(x - 1) * d)
    if spec.shared:
        total += silu(spec.shared.width) + Counter(multiply=spec.shared.width, add=d)
        if spec.shared.gated:
            total += sigmoid(1) + Counter(multiply=d)
    return total


# ------------------------------------------------------------------------------------------------ tree depths


def llama_scalar_depth(d: int, width: int, heads: int, head_dim: int, vocab: int, layers: int, span: int) -> int:
    """Longest chain of scalar operations of a plain attention model, products in parallel, sums as trees."""
    norm = 1 + (clog(d) + 1) + 4  # square; sum and times 1/d; + eps, rsqrt, times rsqrt, times gain
    mix = 1 + clog(span)
    scores = 1 + clog(head_dim) + 1
    soft = clog(span) + 2 + clog(span) + 1  # max; subtract, exp; sum; divide
    attention = (1 + clog(d)) + 2 + scores + soft + mix + (1 + clog(heads * head_dim)) + 1
    ffn = norm + (1 + clog(d)) + 6 + (1 + clog(width)) + 1
    output = norm + (1 + clog(d)) + 2 * clog(vocab) + 3
    return layers * (norm + attention + ffn) - norm + output  # the first norm is looked up
