"""Write tests/fixtures/reference/*.npz: weights, inputs and outputs of the reference implementation.

    python -m tests.reference.make_fixtures [NAME ...]

Needs the `reference` extra. The files are what lets everybody run the comparison without it.
"""

import sys

import numpy as np

from tests.reference.models import CONFIGS, FOLDER
from tests.reference.run import record


def halved(array: np.ndarray) -> np.ndarray:
    """The array in two bytes a value where that loses nothing."""
    half = array.astype(np.float16)
    return half if (half.astype(array.dtype) == array).all() else array


def main(names: list[str]) -> None:
    """Record the named models, all of them by default."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or sorted(CONFIGS):
        weights, outputs = record(name)
        arrays = {f"weight.{k}": halved(v) for k, v in weights.items()} | {f"out.{k}": v for k, v in outputs.items()}
        path = FOLDER / f"{name}.npz"
        np.savez_compressed(path, **arrays)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
