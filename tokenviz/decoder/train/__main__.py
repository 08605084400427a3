"""``python -m tokenviz.decoder.train``: text, tokenizer, weights, loss curve and model card into one folder."""

import argparse
import hashlib
import os
import re
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tokenviz.decoder.corpus import documents

_HELD_OUT_DOCUMENTS = 4_000
# Seeds of the held-out text lie far from any seed a person would choose for training.
_HELD_OUT_OFFSET = 1_000_003
# A made-up name is a word form too; a word of the grammar occurs more often than this in a hundred thousand.
_RARE = 5


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tokenviz.decoder.train", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("data/decoder"), help="folder for the files")
    parser.add_argument("--documents", type=int, default=300_000, help="documents of training text")
    parser.add_argument("--steps", type=int, default=3_600, help="ends after so many steps of 4,096 tokens")
    parser.add_argument("--minutes", type=float, default=60.0, help="ends after so many minutes of training")
    parser.add_argument("--seed", type=int, default=1, help="seed of the text, the first weights and the batches")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args(argv)


def _texts(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Training documents, and held-out ones that do not occur among them."""
    lines = list(documents(count, seed))
    known = set(lines)
    return lines, [line for line in documents(_HELD_OUT_DOCUMENTS, seed + _HELD_OUT_OFFSET) if line not in known]


def _facts(lines: Sequence[str], options: argparse.Namespace) -> dict[str, Any]:
    return {
        "documents": len(lines),
        "distinct": len(set(lines)),
        "characters": sum(map(len, lines)),
        "words": _word_forms(lines),
        "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
        "seed": options.seed,
        "threads": options.threads,
        "torch": version("torch"),
        "tokenizers": version("tokenizers"),
    }


def _word_forms(lines: Sequence[str]) -> int:
    counts: dict[str, int] = {}
    for word in re.findall(r"[a-z']+", "\n".join(lines).lower()):
        counts[word] = counts.get(word, 0) + 1
    total = sum(counts.values())
    return sum(100_000 * count > _RARE * total for count in counts.values())


def main(argv: Sequence[str] | None = None) -> None:
    """Train and write everything."""
    options = _arguments(argv)
    # Threads that spin while they wait make training ten times slower on a machine that does anything else. The
    # setting is read when PyTorch is imported, hence the imports below it.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    from tokenviz.decoder.train import card, measure
    from tokenviz.decoder.train.loop import train
    from tokenviz.decoder.train.model import SHAPE, Decoder
    from tokenviz.decoder.train.report import write_report
    from tokenviz.decoder.train.text import stream, train_tokenizer

    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    begin = time.monotonic()
    lines, unseen = _texts(options.documents, options.seed)
    tokenizer = train_tokenizer(lines, SHAPE.vocab_size)
    text, held_out = stream(lines, tokenizer), stream(unseen, tokenizer)
    print(f"text: {len(text.tokens):,} tokens in {time.monotonic() - begin:.0f} s; held out {len(held_out.tokens):,}")
    decoder = Decoder()
    curve = train(decoder, text, held_out, options.steps, options.minutes, options.seed)
    run = _facts(lines, options) | {
        "tokens": len(text.tokens),
        "held_out_documents": len(held_out.starts),
        "held_out_tokens": len(held_out.tokens),
        "held_out_loss": measure.held_out_loss(decoder, held_out),
    }
    card.write_model(options.out, decoder, tokenizer, curve, run)
    write_report(options.out)


if __name__ == "__main__":
    main()
