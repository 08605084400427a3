"""The nouns of the prediction map: stations, the values at their ports, connections, and the map itself."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Port:
    """A value that a node reads or makes: where it is recorded, and which node makes it.

    `dims` are letters; a dimension of several letters (``K G H``) is those dimensions joined.
    """

    name: str
    dims: tuple[str, ...]
    place: int
    value: str
    source: str | None = None
    weight: bool = False


@dataclass(frozen=True, slots=True)
class MapNode:
    """One station of a prediction. `event` is its place among the recorded steps, None when it records nothing."""

    id: str
    kind: str
    title: str
    region: str  # "input", "block 1", ..., "output"
    role: str  # "calculation", "residual", "cache", "weights", "text"
    says: str
    equation: str = ""
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    event: int | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """From one node to another. `kind` is data, residual, state or static."""

    source: str
    target: str
    kind: str = "data"


@dataclass(frozen=True, eq=False)
class PredictionMap:
    """Nodes and connections in the order of the computation; `steps` are the ids of the nodes that record."""

    nodes: Mapping[str, MapNode]
    connections: tuple[Connection, ...]
    steps: tuple[str, ...]

    def of_kind(self, kind: str) -> tuple[MapNode, ...]:
        """All nodes of a kind, in order."""
        return tuple(node for node in self.nodes.values() if node.kind == kind)

    @property
    def regions(self) -> tuple[str, ...]:
        """Input, the blocks, output."""
        return tuple(dict.fromkeys(node.region for node in self.nodes.values()))
