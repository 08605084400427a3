"""Reference tensors -> ours for the models of `state_models`: names by pattern, fused tensors cut apart."""

import re
from collections.abc import Callable, Iterator, Mapping

import numpy as np

Arrays = Mapping[str, np.ndarray]

ENDS = {
    "embedding": ("model.embed_tokens.weight", "backbone.embeddings.weight", "model.embeddings.weight"),
    "head": ("lm_head.weight",),
    "output.norm.weight": (
        "model.norm.weight", "backbone.norm_f.weight", "model.norm_f.weight", "model.final_layernorm.weight",
        "model.embedding_norm.weight",
    ),
}  # fmt: skip
MIXERS = ("self_attn", "mixer", "mamba", "conv")
FFNS = ("mlp", "feed_forward", "block_sparse_moe", "mixer")
NORMS = {
    "mixer": ("input_layernorm", "operator_norm", "norm"),
    "ffn": ("post_attention_layernorm", "pre_ff_layernorm", "ffn_norm", "norm"),
}
RENAMED = {
    "out": ("o_proj", "out_proj", "dense"), "q": ("q_proj",), "k": ("k_proj",), "v": ("v_proj",),
    "q_a": ("q_a_proj",), "q_b": ("q_b_proj",), "q_a_norm": ("q_a_layernorm",), "kv_a": ("kv_a_proj_with_mqa",),
    "kv_a_norm": ("kv_a_layernorm",), "kv_b": ("kv_b_proj",), "q_norm": ("q_norm", "q_layernorm"),
    "k_norm": ("k_norm", "k_layernorm"), "in": ("in_proj",), "x": ("x_proj",), "dt": ("dt_proj",),
    "conv": ("conv1d", "conv"), "norm_out": ("norm", "o_norm"), "dt_norm": ("dt_layernorm",),
    "qkv": ("qkv_proj",), "gate": ("output_gate",), "b_norm": ("b_layernorm",), "c_norm": ("c_layernorm",),
    "b": ("b_proj",), "g_a": ("g_a_proj",),
    "g_b": ("g_b_proj",), "f_a": ("forget_gate.f_a_proj",), "f_b": ("forget_gate.f_b_proj",),
    "indexer.q": ("indexer.wq_b",), "indexer.k": ("indexer.wk",), "indexer.w": ("indexer.weights_proj",),
    "indexer.k_norm": ("indexer.k_norm",),
}  # fmt: skip


def find(t: Arrays, name: str) -> np.ndarray:
    """The reference's array for one of our weights."""
    if name in ENDS:
        return first(t, ENDS[name])
    _, index, section, rest = name.split(".", 3)
    prefix = "backbone" if any(k.startswith("backbone.") for k in t) else "model"
    layer = f"{prefix}.layers.{index}."
    if rest == "norm.weight":
        return first(t, tuple(f"{layer}{n}.weight" for n in NORMS[section]))
    return ffn(t, layer, rest) if section == "ffn" else mixer(t, layer, rest)


def first(t: Arrays, names: tuple[str, ...]) -> np.ndarray:
    """The first of these tensors that exists."""
    for name in names:
        if name in t:
            return t[name]
    raise KeyError(names)


def mixer(t: Arrays, layer: str, rest: str) -> np.ndarray:
    """A mixer's weight; one of two parallel branches comes with the branch's name in front."""
    modules: tuple[str, ...] = MIXERS
    for branch, module in (("attention.", "self_attn"), ("mamba.", "mamba")):
        if rest.startswith(branch):
            rest, modules = rest.removeprefix(branch), (module,)
    if match := re.fullmatch(r"([qkv])_conv\.weight", rest):
        whole = t[layer + "self_attn.conv1d.weight"]
        third = len(whole) // 3
        start = "qkv".index(match[1]) * third
        return whole[start : start + third]
    if rest == "slope":
        return t[layer + "self_attn.slope_rate"]
    stem, _, kind = rest.rpartition(".")
    if not stem:  # A_log, D and dt_bias stand alone
        return first(t, tuple(f"{layer}{m}.{p}{kind}" for m in modules for p in ("", "forget_gate.")))
    return first(t, tuple(f"{layer}{m}.{n}.{kind}" for m in modules for n in RENAMED.get(stem, (stem,))))


