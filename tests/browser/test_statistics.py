"""The Statistics page in a real browser: it is clean, it fits, it reacts without the server, its files arrive."""

import csv
import json
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
        page.locator(f"{CHART}, [data-testid=stDataFrame]").nth(2).wait_for()
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


def test_two_models_beside_each_other_from_a_link(visit: Visit) -> None:
    watched = visit(1440, 1_000)
    page = watched.open(f"{LARGEST}&vs=qwen3.8-27b&section=Arithmetic")
    page.get_by_text("operations −5,275, critical path −2,989").wait_for()
    page.locator(CHART).nth(3).wait_for()
    assert page.locator(CHART).count() == 4
    watched.shot("statistics-compared")
    watched.assert_clean()
