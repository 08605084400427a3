"""Reference tensors -> ours for the models of `attention_models`: names by pattern, fused tensors cut apart."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

Arrays = Mapping[str, np.ndarray]

ENDS = {
    "embedding": (
        "model.embed_tokens.weight", "transformer.wte.weight", "gpt_neox.embed_in.weight",
        "model.decoder.embed_tokens.weight", "transformer.word_embeddings.weight",
    ),
    "head": ("lm_head.weight", "embed_out.weight"),
    "positions": ("transformer.wpe.weight", "model.decoder.embed_positions.weight"),
    "output.scores.bias": ("lm_head.bias",),
    "embedding_norm": ("transformer.word_embeddings_layernorm",),
    "output.norm": (
        "model.norm", "transformer.ln_f", "gpt_neox.final_layer_norm", "model.final_layernorm", "transformer.norm_f",
        "model.decoder.final_layer_norm",
    ),
}  # fmt: skip
PER_LAYER = {
    "per_layer": "model.embed_tokens_per_layer.weight",
    "per_layer_projection.weight": "model.per_layer_model_projection.weight",
    "per_layer_norm.weight": "model.per_layer_projection_norm.weight",
}
LAYER_INPUT = {
    "gate": "per_layer_input_gate.weight", "out": "per_layer_projection.weight", "layer_scalar": "layer_scalar",
    "post_norm": "post_per_layer_input_norm.weight",
}  # fmt: skip
LAYERS = ("model.layers.", "transformer.h.", "transformer.blocks.", "gpt_neox.layers.", "model.decoder.layers.")
ATTENTION = ("self_attn.", "attn.", "self_attention.", "attention.")
FFN = ("mlp.", "ffn.", "feed_forward.", "block_sparse_moe.", "")
PROJECTIONS = {
    "q": ("q_proj",), "k": ("k_proj",), "v": ("v_proj",), "out": ("o_proj", "out_proj", "c_proj", "dense"),
    "q_norm": ("q_norm", "query_layernorm"), "k_norm": ("k_norm", "key_layernorm"),
    "gate": ("gate_proj",), "up": ("up_proj", "c_fc", "dense_h_to_4h", "fc1", "fc_in"),
    "down": ("down_proj", "c_proj", "dense_4h_to_h", "fc2", "fc_out"),
    "router": ("gate", "router", "router.proj", "gate.wg"), "shared_score": ("shared_expert_gate",),
}  # fmt: skip
SHARED = ("shared_expert", "shared_experts", "shared_mlp")
FUSED = ("c_attn", "query_key_value", "Wqkv", "qkv_proj")
FIRST_NORMS = (
    "input_layernorm", "ln_1", "norm_1", "self_attn_layer_norm", "ln_attn",
)  # fmt: skip
SECOND_NORMS = (
    "pre_feedforward_layernorm", "post_attention_layernorm", "ln_2", "norm_2", "final_layer_norm", "ln_mlp",
)  # fmt: skip


def find(t: Arrays, name: str, config: Mapping[str, Any]) -> np.ndarray:
    """The reference's array for one of our weights or buffers."""
    for end, names in ENDS.items():
        if name == end or name.startswith(f"{end}."):
            suffix = name.removeprefix(end)
            return first(t, [n + suffix for n in names])
    if name.startswith("per_layer") or name.startswith("lookup.per_layer"):
        return t[PER_LAYER[name.removeprefix("lookup.")]]
    _, index, section, *rest = name.split(".")
    if section == "block" and rest[0] in ("mixer", "ffn"):
        section, *rest = rest
    if section == "block":
        section = "mixer"  # one norm for both branches
    layer = next(f"{p}{index}." for p in LAYERS if any(key.startswith(f"{p}{index}.") for key in t))
    own = {key.removeprefix(layer): array for key, array in t.items() if key.startswith(layer)}
    if section == "layer_input":
        return own[LAYER_INPUT[rest[0]]]
    if section == "mixer":
        return mixer(own, rest, config)
    return feed_forward(own, rest, config)


def first(t: Arrays, names: list[str]) -> np.ndarray:
    """The first of these names that the reference has."""
    for name in names:
        if name in t:
            return t[name]
    raise KeyError(f"none of {names} among {sorted(t)[:40]}")