def ffn(t: Arrays, layer: str, rest: str) -> np.ndarray:
    """A feed-forward's weight: dense, routed (gate and up fused) or shared."""
    stem, _, kind = rest.partition(".")
    for module in FFNS:
        at = f"{layer}{module}."
        if f"{at}experts.down_proj" in t:
            return routed(t, layer, at, stem, kind)
        dense: dict[str, tuple[str, ...]] = {
            "gate": ("gate_proj", "w1"),
            "up": ("up_proj", "w3"),
            "down": ("down_proj", "w2"),
        }
        names = tuple(f"{at}{n}.{kind}" for n in dense.get(stem, ()))
        if any(n in t for n in names):
            return first(t, names)
    return shared_mlp(t, f"{layer}shared_mlp.", stem)


def routed(t: Arrays, layer: str, at: str, stem: str, kind: str) -> np.ndarray:
    """A weight of a layer with experts."""
    table: dict[str, Callable[[], np.ndarray]] = {
        "gate": lambda: halves(t[f"{at}experts.gate_up_proj"])[0],
        "up": lambda: halves(t[f"{at}experts.gate_up_proj"])[1] if f"{at}experts.gate_up_proj" in t
        else t[f"{at}experts.up_proj"],
        "down": lambda: t[f"{at}experts.down_proj"],
        "latent": lambda: t[f"{at}fc1_latent_proj.weight"],
        "unlatent": lambda: t[f"{at}fc2_latent_proj.weight"],
    }  # fmt: skip
    if stem in table:
        return table[stem]()
    if stem == "router" and kind == "correction":
        return first(t, (f"{at}gate.e_score_correction_bias", f"{at}expert_bias"))
    if stem == "router":
        return first(t, (f"{at}gate.weight", f"{at}router.weight"))
    plain = stem.removeprefix("shared_")
    own = f"{at}shared_experts.{plain}_proj.weight"
    return t[own] if own in t else shared_mlp(t, f"{layer}shared_mlp.", plain)


def shared_mlp(t: Arrays, at: str, stem: str) -> np.ndarray:
    """A feed-forward whose gate and up are one matrix."""
    if stem == "down":
        return t[f"{at}output_linear.weight"]
    fused = t[f"{at}input_linear.weight"]
    half = len(fused) // 2
    return fused[:half] if stem == "gate" else fused[half:]


def halves(fused: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gate and up matrices of all experts."""
    half = fused.shape[1] // 2
    return fused[:, :half], fused[:, half:]


# ------------------------------------------------------------------------------------------------ caches


INTERLEAVED = ("deepseek_v3", "deepseek_v32", "glm_moe_dsa")
"""Models whose reference puts the even coordinates of all turned pairs before the odd ones; ours stay side by side."""


def pairs(model: str, arrays: Arrays, out: Arrays) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(ours, theirs) of every state after the last step; joined from theirs where they keep several for one."""
    for name, ours in arrays.items():
        _, index, _, state = name.split(".", 3)
        yield ours, theirs_of(model, state, f"last.{index}.", out, ours)


def theirs_of(model: str, state: str, at: str, out: Arrays, ours: np.ndarray) -> np.ndarray:
    """The reference's state in our shape."""
    kind = state.rpartition(".")[2]
    if kind == "latent_cache":
        turned = out[f"{at}values"][:, 0]
        turned = side_by_side(turned) if model in INTERLEAVED else turned
        return np.concatenate((out[f"{at}keys"][:, 0], turned), axis=1)
    if state == "indexer.K_cache":
        keys, width = out[f"{at}indexer_keys"], out[f"{at}values"].shape[-1]
        if model != "glm_moe_dsa":
            return keys
        return np.concatenate((side_by_side(keys[:, :width]), keys[:, width:]), axis=1)
    if kind == "K_cache":
        return out[f"{at}keys"]
    if kind == "V_cache":
        return out[f"{at}values"]
    if kind == "S":
        return out[f"{at}recurrent_states"].reshape(ours.shape)
    columns = out[f"{at}conv_states"]  # channels first, as many columns as taps: only the last taps - 1 are read again
    if kind in ("q_conv_state", "k_conv_state", "v_conv_state"):
        columns = np.split(columns, 3)["qkv".index(kind[0])]
    return columns[:, -len(ours) :].T


def side_by_side(turned: np.ndarray) -> np.ndarray:
    """Coordinates kept as all evens, then all odds, back in pairs."""
    half = turned.shape[1] // 2
    return np.stack((turned[:, :half], turned[:, half:]), axis=-1).reshape(turned.shape)
