"""Reference state dict -> the names and shapes that `tokenviz.execute.bind` looks up.

Only numpy: the fixtures and the live comparison share it.
"""

from collections.abc import Mapping

import numpy as np

from tests.reference import attention_mapping, state_mapping
from tests.reference.attention_models import CONFIGS_ATTENTION
from tests.reference.state_models import CONFIGS_STATE

Arrays = Mapping[str, np.ndarray]


GATED_ATTENTION = ("qwen3_5", "qwen3_5_moe")
"""Models whose q_proj also holds the output gate."""


def map_weights(tensors: Arrays, shapes: Mapping[str, tuple[int, ...]], model: str) -> dict[str, np.ndarray]:
    """Give every weight that a step needs its array, reshaped (never transposed) to our shape."""
    if model in CONFIGS_STATE:
        return {name: state_mapping.find(tensors, name).reshape(shape) for name, shape in shapes.items()}
    if model in CONFIGS_ATTENTION:
        config = CONFIGS_ATTENTION[model]
        return {name: attention_mapping.find(tensors, name, config).reshape(shape) for name, shape in shapes.items()}
    gated = model in GATED_ATTENTION
    return {name: _find(tensors, name, gated).reshape(shape) for name, shape in shapes.items()}


STATES = {"keys": "K_cache", "values": "V_cache", "conv_states": "conv_state", "recurrent_states": "S"}
"""The reference's cache fields and our states."""


def our_state(model: str, arrays: Arrays, layer: int, field: str, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(ours, theirs) for one cache tensor, in one shape."""
    if model in CONFIGS_ATTENTION:
        return attention_mapping.state(arrays, layer, field, theirs)
    ours = arrays[f"layers.{layer}.mixer.{STATES[field]}"]
    if field == "conv_states":
        # The reference keeps as many columns as taps, channels first; only the last taps - 1 are ever read again.
        theirs = theirs[:, -len(ours) :].T
    return ours, theirs


def _find(t: Arrays, name: str, gated: bool) -> np.ndarray:
    if name == "embedding":
        return t["model.embed_tokens.weight"]
    if name == "head":
        return t["lm_head.weight"]
    if name == "output.norm.weight":
        return t["model.norm.weight"]
    _, index, section, rest = name.split(".", 3)
    layer = f"model.layers.{index}."
    if rest == "norm.weight":
        return t[layer + ("input_layernorm.weight" if section == "mixer" else "post_attention_layernorm.weight")]
    if section == "ffn":
        return _ffn(t, layer, rest)
    if layer + "linear_attn.A_log" in t:
        return t[layer + DELTA[rest]]
    return _attention(t, layer, rest, gated)


DELTA = {
    "qkv.weight": "linear_attn.in_proj_qkv.weight",
    "z.weight": "linear_attn.in_proj_z.weight",
    "b.weight": "linear_attn.in_proj_b.weight",
    "a.weight": "linear_attn.in_proj_a.weight",
    "conv.weight": "linear_attn.conv1d.weight",
    "dt_bias": "linear_attn.dt_bias",
    "A_log": "linear_attn.A_log",
    "norm_out.weight": "linear_attn.norm.weight",
    "out.weight": "linear_attn.out_proj.weight",
}


def _attention(t: Arrays, layer: str, rest: str, gated: bool) -> np.ndarray:
    module = {"q": "q_proj", "gate": "q_proj", "k": "k_proj", "v": "v_proj", "out": "o_proj"}
    head, _, kind = rest.partition(".")
    if head in ("q_norm", "k_norm"):
        return t[f"{layer}self_attn.{head}.weight"]
    array = t[f"{layer}self_attn.{module[head]}.{kind}"]
    if head not in ("q", "gate") or not gated:
        return array
    # q_proj holds, head by head, the rows of q and then the rows of its gate.
    head_dim = t[f"{layer}self_attn.q_norm.weight"].shape[0]
    pairs = array.reshape(-1, 2, head_dim, *array.shape[1:])
    return np.ascontiguousarray(pairs[:, 0 if head == "q" else 1])


def _ffn(t: Arrays, layer: str, rest: str) -> np.ndarray:
    head, _, kind = rest.partition(".")
    mlp = layer + "mlp."
    if mlp + "experts.gate_up_proj" in t:
        fused = t[mlp + "experts.gate_up_proj"]
        half = fused.shape[1] // 2
        table = {
            "router": lambda: t[mlp + "gate.weight"],
            "gate": lambda: fused[:, :half],
            "up": lambda: fused[:, half:],
            "down": lambda: t[mlp + "experts.down_proj"],
            "shared_gate": lambda: t[mlp + "shared_expert.gate_proj.weight"],
            "shared_up": lambda: t[mlp + "shared_expert.up_proj.weight"],
            "shared_down": lambda: t[mlp + "shared_expert.down_proj.weight"],
            "shared_score": lambda: t[mlp + "shared_expert_gate.weight"],
        }
        return table[head]()
    return t[f"{mlp}{head}_proj.{kind}"]