def mixer(t: Arrays, rest: list[str], config: Mapping[str, Any]) -> np.ndarray:
    """A weight of a layer's mixer."""
    what, *kind = rest
    if what == "norm":
        return first(t, [f"{n}.{kind[0]}" for n in FIRST_NORMS])
    if what == "post_norm":
        return first(t, ["post_self_attn_layernorm.weight", "post_attention_layernorm.weight"])
    if what == "sinks":
        return t["self_attn.sinks"]
    if "linear_attn.A_log" in t:
        return delta(t, ".".join(rest), config)
    at = next(p for p in ATTENTION if any(key.startswith(p) for key in t))
    own = {key.removeprefix(at): array for key, array in t.items() if key.startswith(at)}
    if config["model_type"] == "qwen3_next" and what in ("q", "gate"):
        pairs = own["q_proj.weight"].reshape(-1, 2, config["head_dim"], config["hidden_size"])
        return np.ascontiguousarray(pairs[:, 0 if what == "q" else 1])
    fused = next((f for f in FUSED if f"{f}.{kind[0]}" in own), None)
    if fused is not None and what in ("q", "k", "v"):
        return cut(straight(own[f"{fused}.{kind[0]}"], fused, config), what, config)
    array = first(own, [f"{n}.{kind[0]}" for n in PROJECTIONS[what]])
    return straight(array, "c_proj" if "c_proj.weight" in own else "", config)


def straight(array: np.ndarray, module: str, config: Mapping[str, Any]) -> np.ndarray:
    """GPT-2 stores its matrices the other way round."""
    turned = config["model_type"] == "gpt2" and module in ("c_attn", "c_proj", "c_fc") and array.ndim == 2
    return np.ascontiguousarray(array.T) if turned else array


def cut(fused: np.ndarray, what: str, config: Mapping[str, Any]) -> np.ndarray:
    """q, k or v out of one tensor for the three."""
    heads = config.get("num_attention_heads") or config.get("n_head") or config["n_heads"]
    width = config.get("hidden_size") or config.get("n_embd") or config["d_model"]
    size = width // heads
    kind, index = config["model_type"], "qkv".index(what)
    one = (kind == "falcon" and config["multi_query"]) if "multi_query" in config else False
    if kind == "gpt_bigcode" or (one and not config["new_decoder_architecture"]):
        bounds = [0, width, width + size, width + 2 * size]
        return fused[bounds[index] : bounds[index + 1]]
    if kind == "falcon" and config["new_decoder_architecture"]:
        groups = fused.reshape(config["num_kv_heads"], -1, size, *fused.shape[1:])
        return (groups[:, :-2], groups[:, -2], groups[:, -1])[index]
    if kind == "phi3":
        kv = config["num_key_value_heads"] * size
        bounds = [0, width, width + kv, width + 2 * kv]
        return fused[bounds[index] : bounds[index + 1]]
    if kind in ("gpt2", "mpt"):
        return fused.reshape(3, width, *fused.shape[1:])[index]
    return fused.reshape(heads, 3, size, *fused.shape[1:])[:, index]  # head by head


