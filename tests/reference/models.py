"""The small models: configs wide enough to tell every dimension apart, deep enough to have every layer kind."""

from pathlib import Path

from tests.reference.attention_models import CONFIGS_ATTENTION
from tests.reference.state_models import CONFIGS_STATE

QWEN = {
    "hidden_size": 24, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
    "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 12, "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4, "vocab_size": 96, "full_attention_interval": 4, "rms_norm_eps": 1e-6,
    "max_position_embeddings": 512,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5,
                        "mrope_section": [2, 1, 1]},
}  # fmt: skip

CONFIGS = {
    "qwen3_5": {"model_type": "qwen3_5_text", **QWEN, "intermediate_size": 40, "tie_word_embeddings": True},
    "qwen3_5_moe": {
        "model_type": "qwen3_5_moe_text", **QWEN, "num_experts": 6, "num_experts_per_tok": 2,
        "moe_intermediate_size": 12, "shared_expert_intermediate_size": 20, "tie_word_embeddings": False,
    },
    "llama": {
        "model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 12, "vocab_size": 96, "rms_norm_eps": 1e-5,
        "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False, "max_position_embeddings": 512,
        "rope_parameters": {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
                            "high_freq_factor": 4.0, "original_max_position_embeddings": 16},
    },
    **CONFIGS_ATTENTION,
    **CONFIGS_STATE,
}  # fmt: skip

FOLDER = Path(__file__).parent.parent / "fixtures" / "reference"
PREFILL = 11
STEPS = 8
