"""Hybrids of Gated DeltaNet and gated attention."""

from tokenviz.architecture import Architecture, DenseFFN, GatedDeltaNet, MoE, OutputGate, RMSNorm, SharedExpert
from tokenviz.config import Reader
from tokenviz.families.common import (
    activation,
    assemble,
    family,
    gqa,
    head_geometry,
    layer,
    layer_count,
    per_head,
    softmax_router,
)
from tokenviz.families.rope import rope
from tokenviz.notation import ConfigError


@family("qwen3_5", "qwen3_5_text")
def qwen3_5(c: Reader) -> Architecture:
    """Qwen3.5 to 3.8, dense: three Gated DeltaNet layers, then one of gated attention."""
    ffn = DenseFFN(
        width=c.integer("intermediate_size"), activation=activation(c), gated=True, bias=False, out_bias=False
    )  # fmt: skip
    return _qwen3_5(c, ffn)


@family("qwen3_5_moe", "qwen3_5_moe_text")
def qwen3_5_moe(c: Reader) -> Architecture:
    """The same with routed experts and one gated shared expert in every layer."""
    experts = c.integer("num_experts", high=100_000)
    per_token = c.integer("num_experts_per_tok", high=100_000)
    if per_token > experts:
        raise ConfigError(f"num_experts_per_tok {per_token} is more than num_experts {experts}")
    shared = SharedExpert(width=c.integer("shared_expert_intermediate_size"), gated=True)
    ffn = MoE(
        experts=experts, per_token=per_token, width=c.integer("moe_intermediate_size"), activation=activation(c),
        gated=True, bias=False, router=softmax_router(renormalise=True), weigh_input=False, shared=shared,
    )  # fmt: skip
    return _qwen3_5(c, ffn)


def _qwen3_5(c: Reader, ffn: DenseFFN | MoE) -> Architecture:
    eps = c.number("rms_norm_eps", default=1e-6, why="the family's default")
    norm = RMSNorm(eps=eps, zero_centred=True)
    kv_heads, group, head_dim = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    studied = c.string("output_gate_type", default="sigmoid")
    if studied not in ("sigmoid", "swish", "silu"):
        raise ConfigError(f"output_gate_type is {studied!r}; known: sigmoid, swish, silu")
    if not c.boolean("attn_output_gate", default=True):
        raise ConfigError(
            "attn_output_gate is false; the family's attention always has its gate: set it to true or drop it"
        )
    attention = gqa(
        kv_heads, group, head_dim, bias=bias, out_bias=bias, qk_norm=per_head(norm),
        rope=rope(c, head_dim, partial=0.25), gate=OutputGate(activation="sigmoid", as_studied=studied),
    )  # fmt: skip
    delta = _delta_net(c, eps)
    count = layer_count(c)
    interval = c.integer("full_attention_interval", default=4, high=10_000)
    kinds = c.choices("layer_types", count, ("linear_attention", "full_attention"))
    if kinds is None:
        c.assume(f"layer_types is absent: every {interval}th layer is full attention")
        kinds = tuple("full_attention" if (i + 1) % interval == 0 else "linear_attention" for i in range(count))
    _name_left_out(c)
    table = {"linear_attention": layer(norm, delta, ffn), "full_attention": layer(norm, attention, ffn)}
    return assemble(c, tuple(table[k] for k in kinds), norm, tied_default=False)


def _delta_net(c: Reader, eps: float) -> GatedDeltaNet:
    key_heads, value_heads = c.integer("linear_num_key_heads"), c.integer("linear_num_value_heads")
    if value_heads % key_heads:
        raise ConfigError(f"linear_num_value_heads {value_heads} is not a multiple of linear_num_key_heads {key_heads}")
    return GatedDeltaNet(
        key_heads=key_heads, value_heads=value_heads, key_dim=c.integer("linear_key_head_dim"),
        value_dim=c.integer("linear_value_head_dim"), taps=c.integer("linear_conv_kernel_dim", low=2, high=1_000),
        norm=RMSNorm(eps=eps, zero_centred=False),
    )  # fmt: skip


def _name_left_out(c: Reader) -> None:
    """Extra prediction heads are in the file but not in the step."""
    heads = c.integer("mtp_num_hidden_layers", default=0, low=0, high=1_000)
    c.read.update(("mtp_use_dedicated_embeddings", "mlp_only_layers"))
    if heads:
        c.assume(f"multi-token prediction heads ({heads}) are left out")
    if c.outer.get("vision_config"):
        c.assume("the vision tower is left out")
