"""A chain's graph with its placement, remembered by what it depends on: never by selection or token rate.

plan(architecture, scenario, request) -> Plan
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from tokenviz.architecture import Architecture
from tokenviz.arrangements import Group, arrangements
from tokenviz.handoffs import TOKEN, Chain, HandoffGraph, handoffs, in_bytes
from tokenviz.placement import Placement, PlacementProblem, place
from tokenviz.scenario import Scenario
from tokenviz.trace import traced
from tokenviz.views.format import share, si
from tokenviz.views.layout import downward
from tokenviz.views.layout_nodes import problem_of
from tokenviz.views.scene import Scene

MEASURES = ("values", "bytes")
FLOW, START, REFINED = "downward", "start", "refined"
DRAGGED = "dragged"
ANY_RATE = 100.0


@dataclass(frozen=True, slots=True)
class Request:
    """Which chain in which grouping, what an arrow counts, and how places and lengths are chosen."""

    chain: str
    grouping: str
    measure: str = "values"
    distance: str = "euclidean"
    sites: str = "grid"


@dataclass(frozen=True, eq=False)
class Plan:
    """The graph in values, the graph as weighed, its stages by name, and where a placement puts its nodes."""

    values: HandoffGraph
    graph: HandoffGraph
    stages: HandoffGraph
    problem: PlacementProblem
    placement: Placement


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows: the request, its plan, and which of the three drawings."""

    request: Request
    plan: Plan
    view: str


def chain_title(chain: Chain) -> str:
    """A chain's name inside a sentence."""
    return "the whole token" if chain.name == TOKEN else f"the {chain.title} chain"


def gap(now: float, bound: float) -> str:
    """How far above a lower bound something is, in words that also hold without a bound."""
    return share(now / bound - 1) if bound else "an unknown distance"


def readout(now: float, placement: Placement, where: str) -> str:
    """W of a drawing in one sentence: against the start, the lower bound and, after a drag, the refined placement."""
    start, bound = placement.start_objective, placement.lower_bound
    place = {START: "at the start of the placement", DRAGGED: "as you dragged it"}.get(
        where, "in the refined placement"
    )
    words = f"W, the sum of hand-offs × distance, is <b>{si(now)}</b> {place}"
    if where != START and start:
        side = "below" if now <= start else "above"
        words += f", {share(abs(1 - now / start))} {side} its start ({si(start)})"
    words += f", and {gap(now, bound)} above a lower bound ({si(bound)})"
    if where == DRAGGED and placement.objective:
        side = "more" if now >= placement.objective else "less"
        words += f"; that is {share(abs(now / placement.objective - 1))} {side} than the refined placement"
    return f"{words}."


def plan(architecture: Architecture, scenario: Scenario, request: Request) -> Plan:
    """Hand-offs and placement of a chain; the token rate changes nothing here."""
    return _plan(architecture, replace(scenario, tokens_per_s=ANY_RATE), request)


@lru_cache(maxsize=64)
def _plan(architecture: Architecture, scenario: Scenario, request: Request) -> Plan:
    step = traced(architecture, scenario)
    values = handoffs(step, request.chain, request.grouping)
    graph = in_bytes(values, scenario) if request.measure == "bytes" else values
    problem = problem_of(graph, request.distance, request.sites)
    return Plan(values, graph, handoffs(step, request.chain), problem, place(problem))


def drawn_downward(architecture: Architecture, scenario: Scenario, request: Request) -> Scene:
    """The drawing from top to bottom; it needs no placement."""
    return _downward(
        architecture, replace(scenario, tokens_per_s=ANY_RATE), request.chain, request.grouping, request.measure
    )


@lru_cache(maxsize=64)
def _downward(architecture: Architecture, scenario: Scenario, chain: str, grouping: str, measure: str) -> Scene:
    step = traced(architecture, scenario)
    graph = handoffs(step, chain, grouping)
    titles = {block.kind: block.title for block in step.blocks.values()}
    shown = in_bytes(graph, scenario) if measure == "bytes" else graph
    return downward(shown, f"{chain}/{grouping}/downward", titles)


def groups(architecture: Architecture, scenario: Scenario) -> tuple[Group, ...]:
    """The arrangements of the whole step."""
    return _groups(architecture, replace(scenario, tokens_per_s=ANY_RATE))


@lru_cache(maxsize=16)
def _groups(architecture: Architecture, scenario: Scenario) -> tuple[Group, ...]:
    return arrangements(traced(architecture, scenario), scenario)
