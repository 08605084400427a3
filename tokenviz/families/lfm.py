"""LFM2: gated short convolutions with a few attention layers."""

from tokenviz.architecture import Architecture, Body, DenseFFN, MoE, RMSNorm, Router, ShortConv
from tokenviz.config import Reader
from tokenviz.families.common import DEFAULT, assemble, family, gqa, head_geometry, layer, layer_count, per_head
from tokenviz.families.rope import rope
from tokenviz.families.routed import CORRECTION_NOTE, experts_of
from tokenviz.notation import ConfigError


@family("lfm2", title="LFM2")
def lfm2(c: Reader) -> Architecture:
    """Dense: the declared feed-forward width is adjusted unless the config says that it is final."""
    ffn = DenseFFN(width=_adjusted(c), activation="silu", gated=True, bias=False, out_bias=False)
    return _build(c, (ffn,) * layer_count(c))


@family("lfm2_moe", title="LFM2")
def lfm2_moe(c: Reader) -> Architecture:
    """With sigmoid-routed experts in all layers but the first few."""
    width = c.integer("intermediate_size", default=7168, why=DEFAULT)
    dense = DenseFFN(width=width, activation="silu", gated=True, bias=False, out_bias=False)
    experts, chosen = experts_of(c, "num_experts")
    correction = c.boolean("use_expert_bias", default=True, why=DEFAULT)
    if correction:
        c.assume(CORRECTION_NOTE)
    router = Router(
        scoring="sigmoid", select_first=False, bias=False, correction=correction, groups=1, kept_groups=1,
        renormalise=c.boolean("norm_topk_prob", default=True, why=DEFAULT), epsilon=1e-6,
        scale=c.number("routed_scaling_factor", default=1.0, why=DEFAULT),
    )  # fmt: skip
    sparse = MoE(
        experts=experts, per_token=chosen, width=c.integer("moe_intermediate_size", default=1792, why=DEFAULT),
        activation="silu", gated=True, bias=False, router=router, weigh_input=False, shared=None,
    )  # fmt: skip
    first = c.integer("num_dense_layers", default=2, low=0, high=10_000, why=DEFAULT)
    return _build(c, tuple(dense if i < first else sparse for i in range(layer_count(c))))


def _build(c: Reader, ffns: tuple[DenseFFN | MoE, ...]) -> Architecture:
    norm = RMSNorm(eps=c.number("norm_eps", "block_norm_eps", default=1e-5, why=DEFAULT), zero_centred=False)
    width = c.integer("hidden_size", "block_dim")
    for key in ("conv_dim", "conv_dim_out", "block_dim"):
        if c.get(key) not in (None, width):
            raise ConfigError(f"{key} is {c.get(key)}; the convolution works at hidden_size {width}")
    c.ignore("block_use_swiglu", "theta")
    kv_heads, group, size = head_geometry(c)
    attention = gqa(
        kv_heads, group, size, qk_norm=per_head(norm), rope=rope(c, size, theta=1_000_000.0)
    )  # fmt: skip
    conv = ShortConv(
        channels=width, taps=c.integer("conv_L_cache", default=3, low=2, high=1_000, why=DEFAULT),
        bias=c.boolean("conv_bias", default=False),
    )  # fmt: skip
    mixers: dict[str, Body] = {"conv": conv, "full_attention": attention}
    layers = tuple(layer(norm, mixers[kind], ffn) for kind, ffn in zip(_kinds(c, len(ffns)), ffns, strict=True))
    return assemble(c, layers, norm, tied_default=True)


def _kinds(c: Reader, count: int) -> tuple[str, ...]:
    kinds = c.choices("layer_types", count, ("conv", "full_attention"))
    chosen = c.get("full_attn_idxs")
    if kinds is not None:
        return kinds
    if chosen is None:
        c.assume("layer_types is absent: every layer is full attention (the family's default)")
        return ("full_attention",) * count
    if not isinstance(chosen, list) or any(not isinstance(i, int) or not 0 <= i < count for i in chosen):
        raise ConfigError(f"full_attn_idxs is not a list of layers from 0 to {count - 1}")
    return tuple("full_attention" if i in chosen else "conv" for i in range(count))


def _adjusted(c: Reader) -> int:
    """Two thirds of the declared width, times a multiplier, rounded up to a multiple; or the width as it is."""
    width = c.integer("block_ff_dim", "intermediate_size", high=10_000_000)
    c.ignore("intermediate_size")
    multiple = c.integer("block_multiple_of", default=256, high=1_000_000)
    factor = c.number("block_ffn_dim_multiplier", default=1.0)
    if not c.boolean("block_auto_adjust_ff_dim", default=True, why=DEFAULT):
        return width
    adjusted = int(factor * int(2 * width / 3))
    adjusted = multiple * -(-adjusted // multiple)
    c.assume(f"the feed-forward width {width:,} is adjusted to {adjusted:,} (block_auto_adjust_ff_dim)")
    return adjusted
