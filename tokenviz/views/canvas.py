"""The interactive canvas: a scene as a pyvis network, and the script that draws it.

pyvis holds the nodes, edges and options; its bundled vis-network keeps the view and the gestures; the canvas_*.js files
beside this module paint. Nothing is loaded from outside.

    network(scene, draggable=False) -> pyvis Network     fixed positions, physics off; every node and edge keeps its id
    scene_payload(scene, draggable=False) -> dict        plain data for the canvas, a pure function of the scene
    loader_script() -> str                               the component that carries vis-network and the painters
    graph_script() -> str                                the small component that shows one canvas
"""

import json
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyvis
from pyvis.network import Network

from tokenviz.views.scene import Box, Bubble, Cell, Edge, Item, Node, Panel, Rect, Scene

_PARTS = ("find", "draw", "edges", "view", "svg", "play", "events")


def network(scene: Scene, draggable: bool = False) -> Network:
    """The scene as a directed pyvis network: one node per box, cell, bubble and node, one edge per edge.

    Nodes carry their centre (`x`, `y`), size (`w`, `h`), `kind` and texts; edges carry their waypoints. With
    `draggable` a reader can move the nodes by hand.
    """
    net = Network(directed=True)
    owners = {cell.id: box.id for box in scene.boxes for cell in box.cells}
    for item in scene.items.values():
        place = {"x": _near(item.rect.cx), "y": _near(item.rect.cy), "w": _near(item.rect.width)}
        place["h"] = _near(item.rect.height)
        extra = {**_look(item), "owner": owners.get(item.id), "hint": item.hint}
        text = _text(item)
        net.add_node(item.id, label=text, shape="custom", text=text, **place, **_given(extra), fixed=not draggable)
    for edge in scene.edges:
        net.add_edge(edge.source, edge.target, **_edge(edge))
    net.options = {  # assigned as a whole: pyvis's own setters drop spaces and keep physics on
        "physics": {"enabled": False},
        "layout": {"improvedLayout": False},
        "interaction": {
            "dragNodes": draggable,
            "dragView": True,
            "zoomView": True,
            "hover": False,
            "selectable": False,
            "selectConnectedEdges": False,
        },
        "nodes": {"shape": "custom", "physics": False, "chosen": False},
        "edges": {"smooth": False, "hidden": True, "physics": False, "chosen": False},
    }
    return net


def scene_payload(scene: Scene, draggable: bool = False) -> dict[str, Any]:
    """Plain data for the canvas: {"scene": {id, stamp, width, height, nodes, edges, panels, notes}, "options": ...}."""
    net = network(scene, draggable)
    drawn = {
        "id": scene.id,
        "width": _near(scene.width),
        "height": _near(scene.height),
        **_given({"room": scene.room}),
        "nodes": [_without(node, "color", "label") for node in net.nodes],
        "edges": [_without(edge, "arrows") for edge in net.edges],
        "panels": [_panel(panel) for panel in scene.panels],
        "notes": [
            {
                "text": note.text,
                "x": note.x,
                "y": note.y,
                "size": note.size,
                "anchor": note.anchor,
                "strong": note.strong,
                **_given({"far": note.far}),
            }
            for note in scene.notes
        ],
    }
    stamp = sha256(json.dumps(drawn, sort_keys=True, allow_nan=False).encode()).hexdigest()[:16]
    return {"scene": {**drawn, "stamp": stamp}, "options": net.options}


@cache
def loader_script() -> str:
    """An ES module that puts vis-network and the canvas on the page once."""
    vis = Path(pyvis.__file__).parent / "lib" / "vis-9.1.2" / "vis-network.min.js"
    name = json.dumps(_library_name())
    return (
        f"if (!globalThis.vis) {{\n{vis.read_text(encoding='utf-8')}\n}}\n"
        f"if (!globalThis[{name}]) globalThis[{name}] = (() => {{\n{_library()}\nreturn {{ show, drop }};\n}})();\n"
        "export default function () {}\n"
    )


@cache
def graph_script() -> str:
    """An ES module that waits for the loader and shows one canvas in its element."""
    name = json.dumps(_library_name())
    return f"""
export default function (component) {{
  const host = component.parentElement;
  host.waiting = component;
  const attempt = () => {{
    const library = globalThis[{name}];
    if (!library) host.timer = setTimeout(attempt, 15);
    else library.show(host.waiting);
  }};
  clearTimeout(host.timer);
  attempt();
  return () => {{
    clearTimeout(host.timer);
    globalThis[{name}]?.drop(host);
  }};
}}
"""


@cache
def _library() -> str:
    folder = files("tokenviz.views")
    style = (folder / "canvas.css").read_text(encoding="utf-8")
    names = [*(f"canvas_{part}.js" for part in _PARTS), "canvas.js"]
    parts = [(folder / name).read_text(encoding="utf-8") for name in names]
    return "\n".join([f"const STYLE = {json.dumps(style)};", *parts])


def _library_name() -> str:
    """Changes with the code, so that a page that was open during an update does not mix old and new."""
    return "tokenviz-" + sha256(_library().encode()).hexdigest()[:12]


def _look(item: Item) -> dict[str, Any]:
    if isinstance(item, Box):
        return {"kind": "box", "note": item.note, "bare": not item.cells}
    if isinstance(item, Cell):
        return {"kind": "cell", "op": item.op_class}
    if isinstance(item, Bubble):
        return {"kind": "bubble", "life": item.lifetime, "dims": item.shape, "bytes": item.size}
    return {"kind": "node", "op": item.op_class, "number": item.number, **_given({"look": item.look})}


def _text(item: Item) -> str:
    if isinstance(item, Box):
        return item.title
    if isinstance(item, Cell):
        return item.text
    return item.label if isinstance(item, Node) else item.name


def _edge(edge: Edge) -> dict[str, Any]:
    points = [[_near(x), _near(y)] for x, y in edge.points]
    return {
        "id": edge.id,
        "hidden": True,  # vis-network keeps the edge; the painters draw it
        "kind": edge.kind,
        "width": edge.width,
        "dashed": edge.dashed,
        "curve": edge.curve,
        "arrow": edge.arrow,
        **_given({"points": points, "text": edge.label, "hint": edge.hint, "bridge": edge.bridge}),
    }


def _panel(panel: Panel) -> dict[str, Any]:
    rect: Rect = panel.rect
    place = {"x": _near(rect.x), "y": _near(rect.y), "w": _near(rect.width), "h": _near(rect.height)}
    place["indent"] = _near(panel.indent)
    return {"id": panel.id, "heading": panel.heading, "sub": panel.subheading, "tab": panel.tab, **place}


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], False)}


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _near(value: float) -> float:
    """To a tenth of a unit: what the eye sees, and half the bytes."""
    return round(value, 1)
