"""The app in a real browser: navigation, links, a cold server, keyboard, and nothing from outside."""

import json
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit, Watched, fresh_server
from tokenviz.catalog import config_text
from tokenviz.share import pack

PAGES = {"Pipeline": "/", "Statistics": "/statistics", "Layout": "/layout", "Network": "/network"}
FOCUSED = """() => {
  let e = document.activeElement;
  while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  const name = e.getAttribute("aria-label") || e.innerText || e.tagName;
  // the ring may be drawn by what surrounds the focused element; fields take the primary colour as border
  const around = [];
  for (let x = e; x && around.length < 6; x = x.parentElement) around.push(getComputedStyle(x));
  const ring = around.slice(0, 3).some((s) => (s.outlineStyle !== "none" && s.outlineWidth !== "0px"));
  return [e.tagName, name, ring || around.some((s) => s.borderColor === "rgb(11, 92, 173)")];
}"""
EVIL = "<img src=x onerror=window.hit=1>"


def line(page: Page) -> str:
    """The model line above every page but Network, which runs a model of its own."""
    return page.locator(".tv-model summary").inner_text()


def until(page: Page, wanted: Callable[[], bool], what: str) -> None:
    for _ in range(150):
        if wanted():
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"after 15 s still not: {what}")


def go(watched: Watched, title: str) -> None:
    menu = watched.page.get_by_role("link", name=title)
    if not menu.first.is_visible():  # on a phone the menu is in the sidebar
        open_sidebar(watched.page)
    menu.first.click()
    expect(watched.page.get_by_role("heading", name=title, level=1)).to_be_visible(timeout=30_000)
    watched.ready()


def open_sidebar(page: Page) -> None:
    if page.get_by_test_id("stExpandSidebarButton").is_visible():
        page.get_by_test_id("stExpandSidebarButton").click()
        page.wait_for_timeout(400)


def paste(watched: Watched, text: str) -> None:
    page = watched.page
    field = page.get_by_role("textbox", name="Paste its text")
    if not field.is_visible():
        page.get_by_text("Use your own config.json").click()
    field.fill(text)
    field.press("Control+Enter")
    page.wait_for_timeout(500)
    watched.ready()


def test_state_survives_pages_reload_and_another_tab(visit: Visit) -> None:
    here = visit()
    page = here.open("/?model=gpt-oss-20b&context=12345&kv=fp8&metadata=true&rate=7.5")
    wanted = line(page)
    assert "gpt-oss-20b" in wanted
    assert "12,345 cached" in wanted
    for title in ["Statistics", "Layout", "Network", "Pipeline"]:
        go(here, title)
        assert title == "Network" or line(page) == wanted
    go(here, "Statistics")
    page.reload()
    here.ready()
    assert line(page) == wanted
    there = visit()
    there.page.goto(page.url)
    there.ready()
    assert line(there.page) == wanted
    facts = ".tv-facts table"
    assert there.page.locator(facts).text_content() == page.locator(facts).text_content()
    here.assert_clean()
    there.assert_clean()


def test_the_address_follows_what_is_chosen(visit: Visit) -> None:
    here = visit()
    page = here.open("/statistics")
    page.get_by_role("spinbutton", name="Cached positions, exactly").fill("4321")
    page.keyboard.press("Enter")
    until(page, lambda: "context=4321" in page.url, "the context is in the address")
    until(page, lambda: "4,321 cached" in line(page), "the line says so")
    go(here, "Layout")
    until(page, lambda: "context=4321" in page.url, "the context goes along")
    page.go_back()
    until(page, lambda: "/statistics" in page.url, "back to the page before")
    expect(page.get_by_role("heading", name="Statistics", level=1)).to_be_visible(timeout=30_000)
    until(page, lambda: "4,321 cached" in line(page), "with its context")


