"""config.json -> a reader that remembers which keys were read.

A key that nobody reads is a number that may be wrong, so each one is read by a family's adapter, listed in `IRRELEVANT`
with its reason, or reported.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from types import MappingProxyType
from typing import Any

from tokenviz.notation import ConfigError

MAX_CONFIG_BYTES = 5_000_000

TEXT_CONFIGS = (("text_config",), ("llm_config",), ("language_config",), ("thinker_config", "text_config"))
"""Where multimodal configs keep the language model."""

_KEYS_BY_REASON = {
    "names software, not shapes": """
        architectures auto_map transformers_version _name_or_path name_or_path _commit_hash
    """,
    "a token's number": """
        bos_token_id eos_token_id pad_token_id sep_token_id decoder_start_token_id image_token_id
        video_token_id audio_token_id vision_start_token_id vision_end_token_id image_token_index
        boi_token_index eoi_token_index boa_token_id boi_token_id eoi_token_id eoa_token_id eoa_token_index
        unk_token_id mm_tokens_per_image
    """,
    "training only": """
        initializer_range attention_dropout attn_dropout hidden_dropout embd_pdrop resid_pdrop attn_pdrop
        router_aux_loss_coef output_router_logits pretraining_tp router_jitter_noise classifier_dropout
        residual_dropout embedding_dropout activation_dropout dropout emb_pdrop layerdrop init_std init_config
    """,
    "how a library runs it": """
        use_cache cache_implementation verbose output_attentions output_hidden_states return_dict torchscript
        problem_type attention_softmax_in_fp32 bias_dropout_fusion masked_softmax_fusion skip_bias_add
        skip_bias_add_qkv slow_but_exact offset_alibi _attn_implementation_autoset for_llm_compressor ep_size
        chunk_size mamba_chunk_size num_logits_to_keep use_mamba_kernels use_mambapy use_associative_scan
        fused_add_norm residual_in_fp32 mamba_ssm_cache_dtype
    """,
    "another use of the same decoder": """
        tokenizer_name prefix task_specific_params summary_activation summary_first_dropout
        summary_proj_to_labels summary_type summary_use_proj id2label label2id
    """,
    "another tower, left out": """
        vision_config audio_config language_model_only
    """,
    "training or initialisation only": """
        aux_loss_alpha seq_aux rescale_prenorm_residual time_step_floor time_step_init_scheme time_step_scale
        conv_use_xavier_init block_use_xavier_init block_mlp_init_scale block_out_init_scale
    """,
    "only read together with use_sliding_window": "max_window_layers",
    "the precision of recurrent state is asked, fp32 unless chosen": "mamba_ssm_dtype",
}

IRRELEVANT: Mapping[str, str] = MappingProxyType(
    {key: reason for reason, keys in _KEYS_BY_REASON.items() for key in keys.split()}
)
"""Keys that change no shape and no count, each with its reason."""


def parse(text: str | bytes) -> "Reader":
    """Read the text of a config.json; `ConfigError` names what is wrong with it."""
    if len(text) > MAX_CONFIG_BYTES:
        raise ConfigError(f"the text has {len(text):,} bytes; a config.json has at most {MAX_CONFIG_BYTES:,}")
    repeated: list[str] = []
    try:
        data = json.loads(
            text.removeprefix("\ufeff") if isinstance(text, str) else text, parse_constant=_no_constant,
            parse_int=_integer, object_pairs_hook=lambda pairs: _last_of_each(pairs, repeated),
        )  # fmt: skip
    except RecursionError:
        raise ConfigError("the JSON is nested too deeply to be a config.json") from None
    except UnicodeDecodeError:
        raise ConfigError("the file is not text; give a config.json in UTF-8") from None
    except ValueError as error:
        raise ConfigError(f"this is not JSON ({_brief(error)}); give the text of a config.json") from None
    if not isinstance(data, dict):
        raise ConfigError(f"the JSON holds {_kind(data)}; a config.json holds an object with a model_type")
    reader = Reader(data)
    for key in dict.fromkeys(repeated):
        reader.assume(f"{_show(key)} is given more than once: the last one counts")
    return reader


def _integer(digits: str) -> int:
    """A whole number that fits a float, so that no arithmetic on it can overflow."""
    if len(digits) > 300:
        raise ConfigError(f"the whole number {digits[:12]}... has {len(digits)} digits; give one of at most 300")
    return int(digits)


def _last_of_each(pairs: list[tuple[str, Any]], repeated: list[str]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated.extend(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
    return found


def _no_constant(name: str) -> float:
    if name == "Infinity":  # published as the upper end of time_step_limit; a number that must be finite says so
        return float("inf")
    raise ValueError(f"{name} is not a JSON number")


def _brief(error: Exception) -> str:
    return str(error).split("\n")[0][:120]


class Reader:
    """Typed look-ups in a config. Each takes synonyms, records what was read, and treats null as absent."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.path, inner = open_text_config(data)
        self.outer, self.data = data, inner
        self.read: set[str] = set()
        self.assumptions: list[str] = []
        if self.path:
            self.assumptions.append(f"the language model is read from {'.'.join(self.path)}; other towers are left out")

    @property
    def model_type(self) -> str:
        """The key that selects a family; the text model's own when it has one."""
        return self.string("model_type")

    def get(self, *keys: str) -> Any:
        """The first of `keys` that is present and not null, looked for in the text model and then around it."""
        self.read.update(keys)
        for data in (self.data, self.outer):
            for key in keys:
                if data.get(key) is not None:
                    return data[key]
        return None

    def peek(self, key: str) -> Any:
        """A key's value, without counting it as read."""
        value = self.data.get(key)
        return self.outer.get(key) if value is None else value

    def has(self, key: str) -> bool:
        """Whether a key is present and not null; does not count as reading it."""
        return self.data.get(key) is not None or self.outer.get(key) is not None

    def is_null(self, key: str) -> bool:
        """Whether a key is present and null, where that means something other than absent."""
        return key in self.data and self.data[key] is None

    def ignore(self, *keys: str) -> None:
        """Count keys as read that a family defines but that change nothing here."""
        self.read.update(keys)

    def integer(
        self, *keys: str, default: int | None = None, low: int = 1, high: int = 1_000_000, why: str = ""
    ) -> int:
        """A whole number from `low` to `high`; a default that is used is listed among the assumptions."""
        value = self._or_default(keys, default, why)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ConfigError(f"{keys[0]} is {_show(value)}; give a whole number")
        if not low <= value <= high:
            raise ConfigError(f"{keys[0]} is {_show(value)}; give a whole number from {low:,} to {high:,}")
        return value

    def number(self, *keys: str, default: float | None = None, why: str = "") -> float:
        """A finite number."""
        value = self._or_default(keys, default, why)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
            raise ConfigError(f"{keys[0]} is {_show(value)}; give a number")
        return float(value)

    def boolean(self, *keys: str, default: bool | None = None, why: str = "") -> bool:
        """true or false."""
        value = self._or_default(keys, default, why)
        if not isinstance(value, bool):
            raise ConfigError(f"{keys[0]} is {_show(value)}; give true or false")
        return value

    def string(self, *keys: str, default: str | None = None, why: str = "") -> str:
        """A text."""
        value = self._or_default(keys, default, why)
        if not isinstance(value, str):
            raise ConfigError(f"{keys[0]} is {_show(value)}; give a text")
        return value

    def choices(self, key: str, length: int, allowed: Sequence[str]) -> tuple[str, ...] | None:
        """A list with one of `allowed` for each layer; None when the key is absent."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != length:
            found = f"{len(value)} entries" if isinstance(value, list) else _show(value)
            raise ConfigError(f"{key} has {found}; give a list with one entry for each of the {length} layers")
        for entry in value:
            if entry not in allowed:
                raise ConfigError(f"{key} contains {_show(entry)}; known: {', '.join(allowed)}")
        return tuple(value)

    def mapping(self, *keys: str) -> Mapping[str, Any]:
        """An object; empty when absent."""
        value = self.get(*keys)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ConfigError(f"{keys[0]} is {_show(value)}; give an object")
        return value

    def assume(self, sentence: str) -> None:
        """List an assumption once."""
        if sentence not in self.assumptions:
            self.assumptions.append(sentence)

    def unread(self) -> tuple[str, ...]:
        """Keys of the text model, and around it, that nobody read and nobody called irrelevant."""
        keys = [*self.data, *(k for k in self.outer if k not in self.data and (not self.path or k != self.path[0]))]
        return tuple(k for k in dict.fromkeys(keys) if k not in self.read and k not in IRRELEVANT)

    def _or_default(self, keys: Sequence[str], default: Any, why: str) -> Any:
        value = self.get(*keys)
        if value is not None:
            return value
        if default is None:
            also = f" (also read as {', '.join(keys[1:])})" if len(keys) > 1 else ""
            raise ConfigError(f"{keys[0]} is missing; add it to the config{also}")
        if why:
            self.assume(f"{keys[0]} is absent: {_show(default)} assumed ({why})")
        return default


def open_text_config(data: Mapping[str, Any]) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """The language model's part of a config and the path to it; the config itself when nothing is nested."""
    for path in TEXT_CONFIGS:
        inner: Any = data
        for key in path:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(inner, dict) and inner:
            return path, inner
    return (), data


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _kind(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
