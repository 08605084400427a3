"""The Statistics page in a real browser: it is clean, it fits, it reacts without the server, its files arrive."""

import csv
import json
import os
import time
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.conftest import Visit
from tokenviz.ui_statistics import TABS

LARGEST = "/statistics?model=qwen3.8-2.4t-a95b&timestep=3000"
COUNT_RUNS = """() => {
  window.runs = 0;
  const watched = {attributes: true, attributeFilter: ['data-test-script-state']};
  new MutationObserver(() => window.runs++).observe(document.querySelector('[data-testid=stApp]'), watched);
}"""
CHART = "[data-testid=stVegaLiteChart]"
TABLE = "[data-testid=stBidiComponentIsolated] table"
SETTLED = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  window.settled = window.pressed = 0;
  const done = () => { if (app.dataset.testScriptState === 'notRunning') window.settled = performance.now(); };
  new MutationObserver(done).observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
  addEventListener('keydown', () => { window.pressed = performance.now(); window.settled = 0; }, true);
}"""


def picture(page: Page) -> Locator:
    """The timeline, drawn."""
    chart = page.locator(CHART).first
    chart.locator("canvas, svg.marks").first.wait_for(timeout=15_000)
    page.wait_for_timeout(500)
    return chart


def cell_row(page: Page) -> tuple[float, float, float]:
    """Left edge and width of the timeline, and the height of its first row of cells."""
    box = picture(page).bounding_box()
    assert box is not None
    return box["x"], box["width"], box["y"] + box["height"] * 0.5


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (390, False), (390, True)])
def test_every_section_is_clean_and_fits(visit: Visit, width: int, dark: bool) -> None:
    watched = visit(width, 1_000, dark=dark)
    page = watched.open(LARGEST)
    picture(page)
    for section in TABS:
        page.get_by_role("tab", name=section).click()
        page.locator(f"{CHART}, [data-testid=stDataFrame], {TABLE}").first.wait_for()
        watched.ready()
        assert page.get_by_role("tab", name=section).get_attribute("aria-selected") == "true"
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        for chart in page.locator(CHART).all():
            box = chart.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert chart.get_attribute("aria-label")
        watched.shot(f"statistics-{section}-{width}-{'dark' if dark else 'light'}".replace(" ", "-"))
    watched.assert_clean()


def test_hovering_a_cell_names_its_operation_at_once(visit: Visit) -> None:
    page = visit().open(LARGEST)
    left, width, y = cell_row(page)
    waits = []
    for i in range(5):
        start = time.perf_counter()
        page.mouse.move(left + width * (0.15 + 0.1 * i), y, steps=2)
        page.locator("#vg-tooltip-element.visible").wait_for(timeout=5_000)
        waits.append(time.perf_counter() - start)
        text = page.locator("#vg-tooltip-element").inner_text()
        assert all(word in text for word in ("operation", "transform", "class", "block", "timestep"))
        page.mouse.move(5, 5)
        page.wait_for_timeout(200)
    print(f"hover: {sorted(waits)[2] * 1_000:.0f} ms (median of 5)")


def test_dragging_the_window_asks_nothing_of_the_server(visit: Visit) -> None:
    watched = visit()
    page = watched.open(LARGEST)
    left, width, y = cell_row(page)
    page.mouse.move(left + width * 0.3, y, steps=2)
    before = page.locator("#vg-tooltip-element").inner_text()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    box = picture(page).bounding_box()
    assert box is not None
    page.mouse.move(left + width * 0.1, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(left + width * 0.12, box["y"] + 60, steps=5)
    page.mouse.up()
    page.wait_for_timeout(500)
    page.mouse.move(left + width * 0.31, y, steps=2)
    page.locator("#vg-tooltip-element.visible").wait_for(timeout=5_000)
    after = page.locator("#vg-tooltip-element").inner_text()
    timesteps = [int(text.split("timestep")[1].strip().replace(",", "")) for text in (before, after)]
    assert 2_900 < timesteps[0] < 3_100  # the window around the chosen timestep
    assert 680 < timesteps[1] < 840  # 10 to 12 % of 6,886
    assert sent == []
    page.mouse.click(left + width * 0.5, box["y"] + 60)  # clears the window
    page.wait_for_timeout(500)
    watched.assert_clean()


def test_the_timestep_lists_what_runs_and_stays_in_the_link(visit: Visit) -> None:
    page = visit().open(LARGEST)
    page.get_by_text("Timestep 3,000:").wait_for()
    page.locator("input[type=range]").last.focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Timestep 3,001:").wait_for()
    assert "timestep=3001" in page.url
    page.reload()
    page.get_by_text("Timestep 3,001:").wait_for()


def test_files_arrive_without_a_new_run(visit: Visit, tmp_path: Path) -> None:
    watched = visit()
    page = watched.open(f"{LARGEST}&section=Every+operation")
    page.evaluate(COUNT_RUNS)
    for label, name in (("All rows as CSV", "rows.csv"), ("Schedule for Perfetto (Chrome trace)", "trace.json")):
        with page.expect_download(timeout=30_000) as waiting:
            page.get_by_role("button", name=label).click()
        waiting.value.save_as(tmp_path / name)
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 10_612
    assert sum(int(r["weight bytes"]) for r in rows) == 186_507_275_008
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert max(e["ts"] + e["dur"] for e in events if e["ph"] == "X") == 6_886
    assert page.evaluate("window.runs") == 0
    watched.assert_clean()


def totals(page: Page) -> Locator:
    """The table of the four conventions."""
    return page.locator(TABLE).filter(has_text="as drawn").first


def column(table: Locator, name: str) -> list[str]:
    return table.locator(f'td[data-name="{name}"]').all_inner_texts()


def test_a_header_sorts_by_click_and_by_keyboard_without_the_server(visit: Visit) -> None:
    watched = visit()
    page = watched.open(LARGEST)
    table = totals(page)
    table.wait_for()
    page.evaluate(COUNT_RUNS)
    head = table.get_by_role("columnheader", name="critical path")
    own = column(table, "critical path")
    assert own == ["6,886", "5,966", "19,695", "1,199"]
    assert head.get_attribute("aria-sort") == "none"
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(table, "critical path") == ["19,695", "6,886", "5,966", "1,199"]
    page.keyboard.press("Enter")  # the button has the focus
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(table, "critical path") == ["1,199", "5,966", "6,886", "19,695"]
    page.keyboard.press("Enter")
    assert (head.get_attribute("aria-sort"), column(table, "critical path")) == ("none", own)
    assert page.evaluate("window.runs") == 0
    watched.assert_clean()


def test_a_sorted_table_stays_sorted_when_its_figures_change(visit: Visit) -> None:
    page = visit().open("/statistics?model=qwen3.8-2.4t-a95b")
    table = totals(page)
    table.get_by_role("columnheader", name="operations").get_by_role("button").click()
    before = column(table, "operations")[0]
    page.get_by_label("Cached positions, exactly").fill("1000")
    page.keyboard.press("Enter")
    page.wait_for_function("!document.body.innerText.includes('1,000,000 cached')")
    page.wait_for_timeout(1_000)
    after = [int(n.replace(",", "")) for n in column(totals(page), "operations")]
    assert after == sorted(after, reverse=True)
    assert after[0] < int(before.replace(",", ""))  # the scalar operations of attention are fewer


def test_a_phone_loses_no_column(visit: Visit) -> None:
    watched = visit(390, 844)
    page = watched.open(f"{LARGEST}&section=What+would+help")
    page.locator(TABLE).nth(1).wait_for()
    watched.ready()
    assert page.locator(TABLE).count() == 2  # the effects, the figures
    for table in page.locator(TABLE).all():
        heads = table.get_by_role("columnheader").all()
        cells = table.locator("tbody tr").first.locator("td").all()
        assert len(heads) == len(cells) >= 2
        for shown in [*heads, *cells]:
            box = shown.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            assert box["height"] > 0
    watched.assert_clean()


def test_a_table_that_goes_on_to_the_right_says_so_and_scrolls_by_keyboard(visit: Visit) -> None:
    watched = visit()
    page = watched.open(f"{LARGEST}&section=Data+movement")
    own = page.locator("[data-testid=stBidiComponentIsolated]").filter(has_text="active weights")
    region = own.get_by_role("region")
    hint = own.get_by_text("More columns: scroll sideways")
    hint.wait_for()
    shade = "e => getComputedStyle(e.parentElement, '::before').opacity"
    page.wait_for_timeout(300)
    assert region.evaluate(shade) == "1"
    last = own.get_by_role("columnheader").last
    region.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
    page.wait_for_timeout(500)
    box, frame = last.bounding_box(), region.bounding_box()
    assert box is not None
    assert frame is not None
    assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
    assert region.evaluate(shade) == "0"  # nothing more to the right
    page.get_by_role("tab", name="Operations").click()
    page.get_by_text("By the name in the drawing").wait_for()
    narrow = page.locator("[data-testid=stBidiComponentIsolated]").filter(has_text="nonlinear transfer").first
    narrow.get_by_role("columnheader").first.wait_for()
    assert not narrow.get_by_text("More columns").is_visible()
    assert narrow.get_by_role("region").count() == 0
    watched.assert_clean()


def test_a_tables_file_is_raw_and_runs_nothing(visit: Visit, tmp_path: Path) -> None:
    watched = visit()
    page = watched.open(f"{LARGEST}&section=Data+movement")
    page.locator(TABLE).filter(has_text="active weights").wait_for()
    page.evaluate(COUNT_RUNS)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save this table as CSV").last.click()
    assert waiting.value.suggested_filename == "qwen3.8-2.4t-a95b-traffic.csv"
    waiting.value.save_as(tmp_path / "traffic.csv")
    rows = {r["origin"]: r for r in csv.DictReader((tmp_path / "traffic.csv").read_text(encoding="utf-8").splitlines())}
    assert rows["active weights"]["bytes"] == "186507275008"
    assert rows["K/V read"]["per cached position"] == "94208"
    assert page.evaluate("window.runs") == 0
    watched.assert_clean()


def test_every_chart_can_be_saved_and_has_words(visit: Visit, tmp_path: Path) -> None:
    watched = visit(1440, 1_000)
    page = watched.open(LARGEST)
    page.evaluate(COUNT_RUNS)
    seen = 0
    for section in TABS:
        page.get_by_role("tab", name=section).click()
        page.wait_for_timeout(1_200)
        watched.ready()
        page.evaluate("window.runs = 0")
        for chart in page.locator(CHART).all():
            words = chart.get_attribute("aria-label")
            assert words is not None
            assert len(words.split()) > 8  # the finding, and what is drawn
            chart.hover()
            save = page.get_by_role("button", name=f"Download as PNG: {words}")
            with page.expect_download() as waiting:
                save.dispatch_event("click")  # it fades in and out under the pointer
            waiting.value.save_as(tmp_path / "chart.png")
            assert (tmp_path / "chart.png").read_bytes()[:4] == b"\x89PNG"
            seen += 1
        assert page.evaluate("window.runs") == 0
    assert seen == 10
    watched.assert_clean()


def test_how_long_a_move_of_the_context_slider_takes(visit: Visit) -> None:
    """Prints wall times from the key to the end of the run, all fragments drawn; a busy machine makes them longer."""
    watched = visit()
    page = watched.open("/statistics?model=qwen3.8-2.4t-a95b")
    page.locator(TABLE).nth(2).wait_for()
    page.wait_for_timeout(1_500)
    page.evaluate(SETTLED)
    page.locator("input[type=range]").first.focus()
    waits = []
    for i in range(20):
        page.keyboard.press("ArrowLeft" if i % 20 < 10 else "ArrowRight")
        page.wait_for_function("window.settled > window.pressed", timeout=10_000)
        page.wait_for_timeout(400)
        waits.append(page.evaluate("window.settled - window.pressed"))
    waits = sorted(waits[3:])
    print(f"re-run: median {waits[len(waits) // 2]:.0f} ms, worst {waits[-1]:.0f} ms, load {os.getloadavg()[0]:.1f}")
    watched.assert_clean()


def test_the_first_screen_shows_the_picture_and_that_there_are_sections(visit: Visit) -> None:
    for width, height in ((1440, 900), (390, 844)):
        page = visit(width, height).open(LARGEST)
        tabs = page.get_by_role("tab")
        assert tabs.all_inner_texts() == list(TABS)
        for shown in (*tabs.all(), picture(page).locator("canvas, svg.marks").first):
            box = shown.bounding_box()
            assert box is not None
            assert box["y"] < 0.67 * height
            assert box["x"] + box["width"] <= width


def test_as_drawn_leads_to_its_words_and_a_section_keeps_what_was_chosen(visit: Visit) -> None:
    watched = visit()
    page = watched.open(f"{LARGEST}&section=Data+movement")
    words = page.get_by_text("As drawn.", exact=True)
    for chart in page.locator(CHART).all():  # what is still to be drawn would move the words away again
        chart.locator("canvas, svg.marks").first.wait_for(timeout=15_000)
    page.locator(TABLE).first.wait_for()
    page.get_by_role("link", name="as drawn").click()
    for _ in range(20):
        page.wait_for_timeout(250)
        box = words.bounding_box()
        if box is not None and 0 <= box["y"] < 900:
            break
    else:
        pytest.fail("the link does not lead to the words")
    page.get_by_role("tab", name="Parallelism").click()
    page.get_by_text("On unlimited hardware").wait_for()
    page.locator("input[type=range]").last.focus()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Timestep 3,001:").wait_for()  # from the link, one further
    page.get_by_role("tab", name="Operations").click()
    page.get_by_text("By the name in the drawing").wait_for()
    page.get_by_role("tab", name="Parallelism").click()
    page.get_by_text("Timestep 3,001:").wait_for()
    watched.assert_clean()


def test_a_link_that_asks_for_the_impossible_says_so_until_something_changes(visit: Visit) -> None:
    watched = visit()
    page = watched.open("/statistics?model=nope&section=Nope&context=-5&chain=of-another-page")
    warning = page.get_by_role("alert")
    warning.wait_for()
    text = warning.inner_text()
    assert "The link asks for model=nope: give one of" in text
    assert "section=Nope: give one of Parallelism, Operations" in text
    assert "context=-5: give a whole number from 0 to 100,000,000. Shown: 1,000,000." in text
    assert text.count("The link asks") == 3
    watched.ready()
    page.wait_for_timeout(1_500)
    assert warning.is_visible()
    watched.shot("statistics-bad-link")
    page.get_by_label("Cached positions, exactly").fill("1000")
    page.keyboard.press("Enter")
    warning.wait_for(state="detached")
    page.get_by_role("link", name="Layout").click()
    watched.ready()
    assert page.get_by_text("The link asks").count() == 0
    watched.assert_clean()


def test_two_models_beside_each_other_from_a_link(visit: Visit) -> None:
    watched = visit(1440, 1_000)
    page = watched.open(f"{LARGEST}&vs=qwen3.8-27b&section=Arithmetic")
    page.get_by_text("operations −5,275, critical path −2,989").wait_for()
    page.locator(CHART).nth(1).wait_for()
    assert page.locator(CHART).count() == 2
    watched.shot("statistics-compared")
    watched.assert_clean()
