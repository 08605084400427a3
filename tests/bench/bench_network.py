"""How fast the Network page's model is: ``python -m tests.bench.bench_network`` prints a table.

Run by hand on a quiet machine (set OMP_WAIT_POLICY=PASSIVE on a busy one); nothing asserts on time. The comparison is
the same forward in eager PyTorch with a hook on every module, which keeps its output; it needs the extra "train".
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
    """Eager PyTorch with a hook on every module: prefills, and one cached token."""
    import torch

    from tokenviz.decoder.train.model import load_decoder as load_module

    folder = data_dir() / "decoder"
    kept: list[Any] = []

    def hooked(module: Any) -> Any:
        for part in module.modules():
            part.register_forward_hook(lambda _module, _inputs, output: kept.append(output))
        return module

    module = hooked(load_module(folder / "model.safetensors"))
    ids = list(begin(load_decoder(), "Tom had a dog. " * 40).ids)

    def run(n: int) -> None:
        kept.clear()
        torch.softmax(module(torch.tensor(ids[:n])[None]), -1)

    with torch.no_grad():
        for n in (16, 64, 128):
            rows.append((f"eager PyTorch, hooks, prefill of {n}", timed(partial(run, n))))
        rows.append(("eager PyTorch, hooks, cached token at 100", timed(partial(cached_step, module, kept), 201)))


def cached_step(module: Any, kept: list[Any]) -> None:
    """One token after 100 cached positions through the training script's own modules, keys and values kept."""
    import torch
    from torch.nn import functional

    from tokenviz.decoder.train.model import rope_angles, rotate

    kept.clear()
    past = torch.zeros(1, 2, 100, 32)
    cos, sin = (table[100:] for table in rope_angles(101))
    x = module.model.embed_tokens(torch.tensor([[5]]))
    for layer in module.model.layers:
        h, attention = layer.input_layernorm(x), layer.self_attn
        q, k, v = (
            p(h).unflatten(-1, (-1, 32)).transpose(1, 2) for p in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k, v = (torch.cat((past, a), 2).repeat_interleave(2, 1) for a in (k, v))
        shares = torch.softmax(q @ k.transpose(-1, -2) / 32**0.5, -1)
        x = x + attention.o_proj((shares @ v).transpose(1, 2).flatten(-2))
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    torch.softmax(functional.linear(module.model.norm(x), module.model.embed_tokens.weight), -1)


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
