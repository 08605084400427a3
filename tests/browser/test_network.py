"""The Network page in a browser: playing, following, stations by mouse and keyboard, both themes, a phone."""

import time

from playwright.sync_api import Page

from tests.browser.conftest import Visit, Watched

VIEW = """() => {
  const find = (root) => {
    for (const e of root.querySelectorAll("*")) {
      if (e.view && e.network) return e;
      const inner = e.shadowRoot && find(e.shadowRoot);
      if (inner) return inner;
    }
    return null;
  };
  globalThis.canvasRoot = find(document);
  return !!globalThis.canvasRoot;
}"""


def network(watched: Watched) -> Page:
    """The page with its map drawn."""
    page = watched.open("/network")
    page.wait_for_function(VIEW, timeout=30_000)
    page.wait_for_function("() => canvasRoot.view.items.size === 90")
    page.wait_for_timeout(500)
    return page


def ask(page: Page, expression: str):
    return page.evaluate(f"() => {{ const view = canvasRoot.view; return {expression}; }}")


def station(page: Page) -> str:
    return page.locator(".st-key-network-inspector h4").inner_text()


def click(page: Page, name: str) -> None:
    """Bring a station into view and click it."""
    ask(page, f"view.network.moveTo({{ position: view.items.get('{name}'), scale: 0.9, animation: false }})")
    page.wait_for_timeout(200)
    spot = ask(
        page, f"(() => {{ const i = view.items.get('{name}'); const p = view.network.canvasToDOM({{ x: i.x, y: i.y }});"
        " const b = view.stage.getBoundingClientRect(); return [b.left + p.x, b.top + p.y]; })()",
    )  # fmt: skip
    page.mouse.click(*spot)


def test_a_click_opens_a_station(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    waits = []
    for name, heading in (("layers.0.mixer.q", "Block 1 · Q"), ("layers.0.mixer.mask", "Block 1 · Mask")):
        page.locator(".tokenviz .stage").scroll_into_view_if_needed()
        click(page, name)
        start = time.perf_counter()
        page.wait_for_function(
            f"() => document.querySelector('.st-key-network-inspector h4').innerText === '{heading}'"
        )
        waits.append(time.perf_counter() - start)
    print(f"\nclick to inspector: {', '.join(f'{1e3 * w:.0f} ms' for w in waits)}")
    assert "not allowed" in page.locator(".st-key-network-inspector").inner_text()
    watched.assert_clean()


def test_slow_motion_plays_follows_and_stops_at_a_click(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    before = ask(page, "view.scale")
    page.get_by_role("button", name="Play slowly").click()
    page.wait_for_function("() => canvasRoot.view.play && canvasRoot.view.play.step >= 3", timeout=20_000)
    page.get_by_label("Steps per second").select_option("16")
    page.wait_for_function("() => canvasRoot.view.play.step >= 21", timeout=20_000)  # the second block
    seen = ask(page, "(() => { const i = view.items.get([...view.lit][0]); const [l, t, r, b] = view.window;"
               " return i.x > l && i.x < r && i.y > t && i.y < b; })()")  # fmt: skip
    assert seen, "the view follows the step that is played"
    assert ask(page, "view.scale") == before  # following keeps the zoom
    page.get_by_role("button", name="Follow the current step").click()
    page.get_by_label("Steps per second").select_option("4")
    click(page, "layers.1.mixer.softmax")
    page.wait_for_function(
        "() => document.querySelector('.st-key-network-inspector h4').innerText === 'Block 2 · Softmax'"
    )
    stopped = ask(page, "view.play.step")
    page.wait_for_timeout(600)
    assert ask(page, "view.play.timer") is None
    assert ask(page, "view.play.step") == stopped
    watched.assert_clean()


def test_ten_steps_a_second_cost_no_traffic(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    sent: list[int] = []
    page.get_by_label("Steps per second").select_option("16")
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sent.append(len(frame))))
    page.get_by_role("button", name="Play", exact=True).click()
    start, first = time.perf_counter(), ask(page, "view.play.step")
    page.wait_for_timeout(2000)
    rate = (ask(page, "view.play.step") - first) / (time.perf_counter() - start)
    print(f"\nslow motion at 16 steps/s set: {rate:.1f} steps/s measured")
    assert rate >= 10
    assert sent == []


def test_following_lets_go_when_the_reader_moves_the_view(visit: Visit) -> None:
    page = network(visit())
    page.locator(".tokenviz .stage").scroll_into_view_if_needed()
    assert ask(page, "view.following") is True
    box = page.locator(".tokenviz .stage").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 30, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 340, steps=4)
    page.mouse.up()
    assert ask(page, "view.following") is False
    page.get_by_role("button", name="Follow the current step").click()
    assert ask(page, "view.following") is True


def test_steps_back_and_on_and_marks(visit: Visit) -> None:
    page = network(visit())
    page.get_by_role("button", name="Block 3: go to step 38").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-network-inspector h4').innerText === 'Block 3 · RMSNorm'"
    )
    page.get_by_role("button", name="One step on").click()
    page.wait_for_function("() => document.querySelector('.st-key-network-inspector h4').innerText === 'Block 3 · Q'")
    page.get_by_role("button", name="One step back").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-network-inspector h4').innerText === 'Block 3 · RMSNorm'"
    )


def test_stations_by_keyboard(visit: Visit) -> None:
    page = network(visit())
    page.locator(".tokenviz .stage").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    name = ask(page, "view.cursor")
    page.keyboard.press("Space")
    page.wait_for_function(f"() => canvasRoot.view.selected === '{name}'")
    page.keyboard.press("Escape")
    assert ask(page, "view.selected") is None


def test_escape_leaves_full_screen_and_keeps_what_is_selected(visit: Visit) -> None:
    page = network(visit())
    page.locator(".tokenviz .stage").scroll_into_view_if_needed()
    click(page, "layers.0.mixer.q")
    page.wait_for_function("() => canvasRoot.view.selected === 'layers.0.mixer.q'")
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("() => !!document.fullscreenElement")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.fullscreenElement", timeout=5_000)
    assert ask(page, "view.selected") == "layers.0.mixer.q"


def test_leaving_the_page_stops_everything(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    page.get_by_text("Continuous", exact=True).click()
    page.wait_for_function("() => document.querySelectorAll('.tv-chip.made').length >= 3", timeout=20_000)
    page.get_by_test_id("stTopNavLink").filter(has_text="Layout").click()
    page.wait_for_selector("h1:has-text('Layout')")
    watched.ready()
    page.get_by_test_id("stTopNavLink").filter(has_text="Network").click()
    page.wait_for_selector(".tv-chip.made")
    watched.ready()
    count = page.locator(".tv-chip.made").count()
    page.wait_for_timeout(1500)
    assert page.locator(".tv-chip.made").count() == count


def test_markup_in_a_prompt_is_text(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    markup = '<img src=x onerror="window.hit = 1"><script>window.hit = 1</script>'
    page.get_by_role("textbox", name="Prompt").fill(markup)
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.querySelectorAll('.tv-chip').length > 30")
    assert page.evaluate("() => window.hit") is None
    watched.assert_clean()


def test_it_looks_right_in_both_themes_and_on_a_phone(visit: Visit) -> None:
    for name, width, height, dark in (
        ("light", 1440, 1400, False),
        ("dark", 1440, 1400, True),
        ("phone", 390, 844, True),
    ):
        watched = visit(width, height, dark=dark)
        page = network(watched)
        watched.shot(f"network-{name}")
        wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, "nothing sticks out at the side"
        watched.assert_clean()
