"""How fast the Network page's model is: ``python -m tests.bench.bench_network`` prints a table.

Run by hand on a quiet machine (set OMP_WAIT_POLICY=PASSIVE on a busy one); nothing asserts on time. The comparison is
the same forward in eager PyTorch with hooks that keep the values of the same 77 events; it needs the extra "train".
"""

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from tokenviz.catalog import data_dir
from tokenviz.decoder.events import recorded
from tokenviz.decoder.generate import Advance, Session, advance, begin, generate
from tokenviz.decoder.map import prediction_map
from tokenviz.decoder.model import load_decoder
from tokenviz.decoder.recompute import check
from tokenviz.decoder.sampling import Sampling

GREEDY = Sampling(temperature=0)
RUNS = 41


def timed(call: Callable[[], object], runs: int = RUNS) -> tuple[float, float]:
    """(median, least) milliseconds of a call, after two warm-ups."""
    call()
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return median(times), min(times)


def at_position(position: int) -> Session:
    """A session with so many positions cached and one token waiting."""
    decoder = load_decoder()
    session = begin(decoder, "Tom had a dog. " * 40)
    session = advance(decoder, Session(session.prompt, session.ids[:position], 0, session.state), GREEDY).session
    return session


def ours(rows: list[tuple[str, tuple[float, float]]]) -> None:
    """Prefill, cached decode and what the page adds."""
    decoder = load_decoder()
    found = prediction_map(decoder.architecture)

    def run(session: Session) -> tuple[Any, ...]:
        return recorded(found, advance(decoder, session, GREEDY))

    full = begin(decoder, "Tom had a dog. " * 40)
    for n in (16, 64, 128):
        session = Session(full.prompt, full.ids[:n], 0, full.state)
        rows.append((f"prefill of {n}, 77 events recorded", timed(partial(run, session))))
    rows.append(("cached token at position 100, 77 events recorded", timed(partial(run, at_position(100)), 201)))
    made: Advance = next(generate(decoder, "Once upon a time there was a girl called Lucy.", GREEDY, 1))
    steps = [found.nodes[s] for s in found.steps]
    rows.append(
        (
            "all 77 ticks (recompute and compare), n = 12",
            timed(lambda: [check(decoder, found, made, s) for s in steps], 9),
        )
    )


def theirs(rows: list[tuple[str, tuple[float, float]]]) -> None:
    """Eager PyTorch that keeps the same 77 values in hooks: prefills, and one cached token."""
    import torch

    ids = list(begin(load_decoder(), "Tom had a dog. " * 40).ids)
    run, kept = hooked()
    with torch.no_grad():
        for n in (16, 64, 128):
            rows.append((f"eager PyTorch, 77 hooked values, prefill of {n}", timed(partial(run, ids[:n], 0))))
        rows.append(("eager PyTorch, 77 hooked values, cached at 100", timed(partial(run, [5], 100), 201)))
    assert len(kept) == 77, "the comparison has to keep what the page's own trace keeps"


def hooked() -> tuple[Callable[[list[int], int], Any], list[Any]]:
    """The training script's modules, run over new ids after so many cached positions; where their values are kept.

    What is a module there is kept by its own hook, what is a plain function by the hook of `tap`.
    """
    import torch
    from torch import nn
    from torch.nn import functional

    from tokenviz.decoder.train.model import load_decoder as load_module
    from tokenviz.decoder.train.model import rope_angles, rotate

    module = load_module(data_dir() / "decoder" / "model.safetensors")
    norms_and_matrices = [part for part in module.modules() if not list(part.children())]
    kept: list[Any] = []
    tap = nn.Identity()
    for part in (*norms_and_matrices, tap):
        part.register_forward_hook(lambda _module, _inputs, output: kept.append(output))

    def attention(part: Any, h: Any, start: int) -> Any:
        cos, sin = (table[start:] for table in rope_angles(start + h.shape[1]))
        q, k, v = (p(h).unflatten(-1, (-1, 32)).transpose(1, 2) for p in (part.q_proj, part.k_proj, part.v_proj))
        q, k = tap((rotate(q, cos, sin), rotate(k, cos, sin)))
        past = torch.zeros(1, 2, start, 32)
        k, v = (torch.cat((past, new), 2).repeat_interleave(2, 1) for new in (k, v))
        scores = tap(q @ k.transpose(-1, -2) / 32**0.5)
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1 + start)
        shares = tap(torch.softmax(tap(scores.masked_fill(future, -torch.inf)), -1))
        return part.o_proj(tap(tap(shares @ v).transpose(1, 2).flatten(-2)))

    def run(ids: list[int], start: int) -> Any:
        kept.clear()
        x = module.model.embed_tokens(torch.tensor(ids)[None])
        for layer in module.model.layers:
            x = tap(x + attention(layer.self_attn, layer.input_layernorm(x), start))
            h, mlp = layer.post_attention_layernorm(x), layer.mlp
            x = tap(x + mlp.down_proj(tap(functional.silu(mlp.gate_proj(h)) * mlp.up_proj(h))))
        logits = tap(functional.linear(module.model.norm(x), module.model.embed_tokens.weight))
        return tap(tap(torch.softmax(logits, -1))[0, -1].argmax())

    return run, kept


def main() -> None:
    """Print the table."""
    rows: list[tuple[str, tuple[float, float]]] = []
    ours(rows)
    try:
        theirs(rows)
    except ImportError as error:
        print(f"without PyTorch ({error}): the comparison is left out")
    print(f"{'':<52}{'median':>9}{'least':>9}")
    print("\n".join(f"{name:<52}{ms:>6.2f} ms{least:>6.2f} ms" for name, (ms, least) in rows))


if __name__ == "__main__":
    main()
