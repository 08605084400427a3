"""Random small mixers: sizes and work by closed forms, and one result however the tokens are grouped.

The closed forms import nothing but the specs. Letters as in the notation: D width, U heads, P and Q state dimensions.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenviz.architecture import (
    Architecture,
    Body,
    Indexer,
    KimiDelta,
    LatentAttention,
    Layer,
    LayerNorm,
    LinearAttention,
    RMSNorm,
    Rope,
    Section,
    SelectiveScan,
    ShortConv,
    StateSpace,
)
from tokenviz.execute import bind, execute, initial_state, weight_shapes
from tokenviz.graph import Block
from tokenviz.scenario import Scenario
from tokenviz.trace import trace
from tokenviz.traffic import kept

NORM = RMSNorm(eps=1e-6, zero_centred=False)
VOCAB = 7
small, flag = st.integers(1, 5), st.booleans()


@dataclass(frozen=True)
class Expected:
    """What a mixer must cost: parameters without the norm before it, MACs of one step, elements kept."""

    parameters: int
    macs: int
    recurrent: int = 0
    convolution: int = 0
    per_position: int = 0


def latent(spec: LatentAttention, d: int, n: int) -> Expected:
    """DeepSeek-V2, section 2.1, with W_UK taken to the query and W_UV to the mixed latent."""
    heads, rank, key = spec.heads, spec.rank, spec.nope_dim + spec.rope_dim
    low = spec.query_rank
    query = d * heads * key if low is None else d * low + low * heads * key
    compress, out = d * (rank + spec.rope_dim), heads * spec.value_dim * d
    parameters = query + (low or 0) + compress + rank + rank * heads * (spec.nope_dim + spec.value_dim) + out
    if spec.bias:
        parameters += (low or 0) + rank + spec.rope_dim + d
    per_position, read, macs = rank + spec.rope_dim, n, query + compress + out
    if spec.indexer is not None:
        i = spec.indexer
        assert low is not None
        project = low * i.heads * i.head_dim + d * i.head_dim + d * i.heads
        parameters += project + 2 * i.head_dim
        macs += project + n * i.heads * (i.head_dim + 1)
        per_position += i.head_dim
        read = min(n, i.top_k)
    macs += heads * (spec.nope_dim * rank + read * (2 * rank + spec.rope_dim) + rank * spec.value_dim)
    return Expected(parameters, macs, per_position=per_position)


def kimi_delta(spec: KimiDelta, d: int) -> Expected:
    """Kimi Linear, section 3: the delta rule's three passes over the state, two low-rank gates, three convolutions."""
    width, p, r = spec.heads * spec.head_dim, spec.head_dim, spec.gate_rank
    matrices = 3 * d * width + 2 * (d * r + r * width) + d * spec.heads + width * d
    convolutions = 3 * width * spec.taps
    vectors = width + spec.heads + p
    state = width * p
    return Expected(
        matrices + convolutions + vectors, matrices + convolutions + 3 * state, state, 3 * width * (spec.taps - 1)
    )


def selective_scan(spec: SelectiveScan, d: int) -> Expected:
    """Mamba, algorithm 2: the state is written and read once, D skips."""
    c, p, r = spec.channels, spec.state, spec.dt_rank
    matrices = 2 * d * c + c * (r + 2 * p) + r * c + c * d
    vectors = c + c * p + c + (c if spec.conv_bias else 0) + (2 * c + d if spec.bias else 0)
    vectors += r + 2 * p if spec.norm else 0
    taps = c * spec.taps
    return Expected(matrices + taps + vectors, matrices + taps + 2 * c * p + c, c * p, c * (spec.taps - 1))


def state_space(spec: StateSpace, d: int) -> Expected:
    """Mamba-2, section 7: one decay a head, B and C shared by groups."""
    inner = spec.heads * spec.head_dim
    channels = inner + 2 * spec.groups * spec.state
    projected = inner + channels + spec.heads
    matrices, taps = d * projected + inner * d, channels * spec.taps
    vectors = 3 * spec.heads + (channels if spec.conv_bias else 0) + (inner if spec.norm else 0)
    vectors += (projected if spec.bias else 0) + (d if spec.out_bias else 0)
    state = inner * spec.state
    return Expected(matrices + taps + vectors, matrices + taps + 2 * state + inner, state, channels * (spec.taps - 1))


def short_conv(spec: ShortConv, d: int) -> Expected:
    """Three projections in, taps, one projection out."""
    c = spec.channels
    work = 4 * c * d + c * spec.taps
    return Expected(work + (4 * c + d if spec.bias else 0), work, convolution=c * (spec.taps - 1))


def lightning(spec: LinearAttention, d: int) -> Expected:
    """q, k, v, gate and output; the state is written and read once; the fading rates are not learned."""
    width = spec.heads * spec.head_dim
    state = width * spec.head_dim
    return Expected(5 * width * d + width, 5 * width * d + 2 * state, state)


