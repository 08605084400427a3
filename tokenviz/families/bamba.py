"""Bamba: Mamba-2 layers with attention at chosen places, a dense feed-forward behind each."""

from tokenviz.architecture import Architecture, Body
from tokenviz.config import Reader
from tokenviz.families.common import assemble, family, gated_ffn, gqa, head_geometry, layer, layer_count, rms
from tokenviz.families.hybrid import prefixed_mamba2
from tokenviz.families.mamba import require_silu
from tokenviz.families.rope import rope
from tokenviz.notation import ConfigError


@family("bamba", title="Bamba")
def bamba(c: Reader) -> Architecture:
    """attn_layer_indices counts from 0; attention turns half of each head."""
    norm, count = rms(c, default=1e-5), layer_count(c)
    require_silu(c, "hidden_act")
    places = c.get("attn_layer_indices") or []
    if not isinstance(places, list) or any(not isinstance(i, int) or not 0 <= i < count for i in places):
        raise ConfigError(f"attn_layer_indices is not a list of layers from 0 to {count - 1}")
    kv_heads, group, size = head_geometry(c)
    bias = c.boolean("attention_bias", default=False)
    attention = gqa(kv_heads, group, size, bias=bias, out_bias=bias, rope=rope(c, size, partial=0.5))
    c.ignore("attn_rotary_emb", "z_loss_coefficient")
    mamba = prefixed_mamba2(c, norm, c.integer("hidden_size"), state=256, norm_inside=True)
    mixers: dict[bool, Body] = {True: attention, False: mamba}
    ffn = gated_ffn(c, bias=c.boolean("mlp_bias", default=False))
    layers = tuple(layer(norm, mixers[i in places], ffn) for i in range(count))
    return assemble(c, layers, norm, tied_default=False)
