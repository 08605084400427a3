"""Scenes: what they refuse, what they find, and items that fit their text."""

import pytest

from tokenviz.views.measure import BODY, BOX_PAD, CELL_GAP, CELL_PAD, make_box, make_bubble, make_node, text_width
from tokenviz.views.scene import (
    Box,
    Bubble,
    Cell,
    Edge,
    Node,
    Note,
    Panel,
    Rect,
    Scene,
    SceneError,
    edges_through,
    overlaps,
)


def bubble(id: str, x: float = 0, y: float = 0) -> Bubble:
    return Bubble(id, "K", "state", Rect(x, y, 40, 20))


def test_rect_sides_and_centre():
    rect = Rect(10, 20, 30, 40)
    assert (rect.right, rect.bottom, rect.cx, rect.cy) == (40, 60, 25, 40)
    assert rect.grown(5) == Rect(5, 15, 40, 50)
    assert rect.moved(1, -2) == Rect(11, 18, 30, 40)


def test_rects_that_share_a_border_do_not_overlap():
    assert not Rect(0, 0, 10, 10).overlaps(Rect(10, 0, 10, 10))
    assert not Rect(10, 0, 10, 10).overlaps(Rect(0, 0, 10, 10))
    assert not Rect(0, 0, 10, 10).overlaps(Rect(0, 10, 10, 10))
    assert not Rect(0, 10, 10, 10).overlaps(Rect(0, 0, 10, 10))
    assert Rect(0, 0, 10, 10).overlaps(Rect(9, 9, 10, 10))


def test_items_are_boxes_with_their_cells_then_bubbles_then_nodes():
    box = make_box("b", "Box", [("b.0", "add", "add/subtract"), ("b.1", "exp", "nonlinear transfer")], 0, 0)
    node = make_node("n", "conv", "9", 300, 300)
    scene = Scene("s", 400, 400, boxes=(box,), bubbles=(bubble("k", 200),), nodes=(node,))
    assert list(scene.items) == ["b", "b.0", "b.1", "k", "n"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"bubbles": (bubble("k"), bubble("k", 100))}, "id 'k' is used twice; give every part of a scene its own id"),
        (
            {"bubbles": (bubble("k"),), "notes": (Note("k", "text", 0, 0),)},
            "id 'k' is used twice; give every part of a scene its own id",
        ),
        ({"bubbles": (bubble(""),)}, "id '' of a Bubble is not a non-empty string; give it one"),
        (
            {"bubbles": (bubble("k"),), "edges": (Edge("e", "k", "v"),)},
            "edge 'e' joins 'v', which is not in the scene; add it or drop the edge",
        ),
        (
            {"bubbles": (Bubble("k", "K", "eternal", Rect(0, 0, 9, 9)),)},
            "lifetime of 'k' is 'eternal'; choose one of 'static', 'ephemeral', 'state'",
        ),
        (
            {"bubbles": (bubble("k"),), "edges": (Edge("e", "k", "k", kind="wire"),)},
            "kind of 'e' is 'wire'; choose one of 'data', 'residual', 'static', 'state', 'retained'",
        ),
    ],
)
def test_a_scene_that_contradicts_itself_is_refused(parts, message):
    with pytest.raises(SceneError) as error:
        Scene("s", 400, 400, **parts)
    assert str(error.value) == message


def test_a_cell_and_a_node_need_a_known_class():
    cell = Cell("c", "exp", "magic", Rect(0, 0, 9, 9))
    with pytest.raises(SceneError, match="op_class of 'c' is 'magic'"):
        Scene("s", 9, 9, boxes=(Box("b", "B", Rect(0, 0, 9, 9), (cell,)),))
    with pytest.raises(SceneError, match="op_class of 'n' is 'magic'"):
        Scene("s", 9, 9, nodes=(Node("n", "N", "", Rect(0, 0, 9, 9), "magic"),))
    assert Scene("s", 9, 9, nodes=(Node("n", "N", "", Rect(0, 0, 9, 9)),)).items["n"].op_class == ""


