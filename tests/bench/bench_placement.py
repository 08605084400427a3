"""How good and how fast the placement is, against plain layouts and one-minute annealings, on graphs like the
real ones.

    python tests/bench/bench_placement.py                       the table, without long annealings
    python tests/bench/bench_placement.py --seconds 60 --runs 3   each annealing runs that long
    python tests/bench/bench_placement.py --only delta          problems whose name contains this

The reference annealing is a plain one, written apart from the library: Metropolis exchanges and relocations
over an adjacency list, on the same sites, geometric cooling.
"""

import argparse
import math
import random
import time

from tokenviz.placement import PlacementProblem, baselines, objective, place, site_points

LABEL = (170.0, 44.0)
GAP = 30.0


def problem(edges: list[tuple[str, str, int]], **options: str) -> PlacementProblem:
    """A problem from named arrows, nodes in order of first mention, all labels of one size."""
    labels = tuple(dict.fromkeys(name for edge in edges for name in edge[:2]))
    at = {name: i for i, name in enumerate(labels)}
    flows = tuple((at[a], at[b], values) for a, b, values in edges)
    return PlacementProblem(labels=labels, sizes=(LABEL,) * len(labels), flows=flows, gap=GAP, **options)


def chain(edges: list[tuple[str, str, int]], prefix: str, source: str, *steps: tuple[str, int]) -> str:
    """Adds a chain of ops after `source`; each step is (name, values that its predecessor hands it)."""
    for name, values in steps:
        edges.append((source, f"{prefix} {name}", values))
        source = f"{prefix} {name}"
    return source


def norm(edges: list[tuple[str, str, int]], prefix: str, source: str | None, width: int, rows: int) -> str:
    """RMSNorm as six ops; the vector is needed again at the fifth."""
    if source is None:
        source = f"{prefix} in"
    last = chain(
        edges,
        prefix,
        source,
        ("square", width),
        ("mean", width),
        ("+eps", rows),
        ("rsqrt", rows),
        ("× rsqrt", rows),
    )
    edges.append((source, last, width))
    return chain(edges, prefix, last, ("× weight", width))


def sigmoid(edges: list[tuple[str, str, int]], prefix: str, source: str, width: int) -> str:
    """Sigmoid as four ops."""
    steps = (("negate", width), ("exp", width), ("+1", width), ("reciprocal", width))
    return chain(edges, prefix, source, *steps)


def project(edges: list[tuple[str, str, int]], prefix: str, source: str, fan_in: int, fan_out: int) -> str:
    """A matrix product as two ops: the vector goes in, one value a row comes out."""
    return chain(edges, prefix, source, ("products", fan_in), ("row sums", fan_out))


