"""The command `tokenviz place`: a chain's hand-offs and where its stages would sit."""

import argparse
import json
from typing import Any

from tokenviz.cli_arguments import Commands, Parser, add_context, add_model, find_model, whole
from tokenviz.handoffs import GROUPINGS, HandoffGraph, handoffs
from tokenviz.notation import ScenarioError
from tokenviz.placement import DISTANCES, SITES, Placement, PlacementProblem, baselines, place
from tokenviz.trace import traced
from tokenviz.views.format import si
from tokenviz.views.layout_nodes import problem_of

MAX_SEED = 2**32 - 1


def add_place(commands: "Commands[Parser]") -> None:
    """Add the subcommand to a parser's commands."""
    sub = commands.add_parser("place", help="what feeds what, and a placement that keeps heavy hand-offs short")
    add_model(sub)
    sub.add_argument("--chain", required=True, help="deltanet, attention, ffn, output, token, or another mixer's kind")
    sub.add_argument("--grouping", choices=GROUPINGS, default="stages", help="single operations, or merged by name")
    add_context(sub)
    sub.add_argument("--seed", type=whole, default=0, metavar="S", help="start of the random numbers (default 0)")
    sub.add_argument("--distance", choices=DISTANCES, default=DISTANCES[0], help="how lengths are measured")
    sub.add_argument("--sites", choices=SITES, default=SITES[0], help="on a grid, or anywhere with clearance")
    sub.add_argument("--json", action="store_true", help="print one JSON object")
    sub.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> None:
    if not 0 <= args.seed <= MAX_SEED:
        raise ScenarioError(f"seed is {args.seed}; give a whole number from 0 to {MAX_SEED:,}")
    model = find_model(args.model)
    step = traced(model.architecture, model.scenario(context=args.context))
    graph = handoffs(step, args.chain, args.grouping)
    problem = problem_of(graph, args.distance, args.sites)
    placement = place(problem, args.seed)
    found = placement_report(graph, problem, placement, baselines(problem, args.seed))
    print(json.dumps(found, indent=2) if args.json else _summary(model.name, found))


def placement_report(
    graph: HandoffGraph, problem: PlacementProblem, placement: Placement, plain: dict[str, float]
) -> dict[str, Any]:
    """The placement as plain data; W is the sum over `handoffs` of values x distance between the nodes' centres."""
    return {
        "chain": graph.chain.name,
        "grouping": graph.grouping,
        "clearance": list(placement.clearance),
        "distance": problem.distance,
        "sites": problem.sites,
        "nodes": [
            {"id": stage.id, "label": stage.label, "group": stage.group, "x": x, "y": y, "operations": stage.operations}
            for stage, (x, y) in zip(graph.nodes, placement.positions, strict=True)
        ],
        "handoffs": [
            {"source": a.source, "target": a.target, "values": a.values, "retained": a.retained, "layers": a.layers}
            for a in graph.arrows
        ],
        "folded_values": graph.folded_values,
        "objective": placement.objective,
        "start_objective": placement.start_objective,
        "lower_bound": placement.lower_bound,
        "baselines": plain,
    }


def _summary(name: str, found: dict[str, Any]) -> str:
    w, start, bound = found["objective"], found["start_objective"], found["lower_bound"]
    rows = [
        ("nodes", f"{len(found['nodes']):,}"),
        ("hand-offs", f"{len(found['handoffs']):,}"),
        ("values per token", f"{sum(a['values'] for a in found['handoffs']):,}"),
        ("W, refined", f"{w:,.0f}"),
        ("W of the start", f"{start:,.0f}"),
        ("lower bound on W", f"{bound:,.0f}"),
        *((f"W of {layout.replace('_', ' ')}", f"{worth:,.0f}") for layout, worth in found["baselines"].items()),
    ]
    head = f"{name}: {found['chain']}, {found['grouping']}; W in values x canvas units"
    heaviest = [
        f"  {a['source']} -> {a['target']}: {si(a['values'])}{' (retained)' if a['retained'] else ''}"
        for a in found["handoffs"][:10]
    ]
    return "\n".join([head, *(f"  {label:<22}{value:>28}" for label, value in rows), "heaviest hand-offs:", *heaviest])
