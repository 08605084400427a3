"""Random small models, made as configs so that they go through the same door as a person's."""

import json
from typing import Any

from hypothesis import strategies as st

from tokenviz.catalog import Model, model_from_text

BASE = {"rms_norm_eps": 1e-6, "max_position_embeddings": 4096, "dtype": "bfloat16", "hidden_act": "silu"}


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    """The config of a small Llama-style, Qwen3.5 dense or Qwen3.5 MoE model."""
    kv_heads = draw(st.integers(1, 3))
    config = {
        **BASE,
        "hidden_size": draw(st.integers(4, 24)),
        "num_hidden_layers": draw(st.integers(1, 9)),
        "num_attention_heads": kv_heads * draw(st.integers(1, 3)),
        "num_key_value_heads": kv_heads,
        "head_dim": 4 * draw(st.integers(1, 4)),
        "vocab_size": draw(st.integers(3, 40)),
        "tie_word_embeddings": draw(st.booleans()),
    }
    family = draw(st.sampled_from(["llama", "qwen3_5_text", "qwen3_5_moe_text"]))
    config["model_type"] = family
    if family != "llama":
        config.update(_delta(draw))
    if family == "qwen3_5_moe_text":
        experts = draw(st.integers(1, 6))
        config.update(
            num_experts=experts,
            num_experts_per_tok=draw(st.integers(1, experts)),
            moe_intermediate_size=draw(st.integers(1, 12)),
            shared_expert_intermediate_size=draw(st.integers(1, 12)),
        )
    else:
        config["intermediate_size"] = draw(st.integers(1, 30))
    return config


def _delta(draw: st.DrawFn) -> dict[str, Any]:
    key_heads = draw(st.integers(1, 3))
    return {
        "linear_num_key_heads": key_heads,
        "linear_num_value_heads": key_heads * draw(st.integers(1, 3)),
        "linear_key_head_dim": draw(st.integers(2, 6)),
        "linear_value_head_dim": draw(st.integers(2, 6)),
        "linear_conv_kernel_dim": draw(st.integers(2, 5)),
        "full_attention_interval": draw(st.integers(1, 4)),
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    }


def models() -> st.SearchStrategy[Model]:
    """A small random model."""
    return configs().map(lambda c: model_from_text(json.dumps(c), "random"))
