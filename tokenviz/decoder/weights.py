"""A reader of safetensors files that needs numpy only.

The format: eight bytes hold the length of a JSON header (little endian), the header gives each tensor's type, shape and
place, and the rest of the file is the tensors' numbers, row by row.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LENGTH_BYTES = 8
_DTYPE, _ITEM_BYTES = "F32", 4


class WeightsError(ValueError):
    """A weights file that cannot be used."""


def load_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """Every tensor of a float32 safetensors file by name, read-only.

    Raises:
        WeightsError: the file is missing, cut short, or holds something else; the message names the file and the place.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WeightsError(f"{path}: cannot be read ({error.strerror}); it ships in data/decoder") from error
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    if not _LENGTH_BYTES < start <= len(data):
        raise WeightsError(f"{path}: its header says {start} bytes, the file has {len(data)}; fetch the file again")
    try:
        header = json.loads(data[_LENGTH_BYTES:start])
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        return {name: _tensor(data[start:], name, entry) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{path}: not a float32 safetensors file ({error}); fetch the file again") from error


def _tensor(body: bytes, name: str, entry: dict[str, Any]) -> NDArray[np.float32]:
    (begin, end), shape = entry["data_offsets"], tuple(entry["shape"])
    if entry["dtype"] != _DTYPE:
        raise ValueError(f"{name} is {entry['dtype']}, expected {_DTYPE}")
    if not 0 <= begin <= end <= len(body) or end - begin != _ITEM_BYTES * math.prod(shape):
        raise ValueError(f"{name} of shape {shape} lies at {begin}:{end} of {len(body)} bytes")
    return np.frombuffer(body, "<f4", math.prod(shape), begin).reshape(shape)