def delta(t: Arrays, rest: str, config: Mapping[str, Any]) -> np.ndarray:
    """Gated DeltaNet with its input projections fused key head by key head."""
    own = {key.removeprefix("linear_attn."): array for key, array in t.items() if key.startswith("linear_attn.")}
    keys, values = config["linear_num_key_heads"], config["linear_num_value_heads"]
    p, q = config["linear_key_head_dim"], config["linear_value_head_dim"] * values // keys
    if rest in ("qkv.weight", "z.weight"):
        parts = own["in_proj_qkvz.weight"].reshape(keys, 2 * p + 2 * q, -1)
        if rest == "z.weight":
            return parts[:, 2 * p + q :]
        bounds = ((0, p), (p, 2 * p), (2 * p, 2 * p + q))
        return np.concatenate([parts[:, a:b].reshape(-1, parts.shape[-1]) for a, b in bounds])
    if rest in ("b.weight", "a.weight"):
        parts = own["in_proj_ba.weight"].reshape(keys, 2, values // keys, -1)
        return parts[:, "ba".index(rest[0])]
    names = {"conv.weight": "conv1d.weight", "norm_out.weight": "norm.weight", "out.weight": "out_proj.weight"}
    return own[names.get(rest, rest)]


FFN_OWN = {
    "norm": SECOND_NORMS, "post_norm": ("post_feedforward_layernorm", "post_mlp_layernorm"),
    "layer_scalar": ("layer_scalar",),
}  # fmt: skip


def feed_forward(t: Arrays, rest: list[str], config: Mapping[str, Any]) -> np.ndarray:
    """A weight of a layer's feed-forward, dense or routed."""
    what = rest[0]
    if what in ("dense", "routed"):
        return beside(t, rest)
    if what in FFN_OWN:
        return first(t, [f"{n}.{rest[-1]}".removesuffix(".layer_scalar") for n in FFN_OWN[what]])
    if what.startswith("shared_") and "shared_mlp.input_linear.weight" in t:
        return fused_shared(t, what)
    at = next(p for p in FFN if any(key.startswith(p) for key in t))
    own = {key.removeprefix(at): array for key, array in t.items() if key.startswith(at)}
    if "experts.gate_up_proj" in own:
        return routed(own, rest, config)
    if "gate_up_proj.weight" in own and what in ("gate", "up"):
        return np.split(own["gate_up_proj.weight"], 2)[["gate", "up"].index(what)]
    for module in PROJECTIONS[what]:
        if f"{module}.{rest[1]}" in own:
            return straight(own[f"{module}.{rest[1]}"], module, config)
    raise KeyError(f"{rest} is not among {sorted(own)}")


def fused_shared(t: Arrays, what: str) -> np.ndarray:
    """A shared expert beside the routed ones' module, gate and up in one matrix."""
    if what == "shared_down":
        return t["shared_mlp.output_linear.weight"]
    return np.split(t["shared_mlp.input_linear.weight"], 2)[("shared_gate", "shared_up").index(what)]


def routed(own: Arrays, rest: list[str], config: Mapping[str, Any]) -> np.ndarray:
    """A weight of routed experts; gate and up are fused, in halves or alternating."""
    what, kind = rest[0], rest[-1]
    if what == "router":
        if kind == "correction":
            return first(own, ["gate.e_score_correction_bias", "e_score_correction_bias"])
        return first(own, [f"{n}.{kind}" for n in PROJECTIONS["router"]])
    if what.startswith("shared_") and what != "shared_score":
        part = what.removeprefix("shared_")
        return first(own, [f"{module}.{part}_proj.{kind}" for module in SHARED])
    if what == "shared_score":
        return own["shared_expert_gate.weight"]
    alternating = "experts.gate_up_proj_bias" in own
    turned = config["model_type"] in ("gpt_oss", "llama4_text")
    suffix = "_bias" if kind == "bias" else ""
    if what == "down":
        array = own[f"experts.down_proj{suffix}"]
        return array.swapaxes(1, 2) if turned and not suffix else array
    fused = own[f"experts.gate_up_proj{suffix}"]
    if turned and not suffix:
        fused = fused.swapaxes(1, 2)
    if alternating:
        return fused[:, ("gate", "up").index(what) :: 2]
    half = fused.shape[1] // 2
    return fused[:, :half] if what == "gate" else fused[:, half:]


def beside(t: Arrays, rest: list[str]) -> np.ndarray:
    """A dense feed-forward and routed experts side by side, each between norms of its own."""
    branch, what = rest[0], rest[1]
    number = {"dense": "1", "routed": "2"}[branch]
    if what == "post_norm":
        return t[f"post_feedforward_layernorm_{number}.weight"]
    if branch == "dense":
        return t["pre_feedforward_layernorm.weight"] if what == "norm" else t[f"mlp.{what}_proj.{rest[2]}"]
    special = {
        ("expert_norm", "weight"): "pre_feedforward_layernorm_2.weight", ("router_input", "scale"): "router.scale",
        ("router", "expert_scale"): "router.per_expert_scale", ("router", "weight"): "router.proj.weight",
    }  # fmt: skip
    if (what, rest[2]) in special:
        return t[special[what, rest[2]]]
    if what == "down":
        return t["experts.down_proj"]
    return np.split(t["experts.gate_up_proj"], 2, axis=1)[("gate", "up").index(what)]


FIELDS = {"keys": "K_cache", "values": "V_cache", "conv_states": "conv_state", "recurrent_states": "S"}


def state(arrays: Arrays, layer: int, field: str, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(ours, theirs) for one cache tensor, in one shape."""
    pattern = re.compile(rf"layers\.{layer}\.(mixer|block\.mixer)\.{FIELDS[field]}")
    ours = next(array for name, array in arrays.items() if pattern.fullmatch(name))
    if field == "conv_states":
        theirs = theirs[:, -len(ours) :].T
    if field in ("keys", "values") and theirs.shape[1] != ours.shape[1]:
        theirs = theirs[:, :: theirs.shape[1] // ours.shape[1]]  # cached once for every query head that shares it
    return ours, theirs
