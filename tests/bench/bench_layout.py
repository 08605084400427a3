"""The placement against plain graph layouts on real hand-off graphs: all chains and groupings of the headline models.

    python tests/bench/bench_layout.py                      the table
    python tests/bench/bench_layout.py --only deltanet      rows whose name contains this
    python tests/bench/bench_layout.py --seeds 3            W of the worst of several seeds
    python tests/bench/bench_layout.py --seconds 60         also three plain annealings of so many seconds each

networkx's spring and Kamada-Kawai layouts, and the spectral one, are snapped to the same sites by optimal assignment.
"margin" is how far below the best of them our W is; "to bound" how far above a lower bound; "annealed" how far above
(or below) the best of three plain annealings on the same sites.
"""

import argparse
import time

from bench_placement import reference_annealing

from tokenviz.catalog import PROFILES, load_model
from tokenviz.handoffs import GROUPINGS, HandoffGraph, chains, handoffs
from tokenviz.placement import baselines, place
from tokenviz.trace import traced
from tokenviz.views.layout_nodes import problem_of

HEAD = (
    f"{'model, chain, grouping':<44}{'nodes':>6}{'arrows':>7}{'W':>12}{'spring':>8}{'kk':>8}{'spectral':>9}"
    f"{'margin':>8}{'to bound':>9}{'seconds':>9}{'annealed':>10}"
)


def rows(only: str, seeds: int, seconds: float) -> None:
    """Print one row a problem, then the least margin."""
    print(HEAD)
    least = (1.0, "")
    for name in PROFILES:
        model = load_model(name)
        step = traced(model.architecture, model.scenario())
        names = [chain.name for chain in chains(step)]
        if {"deltanet", "ffn"} <= set(names):
            names.append("deltanet+ffn")
        for chain in names:
            for grouping in GROUPINGS:
                title = f"{name} {chain} {grouping}"
                if only in title:
                    least = min(least, (row(title, handoffs(step, chain, grouping), seeds, seconds), title))
    print(f"least margin: {least[0]:.1%} ({least[1]})")


def row(title: str, graph: HandoffGraph, seeds: int, seconds: float) -> float:
    """Place one graph, compare, print; the margin below the best plain layout."""
    problem = problem_of(graph)
    began = time.perf_counter()
    found = [place(problem, seed) for seed in range(seeds)]
    taken = (time.perf_counter() - began) / seeds
    worst = max(found, key=lambda p: p.objective)
    plain = baselines(problem)
    margin = 1 - worst.objective / min(plain.values())
    spring, kk, spectral = (
        1 - worst.objective / min(w for k, w in plain.items() if k.startswith(layout))
        for layout in ("spring", "kamada_kawai", "spectral")
    )
    annealed = ""
    if seconds:
        best = min(reference_annealing(problem, seconds, seed) for seed in range(3))
        annealed = f"{worst.objective / best - 1:+.2%}"
    print(
        f"{title:<44}{len(graph.nodes):>6}{len(graph.arrows):>7}{worst.objective:>12.4g}{spring:>8.1%}{kk:>8.1%}"
        f"{spectral:>9.1%}{margin:>8.1%}{worst.objective / worst.lower_bound - 1:>9.1%}{taken:>9.2f}{annealed:>10}",
        flush=True,
    )
    return margin


def main() -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--seeds", type=int, default=1, help="report the worst of so many seeds")
    parser.add_argument("--seconds", type=float, default=0.0, help="length of each of three plain annealings")
    args = parser.parse_args()
    rows(args.only, args.seeds, args.seconds)


if __name__ == "__main__":
    main()
