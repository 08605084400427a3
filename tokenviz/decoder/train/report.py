"""``python -m tokenviz.decoder.train.report``: measure a trained decoder, write its card and examples."""

import argparse
import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tokenviz.decoder.tokenizer import END_ID, Tokenizer, load_tokenizer
from tokenviz.decoder.train import card, measure
from tokenviz.decoder.train.loop import BATCH
from tokenviz.decoder.train.model import SHAPE, Decoder, load_decoder


def write_report(folder: Path, fixture: Path | None = None) -> None:
    """Write ``examples.json``, ``model-card.md`` and, when asked, the reference logits for the tests."""
    decoder = load_decoder(folder / "model.safetensors")
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    run = json.loads((folder / "run.json").read_text("utf-8"))
    found = measure.examples(decoder, tokenizer)
    card.write_json(folder / "examples.json", {"start_token": END_ID, "examples": found})
    text = card.render(run, _measured(folder, decoder, tokenizer, run), found)
    (folder / "model-card.md").write_text(text, "utf-8")
    if fixture is not None:
        np.savez_compressed(fixture, allow_pickle=False, **_reference(decoder, tokenizer))


def _measured(folder: Path, decoder: Decoder, tokenizer: Tokenizer, run: dict[str, Any]) -> dict[str, Any]:
    with (folder / "loss.csv").open(encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    return {
        "parameters": sum(parameter.numel() for parameter in decoder.parameters()),
        "steps": int(last["step"]),
        "trained_tokens": int(last["step"]) * BATCH * SHAPE.max_position_embeddings,
        "minutes": float(last["seconds"]) / 60,
        "train_loss": float(last["train_loss"]),
        "perplexity": math.exp(run["held_out_loss"]),
        "probes": measure.probes(decoder, tokenizer),
    }


def _reference(decoder: Decoder, tokenizer: Tokenizer) -> dict[str, np.ndarray]:
    """Token numbers and the last position's logits, ``V``, of the examples, a lone start token and a full window."""
    window = tokenizer.encode("The computer reads the words. Then it guesses the next word. " * 20)
    prompts = [measure.prompt_ids(tokenizer, example.prompt) for example in measure.EXAMPLES]
    prompts += [[END_ID], [END_ID, *window][: SHAPE.max_position_embeddings]]
    arrays: dict[str, np.ndarray] = {}
    for i, ids in enumerate(prompts):
        arrays[f"ids_{i}"] = np.array(ids, dtype=np.int64)
        arrays[f"logits_{i}"] = measure.logits(decoder, ids)[-1].numpy()
    return arrays


def main(argv: Sequence[str] | None = None) -> None:
    """Read the folder's name from the command line and write the report."""
    parser = argparse.ArgumentParser(prog="python -m tokenviz.decoder.train.report", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("data/decoder"), help="folder of the trained model")
    parser.add_argument("--fixture", type=Path, help="also write reference logits to this .npz")
    options = parser.parse_args(argv)
    write_report(options.folder, options.fixture)


if __name__ == "__main__":
    main()
