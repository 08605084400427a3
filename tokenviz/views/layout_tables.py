"""Tables of the Layout page as DataFrames with raw numbers: hand-offs, nodes, positions, costly arrows."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from tokenviz.handoffs import HandoffGraph, arrow_bytes
from tokenviz.handoffs_block import Arrow
from tokenviz.placement import Point, objective
from tokenviz.scenario import Scenario

LIFETIME_WORDS = {"ephemeral": "ephemeral: made for this token", "state": "state: left by earlier tokens"}


def names_of(graph: HandoffGraph) -> dict[str, str]:
    """Node id -> what people call it: a stage by its transform and operation, a type by its name."""
    return {s.id: s.label if graph.grouping == "types" else f"{s.group}: {s.label}" for s in graph.nodes}


def handoff_table(graph: HandoffGraph, scenario: Scenario, weighed: HandoffGraph | None = None) -> pd.DataFrame:
    """All arrows ranked by `weighed` (default: values): from, to, values, share, bytes, layers, lifetime, kind."""
    order = {(a.source, a.target, a.retained): k for k, a in enumerate((weighed or graph).arrows)}
    arrows = sorted(graph.arrows, key=lambda a: order[a.source, a.target, a.retained])
    return _arrow_rows(arrows, names_of(graph), scenario, graph.values)


def part_table(arrow: Arrow, names: Mapping[str, str], scenario: Scenario) -> pd.DataFrame:
    """The stages that one row is made of; a row between single stages is its own only part."""
    return _arrow_rows(arrow.parts or (arrow,), names, scenario, arrow.values)


def _arrow_rows(arrows: Iterable[Arrow], names: Mapping[str, str], scenario: Scenario, total: int) -> pd.DataFrame:
    rows = [
        {
            "from": names[a.source],
            "to": names[a.target],
            "values/token": a.values,
            "share": a.values / total,
            "bytes/token": arrow_bytes(a, scenario),
            "layers": a.layers,
            "lifetime": LIFETIME_WORDS[str(a.lifetime)],
            "kind": "retained" if a.retained else "current",
        }
        for a in arrows
    ]
    return pd.DataFrame(rows, columns=list(ARROW_COLUMNS))


ARROW_COLUMNS = ("from", "to", "values/token", "share", "bytes/token", "layers", "lifetime", "kind")


def node_table(graph: HandoffGraph) -> pd.DataFrame:
    """All nodes in the order drawn: operations, values in and out, fan-out."""
    names = names_of(graph)
    return pd.DataFrame(
        [
            {
                "node": names[s.id],
                "class": str(s.op_class),
                "operations/token": s.operations,
                "values in": s.values_in,
                "values out": s.values_out,
                "fan-out": s.fan_out,
                "layers": s.layers,
            }
            for s in graph.nodes
        ]
    )


def position_table(graph: HandoffGraph, positions: Sequence[Point], start: Sequence[Point]) -> pd.DataFrame:
    """Centres before and after refinement, in canvas units, y downward."""
    rows = zip(graph.nodes, positions, start, strict=True)
    return pd.DataFrame(
        [{"id": s.id, "x": x, "y": y, "start x": sx, "start y": sy} for s, (x, y), (sx, sy) in rows],
        columns=["id", "x", "y", "start x", "start y"],
    )


def costly_table(graph: HandoffGraph, positions: Sequence[Point], distance: str, most: int = 10) -> pd.DataFrame:
    """The arrows with the largest part of W where the nodes are now, the costliest first."""
    names = names_of(graph)
    at = {s.id: p for s, p in zip(graph.nodes, positions, strict=True)}
    rows = []
    for a in graph.arrows:
        far = objective((at[a.source], at[a.target]), ((0, 1, 1),), distance)
        rows.append((a.values * far, names[a.source], names[a.target], a.values, far))
    total = sum(row[0] for row in rows)
    rows.sort(key=lambda row: (-row[0], row[1], row[2]))
    return pd.DataFrame(
        [
            {"from": source, "to": target, "values": values, "distance": far, "share of W": cost / total}
            for cost, source, target, values, far in rows[:most]
        ],
        columns=["from", "to", "values", "distance", "share of W"],
    )
