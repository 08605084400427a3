"""Small models with a mechanism each on the attention side: norms, positions, windows, caches, routers, layouts."""

SMALL = {
    "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 48, "max_position_embeddings": 64, "tie_word_embeddings": False,
    "pad_token_id": None,
}  # fmt: skip
PLAIN_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
HALF_ROPE = {**PLAIN_ROPE, "partial_rotary_factor": 0.5}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16}
BOTH = {"full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 9000.0}, "sliding_attention": PLAIN_ROPE}
GPT = {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 48}
ONE_KV = {**SMALL, "num_key_value_heads": None}
GEMMA = {
    **SMALL, "head_dim": 6, "query_pre_attn_scalar": 14, "sliding_window": 5, "tie_word_embeddings": True,
    "num_hidden_layers": 3, "pad_token_id": 0,
}  # fmt: skip
GEMMA4 = {
    **SMALL, "head_dim": 8, "global_head_dim": 12, "sliding_window": 5, "tie_word_embeddings": True, "pad_token_id": 0,
    "vocab_size_per_layer_input": 48, "hidden_size_per_layer_input": 0, "final_logit_softcapping": 20.0,
}  # fmt: skip
EXPERTS = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 6}

CONFIGS_ATTENTION = {
    "mistral": {"model_type": "mistral", **SMALL, "head_dim": 10, "sliding_window": 6, "rope_parameters": {
        "rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}, "max_position_embeddings": 14},
    "ministral3": {"model_type": "ministral3", **SMALL, "head_dim": 8, "rope_parameters": {
        **YARN, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.5,
        "original_max_position_embeddings": 6}},
    "smollm3": {"model_type": "smollm3", **SMALL, "no_rope_layers": [1, 0], "rope_parameters": PLAIN_ROPE},
    "granite": {"model_type": "granite", **SMALL, "attention_multiplier": 0.3, "embedding_multiplier": 0.6,
                "logits_scaling": 1.7, "residual_multiplier": 0.45, "rope_parameters": PLAIN_ROPE},
    "phi3": {"model_type": "phi3", **SMALL, "original_max_position_embeddings": 13, "rope_parameters": {
        "rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0, 1.5],
        "long_factor": [2.0, 3.0]}},
    "qwen2": {"model_type": "qwen2", **SMALL, "num_hidden_layers": 3, "use_sliding_window": True, "sliding_window": 5,
              "max_window_layers": 1, "rope_parameters": PLAIN_ROPE},
    "qwen3": {"model_type": "qwen3", **SMALL, "head_dim": 10, "attention_bias": True, "rope_parameters": YARN},
    "qwen3_moe": {"model_type": "qwen3_moe", **SMALL, **EXPERTS, "head_dim": 10, "num_hidden_layers": 3,
                  "decoder_sparse_step": 2, "norm_topk_prob": False, "rope_parameters": PLAIN_ROPE},
    "qwen3_next": {"model_type": "qwen3_next", **SMALL, **EXPERTS, "head_dim": 16, "num_hidden_layers": 4,
                   "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 6,
                   "linear_value_head_dim": 8, "shared_expert_intermediate_size": 10, "mlp_only_layers": [1],
                   "rope_parameters": {**PLAIN_ROPE, "partial_rotary_factor": 0.25}},
    "gemma": {"model_type": "gemma", **SMALL, "head_dim": 10, "tie_word_embeddings": True, "pad_token_id": 0,
              "rope_parameters": PLAIN_ROPE},
    "gemma2": {"model_type": "gemma2", **GEMMA, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 20.0,
               "rope_parameters": PLAIN_ROPE},
    "gemma3": {"model_type": "gemma3_text", **GEMMA, "sliding_window_pattern": 3, "rope_parameters": BOTH},
    "gemma4": {"model_type": "gemma4_text", **GEMMA4, "num_global_key_value_heads": 1, "attention_k_eq_v": True,
               "layer_types": ["sliding_attention", "full_attention"], "enable_moe_block": True, "num_experts": 5,
               "top_k_experts": 2, "moe_intermediate_size": 6},
    "gemma4_shared": {"model_type": "gemma4_text", **GEMMA4, "num_hidden_layers": 4, "num_kv_shared_layers": 2,
                      "use_double_wide_mlp": True, "output_hidden_states": True,
                      "layer_types": ["sliding_attention", "full_attention"] * 2},
    "gpt_oss": {"model_type": "gpt_oss", **SMALL, "head_dim": 8, "num_local_experts": 5, "num_experts_per_tok": 2,
                "sliding_window": 5, "swiglu_limit": 0.7, "rope_parameters": {**YARN, "truncate": False}},
    "mixtral": {"model_type": "mixtral", **SMALL, "num_local_experts": 5, "num_experts_per_tok": 2,
                "sliding_window": 6, "rope_parameters": PLAIN_ROPE},
    "minimax_m2": {"model_type": "minimax_m2", **SMALL, "head_dim": 12, "num_local_experts": 6, "rotary_dim": 6,
                   "num_experts_per_tok": 2, "rope_parameters": HALF_ROPE},
    "glm4_moe": {"model_type": "glm4_moe", **SMALL, "head_dim": 12, "attention_bias": True, "use_qk_norm": True,
                 "n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 6, "n_shared_experts": 2,
                 "first_k_dense_replace": 1, "routed_scaling_factor": 1.6,
                 "rope_parameters": HALF_ROPE},
    "llama4": {"model_type": "llama4_text", **SMALL, "head_dim": 8, "num_hidden_layers": 4, "num_local_experts": 4,
               "intermediate_size_mlp": 26, "interleave_moe_layer_step": 2, "attention_chunk_size": 4,
               "no_rope_layers": [1, 1, 0, 1], "floor_scale": 3, "attn_scale": 0.4, "rope_parameters": {
                   "rope_type": "llama3", "rope_theta": 10000.0, "factor": 4.0, "high_freq_factor": 1.0,
                   "low_freq_factor": 1.0, "original_max_position_embeddings": 16}},
    "mimo_v2_flash": {"model_type": "mimo_v2_flash", **SMALL, "head_dim": 12, "v_head_dim": 7, "sliding_window": 5,
                      "num_key_value_heads": 1, "n_routed_experts": 6, "num_experts_per_tok": 2,
                      "moe_intermediate_size": 6, "layer_types": ["full_attention", "sliding_attention"],
                      "mlp_layer_types": ["dense", "sparse"], "rope_parameters": {
                          "full_attention": {**PLAIN_ROPE, "partial_rotary_factor": 0.334},
                          "sliding_attention": {**PLAIN_ROPE, "rope_theta": 500.0, "partial_rotary_factor": 0.334}}},
    "olmo": {"model_type": "olmo", **SMALL, "clip_qkv": 0.6, "rope_parameters": PLAIN_ROPE},
    "olmo2": {"model_type": "olmo2", **SMALL, "rope_parameters": PLAIN_ROPE},
    "olmo3": {"model_type": "olmo3", **SMALL, "num_hidden_layers": 4, "sliding_window": 5, "rope_parameters": {
        "full_attention": YARN, "sliding_attention": PLAIN_ROPE}},
    "olmoe": {"model_type": "olmoe", **SMALL, "num_experts": 6, "num_experts_per_tok": 2, "clip_qkv": 1.1,
              "rope_parameters": PLAIN_ROPE},
    "cohere": {"model_type": "cohere", **SMALL, "use_qk_norm": True, "logit_scale": 0.4, "tie_word_embeddings": True,
               "pad_token_id": 0, "rope_parameters": PLAIN_ROPE},
    "cohere2": {"model_type": "cohere2", **SMALL, "num_hidden_layers": 4, "sliding_window": 5, "pad_token_id": 0,
                "tie_word_embeddings": True, "rope_parameters": PLAIN_ROPE},
    "gpt_neox": {"model_type": "gpt_neox", **ONE_KV, "rope_parameters": HALF_ROPE},
    "gpt_neox_serial": {"model_type": "gpt_neox", **ONE_KV, "use_parallel_residual": False, "attention_bias": False,
                        "rope_parameters": {**PLAIN_ROPE, "partial_rotary_factor": 1.0}},
    "gptj": {"model_type": "gptj", **GPT, "rotary_dim": 2},
    "phi": {"model_type": "phi", **ONE_KV, "rope_parameters": HALF_ROPE},
    "stablelm": {"model_type": "stablelm", **SMALL, "use_qkv_bias": True,
                 "rope_parameters": HALF_ROPE},
    "starcoder2": {"model_type": "starcoder2", **SMALL, "sliding_window": 6, "tie_word_embeddings": True,
                   "rope_parameters": {**PLAIN_ROPE, "rope_type": "linear", "factor": 2.0}},
    "gpt2": {"model_type": "gpt2", **GPT, "scale_attn_by_inverse_layer_idx": True},
    "gpt_bigcode": {"model_type": "gpt_bigcode", **GPT, "multi_query": True},
    "opt": {"model_type": "opt", "hidden_size": 16, "ffn_dim": 20, "num_hidden_layers": 2, "num_attention_heads": 4,
            "vocab_size": 48, "max_position_embeddings": 64, "pad_token_id": 1},
    "bloom": {"model_type": "bloom", "hidden_size": 24, "n_layer": 2, "n_head": 6, "vocab_size": 48},
    "mpt": {"model_type": "mpt", "d_model": 24, "n_layers": 2, "n_heads": 6, "max_seq_len": 64, "vocab_size": 48,
            "attn_config": {"clip_qkv": 1.3}},
    "glm": {"model_type": "glm", **SMALL, "head_dim": 8, "rope_parameters": HALF_ROPE},
    "glm4": {"model_type": "glm4", **SMALL, "head_dim": 8, "rope_parameters": HALF_ROPE},
    "exaone4": {"model_type": "exaone4", **SMALL, "sliding_window": 5, "sliding_window_pattern": 2,
                "rope_parameters": PLAIN_ROPE},
    "ernie4_5": {"model_type": "ernie4_5", **SMALL, "head_dim": 6, "use_bias": True, "rope_parameters": PLAIN_ROPE},
    "hunyuan": {"model_type": "hunyuan_v1_dense", **SMALL, "head_dim": 6, "rope_parameters": PLAIN_ROPE},
    "hunyuan_moe": {"model_type": "hunyuan_v1_moe", **SMALL, "head_dim": 6, "num_experts": 4, "moe_topk": 2,
                    "rope_parameters": PLAIN_ROPE},
    "seed_oss": {"model_type": "seed_oss", **SMALL, "head_dim": 6, "rope_parameters": PLAIN_ROPE},
    "arcee": {"model_type": "arcee", **SMALL, "mlp_bias": True, "rope_parameters": PLAIN_ROPE},
    "granitemoeshared": {"model_type": "granitemoeshared", **SMALL, "num_local_experts": 4, "num_experts_per_tok": 2,
                         "shared_intermediate_size": 10, "attention_multiplier": 0.3, "residual_multiplier": 0.45,
                         "embedding_multiplier": 0.6, "logits_scaling": 1.7, "rope_parameters": PLAIN_ROPE},
    "falcon": {"model_type": "falcon", **ONE_KV, "multi_query": True, "parallel_attn": True,
               "new_decoder_architecture": False, "tie_word_embeddings": True, "rope_parameters": PLAIN_ROPE},
    "falcon_serial": {"model_type": "falcon", **ONE_KV, "multi_query": False, "parallel_attn": False, "bias": True,
                      "new_decoder_architecture": False, "tie_word_embeddings": True, "rope_parameters": PLAIN_ROPE},
    "falcon_groups": {"model_type": "falcon", **ONE_KV, "num_kv_heads": 2, "new_decoder_architecture": True,
                      "tie_word_embeddings": True, "rope_parameters": PLAIN_ROPE},
}  # fmt: skip
