"""The plain decoder and its nearest relatives."""

from tokenviz.architecture import GQA, Architecture, DenseFFN, RMSNorm
from tokenviz.config import Reader
from tokenviz.families.common import activation, assemble, family, head_geometry, layer, layer_count, rope


@family("llama")
def llama(c: Reader) -> Architecture:
    """The plain decoder: RMSNorm, RoPE, grouped-query attention, SwiGLU."""
    norm = RMSNorm(eps=c.number("rms_norm_eps", default=1e-6, why="the family's default"), zero_centred=False)
    kv_heads, group, head_dim = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    mixer = GQA(
        kv_heads=kv_heads, group=group, head_dim=head_dim, scale=head_dim**-0.5, bias=bias, out_bias=bias,
        qk_norm=None, rope=rope(c, head_dim), gate=None, window=None,
    )  # fmt: skip
    mlp_bias = c.boolean("mlp_bias", default=False)
    ffn = DenseFFN(
        width=c.integer("intermediate_size"), activation=activation(c), gated=True, bias=mlp_bias, out_bias=mlp_bias,
    )  # fmt: skip
    return assemble(c, (layer(norm, mixer, ffn),) * layer_count(c), norm, tied_default=False)
