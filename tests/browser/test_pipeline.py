"""The Pipeline page in a real Chromium: select, search, collapse, play, save; what survives; how long it takes."""

import csv
import json
import re
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Download, Page

from tokenviz.graph_export import FORMAT, VERSION

from .conftest import ROOT, Visit, Watched

ATTACK = "<img src=x onerror='window.hacked=1'>"
FIND = """() => {
  const find = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.matches('.tokenviz')) return element;
      const inner = element.shadowRoot && find(element.shadowRoot);
      if (inner) return inner;
    }
    return null;
  };
  window.canvas = find(document);
  return window.canvas !== null && window.canvas.view.items.size > 0;
}"""
CARD = ".st-key-pipeline-card"


def open_page(watched: Watched, path: str = "/") -> Page:
    page = watched.open(path)
    page.wait_for_function(FIND)
    page.wait_for_timeout(500)
    return page


def view(page: Page, expression: str) -> object:
    """Evaluate with `v`, the canvas's view."""
    page.evaluate(FIND)
    return page.evaluate(f"() => {{ const v = window.canvas.view; return {expression}; }}")


def spot(page: Page, element: str) -> tuple[float, float]:
    """A point on the upper edge of an item, on the page."""
    page.evaluate(FIND)
    x, y = page.evaluate(
        """(id) => {
          const v = window.canvas.view;
          const item = v.items.get(id);
          const at = v.network.canvasToDOM({ x: item.x, y: item.y - item.h / 2 + Math.min(9, item.h / 2) });
          const box = v.stage.getBoundingClientRect();
          return [box.left + at.x, box.top + at.y];
        }""",
        element,
    )
    return x, y


def by_text(page: Page, text: str, kind: str, panel: str = "") -> str:
    """Id of the first item with this text inside the panel with this tab."""
    page.evaluate(FIND)
    found = page.evaluate(
        """([text, kind, tab]) => {
          const v = window.canvas.view;
          const panel = v.panels.find((p) => p.tab === tab);
          const inside = (i) => !panel || (i.y > panel.y && i.y < panel.y + panel.h);
          const item = [...v.items.values()].find((i) => i.text === text && i.kind === kind && inside(i));
          return item ? item.id : null;
        }""",
        [text, kind, panel],
    )
    assert found is not None, (text, kind, panel)
    return found


def tab(page: Page, name: str) -> None:
    page.locator(".tokenviz .tabs button", has_text=re.compile(f"^{name}$")).click()
    page.wait_for_timeout(600)


def click(page: Page, element: str) -> None:
    page.mouse.click(*spot(page, element))


def wait_card(page: Page, title: str) -> None:
    page.wait_for_function(
        "([css, title]) => (document.querySelector(css)?.innerText || '').startsWith(title)", arg=[CARD, title]
    )


def bring_into_view(page: Page) -> None:
    page.locator(".tokenviz").scroll_into_view_if_needed()
    page.wait_for_timeout(200)


# ------------------------------------------------------------------------------------------------ selecting


def test_click_selects_and_the_card_says_what_it_is(visit: Visit) -> None:
    watched = visit(height=1200)
    page = open_page(watched)
    tab(page, "Attention")
    click(page, by_text(page, "Key projection", "box", "Attention"))
    wait_card(page, "Key projection")
    card = page.locator(CARD)
    card.get_by_text("Runs beside").wait_for()
    assert "Value projection" in card.inner_text()
    card.locator(".katex").first.wait_for()  # the typesetter is fetched from the server when it is first needed
    watched.shot("pipeline-selected")
    card.get_by_text("RMSNorm", exact=True).click()
    wait_card(page, "RMSNorm")
    assert view(page, "v.selected").endswith("/t:norm")
    watched.assert_clean()


def test_full_screen_keeps_the_card(visit: Visit) -> None:
    watched = visit()
    page = open_page(watched)
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("() => !!document.fullscreenElement && window.canvas.classList.contains('full')")
    page.wait_for_timeout(400)
    assert page.locator(".tokenviz").bounding_box() == {"x": 0, "y": 0, "width": 1440, "height": 900}
    tab(page, "Attention")
    click(page, by_text(page, "Key projection", "box", "Attention"))
    wait_card(page, "Key projection")
    box = page.locator(CARD).bounding_box()
    assert box is not None
    assert (box["x"] + box["width"], box["y"] + box["height"] <= 900) == (1430, True)
    watched.shot("pipeline-full-screen")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.fullscreenElement && !document.body.dataset.full")
    assert view(page, "v.selected !== null && v.root.clientHeight") == 718  # 720 with its border
    watched.assert_clean()


