"""Small models with latent caches, recurrent state or routed experts in groups; every width different."""

YARN = {
    "rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16,
    "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 0.8,
}  # fmt: skip
LATENT = {
    "hidden_size": 20, "intermediate_size": 26, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 4, "kv_lora_rank": 10, "qk_nope_head_dim": 8, "qk_rope_head_dim": 6, "v_head_dim": 7,
    "vocab_size": 96, "max_position_embeddings": 64, "tie_word_embeddings": False, "moe_intermediate_size": 12,
    "num_experts_per_tok": 3, "first_k_dense_replace": 1,
}  # fmt: skip
GROUPED = {"n_routed_experts": 8, "n_shared_experts": 1, "n_group": 4, "topk_group": 2, "routed_scaling_factor": 2.5}

POSITIONS_GIVEN = ("bamba", "minimax")
"""Models whose reference counts positions from 0 in every call when its first layer has no keys, unless it is told."""

# Many indexer heads: a position that all heads find negative scores 0, and equal scores have no defined order.
CONFIGS_STATE = {
    "deepseek_v3": {
        "model_type": "deepseek_v3", **LATENT, **GROUPED, "q_lora_rank": 14, "rope_parameters": YARN,
    },
    "deepseek_v2": {
        "model_type": "deepseek_v2", **LATENT, "q_lora_rank": None, "n_routed_experts": 6, "n_shared_experts": 2,
        "n_group": 3, "topk_group": 2, "topk_method": "group_limited_greedy", "routed_scaling_factor": 1.5,
        "attention_bias": True, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    },
    "deepseek_v32": {
        "model_type": "deepseek_v32", **LATENT, **GROUPED, "q_lora_rank": 14, "num_hidden_layers": 2,
        "index_n_heads": 11, "index_head_dim": 10, "index_topk": 5,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    },
    "glm_moe_dsa": {
        "model_type": "glm_moe_dsa", **LATENT, **GROUPED, "q_lora_rank": 14, "n_group": 1,
        "indexer_types": ["full", "shared", "full"],
        "topk_group": 1, "index_n_heads": 11, "index_head_dim": 10, "index_topk": 6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    },
    "kimi_linear": {
        "model_type": "kimi_linear", "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 4, "kv_lora_rank": 10, "q_lora_rank": None,
        "qk_nope_head_dim": 8, "qk_rope_head_dim": 6, "v_head_dim": 7, "vocab_size": 96, "model_max_length": 64,
        "pad_token_id": None,
        "tie_word_embeddings": False, "num_experts": 6, "num_experts_per_token": 2, "num_shared_experts": 1,
        "moe_intermediate_size": 12, "first_k_dense_replace": 1, "num_expert_group": 1, "topk_group": 1,
        "routed_scaling_factor": 1.7, "head_dim": 6,
        "linear_attn_config": {"full_attn_layers": [3], "kda_layers": [1, 2, 4], "head_dim": 9, "num_heads": 3,
                               "short_conv_kernel_size": 4},
    },
    "mamba2": {
        "model_type": "mamba2", "hidden_size": 24, "expand": 2, "num_heads": 6, "head_dim": 8, "n_groups": 2,
        "state_size": 10, "conv_kernel": 4, "num_hidden_layers": 2, "vocab_size": 96, "tie_word_embeddings": False,
        "use_bias": True, "chunk_size": 4,
    },
    "mamba": {
        "model_type": "mamba", "hidden_size": 20, "expand": 2, "state_size": 6, "conv_kernel": 4, "time_step_rank": 3,
        "num_hidden_layers": 2, "vocab_size": 96, "tie_word_embeddings": True,
    },
    "falcon_mamba": {
        "model_type": "falcon_mamba", "hidden_size": 20, "expand": 2, "state_size": 6, "conv_kernel": 4,
        "time_step_rank": 3, "num_hidden_layers": 2, "vocab_size": 96, "tie_word_embeddings": False,
    },
    "jamba": {
        "model_type": "jamba", "hidden_size": 20, "intermediate_size": 28, "num_hidden_layers": 4, "vocab_size": 96,
        "num_attention_heads": 4, "num_key_value_heads": 2, "attn_layer_period": 4, "attn_layer_offset": 2,
        "expert_layer_period": 2, "expert_layer_offset": 1, "num_experts": 4, "num_experts_per_tok": 2,
        "mamba_d_state": 6, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 3, "mamba_proj_bias": True,
    },
    "nemotron_h": {
        "model_type": "nemotron_h", "hidden_size": 24, "hybrid_override_pattern": "MEM*-E", "vocab_size": 96,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 10, "intermediate_size": 36,
        "moe_intermediate_size": 14, "moe_shared_expert_intermediate_size": 18, "moe_latent_size": 16,
        "n_routed_experts": 6, "num_experts_per_tok": 2, "routed_scaling_factor": 2.5, "n_group": 2, "topk_group": 1,
        "mamba_num_heads": 6, "mamba_head_dim": 8, "ssm_state_size": 10, "n_groups": 2, "conv_kernel": 4,
        "chunk_size": 4, "use_bias": True, "tie_word_embeddings": False,
    },
    "granitemoehybrid": {
        "model_type": "granitemoehybrid", "hidden_size": 24, "intermediate_size": 14, "shared_intermediate_size": 20,
        "num_hidden_layers": 3, "layer_types": ["mamba", "attention", "mamba"], "vocab_size": 96,
        "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 6, "num_experts_per_tok": 2,
        "mamba_n_heads": 6, "mamba_d_head": 8, "mamba_d_state": 10, "mamba_n_groups": 1, "mamba_d_conv": 4,
        "mamba_expand": 2, "mamba_chunk_size": 4, "tie_word_embeddings": True, "embedding_multiplier": 3.0,
        "residual_multiplier": 0.4, "logits_scaling": 2.0, "attention_multiplier": 0.3,
        "position_embedding_type": "rope", "max_position_embeddings": 64,
    },
    "bamba": {
        "model_type": "bamba", "hidden_size": 24, "intermediate_size": 36, "num_hidden_layers": 2, "vocab_size": 96,
        "attn_layer_indices": [1], "num_attention_heads": 3, "num_key_value_heads": 1, "mamba_n_heads": 6,
        "mamba_d_head": 8, "mamba_d_state": 10, "mamba_n_groups": 2, "mamba_d_conv": 4, "mamba_chunk_size": 4,
        "tie_word_embeddings": False, "max_position_embeddings": 64,
    },
    "falcon_h1": {
        "model_type": "falcon_h1", "hidden_size": 24, "intermediate_size": 36, "num_hidden_layers": 2, "vocab_size": 96,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 10, "mamba_d_ssm": 40, "mamba_n_heads": 5,
        "mamba_d_head": 8, "mamba_d_state": 12, "mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_chunk_size": 4,
        "mamba_rms_norm": False, "attention_in_multiplier": 0.9, "attention_out_multiplier": 0.8, "key_multiplier": 0.7,
        "embedding_multiplier": 1.7, "lm_head_multiplier": 0.6, "mlp_multipliers": [0.88, 0.59],
        "ssm_in_multiplier": 1.25, "ssm_multipliers": [0.6, 0.7, 0.8, 0.9, 1.1], "ssm_out_multiplier": 0.5,
        "tie_word_embeddings": False, "max_position_embeddings": 64,
    },
    "falcon_h1_norm": {
        "model_type": "falcon_h1", "hidden_size": 24, "intermediate_size": 36, "num_hidden_layers": 1, "vocab_size": 96,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 10, "mamba_d_ssm": 48, "mamba_n_heads": 6,
        "mamba_d_head": 8, "mamba_d_state": 12, "mamba_n_groups": 2, "mamba_d_conv": 4, "mamba_chunk_size": 4,
        "mamba_rms_norm": True, "mamba_norm_before_gate": True, "tie_word_embeddings": True,
        "max_position_embeddings": 64,
    },
    "lfm2": {
        "model_type": "lfm2", "hidden_size": 24, "intermediate_size": 60, "block_multiple_of": 16, "vocab_size": 96,
        "num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"], "num_attention_heads": 4,
        "num_key_value_heads": 2, "conv_L_cache": 3, "conv_bias": True, "max_position_embeddings": 64,
    },
    "minimax": {
        "model_type": "minimax", "hidden_size": 24, "intermediate_size": 14, "num_hidden_layers": 3, "vocab_size": 96,
        "layer_types": ["linear_attention", "full_attention", "linear_attention"], "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 10, "num_local_experts": 6, "num_experts_per_tok": 2, "block_size": 4,
        "full_attn_alpha_factor": 1.3, "full_attn_beta_factor": 0.9, "linear_attn_alpha_factor": 1.2,
        "linear_attn_beta_factor": 0.8, "mlp_alpha_factor": 1.1, "mlp_beta_factor": 0.7, "max_position_embeddings": 64,
    },
    "lfm2_moe": {
        "model_type": "lfm2_moe", "hidden_size": 24, "intermediate_size": 40, "moe_intermediate_size": 14,
        "num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"], "num_attention_heads": 4,
        "num_key_value_heads": 2, "num_dense_layers": 1, "num_experts": 6, "num_experts_per_tok": 2, "vocab_size": 96,
        "max_position_embeddings": 64,
    },
}  # fmt: skip
