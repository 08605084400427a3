"""The Layout page in a real browser: drawing, selecting, gliding, dragging, snapping back, saving."""

import json

import pytest

CANVAS = ".tokenviz"
STRIP = "#layout-w"
AT = """([root, id]) => {
  const view = root.view, box = root.querySelector('.stage').getBoundingClientRect();
  const item = view.items.get(id), dom = view.network.canvasToDOM({ x: item.x, y: item.y });
  return [box.left + dom.x, box.top + dom.y];
}"""
DRAWN = """() => [...document.querySelectorAll('*')].some((element) => {
  const root = (element.shadowRoot || element).querySelector('.tokenviz');
  return root && root.view && root.view.items.size > 0;
})"""
PLACE = "([root, id]) => { const item = root.view.items.get(id); return [item.x, item.y]; }"


def where(page, node: str, script: str = AT) -> tuple[float, float]:
    root = page.locator(CANVAS).first.element_handle()
    x, y = page.evaluate(script, [root, node])
    return x, y


def opened(watched, query: str):
    page = watched.open(f"/layout?model=qwen3.5-0.8b&{query}")
    page.wait_for_selector(f"{CANVAS} canvas", timeout=30_000)
    page.locator(CANVAS).first.scroll_into_view_if_needed()
    page.wait_for_function(DRAWN)
    page.wait_for_timeout(400)
    return page


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (390, False), (390, True)])
def test_the_page_draws_without_errors_or_outside_requests(visit, width: int, dark: bool) -> None:
    watched = visit(width=width, height=900, dark=dark)
    page = opened(watched, "")
    assert page.locator(STRIP).inner_text().startswith("W, the sum of hand-offs × distance, is")
    assert page.locator(".tv-types section").count() == 10
    assert page.locator(".tv-types img").first.evaluate("image => image.naturalWidth") == 132
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    watched.shot(f"layout-{width}-{'dark' if dark else 'light'}")
    watched.assert_clean()


def test_a_click_on_a_node_lists_what_it_takes_and_gives(visit) -> None:
    page = opened(visit(), "view=Placed:+refined")
    page.mouse.click(*where(page, "deltanet/delta.multiply"))
    page.get_by_text("takes 4.72 M").wait_for(timeout=10_000)
    assert page.get_by_text("gives 9.44 M").count() == 1


def test_choosing_the_refined_placement_moves_nodes_from_their_start(visit) -> None:
    page = opened(visit(), "view=Placed:+start")
    before = where(page, "deltanet/conv.save", PLACE)
    w = page.locator(STRIP).inner_text()
    page.get_by_text("Placed: refined").click()
    page.wait_for_function("w => document.querySelector('#layout-w').innerText !== w", arg=w)
    page.wait_for_timeout(1500)
    assert where(page, "deltanet/conv.save", PLACE) != before


def test_dragging_a_node_changes_w_and_snapping_back_restores_both(visit) -> None:
    page = opened(visit(), "view=Placed:+refined")
    strip = page.locator(STRIP)
    before, home = strip.inner_text(), where(page, "deltanet/delta.save", PLACE)
    x, y = where(page, "deltanet/delta.save")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 40, steps=6)
    page.mouse.up()
    page.get_by_text("as you dragged it").wait_for(timeout=10_000)
    assert where(page, "deltanet/delta.save", PLACE) != home
    page.get_by_role("button", name="Snap back").click()
    page.wait_for_function("w => document.querySelector('#layout-w').innerText === w", arg=before)
    page.wait_for_timeout(1500)
    assert where(page, "deltanet/delta.save", PLACE) == pytest.approx(home, abs=0.2)


def test_the_downloads_hold_what_is_shown(visit, tmp_path) -> None:
    page = opened(visit(), "chain=Output")
    with page.expect_download() as saved:
        page.get_by_role("button", name="All (JSON)").click()
    saved.value.save_as(tmp_path / "all.json")
    found = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert (found["chain"], len(found["nodes"])) == ("output", 12)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Drawing (SVG)").click()
    saved.value.save_as(tmp_path / "drawing.svg")
    assert (tmp_path / "drawing.svg").read_text(encoding="utf-8").startswith("<svg ")
