"""Vector graphics: well-formed, complete, escaped, and only what was asked for."""

import xml.etree.ElementTree as ET

import pytest

from tokenviz.views.measure import make_box, make_bubble, make_node
from tokenviz.views.palette import OP_FILL, THEMES
from tokenviz.views.scene import Edge, Note, Panel, Rect, Scene, SceneError
from tokenviz.views.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawing(name: str = "W") -> Scene:
    box = make_box("b", "Projection", [("b.0", "products", "fixed linear"), ("b.1", "sum rows", "reduction")], 200, 60)
    weight = make_bubble("w", name, "static", 20, 60, "8,192 × 8,192", "134 MB", hint="read once")
    state = make_bubble("k", "K", "state", 420, 60)
    node = make_node("n", "two\nlines", "9", 300, 220, "add/subtract")
    edges = (
        Edge("e1", "w", "b", ((150, 84), (180, 84), (180, 90), (200, 90)), "static"),
        Edge("e2", "b", "k", kind="state", dashed=True, curve=0.2),
        Edge("e3", "n", "n", label="1,024"),
        Edge("e4", "b", "n", arrow=False),
    )
    return Scene(
        "demo", 600, 300, panels=(Panel("p", "Mixer", Rect(0, 0, 600, 300), "×69 · depth 48"),), boxes=(box,),
        bubbles=(weight, state), nodes=(node,), edges=edges, notes=(Note("t", "next token", 500, 20),),
    )  # fmt: skip


def texts(svg: str) -> list[str]:
    return [element.text for element in ET.fromstring(svg).iter(f"{SVG}text")]


def group(svg: str, id: str) -> ET.Element:
    return next(element for element in ET.fromstring(svg).iter(f"{SVG}g") if element.get("id") == id)


def test_every_text_of_the_scene_is_text():
    assert texts(to_svg(drawing())) == [
        "Mixer", "×69 · depth 48", "next token", "1,024", "Projection", "products", "sum rows",
        "W", "8,192 × 8,192", "134 MB", "K", "two", "lines", "9",
    ]  # fmt: skip


def test_the_view_box_is_the_scene_with_a_margin():
    assert ET.fromstring(to_svg(drawing())).get("viewBox") == "-16 -16 632 332"


def test_a_region_shows_only_what_lies_in_it():
    svg = to_svg(drawing(), region=Rect(0, 0, 190, 150))
    assert ET.fromstring(svg).get("viewBox") == "0 0 190 150"
    shown = texts(svg)
    assert "W" in shown
    assert "Projection" not in shown


@pytest.mark.parametrize("theme", THEMES)
def test_colours_are_those_of_the_theme(theme):
    svg, colours = to_svg(drawing(), theme), THEMES[theme]
    assert group(svg, "b.0").find(f"{SVG}rect").get("fill") == OP_FILL["fixed linear"]
    assert group(svg, "w").find(f"{SVG}rect").get("fill") == colours.lifetimes["static"].fill
    assert group(svg, "e1").find(f"{SVG}path").get("stroke") == colours.lifetimes["static"].outline


def test_state_has_a_double_outline_and_static_a_single_one():
    svg = to_svg(drawing())
    outlines = [[r for r in group(svg, name).findall(f"{SVG}rect") if r.get("stroke")] for name in ("k", "w")]
    assert [len(rects) for rects in outlines] == [2, 1]


def test_dashes_and_arrowheads_follow_the_edge():
    svg = to_svg(drawing())
    assert group(svg, "e2").find(f"{SVG}path").get("stroke-dasharray")
    assert group(svg, "e1").find(f"{SVG}path").get("stroke-dasharray") is None
    assert len(group(svg, "e1").findall(f"{SVG}path")) == 2
    assert len(group(svg, "e4").findall(f"{SVG}path")) == 1


def test_corners_are_rounded_and_the_line_stops_at_the_arrowhead():
    # corner radius is half the shorter side: 6 / 2 = 3 at (180, 84); the head takes 0.8 * (6 + 1.5) = 6 before x = 200
    path = group(to_svg(drawing()), "e1").find(f"{SVG}path").get("d")
    assert path == "M150 84L177 84Q180 84 180 87L180 87Q180 90 183 90L194 90"


def test_hints_become_titles():
    assert group(to_svg(drawing()), "w").find(f"{SVG}title").text == "read once"


def test_untrusted_text_stays_text():
    name = '<img src=x onerror="alert(1)">&\x00\x1b'
    svg = to_svg(drawing(name))
    assert "<img" not in svg
    assert '<img src=x onerror="alert(1)">&' in texts(svg)


def test_an_unknown_theme_is_refused():
    with pytest.raises(SceneError, match="theme is 'sepia'; choose one of light, dark"):
        to_svg(drawing(), "sepia")


def test_the_same_scene_gives_the_same_text():
    assert to_svg(drawing()) == to_svg(drawing())