def deltanet_chain(d: int, u: int, f: int, layers: int) -> PlacementProblem:
    """One DeltaNet mixer and a dense feed-forward section, op by op: 87 operations and their inputs."""
    e: list[tuple[str, str, int]] = []
    j, width = 16, 128
    x = norm(e, "norm", None, d, 1)
    key, value, state = j * width, u * width, u * width * width
    qkv = project(e, "qkv", x, d, 2 * key + value)
    z, beta, decay = project(e, "z", x, d, value), project(e, "b", x, d, u), project(e, "a", x, d, u)
    channels = 2 * key + value
    window = chain(e, "conv", qkv, ("append", channels))
    taps = chain(e, "conv", window, ("tap products", 4 * channels), ("tap sum", 4 * channels))
    gate = sigmoid(e, "silu", taps, channels)
    conv = chain(e, "silu", gate, ("multiply", channels))
    e.append((taps, conv, channels))
    e.append((window, "conv save", 3 * channels))
    e.append(("conv save", window, 3 * channels))
    normed = {}
    for name in "qk":
        end = chain(e, name, conv, ("square", key), ("sum", key), ("+eps", j), ("rsqrt", j), ("multiply", j))
        e.append((conv, end, key))
        normed[name] = end
    q, k = chain(e, "q", normed["q"], ("× scale", key)), normed["k"]
    b = sigmoid(e, "beta", beta, u)
    g = chain(e, "decay", decay, ("+ bias", u), ("exp", u), ("log1p", u), ("× A", u), ("exp 2", u))
    faded = chain(e, "S", g, ("decay S", u))
    read = chain(e, "S", faded, ("S^T k", state), ("read sum", state))
    e.append((k, "S S^T k", key))
    err = chain(e, "S", read, ("v - read", value))
    e.append((conv, err, value))
    step = chain(e, "S", err, ("× beta", value))
    e.append((b, step, u))
    outer = chain(e, "S", step, ("k outer", value))
    e.append((k, outer, key))
    new = chain(e, "S", outer, ("S +", state))
    e.append((faded, new, state))
    e.append((chain(e, "S", new, ("save", state)), faded, state))
    out = chain(e, "S", new, ("S^T q", state), ("out sum", state))
    e.append((q, "S S^T q", key))
    n = norm(e, "gated norm", out, value, u)
    s = chain(e, "gated norm", sigmoid(e, "gate", z, value), ("× z", value))
    e.append((z, s, value))
    both = chain(e, "gated norm", n, ("multiply", value))
    e.append((s, both, value))
    y = chain(e, "add", project(e, "out", both, value, d), ("residual", d))
    x2 = norm(e, "norm2", y, d, 1)
    gate_in, up = project(e, "gate proj", x2, d, f), project(e, "up proj", x2, d, f)
    act = chain(e, "swiglu", sigmoid(e, "swiglu", gate_in, f), ("× gate", f), ("× up", f))
    e += [(gate_in, "swiglu × gate", f), (up, act, f)]
    end = chain(e, "add2", project(e, "down", act, f, d), ("residual", d))
    e.append((y, end, d))
    return problem([(a, c, v * layers) for a, c, v in e])


def attention_stages(d: int, heads: int, groups: int, context: int, layers: int) -> PlacementProblem:
    """Attention by stages: scores of one value a head and position between narrow vectors."""
    q, kv, scores = heads * 256, groups * 256, heads * context
    e = [("norm", "W q", d), ("norm", "W gate", d), ("norm", "W k", d), ("norm", "W v", d)]
    e += [("W q", "q norm", q), ("W k", "k norm", kv), ("q norm", "RoPE q", q), ("k norm", "RoPE k", kv)]
    e += [
        ("RoPE k", "K append", kv),
        ("W v", "V append", kv),
        ("RoPE q", "scores", q),
        ("RoPE k", "scores", kv),
    ]
    e += [("K append", "scores", kv * context), ("scores", "softmax", scores), ("softmax", "mix", scores)]
    e += [
        ("V append", "mix", kv * context),
        ("W v", "mix", kv),
        ("mix", "gate ×", q),
        ("W gate", "sigmoid", q),
    ]
    e += [("sigmoid", "gate ×", q), ("gate ×", "W out", q), ("W out", "add", d), ("add", "norm", d)]
    return problem([(a, b, v * layers) for a, b, v in e])