def test_region_of_a_panel_of_an_item_and_of_nothing():
    scene = Scene("s", 100, 100, panels=(Panel("p", "Mixer", Rect(1, 2, 3, 4)),), bubbles=(bubble("k", 5, 6),))
    assert scene.region("p") == Rect(1, 2, 3, 4)
    assert scene.region("k") == Rect(5, 6, 40, 20)
    with pytest.raises(SceneError, match="no panel or item is named 'q'"):
        scene.region("q")


def test_placed_moves_centres_and_leaves_the_rest():
    scene = Scene("s", 100, 100, nodes=(make_node("a", "A", "1", 10, 10), make_node("b", "B", "1", 90, 90)))
    moved = scene.placed({"a": (50, 60)})
    assert (moved.items["a"].rect.cx, moved.items["a"].rect.cy) == (50, 60)
    assert moved.items["b"] == scene.items["b"]


def test_overlaps_are_found_once_and_cells_must_stay_in_their_box():
    stray = Box("b", "B", Rect(0, 100, 50, 50), (Cell("c", "exp", "reduction", Rect(45, 110, 10, 10)),))
    scene = Scene("s", 200, 200, boxes=(stray,), bubbles=(bubble("k"), bubble("v", 30, 10), bubble("w", 100, 0)))
    assert overlaps(scene) == (("k", "v"), ("b", "c"))


def test_edges_through_names_what_is_crossed_but_not_what_is_joined():
    box = make_box("b", "Box", [("b.0", "add", "add/subtract")], 100, 0)
    parts = {"boxes": (box,), "bubbles": (bubble("k"), bubble("v", 300))}
    across = Edge("e", "k", "v", ((40, 10), (300, 10)))
    into = Edge("f", "k", "b.0", ((40, 12), (box.rect.x, 12)))
    around = Edge("g", "k", "v", ((20, 20), (20, 90), (320, 90), (320, 20)))
    assert edges_through(Scene("s", 400, 100, edges=(across, into, around), **parts)) == (("e", "b"),)


def test_text_width_is_that_of_the_font():
    # Source Sans 3 regular: e = 496, x = 446, p = 555 thousandths of the size, measured in a browser: 1.497 em
    assert text_width("exp", 100) == pytest.approx(149.7, rel=0.02)
    assert text_width("exp\nexp exp", 12) == text_width("exp exp", 12)
    assert text_width("exp", 12, bold=True) > text_width("exp", 12)


def test_a_box_holds_its_cells_in_one_row_and_wraps_when_it_must():
    cells = [(f"b.{i}", "multiply", "dynamic multiply/divide") for i in range(5)]
    cell = text_width("multiply", BODY) + 2 * CELL_PAD
    wide = make_box("b", "Five", cells, 10, 20)
    assert len({c.rect.y for c in wide.cells}) == 1
    assert wide.rect.width == pytest.approx(5 * cell + 4 * CELL_GAP + 2 * BOX_PAD)
    narrow = make_box("b", "Five", cells, 10, 20, max_width=2 * cell + CELL_GAP + 2 * BOX_PAD)
    rows = [c.rect.y for c in narrow.cells]
    assert [rows.count(y) for y in sorted(set(rows))] == [2, 2, 1]
    for box in (wide, narrow):
        assert overlaps(Scene("s", 999, 999, boxes=(box,))) == ()


def test_a_box_moves_with_its_cells():
    box = make_box("b", "Box", [("b.0", "add", "add/subtract")], 0, 0)
    moved = box.moved(7, 9)
    assert moved.rect == box.rect.moved(7, 9)
    assert moved.cells[0].rect == box.cells[0].rect.moved(7, 9)


def test_a_bubble_grows_with_its_lines_and_its_mark():
    name = make_bubble("k", "K", "ephemeral", 0, 0)
    lines = make_bubble("k", "K", "ephemeral", 0, 0, shape="1,000,001 × 2 × 256", size="4.10 GB")
    assert (name.rect.height, lines.rect.height) == (27, 57)  # 12 + 15 a line
    assert lines.rect.width > name.rect.width
    assert make_bubble("k", "K", "state", 0, 0).rect.width == name.rect.width + 15