def test_keys_walk_select_and_clear(visit: Visit) -> None:
    watched = visit(height=1200)
    page = open_page(watched)
    click(page, by_text(page, "RMSNorm", "box", "DeltaNet"))
    wait_card(page, "RMSNorm")
    page.keyboard.press("ArrowDown")
    cursor = str(view(page, "v.cursor"))
    assert cursor != view(page, "v.selected")
    assert view(page, "[...v.edges.values()].some((e) => e.source === v.selected && e.target === v.cursor)")
    page.keyboard.press("Enter")
    wait_card(page, "x̂")
    assert view(page, "v.selected") == cursor
    page.keyboard.press("Escape")
    page.wait_for_selector(CARD, state="detached")
    assert view(page, "v.selected") is None
    watched.assert_clean()


def test_search_jumps_and_the_list_follows_both_ways(visit: Visit) -> None:
    watched = visit(height=1200)
    page = open_page(watched)
    search = page.get_by_placeholder("Search names, equations, classes")
    search.fill("value mix")
    search.press("Enter")
    wait_card(page, "Value mix")
    page.wait_for_timeout(600)
    assert view(page, "v.selected").endswith("/t:mix")
    left, top, right, bottom = view(page, "v.window")
    x, y = view(page, "[v.items.get(v.selected).x, v.items.get(v.selected).y]")
    assert left < x < right
    assert top < y < bottom
    listed = page.locator(".st-key-everything input")
    assert (
        listed.input_value().startswith("Value mix") or "Value mix" in page.locator(".st-key-everything").inner_text()
    )
    listed.click()
    listed.fill("Delta update")
    page.get_by_role("option").first.click()
    wait_card(page, "Delta update and read-out")
    assert view(page, "v.selected").endswith("/t:delta")
    watched.assert_clean()


def test_ancestors_and_descendants_stand_out(visit: Visit) -> None:
    watched = visit(height=1200)
    page = open_page(watched)
    tab(page, "Attention")
    click(page, by_text(page, "Key projection", "box", "Attention"))
    wait_card(page, "Key projection")
    near = view(page, "v.path.items.size")
    page.locator(CARD).get_by_text("all that waits for it").click()
    page.wait_for_function("() => window.canvas.view.trace === 'after'")
    after = view(
        page, "[...v.path.items].filter((i) => v.items.get(i)?.kind === 'box').map((i) => v.items.get(i).text)"
    )
    assert {"k RMSNorm", "Scores", "Softmax", "Residual add"} <= set(after)
    assert "Query projection" not in after
    assert "Router" not in after
    assert view(page, "v.path.items.size") > near
    watched.assert_clean()


# ------------------------------------------------------------------------------------------------ seeing


def test_boxes_close_and_open(visit: Visit) -> None:
    watched = visit()
    page = open_page(watched)
    count = "[...v.items.values()].filter((i) => i.kind === 'cell').length"
    opened = view(page, count)
    assert opened > 100
    page.get_by_text("Show operations").click()
    page.wait_for_function("() => ![...window.canvas.view.items.values()].some((i) => i.kind === 'cell')")
    bring_into_view(page)
    watched.shot("pipeline-closed")
    page.get_by_text("Show operations").click()
    page.wait_for_function("() => [...window.canvas.view.items.values()].some((i) => i.kind === 'cell')")
    assert view(page, count) == opened
    watched.assert_clean()