def type_graph(n: int, seed: int, decades: float) -> PlacementProblem:
    """Operation types: a few hubs, many cycles, flows spread evenly over this many decades."""
    rng = random.Random(seed)
    names = [f"type {i:02d}" for i in range(n)]
    e = []
    for i in range(n):
        for j in [*rng.sample(range(n), min(n, 3)), rng.randrange(max(2, n // 6))]:
            e.append((names[i], names[j], round(10 ** rng.uniform(9 - decades, 9))))
    return problem(e)


def branches(n: int, seed: int) -> PlacementProblem:
    """A long chain with side branches that leave it and join it again later, heavy-tailed flows from 1 to 1e9."""
    rng = random.Random(seed)
    e, i = [], 1
    spine = ["op 000"]
    while i < n:
        length = min(rng.choice((1, 1, 2, 4, 5)), n - i)
        start = spine[max(0, len(spine) - rng.randrange(1, 6))] if rng.random() < 0.4 else spine[-1]
        width = round(10 ** min(9.0, rng.paretovariate(1.2) + 2)) if rng.random() < 0.9 else 1
        last = start
        for _ in range(length):
            e.append((last, f"op {i:03d}", width))
            last, i = f"op {i:03d}", i + 1
        if start != spine[-1]:
            e.append((last, spine[-1], width))
        else:
            spine.append(last)
    return problem(e)


def problems() -> dict[str, PlacementProblem]:
    """The benchmark set by name."""
    return {
        "delta 27B op by op": deltanet_chain(5120, 48, 17408, 48),
        "delta 2.4T op by op": deltanet_chain(8192, 128, 20480, 69),
        "attention stages 1M": attention_stages(5120, 24, 4, 1_000_001, 16),
        "attention stages 2k": attention_stages(5120, 24, 4, 2_000, 16),
        "types 12": type_graph(12, 1, 9),
        "types 24 narrow": type_graph(24, 2, 1),
        "types 40": type_graph(40, 3, 9),
        "types 40 narrow": type_graph(40, 4, 2),
        "branches 40": branches(40, 6),
        "branches 87": branches(87, 5),
        "branches 120": branches(120, 7),
        "even chain 120": problem([(f"{i:03d}", f"{i + 1:03d}", 1000) for i in range(119)]),
    }


def reference_annealing(task: PlacementProblem, seconds: float, seed: int) -> float:
    """W after Metropolis annealing for so many seconds of processor time, from random sites."""
    rng = random.Random(seed)
    points = site_points(task)
    m, n = len(points), len(task.labels)
    near: list[dict[int, float]] = [{} for _ in range(n + 1)]
    for a, b, values in task.flows:
        if a != b:
            near[a][b] = near[a].get(b, 0.0) + values
            near[b][a] = near[b].get(a, 0.0) + values
    links = [list(row.items()) for row in near]
    distance = [[math.dist(p, q) for q in points] for p in points]
    where = [*rng.sample(range(m), n), -1]
    holder = [n] * m
    for i in range(n):
        holder[where[i]] = i
    total = objective([points[s] for s in where[:n]], task.flows)
    least, hot = total, max(v for row in near for v in row.values()) * 300.0
    begin, temperature, count, progress = time.process_time(), hot, 0, 0.0
    while progress < 1.0:
        count += 1
        if count % 500 == 0:
            progress = (time.process_time() - begin) / seconds
            temperature = hot * 1e-6**progress
        i, s = rng.randrange(n), rng.randrange(m)
        p, j = where[i], holder[s]
        there, here = distance[s], distance[p]
        change = sum(v * (there[where[k]] - here[where[k]]) for k, v in links[i] if k != j)
        change += sum(v * (here[where[k]] - there[where[k]]) for k, v in links[j] if k != i)
        if s != p and (change <= 0 or rng.random() < math.exp(-change / temperature)):
            holder[s], holder[p], where[j], where[i] = i, j, p, s
            total += change
            least = min(least, total)
    return least


def main() -> None:
    """Prints one row a problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--no-baselines", action="store_true")
    options = parser.parse_args()
    print(f"{'problem':22} {'n':>4} {'W':>12} {'of start':>8} {'of bound':>8} {'ms':>6}  best plain layout, annealing")
    for name, task in problems().items():
        if options.only not in name:
            continue
        begin = time.perf_counter()
        done = place(task)
        spent = (time.perf_counter() - begin) * 1000
        row = f"{name:22} {len(task.labels):4} {done.objective:12.5g} {done.objective / done.start_objective:8.3f}"
        row += f" {done.objective / done.lower_bound:8.4f} {spent:6.0f}"
        if not options.no_baselines:
            plain = baselines(task)
            best = min(plain, key=plain.__getitem__)
            row += f"  {100 * (1 - done.objective / plain[best]):5.1f} % below {best}"
        if options.seconds:
            found = min(reference_annealing(task, options.seconds, seed) for seed in range(options.runs))
            row += f"  {100 * (done.objective / found - 1):+7.3f} % of annealing"
        print(row, flush=True)


if __name__ == "__main__":
    main()
