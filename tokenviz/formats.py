"""How a weight tensor is stored: bits per value, and the scales, zero points and indices around them.

Sizes follow the published layouts: fp8 with one fp32 scale for each 128 x 128 block (DeepSeek-V3), MXFP4 with one
8-bit exponent for each 32 values (OCP Microscaling 1.0), NVFP4 with one fp8 scale for each 16 values and one fp32 for
the tensor, 4-bit integers in groups of 128 with a 16-bit scale and a 4-bit zero point (AWQ; GPTQ adds a 32-bit index
for each column), 8-bit integers with one 16-bit scale for each row. A declaration may give other groups and blocks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from tokenviz.notation import DTYPE_BITS, size


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One storage format. A scale covers `rows` x `columns` values of a matrix; 0 stands for the whole extent."""

    name: str
    rows: int = 1
    columns: int = 1
    scale_bits: int = 0
    zero_bits: int = 0
    tensor_bits: int = 0  # once for the whole tensor
    index_bits: int = 0  # once for each column

    @property
    def bits(self) -> int:
        """Bits of one value."""
        return DTYPE_BITS[self.name]

    def metadata_bits(self, rows: int, columns: int) -> int:
        """Bits of scales and zero points beside a matrix of `rows` x `columns`."""
        if not self.scale_bits:
            return 0
        tall, wide = self.rows or rows, self.columns or columns
        groups = -(-rows // tall) * -(-columns // wide)
        return groups * (self.scale_bits + self.zero_bits) + self.tensor_bits + columns * self.index_bits


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        f.name: f
        for f in (
            Format(name="fp32"),
            Format(name="bf16"),
            Format(name="fp16"),
            Format(name="fp8", rows=128, columns=128, scale_bits=32),
            Format(name="int8", columns=0, scale_bits=16),
            Format(name="int4", columns=128, scale_bits=16, zero_bits=4),
            Format(name="mxfp4", columns=32, scale_bits=8),
            Format(name="nvfp4", columns=16, scale_bits=8, tensor_bits=32),
        )
    }
)


def stored_bytes(shape: tuple[int, ...], inputs: int, form: Format, *, metadata: bool) -> int:
    """Bytes of a weight of this shape, whose rows have `inputs` values each; vectors carry no scales.

    A leading expert dimension needs no care as long as a block does not straddle two experts.
    """
    elements = size(shape)
    bits = elements * form.bits
    if metadata and len(shape) > 1:
        bits += form.metadata_bits(elements // inputs, inputs)
    return -(-bits // 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantization:
    """What a config's own quantization_config declares: the format of its matrices and the modules left alone."""

    layout: Format
    kept: tuple[str, ...]

    @property
    def format(self) -> str:
        """Name of the format."""
        return self.layout.name

    @property
    def names_layers(self) -> bool:
        """Whether a kept module names a layer by its number, so that equal layers may be stored differently."""
        return any(part.isdigit() for name in self.kept for part in name.split("."))

    def keeps(self, module: str) -> bool:
        """Whether a module (``model.layers.3.self_attn.q_proj``) stays at the model's precision."""
        return any(_pattern(name).search(module) for name in self.kept)


_STACK = re.compile(r"^.*?\b(?:layers|blocks|h)\.")
"""What stands before a layer's number: ``model.layers.``, ``model.language_model.layers.``, ``transformer.h.``."""


@lru_cache(maxsize=4096)
def _pattern(name: str) -> re.Pattern[str]:
    """A module pattern as quantisation configs write them: dotted parts, ``*`` for any one part."""
    named = _STACK.sub("layers.", name)
    dotted = r"\.".join("[^.]+" if part == "*" else re.escape(part) for part in named.split("."))
    return re.compile(rf"(^|\.){dotted}(\.|$)")