def test_the_legend_fades_the_rest(visit: Visit) -> None:
    watched = visit(height=1400)
    page = open_page(watched)
    page.locator(".st-key-legend-box button", has_text="state, kept for the next").click()
    page.wait_for_function("() => window.canvas.view.dim.size > 0")
    kinds = view(page, "[...new Set([...v.items.values()].filter((i) => !v.dim.has(i.id)).map((i) => i.life))]")
    assert kinds == ["state"]
    watched.shot("pipeline-legend")
    watched.assert_clean()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_both_themes_on_a_laptop_and_a_phone(visit: Visit, width: int, dark: bool) -> None:
    watched = visit(width=width, height=900, dark=dark)
    page = open_page(watched)
    assert view(page, "v.colours.theme") == ("dark" if dark else "light")
    assert page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth") <= width
    bring_into_view(page)
    for name in ("Fit all", "DeltaNet", "Experts", "Attention"):
        tab(page, name)
        watched.shot(f"pipeline-{name.lower().replace(' ', '-')}-{width}{'-dark' if dark else ''}")
    tab(page, "Attention")
    inside = "[...v.items.values()].filter((i) => i.y > panel.y && i.y < panel.y + panel.h).map((i) => i.x - i.w / 2)"
    panel = "((panel) => Math.min(..." + inside + "))(v.panels.find((p) => p.tab === 'Attention'))"
    assert view(page, f"v.window[0] <= {panel}")  # from its spine on
    assert 13 * view(page, "v.scale") >= 11  # titles of 13 units have at least 11 px where a block is looked at
    wide = page.evaluate("() => [...document.querySelectorAll('.tv-rows')].map((t) => t.scrollWidth - t.clientWidth)")
    assert wide == [0]
    cells = page.locator(".tv-rows .number").all()
    assert all(c.evaluate("c => c.getClientRects().length <= 1 && c.clientHeight < 45") for c in cells)
    assert view(page, "v.root.classList.contains('more-right')") == (width == 390)  # a soft edge: the block goes on
    tab(page, "Fit all")
    assert not view(page, "v.root.classList.contains('more-right')")
    watched.assert_clean()


def test_the_wheel_scrolls_the_page_and_zooms_only_with_ctrl(visit: Visit) -> None:
    watched = visit()
    page = open_page(watched)
    box = page.locator(".tokenviz").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 200)
    scale = view(page, "v.network.getScale()")
    page.mouse.wheel(0, 300)
    page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop > 100")
    assert view(page, "v.network.getScale()") == scale
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_timeout(300)
    assert view(page, "v.network.getScale()") > scale
    watched.assert_clean()


def test_view_and_selection_survive_a_rerun_and_a_change_of_page(visit: Visit) -> None:
    watched = visit(height=1200)
    page = open_page(watched)
    tab(page, "Attention")
    page.keyboard.press("+")
    click(page, by_text(page, "Key projection", "box", "Attention"))
    wait_card(page, "Key projection")
    page.wait_for_timeout(600)
    look = "[v.network.getScale(), v.network.getViewPosition().x, v.network.getViewPosition().y, v.selected]"
    before = view(page, look)
    field = page.get_by_label("Cached positions, exactly")
    field.fill("5000")
    field.press("Enter")
    page.wait_for_function("() => [...window.canvas.view.items.values()].some((i) => i.bytes === '10.2 MB kept')")
    assert view(page, look) == before
    page.get_by_role("link", name="Layout").click()
    page.wait_for_function("() => !document.querySelector('.st-key-pipeline-stage')")
    page.get_by_role("link", name="Pipeline").click()
    page.wait_for_function(FIND)
    wait_card(page, "Key projection")
    page.wait_for_timeout(600)
    assert view(page, look) == pytest.approx(before)
    watched.assert_clean()


# ------------------------------------------------------------------------------------------------ playing


def test_playing_lights_operations_and_leaves_the_timestep_in_the_address(visit: Visit) -> None:
    watched = visit(height=1200)
    page = open_page(watched)
    page.get_by_label("Steps per second").select_option("32")
    page.get_by_label("Play", exact=True).click()
    page.wait_for_function("() => window.canvas.view.play.step > 12")
    assert view(page, "v.lit.size") >= 1
    assert view(page, "v.done.size") >= 1
    page.get_by_label("Pause").click()
    page.wait_for_function("() => /[?&]t=[0-9]+/.test(location.search)")
    step = view(page, "v.play.step")
    page.wait_for_function("(t) => location.search.includes(`t=${t}`)", arg=step)
    watched.shot("pipeline-playing")
    page.get_by_label("One step on").click()
    page.wait_for_function("(t) => location.search.includes(`t=${t}`)", arg=step + 1)
    watched.assert_clean()


