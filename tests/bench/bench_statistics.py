"""How long the Statistics page takes to run again: every section after moving the context, the first after a timestep.

    python tests/bench/bench_statistics.py [MODEL] [--moves N]

Times are of the script run (AppTest, no browser), a new context at every move so that nothing was computed before.
The library's own parts are timed below. With --cpu it is processor time that is shown: on a busy machine wall time
measures the neighbours.
"""

import argparse
import logging
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tokenviz.catalog import DEFAULT_MODEL, load_model
from tokenviz.export import chrome_trace, to_csv
from tokenviz.ui_statistics import TABS
from tokenviz.views import statistics as words
from tokenviz.views import statistics_time as picture
from tokenviz.views.statistics import Side

ROOT = Path(__file__).parent.parent.parent


def milliseconds(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Time of one call: of the wall, or of this process's processor."""
    start = clock()
    run()
    return (clock() - start) * 1_000


def section_times(model: str, section: str, moves: int, clock: Callable[[], float]) -> tuple[list[float], list[float]]:
    """Milliseconds of runs after context moves, and after timestep moves."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=120)
    app.query_params["model"], app.query_params["section"] = model, section
    app.run()
    app.switch_page("pages/statistics.py").run()
    contexts, steps = [], []
    for i in range(moves):
        field = app.number_input(key="context").set_value(1_234 + 7_919 * i)
        contexts.append(milliseconds(field.run, clock))
        if section == "Parallelism":  # the section that shows one
            slider = app.slider(key="timestep").set_value(10 + 31 * i)
            steps.append(milliseconds(slider.run, clock))
    return contexts, steps


def library_times(model: str) -> dict[str, float]:
    """Milliseconds of the parts that are made on demand."""
    chosen = load_model(model)
    s = Side(chosen, chosen.scenario(context=4_321))
    return {
        "trace and totals": milliseconds(lambda: words.finding(s)),
        "four conventions": milliseconds(lambda: words.totals_table(s.step)),
        "rows of the picture": milliseconds(lambda: picture.timeline_data(s.step, 0)),
        "lines in the context (once for each model)": milliseconds(lambda: s.dependence),
        "all rows as a table": milliseconds(lambda: words.rows_table(s, folded=False)),
        "all rows as CSV": milliseconds(lambda: to_csv(dict(words.rows_table(s, folded=False).items()))),
        "Chrome trace": milliseconds(lambda: chrome_trace(s.step, model)),
    }


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default=DEFAULT_MODEL)
    parser.add_argument("--moves", type=int, default=15)
    parser.add_argument("--cpu", action="store_true", help="processor time in place of wall time")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    clock = time.process_time if args.cpu else time.perf_counter
    print(f"{args.model}, {args.moves} moves; median and worst in ms of {'processor' if args.cpu else 'wall'} time\n")
    print(f"{'section':<18}{'context moved':>16}{'worst':>8}{'timestep moved':>18}{'worst':>8}")
    for section in TABS:
        contexts, steps = section_times(args.model, section, args.moves, clock)
        moved = f"{statistics.median(steps):>18.0f}{max(steps):>8.0f}" if steps else ""
        print(f"{section:<18}{statistics.median(contexts):>16.0f}{max(contexts):>8.0f}{moved}")
    print()
    for name, ms in library_times(args.model).items():
        print(f"{name:<44}{ms:>8.1f}")


if __name__ == "__main__":
    main()
