"""``python -m tokenviz.decoder.train.report``: measure a trained decoder, write its card and examples."""

import argparse
import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

from tokenviz.decoder.corpus import documents
from tokenviz.decoder.tokenizer import END_ID, Tokenizer, load_tokenizer
from tokenviz.decoder.train import card, measure
from tokenviz.decoder.train.loop import BATCH
from tokenviz.decoder.train.model import SHAPE, Decoder, load_decoder

# Texts on which the plain-Python tokenizer is held equal to the library where the library is not installed.
_ODD_TEXTS = (
    "",
    " ",
    "   ",
    "Once upon a time there was a little girl called Lucy.",
    "  two  spaces   and a tail  ",
    "The computer's favourite word is 'because'.",
    "It is 10 o'clock, or 12:34; 3.14 times 2048!",
    "Supercalifragilistic zumpo wombats",
    "tabs\tand\nnew lines\r\n\n  too",
    "caf\u00e9 na\u00efve \u00e4\u00f6\u00fc \u00df",
    "\u0421\u043f\u0430\u0441\u0438\u0431\u043e \u4f60\u597d \u3053\u3093\u306b\u3061\u306f",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1eb\U0001f1f7",
    "\x00\x01\x1b[31m \u202e\u2028\ufeff",
    "<script>alert('x')</script> &amp; {\"a\": [1, 2]}",
    "aaaaaaaaaaaaaaaaaaaaaaaa thethethethe ininininin",
)


def write_report(folder: Path, fixtures: Path | None = None) -> None:
    """Write ``examples.json``, ``model-card.md`` and, when asked, what the tests compare with."""
    decoder = load_decoder(folder / "model.safetensors")
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    run = json.loads((folder / "run.json").read_text("utf-8"))
    found = measure.examples(decoder, tokenizer)
    card.write_json(folder / "examples.json", {"start_token": END_ID, "examples": found})
    text = card.render(run, _measured(folder, decoder, tokenizer, run), found)
    (folder / "model-card.md").write_text(text, "utf-8")
    if fixtures is not None:
        np.savez_compressed(fixtures / "decoder_logits.npz", allow_pickle=False, **_reference(decoder, tokenizer))
        library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        cases = [{"text": text, "ids": library.encode(text).ids} for text in (*_ODD_TEXTS, *documents(40, seed=11))]
        (fixtures / "decoder_tokens.json").write_text(_lines(cases), "utf-8")


def _lines(cases: Sequence[object]) -> str:
    """A JSON list with one case a line."""
    return "[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n"


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
    parser.add_argument("--fixtures", type=Path, help="also write what the tests compare with into this folder")
    options = parser.parse_args(argv)
    write_report(options.folder, options.fixtures)


if __name__ == "__main__":
    main()
