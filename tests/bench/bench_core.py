"""How fast the core is: ``python -m tests.bench.bench_core`` prints a table. Run by hand; nothing asserts on time."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

from tokenviz.analysis import analyze, report
from tokenviz.catalog import Model, bundled_models, data_dir, model_from_text
from tokenviz.execute import compile_block
from tokenviz.schedule import schedule_block
from tokenviz.trace import remembered


def timed(call: Callable[[], object], runs: int = 15) -> float:
    """Median milliseconds of a call, after one warm-up."""
    call()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return median(times)


def cold(text: str, name: str) -> dict[str, object]:
    """Config text to every figure, with nothing remembered from an earlier run."""
    for cache in (remembered, schedule_block, compile_block):
        cache.cache_clear()
    model: Model = model_from_text(text, name)
    return report(analyze(model, model.scenario()))


def import_ms(module: str) -> float:
    """Median wall milliseconds that importing a module adds to an empty interpreter."""

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - start) * 1e3

    return median(run(f"import {module}") for _ in range(7)) - median(run("pass") for _ in range(7))


def main() -> None:
    """Print the table."""
    rows = [("import tokenviz", import_ms("tokenviz")), ("import tokenviz.analysis", import_ms("tokenviz.analysis"))]
    texts = {p.stem.split("__")[1].lower(): p.read_text() for p in (data_dir() / "configs").glob("*__*.json")}
    flagship = texts["qwen3.8-2.4t-a95b"]
    rows.append(("config to every figure, 2.4T", timed(lambda: cold(flagship, "2.4T"))))
    for layers in (24, 100, 400, 1000):
        config = {k: v for k, v in json.loads(flagship).items() if k != "layer_types"} | {"num_hidden_layers": layers}
        text = json.dumps(config)
        rows.append((f"the same with {layers} layers", timed(lambda text=text: cold(text, "n"))))  # type: ignore[misc]
    slowest = sorted(((timed(lambda n=n: cold(texts[n], n), 5), n) for n in bundled_models()), reverse=True)  # type: ignore[misc]
    rows += [(f"slowest configs: {name}", ms) for ms, name in slowest[:4]]
    print("\n".join(f"{name:<48}{ms:>9.2f} ms" for name, ms in rows))


if __name__ == "__main__":
    main()