def test_the_gallery_chooses_a_model_by_search(visit: Visit) -> None:
    here = visit()
    page = here.open("/statistics?context=4096")
    page.get_by_role("button", name="Compare all").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="gpt2")).to_be_visible(timeout=15_000)
    here.shot("gallery-light-1440")
    dialog.get_by_role("searchbox").or_(dialog.get_by_role("textbox")).first.fill("kimi")
    expect(dialog.get_by_role("button", name="gpt2")).to_have_count(0, timeout=15_000)
    dialog.get_by_role("button", name="kimi-linear").press("Enter")  # by keyboard
    expect(page.get_by_role("dialog")).to_have_count(0, timeout=15_000)
    until(page, lambda: "kimi-linear" in line(page), "the model is shown")
    assert "model=kimi-linear-48b-a3b-instruct" in page.url
    assert "context=4096" in page.url
    here.assert_clean()


def test_a_pasted_config_travels_in_the_link(visit: Visit) -> None:
    here, there = visit(), visit()
    page = here.open("/statistics?context=4096")
    paste(here, config_text("gpt-oss-20b"))
    until(page, lambda: "config=" in page.url, "the config is in the address")
    assert line(page).startswith("pasted config · 20.9 G")
    there.page.goto(page.url)
    there.ready()
    assert line(there.page) == line(page)
    go(there, "Network")
    until(there.page, lambda: "config=" in there.page.url, "the config goes along to another page")
    go(there, "Layout")
    assert line(there.page) == line(page)
    here.assert_clean()
    there.assert_clean()


def test_an_uploaded_config_is_shown(visit: Visit) -> None:
    here = visit()
    page = here.open("/statistics")
    page.get_by_text("Use your own config.json").click()
    text = config_text("falcon-7b")
    page.locator("input[type=file]").set_input_files(
        files=[{"name": "config.json", "mimeType": "application/json", "buffer": text.encode()}]
    )
    until(page, lambda: "pasted config · 6.92 G" in line(page), "the uploaded model is shown")
    page.get_by_role("button", name="Back to the list").click()
    until(page, lambda: "qwen3.8-2.4t-a95b" in line(page), "the list is back")
    assert "config=" not in page.url
    here.assert_clean()


def test_a_bad_config_keeps_the_model_and_the_text(visit: Visit) -> None:
    here = visit()
    page = here.open("/statistics?model=gpt2")
    bad = json.dumps({"model_type": EVIL})
    paste(here, bad)
    said = page.get_by_test_id("stMain").get_by_test_id("stAlert").first
    expect(said).to_contain_text(f"model_type '{EVIL}' has no recipe")
    assert "gpt2" in line(page)
    assert page.get_by_role("textbox", name="Paste its text").input_value() == bad
    here.shot("bad-config-light-1440")
    here.assert_clean()


def test_untrusted_text_stays_text(visit: Visit) -> None:
    here = visit()
    config = {**json.loads(config_text("meta-llama-3.1-8b")), EVIL: EVIL, "note": "**bold** [a](javascript:alert(1))"}
    page = here.open(f"/?config={pack(json.dumps(config))}")
    for title in PAGES:
        go(here, title)
        if title != "Network":
            expect(page.get_by_test_id("stAlert").first).to_contain_text(EVIL)
        assert page.evaluate("window.hit") is None
        assert page.locator("img[src=x]").count() == 0
    here.assert_clean()


def test_copy_link_copies_the_address(visit: Visit) -> None:
    here = visit()
    here.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = here.open("/statistics?model=gpt2&context=77")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    here.assert_clean()


def test_where_copying_is_forbidden_the_link_is_shown_selected(visit: Visit) -> None:
    here = visit()
    page = here.open("/statistics?model=gpt2")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_label("Link to this view")).to_have_value(page.url)
    here.assert_clean()


@pytest.fixture
def cold() -> Iterator[str]:
    """A server that nobody has visited yet."""
    yield from fresh_server()


