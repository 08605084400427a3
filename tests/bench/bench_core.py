"""How fast the core is: ``python -m tests.bench.bench_core`` prints a table. Run by hand; nothing asserts on time.

Processor time, so that a busy machine does not blur it.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from itertools import count
from statistics import median
from typing import Any

from tokenviz.analysis import analyze, report
from tokenviz.catalog import Model, bundled_models, data_dir, model_from_text
from tokenviz.notation import ConfigError


def timed(call: Callable[[], object], runs: int = 15) -> float:
    """Median milliseconds of a call, after one warm-up."""
    call()
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append((time.process_time() - start) * 1e3)
    return median(times)


def cold(text: str, name: str) -> dict[str, object]:
    """Config text to every figure, with nothing remembered from an earlier run."""
    for remembered in caches():
        remembered.cache_clear()
    model: Model = model_from_text(text, name)
    return report(analyze(model, model.scenario()))


@cache
def caches() -> tuple[Any, ...]:
    """Every function of the library that remembers results."""
    modules = [module for name, module in sys.modules.items() if name.startswith("tokenviz")]
    return tuple({id(f): f for m in modules for f in vars(m).values() if hasattr(f, "cache_clear")}.values())


def import_ms(module: str) -> float:
    """Median milliseconds that importing a module adds to an empty interpreter."""

    def run(code: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3

    return median(run(f"import {module}") for _ in range(7)) - median(run("pass") for _ in range(7))


def readable(text: str, name: str) -> bool:
    """Whether a bundled config gives numbers; a few are bundled to say why they do not."""
    try:
        model_from_text(text, name)
    except ConfigError:
        return False
    return True


def main() -> None:
    """Print the table."""
    rows = [("import tokenviz", import_ms("tokenviz")), ("import tokenviz.analysis", import_ms("tokenviz.analysis"))]
    texts = {p.stem.split("__")[1].lower(): p.read_text() for p in (data_dir() / "configs").glob("*__*.json")}
    flagship = texts["qwen3.8-2.4t-a95b"]
    rows.append(("config to every figure, 2.4T", timed(lambda: cold(flagship, "2.4T"))))
    model, contexts = model_from_text(flagship, "2.4T"), count(1_000)
    rows.append(
        ("the same at another context", timed(lambda: report(analyze(model, model.scenario(context=next(contexts))))))
    )
    for layers in (24, 100, 400, 1000):
        config = {k: v for k, v in json.loads(flagship).items() if k != "layer_types"} | {"num_hidden_layers": layers}
        text = json.dumps(config)
        rows.append((f"the same with {layers} layers", timed(partial(cold, text, "n"))))
    names = [name for name in bundled_models() if readable(texts[name], name)]
    slowest = sorted(((timed(partial(cold, texts[name], name), 5), name) for name in names), reverse=True)
    rows += [(f"slowest configs: {name}", ms) for ms, name in slowest[:4]]
    print("\n".join(f"{name:<48}{ms:>9.2f} ms" for name, ms in rows))


if __name__ == "__main__":
    main()
