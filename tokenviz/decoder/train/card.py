"""What training leaves behind: weights, config, tokenizer, loss curve, the facts of the run, and the model card."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from tokenizers import Tokenizer

from tokenviz.decoder.train.loop import Point
from tokenviz.decoder.train.model import Decoder, config_json


def write_model(
    out: Path, decoder: Decoder, tokenizer: Tokenizer, curve: Sequence[Point], run: Mapping[str, Any]
) -> None:
    """Write the model's files and ``run.json`` into ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    state = {name: value.detach().clone().contiguous() for name, value in decoder.state_dict().items()}
    save_file(state, out / "model.safetensors", metadata={"format": "pt"})
    (out / "config.json").write_text(config_json(), "utf-8")
    tokenizer.save(str(out / "tokenizer.json"))
    with (out / "loss.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(asdict(curve[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(point) for point in curve)
    write_json(out / "run.json", run)


def write_json(path: Path, value: object) -> None:
    """JSON with an indent and a last newline."""
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")


_CARD = """\
# Model card: the tiny decoder of tokenviz

A causal language model of {parameters:,} parameters that writes simple English. It exists to be looked at:
every value of its forward pass can be shown. It is a plain Llama model (`config.json`, `model.safetensors`,
`tokenizer.json` in this folder load in Hugging Face `transformers`).

**Licence**: MIT, as the rest of the project; this covers the weights, the tokenizer and the training text.

## Shape
Vocabulary 1,024 (byte-level BPE), width 128, 4 blocks, 4 query heads and 2 key/value heads of 32 channels,
RoPE base 10,000 (channel i turns with channel i + 16), SwiGLU of width 352, RMSNorm (epsilon 1e-5), no
biases, tied embedding, window of 128 tokens, float32. `<|end|>` (number 0) stands before every document;
put it before a prompt to say that a text begins here.

## Data
{documents:,} documents ({characters:,} characters, {tokens:,} tokens, {distinct:,} distinct) written by the
grammar in `tokenviz/decoder/corpus`: stories, scenes, facts, notes in the first person, letters, talks, and
sentences about computers and language models. All of it is the project's own text; nothing was collected
from anywhere. Seed {seed}; SHA-256 of the documents joined by newlines:
`{sha256}`.

## Training
{steps:,} steps of 32 x 128 = 4,096 tokens ({trained_tokens:,} tokens) in {minutes:.1f} minutes on {threads}
CPU threads. AdamW (betas 0.9 and 0.95, weight decay 0.1 on matrices), learning rate 5e-3 with a warm-up of
200 steps and a cosine down to 5 %, gradient clip 1.0, bfloat16 arithmetic with float32 weights. PyTorch
{torch}, tokenizers {tokenizers}. The curve is in `loss.csv`. To repeat: `python -m tokenviz.decoder.train
--documents {documents} --steps {steps} --seed {seed}`.

## Measured
| what | value |
| --- | --- |
| last training loss, mean of the last 250 steps at most | {train_loss:.3f} nats per token |
| held-out loss, {held_out_documents:,} documents not in the training text | {held_out_loss:.3f} nats per token |
| held-out perplexity | {perplexity:.2f} (a uniform guess: 1,024) |
{probes}

The text has choices of its own (which name, which plot), so a perplexity of 1 is not to be had. The
held-out documents come from the same grammar: the figure says nothing about English at large.

## Example prompts
{examples}

`examples.json` holds them with the exact figures.

## Limits
- It was trained on simple made-up stories and knows about {words} words. It does not know the world: its
  facts are a few small tables (twelve capitals, opposites, colours, days), and what it says beyond them is
  made up.
- It can not calculate, and it has seen no digits and no language but English.
- It repeats the plots of its grammar. A prompt far from them is drawn back into one of them.
- It copies made-up names that are spelt like those of its text; others, such as Quantiplex, come out wrong.
- It sees 128 tokens. What lies further back is gone.
"""


def render(run: Mapping[str, Any], measured: Mapping[str, Any], examples: Sequence[Mapping[str, Any]]) -> str:
    """The model card, Markdown."""
    probes = "\n".join(f"| {probe['what']} | {probe['right']} of {probe['asked']} |" for probe in measured["probes"])
    rows = ["| prompt | shows | next, with its probability |", "| --- | --- | --- |"]
    for example in examples:
        answers = ", ".join(f"`{a['text']}` {a['probability']:.3f}" for a in example["answers"])
        rows.append(f"| {example['prompt']} | {example['shows']} | {answers} |")
    return _CARD.format(**{**run, **measured, "probes": probes, "examples": "\n".join(rows)})