@pytest.mark.parametrize("title", [t for t in PAGES if t != "Pipeline"])
def test_a_cold_deep_link_opens_in_its_frame(visit: Visit, cold: str, title: str) -> None:
    packed = pack(config_text("gpt-oss-20b"))
    here = visit()
    here.address = cold
    page = here.open(f"{PAGES[title]}?config={packed}&context=4096")
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible(timeout=30_000)
    if title != "Network":
        assert line(page).startswith("pasted config · 20.9 G")
        assert "4,096 cached" in line(page)
    assert page.title() == f"{title} · tokenviz"
    go(here, "Pipeline")
    assert "4,096 cached" in line(page)
    here.assert_clean()


def test_a_cold_server_paints_the_first_page(visit: Visit, cold: str) -> None:
    here = visit()
    here.address = cold
    start = time.monotonic()
    here.page.goto(cold)
    here.page.wait_for_selector("canvas", timeout=30_000)
    print(f"first canvas on a cold server after {time.monotonic() - start:.2f} s")
    here.ready()
    here.assert_clean()


def test_keys_reach_everything_and_focus_is_seen(visit: Visit) -> None:
    here = visit()
    page = here.open("/network")
    expect(page.get_by_role("button", name="Copy link")).to_be_visible(timeout=30_000)
    page.wait_for_timeout(1_000)
    names, unseen = [], []
    for _ in range(45):
        page.keyboard.press("Tab")
        page.wait_for_timeout(200)  # borders glide
        tag, name, seen = page.evaluate(FOCUSED)
        names.append(name)
        if not seen and tag != "BODY" and not name.endswith("MIT licence"):  # the page itself, which scrolls
            unseen.append(name)
    text = " | ".join(names)
    for wanted in ("Model", "Compare all", "Cached positions, exactly", "Copy link", "Statistics"):
        assert wanted in text
    assert unseen == []


def test_letters_typed_into_a_field_do_not_rerun_or_clear(visit: Visit) -> None:
    here = visit()
    page = here.open("/statistics")
    page.get_by_text("Use your own config.json").click()
    field = page.get_by_role("textbox", name="Paste its text")
    field.press_sequentially("rc")
    assert field.input_value() == "rc"
    assert page.get_by_role("dialog").count() == 0


LUMINANCE = """(e) => {
  const [r, g, b] = getComputedStyle(e).color.match(/[0-9.]+/g).map(Number);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_main_buttons_can_be_read(visit: Visit, dark: bool) -> None:
    page = visit(dark=dark).open("/network")
    button = page.get_by_test_id("stBaseButton-primary").first
    expect(button).to_be_visible(timeout=30_000)
    # near-black on the dark theme's light blue, white on the light theme's dark blue
    until(page, lambda: (button.evaluate(LUMINANCE) < 40) == dark, "text and button differ")


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)], ids=["wide-light", "phone-dark"])
@pytest.mark.parametrize("title", PAGES)
def test_screenshots(visit: Visit, title: str, width: int, dark: bool) -> None:
    here = visit(width=width, height=900 if width == 1440 else 844, dark=dark)
    page = here.open(PAGES[title])
    page.wait_for_timeout(1_500)
    here.shot(f"{title.lower()}-{'dark' if dark else 'light'}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # nothing sticks out sideways
    here.assert_clean()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_screenshots_of_the_sidebar_and_gallery_on_a_phone(visit: Visit, dark: bool) -> None:
    here = visit(width=390, height=844, dark=dark)
    page = here.open("/statistics?model=gpt-oss-20b")
    theme = "dark" if dark else "light"
    page.locator(".tv-model summary").click()
    here.shot(f"facts-{theme}-390")
    page.locator(".tv-model summary").click()
    open_sidebar(page)
    here.page.screenshot(path=here.shot(f"sidebar-{theme}-390"))
    page.get_by_role("button", name="Compare all").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="bloom")).to_be_visible(timeout=15_000)
    page.wait_for_timeout(500)
    here.page.screenshot(path=here.shot(f"gallery-{theme}-390"))
    here.assert_clean()
