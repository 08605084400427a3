"""The canvas's data: pyvis nodes and edges of a scene, plain JSON, and scripts that need nothing from outside."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from tests.test_svg import drawing
from tokenviz.views.canvas import graph_script, loader_script, network, scene_payload
from tokenviz.views.scene import Scene


def by_id(rows: list[dict]) -> dict[str, dict]:
    return {row["id"]: row for row in rows}


def test_the_network_has_one_node_per_item_and_one_edge_per_edge():
    scene = drawing()
    net = network(scene)
    assert [node["id"] for node in net.nodes] == list(scene.items)
    assert [edge["id"] for edge in net.edges] == [edge.id for edge in scene.edges]
    assert [(edge["from"], edge["to"]) for edge in net.edges] == [(e.source, e.target) for e in scene.edges]


def test_nodes_stand_at_the_centre_of_their_rectangle():
    scene = drawing()
    for node in network(scene).nodes:
        rect = scene.items[node["id"]].rect
        assert (node["x"], node["y"]) == (round(rect.cx, 1), round(rect.cy, 1))
        assert (node["w"], node["h"]) == (round(rect.width, 1), round(rect.height, 1))
        assert node["fixed"] is True


def test_cells_know_their_box_and_bubbles_their_lifetime():
    nodes = by_id(network(drawing()).nodes)
    assert (nodes["b.0"]["owner"], nodes["b.0"]["op"], nodes["b.0"]["kind"]) == ("b", "fixed linear", "cell")
    assert (nodes["w"]["life"], nodes["w"]["dims"], nodes["w"]["bytes"]) == ("static", "8,192 × 8,192", "134 MB")
    assert "owner" not in nodes["b"]


def test_physics_is_off_and_only_a_draggable_network_lets_nodes_move():
    fixed, free = network(drawing()), network(drawing(), draggable=True)
    assert fixed.options["physics"] == {"enabled": False}
    assert (fixed.options["interaction"]["dragNodes"], free.options["interaction"]["dragNodes"]) == (False, True)
    assert {node["fixed"] for node in free.nodes} == {False}


def test_the_payload_is_valid_json_and_depends_on_the_scene_alone():
    first, second = scene_payload(drawing()), scene_payload(drawing())
    assert first == second
    assert json.loads(json.dumps(first, allow_nan=False)) == first


def test_the_stamp_changes_with_the_drawing():
    stamps = {scene_payload(scene)["scene"]["stamp"] for scene in (drawing(), drawing("V"), Scene("empty", 1, 1))}
    assert len(stamps) == 3


def test_no_text_becomes_markup_on_its_way():
    name = '<a href="x">'  # pyvis turns a title with these letters into HTML; texts travel under other names
    node = by_id(scene_payload(drawing(name))["scene"]["nodes"])["w"]
    assert node["text"] == name
    assert "title" not in node


def test_a_name_that_is_empty_stays_empty():
    assert by_id(scene_payload(drawing(""))["scene"]["nodes"])["w"]["text"] == ""


def test_a_coordinate_that_is_not_a_number_is_an_error():
    scene = drawing().placed({"n": (float("nan"), 0.0)})
    with pytest.raises(ValueError, match="JSON"):
        scene_payload(scene)


def test_the_loader_carries_the_library_and_the_painters_once():
    script = loader_script()
    assert script.count("@version 9.1.2") == 1
    for function in ("paintBubble", "stepFrom", "makePlaybar", "showRegion", "onWheel", "mount"):
        assert script.count(f"function {function}(") == 1


def test_the_scripts_agree_on_the_library_name():
    (name,) = set(re.findall(r'"(tokenviz-[0-9a-f]{12})"', graph_script()))
    assert name in loader_script()


def test_nothing_is_fetched_from_outside():
    own = loader_script().split("globalThis[", 1)[1]
    assert not re.findall(r"\b(?:fetch|importScripts|XMLHttpRequest|WebSocket)\b", own)
    assert not re.findall(r"(?:import|src=|url\()\s*[\"']?https?:", own)
    assert len(graph_script()) < 1000  # it travels with every message


def test_an_installed_package_has_the_scripts_too():
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]
    assert {"*.js", "*.css", "*.svg"} <= set(patterns["tokenviz.views"])


def test_no_painter_is_named_twice():
    """The scripts are one module: a second function of a name would silently take the first one's place."""
    scripts = sorted((Path(__file__).parent.parent / "tokenviz" / "views").glob("canvas*.js"))
    names = [name for path in scripts for name in re.findall(r"^(?:function|const|let) (\w+)", path.read_text(), re.M)]
    assert len(names) > 100
    assert sorted({name for name in names if names.count(name) > 1}) == []
