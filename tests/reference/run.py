"""Run a small random model of the reference implementation and write down everything that a step should reproduce."""

from typing import Any

import numpy as np
import torch
import transformers

from tests.reference.models import CONFIGS, PREFILL, STEPS
from tests.reference.state_models import POSITIONS_GIVEN

LEARNED_BUFFERS = ("e_score_correction_bias", "expert_bias", "layer_scalar")
"""Buffers that training sets; all others are computed from the config."""


def build(name: str, seed: int = 0) -> Any:
    """A randomly initialised float32 model in evaluation mode; every parameter random, so that none hides."""
    config = transformers.AutoConfig.for_model(**CONFIGS[name])
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"  # one product for each chosen expert, which a flop counter can see
    model = transformers.AutoModelForCausalLM.from_config(config).float().eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            # Well-conditioned: matrices keep the size of what they multiply, gains stay near where they start.
            noise *= 0.2 if parameter.ndim == 1 else parameter.shape[-1] ** -0.5
            started_at_one = parameter.ndim == 1 and bool((parameter == 1).all())
            parameter.copy_(noise + 1 if started_at_one else noise)
        learned = {k: b for k, b in model.named_buffers() if k.endswith(LEARNED_BUFFERS)}
        for key, buffer in learned.items():
            noise = torch.randn(buffer.shape, generator=generator) * 0.2
            buffer.copy_(noise + 1 if key.endswith("layer_scalar") else noise)
        model.get_input_embeddings().weight.mul_(model.config.hidden_size**0.5)
        for tensor in (*model.parameters(), *learned.values()):
            tensor.copy_(tensor.half().float())  # so that recordings can hold two bytes a value and lose nothing
    return model


def tensors(model: Any) -> dict[str, np.ndarray]:
    """The model's unique parameters as float32 arrays, under the reference's names."""
    found: dict[int, tuple[str, np.ndarray]] = {}
    for key, value in model.state_dict().items():
        found.setdefault(value.data_ptr(), (key, value.detach().numpy()))
    return dict(found.values())


def record(name: str, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """(weights, outputs): logits after a prefill and the decode steps that follow it, and the cache at the end."""
    model = build(name, seed)
    generator = torch.Generator().manual_seed(seed + 1)
    prompt = torch.randint(0, model.config.vocab_size, (1, PREFILL), generator=generator)
    out: dict[str, np.ndarray] = {"prompt": prompt[0].numpy()}
    with torch.no_grad():
        result = model(prompt, use_cache=True)
        cache = result.cache
        out["prefill.logits"] = result.logits[0].numpy()
        greedy = []
        for i in range(STEPS):
            token = int(result.logits[0, -1].argmax())
            greedy.append(token)
            told = {"position_ids": torch.tensor([[PREFILL + i]])} if name in POSITIONS_GIVEN else {}
            result = model(torch.tensor([[token]]), cache=cache, use_cache=True, **told)
            out[f"step{i}.logits"] = result.logits[0, -1].numpy()
        _snapshot(out, cache)
        greedy.append(int(result.logits[0, -1].argmax()))
    out["greedy"] = np.array(greedy)
    return tensors(model), out


def _snapshot(out: dict[str, np.ndarray], cache: Any) -> None:
    for i, value in enumerate(getattr(cache, "linear_cache", ())):
        if isinstance(value, torch.Tensor):
            out[f"last.{i}.recurrent_states"] = value[0].clone().numpy()
    for i, layer in enumerate(cache.layers):
        for field in ("keys", "values"):
            value = getattr(layer, field, None)
            if isinstance(value, torch.Tensor):
                out[f"last.{i}.{field}"] = value[0].transpose(0, 1).clone().numpy()
        keys = getattr(layer, "indexer_keys", None)
        if keys is not None:
            out[f"last.{i}.indexer_keys"] = keys[0].clone().numpy()
        for field in ("conv_states", "recurrent_states"):
            value = getattr(layer, field, None)
            if isinstance(value, dict):
                value = value.get(0)
            if isinstance(value, torch.Tensor):
                out[f"last.{i}.{field}"] = value[0].clone().numpy()


def decode_flops(name: str, context: int) -> int:
    """FLOPs that torch's counter sees in one decode step after `context` cached tokens."""
    from torch.utils.flop_counter import FlopCounterMode

    model = build(name)
    with torch.no_grad():
        cache = model(torch.zeros((1, context), dtype=torch.long), use_cache=True).cache
        with FlopCounterMode(display=False) as counter:
            model(torch.zeros((1, 1), dtype=torch.long), cache=cache, use_cache=True)
    return int(counter.get_total_flops())