@st.composite
def latents(draw: st.DrawFn) -> LatentAttention:
    turned = 2 * draw(small)
    rope = Rope(dims=turned, theta=100.0, pairing=draw(st.sampled_from(["half", "pairs"])), scaling=())
    indexer = None
    if draw(flag):
        indexer = Indexer(heads=draw(small), head_dim=turned + draw(small), top_k=draw(st.integers(1, 9)), rope=rope,
                          norm=LayerNorm(eps=1e-6, weighted=True, bias=True))  # fmt: skip
    return LatentAttention(
        heads=draw(small), nope_dim=draw(small), rope_dim=turned, value_dim=draw(small), rank=draw(small),
        query_rank=draw(small) if indexer else draw(st.none() | small), scale=0.3,
        rope=rope if indexer else draw(st.none() | st.just(rope)), bias=draw(flag), norm=NORM, indexer=indexer,
    )  # fmt: skip


taps = st.integers(2, 5)
norms = st.sampled_from([None, NORM])


@st.composite
def state_spaces(draw: st.DrawFn) -> StateSpace:
    groups = draw(st.integers(1, 3))
    return StateSpace(
        heads=groups * draw(small), head_dim=draw(small), state=draw(small), groups=groups, taps=draw(taps),
        conv_bias=draw(flag), bias=draw(flag), out_bias=draw(flag), norm=draw(norms), norm_first=draw(flag),
        dt_limits=(0.0, None), multipliers=draw(st.sampled_from([None, (1.0, 2.0, 3.0, 4.0, 0.5)])),
    )  # fmt: skip


MIXERS: dict[str, st.SearchStrategy[Body]] = {
    "latent attention": latents(),
    "kimi delta": st.builds(
        KimiDelta, heads=small, head_dim=small, taps=taps, gate_rank=small, norm=st.just(NORM)
    ),
    "mamba": st.builds(
        SelectiveScan, channels=small, state=small, taps=taps, dt_rank=small, conv_bias=flag, bias=flag, norm=norms
    ),
    "mamba2": state_spaces(),
    "short conv": st.builds(ShortConv, channels=small, taps=taps, bias=flag),
    "lightning": st.builds(
        LinearAttention, heads=small, head_dim=small, activation=st.just("silu"), norm=st.just(NORM)
    ),
}  # fmt: skip
each = pytest.mark.parametrize("mixer", MIXERS)


def alone(body: Body, d: int) -> Architecture:
    """A model of one layer with this mixer and nothing else."""
    section = Section(name="mixer", norm=NORM, body=body)
    return Architecture(
        family="alone", d_model=d, vocab=VOCAB, layers=(Layer(sections=(section,)),), final_norm=NORM, tied=True,
        dtype="fp32", max_positions=None, assumptions=(), unread_keys=(),
    )  # fmt: skip


def expected(body: Body, d: int, n: int) -> Expected:
    if isinstance(body, LatentAttention):
        return latent(body, d, n)
    forms = {KimiDelta: kimi_delta, SelectiveScan: selective_scan, StateSpace: state_space, ShortConv: short_conv,
             LinearAttention: lightning}  # fmt: skip
    return forms[type(body)](body, d)


def macs(block: Block) -> int:
    return sum(op.counts.get("mac", 0) for op in block.ops)


@each
@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 6), st.integers(0, 12))
def test_sizes_and_work_equal_the_closed_forms(mixer: str, data: st.DataObject, d: int, context: int) -> None:
    body = data.draw(MIXERS[mixer])
    scenario = Scenario(context=context)
    step = trace(alone(body, d), scenario)
    block = step.blocks[step.sequence[1].block]
    right, found = expected(body, d, context + 1), kept(step, scenario)
    assert sum(w.size for w in block.weights) == right.parameters
    assert macs(block) == right.macs
    assert found.recurrent == 4 * right.recurrent
    assert found.convolution == 2 * right.convolution
    assert (found.kv_per_position, found.kv) == (2 * right.per_position, 2 * right.per_position * context)


@each
@settings(max_examples=25, deadline=None)
@given(st.data(), st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_tokens_at_once_equal_tokens_one_by_one(mixer: str, data: st.DataObject, d: int, count: int, seed: int) -> None:
    """The same logits and state, however a prompt is cut: all at once, or token by token."""
    body = data.draw(MIXERS[mixer])
    random = np.random.default_rng(seed)
    one = trace(alone(body, d), Scenario(context=0))
    weights = {name: random.normal(size=shape).astype(np.float64) for name, shape in weight_shapes(one).items()}
    tokens = random.integers(0, VOCAB, count + 1)
    single, state, rows = bind(one, weights), initial_state(one), []
    for token in tokens:
        result = execute(single, None, state, int(token))
        state = result.state
        rows.append(result.logits[0])
    many = bind(trace(alone(body, d), Scenario(context=0, positions=count)), weights)
    first = execute(many, None, initial_state(many.step), tokens[:-1])
    last = execute(single, None, first.state, int(tokens[-1]))
    assert first.logits == pytest.approx(np.array(rows[:-1]), rel=1e-4, abs=1e-4)
    assert last.logits[0] == pytest.approx(rows[-1], rel=1e-4, abs=1e-4)
    for name, array in state.arrays.items():
        assert last.state.arrays[name] == pytest.approx(array, rel=1e-4, abs=1e-4)
