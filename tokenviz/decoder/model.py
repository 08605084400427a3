"""The shipped decoder as an ordinary architecture: its config is read, its graph traced, its weights bound.

Nothing of the forward pass is written here. `Decoder.step(n)` is the traced graph of n new positions joined with the
trained weights; `tokenviz.execute.execute` runs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenviz.architecture import Architecture
from tokenviz.catalog import data_dir, model_from_path
from tokenviz.decoder.map import recorded_values, scenario
from tokenviz.decoder.tokenizer import Tokenizer, TokenizerError, load_tokenizer
from tokenviz.decoder.weights import WeightsError, load_weights
from tokenviz.execute import Bound, bind, weight_shapes
from tokenviz.notation import TokenvizError
from tokenviz.trace import trace

Arrays = Mapping[str, NDArray[Any]]

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "embedding": "model.embed_tokens",
        "output.norm": "model.norm",
        "mixer.norm": "input_layernorm",
        "mixer.q": "self_attn.q_proj",
        "mixer.k": "self_attn.k_proj",
        "mixer.v": "self_attn.v_proj",
        "mixer.out": "self_attn.o_proj",
        "ffn.norm": "post_attention_layernorm",
        "ffn.gate": "mlp.gate_proj",
        "ffn.up": "mlp.up_proj",
        "ffn.down": "mlp.down_proj",
    }
)
"""Our name of a weight, without its layer, and the name that a published Llama file gives it."""


class DecoderError(TokenvizError):
    """The trained decoder cannot be used; says which file is at fault and what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class Decoder:
    """A trained decoder: what it is, its tokenizer, and its weights under our names. Build it with `load_decoder`."""

    architecture: Architecture
    tokenizer: Tokenizer
    weights: Arrays

    @property
    def window(self) -> int:
        """Positions that the model was trained to see."""
        return self.architecture.max_positions or 0

    @property
    def parameters(self) -> int:
        """Trained numbers, the shared table E once."""
        return sum(array.size for array in self.weights.values())

    def step(self, positions: int) -> Bound:
        """The graph of `positions` new positions with the weights; the last few lengths are remembered."""
        return _bound(self, positions)


@lru_cache(maxsize=12)
def _bound(decoder: Decoder, positions: int) -> Bound:
    step = trace(decoder.architecture, scenario(decoder.architecture, positions))
    return bind(step, decoder.weights, recorded_values(decoder.architecture))


@lru_cache(maxsize=2)
def load_decoder(folder: Path | None = None) -> Decoder:
    """Read ``config.json``, ``tokenizer.json`` and ``model.safetensors`` of a folder (data/decoder by default).

    Raises:
        DecoderError: a file is missing, damaged or does not fit the others; the message names it.
        ConfigError: the config cannot be read as a model.
    """
    folder = folder or data_dir() / "decoder"
    architecture = model_from_path(folder / "config.json").architecture
    try:
        tokenizer = load_tokenizer(folder / "tokenizer.json")
        tensors = load_weights(folder / "model.safetensors")
    except (TokenizerError, WeightsError) as error:
        raise DecoderError(str(error)) from error
    if tokenizer.size != architecture.vocab:
        raise DecoderError(
            f"{folder}: the tokenizer has {tokenizer.size} tokens, the config says {architecture.vocab}; "
            "fetch the folder again"
        )
    _keep_memory()
    return Decoder(architecture, tokenizer, named(tensors, architecture))


def _keep_memory() -> None:
    """Let the allocator keep the memory of freed arrays: fresh pages cost a prefill half of its time.

    glibc serves arrays as large as the largest that was ever freed from memory that it keeps, up to 32 MB.
    """
    np.empty(30_000_000, np.uint8)


def named(tensors: Arrays, architecture: Architecture) -> Arrays:
    """Published tensors under our names, reshaped to heads (``K G H D`` for the queries), never transposed.

    A matrix that is multiplied with lies in memory with its inputs first: a product of many positions reads it so a
    tenth faster. E stays as it is, its rows are looked up.
    """
    shapes = weight_shapes(trace(architecture, scenario(architecture, 1)))
    found = {}
    for name, shape in shapes.items():
        theirs = published_name(name)
        if theirs not in tensors:
            raise DecoderError(f"the decoder's weights have no {theirs!r}; fetch model.safetensors again")
        array = tensors[theirs]
        try:
            found[name] = array.reshape(shape) if name == "embedding" else np.asfortranarray(array).reshape(shape)
        except ValueError:
            message = f"the decoder's {theirs!r} has shape {list(array.shape)}; the config asks for {list(shape)}"
            raise DecoderError(message) from None
    return MappingProxyType(found)


def published_name(name: str) -> str:
    """``layers.2.mixer.q.weight`` -> ``model.layers.2.self_attn.q_proj.weight``.

    >>> published_name("embedding"), published_name("layers.0.ffn.norm.weight")
    ('model.embed_tokens.weight', 'model.layers.0.post_attention_layernorm.weight')
    """
    stem = name.removesuffix(".weight")
    if not stem.startswith("layers."):
        return f"{PARTS[stem]}.weight"
    _, layer, part = stem.split(".", 2)
    return f"model.layers.{layer}.{PARTS[part]}.weight"
