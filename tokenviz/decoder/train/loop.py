"""The training loop: AdamW, warm-up and cosine, a step limit and a time limit."""

import math
import time
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from tokenviz.decoder.train.model import SHAPE, Decoder
from tokenviz.decoder.train.text import Stream

BATCH = 32
LEARNING_RATE = 5e-3
FLOOR = 0.05
WARM_UP = 200
WEIGHT_DECAY = 0.1
BETAS = (0.9, 0.95)
CLIP = 1.0
REPORT_EVERY = 250
_VALIDATION_BATCHES = 16


@dataclass(frozen=True, slots=True)
class Point:
    """One row of the loss curve; losses are nats per token."""

    step: int
    tokens: int
    seconds: float
    train_loss: float
    held_out_loss: float


def loss_of(decoder: Decoder, windows: np.ndarray) -> torch.Tensor:
    """Mean cross entropy, nats per token, of each next token in ``windows``, ``B T+1``."""
    ids = torch.from_numpy(windows)
    logits = decoder(ids[:, :-1]).float()
    return functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


@torch.no_grad()
def held_out_loss(decoder: Decoder, text: Stream) -> float:
    """The same fixed windows each time, in float32."""
    rng = np.random.default_rng(0)
    windows = (text.windows(BATCH, SHAPE.max_position_embeddings, rng) for _ in range(_VALIDATION_BATCHES))
    return float(np.mean([loss_of(decoder, batch).item() for batch in windows]))


def learning_rate(step: int, progress: float) -> float:
    """Linear warm-up, then a cosine down to 5 %; ``progress`` runs from 0 to 1."""
    cosine = FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))
    return LEARNING_RATE * min(1.0, (step + 1) / WARM_UP) * cosine


def _optimizer(decoder: Decoder) -> torch.optim.AdamW:
    matrices = [p for p in decoder.parameters() if p.dim() > 1]
    gains = [p for p in decoder.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": WEIGHT_DECAY}, {"params": gains, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=BETAS, fused=True)


def train(decoder: Decoder, text: Stream, held_out: Stream, steps: int, minutes: float, seed: int) -> list[Point]:
    """Train in place; ends at ``steps`` or after ``minutes``, whichever is first, with the cosine ended as well.

    The result repeats from the seed when the step limit is the one that ends it.
    """
    rng = np.random.default_rng(seed)
    optimizer = _optimizer(decoder)
    begin, curve, recent = time.monotonic(), [], []
    step, progress = 0, 0.0
    while progress < 1.0:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, progress)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(decoder, text.windows(BATCH, SHAPE.max_position_embeddings, rng))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(decoder.parameters(), CLIP)
        optimizer.step()
        recent.append(loss.item())
        step += 1
        seconds = time.monotonic() - begin
        progress = max(step / steps, seconds / (60 * minutes))
        if step % REPORT_EVERY == 0 or progress >= 1.0:
            tokens = step * BATCH * SHAPE.max_position_embeddings
            mean = float(np.mean(recent))
            curve.append(Point(step, tokens, round(seconds, 1), mean, held_out_loss(decoder, held_out)))
            recent = []
            print(f"step {step}, {seconds:.0f} s, train {mean:.4f}, held out {curve[-1].held_out_loss:.4f}", flush=True)
    return curve