def test_the_address_restores_the_timestep_and_a_jump_enters_a_block(visit: Visit) -> None:
    watched = visit(height=1200)
    page = open_page(watched, "/?t=700")
    assert view(page, "v.play.step") == 700
    assert view(page, "v.lit.size") >= 1
    jump = page.locator(".st-key-visit input")
    jump.click()
    jump.fill("layer 3, Attention")
    page.get_by_role("option").first.click()
    page.wait_for_function("() => window.canvas.querySelector('.count').textContent.includes('layer 3, Attention')")
    watched.assert_clean()


# ------------------------------------------------------------------------------------------------ files


def saved(page: Page, label: str) -> tuple[Download, str]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label).first.click()
    path = Path(waiting.value.path())
    return waiting.value, path.read_bytes().decode("utf-8", "replace")


def test_files_parse_and_carry_model_and_context(visit: Visit) -> None:
    watched = visit(height=1200)
    page = open_page(watched, "/?context=5000")
    stem = "qwen3.8-2.4t-a95b-context-5000"
    download, text = saved(page, "Drawing (SVG)")
    assert download.suggested_filename == f"{stem}.svg"
    assert "DeltaNet ×69" in "".join(ElementTree.fromstring(text).itertext())
    download, text = saved(page, "Graph (JSON)")
    assert download.suggested_filename == f"{stem}.graph.json"
    assert (json.loads(text)["format"], json.loads(text)["version"], json.loads(text)["context"]) == (
        FORMAT,
        VERSION,
        5_000,
    )
    download, text = saved(page, "Graph (GraphML)")
    assert download.suggested_filename == f"{stem}.graphml"
    assert ElementTree.fromstring(text).tag.endswith("graphml")
    download, text = saved(page, "Kept state (CSV)")
    assert download.suggested_filename == f"{stem}.state.csv"
    assert [row["kept"] for row in csv.DictReader(text.splitlines())][1] == "recurrent state"
    download, text = saved(page, "Save this view as SVG")
    assert download.suggested_filename == f"{stem} view.svg"
    words = [e.text for e in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert "RMSNorm" in words
    for label, name in (
        ("Save this view as PNG", f"{stem} view.png"),
        ("Save the whole drawing as PNG", f"{stem}.png"),
    ):
        download, text = saved(page, label)
        assert download.suggested_filename == name
        assert text[1:4] == "PNG"
    watched.assert_clean()


def test_markup_in_a_config_stays_text(visit: Visit) -> None:
    config = json.loads((ROOT / "data" / "configs" / "Qwen__Qwen3.5-0.8B.json").read_text())
    config.get("text_config", config)["hidden_act"] = ATTACK
    watched = visit(height=1200)
    page = open_page(watched)
    page.get_by_text("Use your own config.json").click()
    area = page.get_by_role("textbox", name="Paste its text")
    area.fill(json.dumps(config))
    area.press("Control+Enter")
    page.get_by_text("onerror").first.wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("img[onerror]").count() == 0
    watched.assert_clean()


# ------------------------------------------------------------------------------------------------ speed


def test_print_how_fast_it_answers(visit: Visit, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures for a human: nothing here fails on a slow machine."""
    watched = visit(height=1200)
    page = open_page(watched)
    clicks = []
    for name in ("RMSNorm", "q, k, v projection") * 4:
        at = spot(page, by_text(page, name, "box", "DeltaNet"))
        start = time.perf_counter()
        page.mouse.click(*at)
        wait_card(page, name)
        clicks.append((time.perf_counter() - start) * 1000)
    slides = []
    for context, size in (
        ("5000", "10.2 MB kept"),
        ("6000", "12.3 MB kept"),
        ("7000", "14.3 MB kept"),
        ("8000", "16.4 MB kept"),
    ):
        field = page.get_by_label("Cached positions, exactly")
        field.fill(context)
        start = time.perf_counter()
        field.press("Enter")
        page.wait_for_function(
            "(size) => [...window.canvas.view.items.values()].some((i) => i.bytes === size)", arg=size
        )
        slides.append((time.perf_counter() - start) * 1000)
    with capsys.disabled():
        print(f"\nclick to card, ms: {[round(c) for c in clicks]}")
        print(f"context to redrawn graph, ms: {[round(s) for s in slides]}")
    assert len(clicks) == 8
    assert len(slides) == 4
