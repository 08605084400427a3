"""The Network page in a browser: playing, following, stations by mouse and keyboard, both themes, a phone."""

import time

from playwright.sync_api import Locator, Page

from tests.browser.conftest import Visit, Watched
from tokenviz.decoder.model import load_decoder

FIELD = (
    "[...document.querySelectorAll('*')].find(e => e.shadowRoot?.querySelector('#prompt'))"
    ".shadowRoot.querySelector('#prompt')"
)
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


def test_a_clicked_value_is_worked_out_in_sight(visit: Visit) -> None:
    watched = visit()
    page = watched.open("/network?station=layers.1.mixer.scores")
    said = page.locator(".tv-worked")
    first = said.inner_text()
    chart = page.locator(".st-key-network-inspector [data-testid=stVegaLiteChart]").last
    chart.locator("canvas, svg").first.wait_for()
    chart.evaluate("e => e.scrollIntoView({ block: 'end' })")
    page.wait_for_timeout(300)
    box = chart.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 120, box["y"] + box["height"] - 250)  # a cell of the third head
    page.wait_for_function("first => document.querySelector('.tv-worked').innerText !== first", arg=first)
    watched.ready()
    assert "head 2" in said.inner_text()
    inspector = page.locator(".st-key-network-inspector").bounding_box()
    shown = page.locator(".st-key-network-worked").bounding_box()
    assert inspector is not None
    assert shown is not None
    assert shown["y"] >= inspector["y"] - 2
    assert (
        "√" in page.locator(".st-key-network-worked .katex").inner_text()
        or page.locator(".st-key-network-worked .katex .sqrt").count()
    )
    watched.assert_clean()


def test_a_click_while_text_is_written_is_never_lost(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    page.locator(".tokenviz .stage").scroll_into_view_if_needed()
    headings = "() => document.querySelector('.st-key-network-inspector h4')?.innerText"
    for number, delay in enumerate((0, 130, 330, 450)):
        name, heading = [("layers.0.mixer.q", "Block 1 · Q"), ("layers.0.mixer.mask", "Block 1 · Mask")][number % 2]
        ask(page, f"view.network.moveTo({{ position: view.items.get('{name}'), scale: 0.9, animation: false }})")
        page.get_by_text("Continuous", exact=True).click()
        page.wait_for_timeout(900 + delay)
        click(page, name)
        page.wait_for_function(f"() => ({headings})() === '{heading}'")
        watched.ready()
        assert page.evaluate(headings) == heading
        assert ask(page, "view.selected") == name
        assert not page.get_by_role("switch", name="Continuous").is_checked()
        last = page.locator(".tv-text .tv-chip.made").last.inner_text().splitlines()[0].strip("·")
        page.wait_for_function(  # the sentence above and the text agree, and nothing follows
            "([said, last]) => document.body.innerText.includes(said) && !document.body.innerText.includes(last)",
            arg=[f"Here it chose {last}", "one token after the other"],
        )
        page.wait_for_timeout(600)
        assert page.locator(".tv-text .tv-chip.made").last.inner_text().splitlines()[0].strip("·") == last


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


def test_playing_brings_the_map_and_its_bar_into_view(visit: Visit) -> None:
    for width, height in ((1440, 900), (1280, 720), (390, 844)):
        page = network(visit(width, height))
        page.get_by_role("button", name="Play slowly").click()
        page.wait_for_function("() => canvasRoot.view.play && canvasRoot.view.play.step >= 2", timeout=20_000)
        top, bottom = page.evaluate("() => { const b = canvasRoot.getBoundingClientRect(); return [b.top, b.bottom]; }")
        assert top >= 60, "below the page's own bar"
        inspector = page.locator(".st-key-network-inspector").bounding_box()
        assert inspector is not None
        assert round(inspector["height"]) == round(bottom - top)
        assert bottom <= height
        lit = ask(page, "view.stage.getBoundingClientRect().top"
                  " + view.network.canvasToDOM(view.items.get([...view.lit][0])).y")  # fmt: skip
        assert top < lit < bottom


def test_playing_lets_go_of_what_was_selected(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    click(page, "layers.3.mixer.softmax")
    page.wait_for_function("() => canvasRoot.view.selected === 'layers.3.mixer.softmax'")
    page.get_by_role("button", name="Block 3: go to step 38").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-network-inspector h4').innerText === 'Block 3 · RMSNorm'"
    )
    assert ask(page, "[view.selected, view.path]") == [None, None]  # nothing is faded
    click(page, "layers.3.mixer.softmax")  # the same one can be opened again
    page.wait_for_function(
        "() => document.querySelector('.st-key-network-inspector h4').innerText === 'Block 4 · Softmax'"
    )
    watched.assert_clean()


def test_full_screen_has_the_inspector_and_its_lists(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("() => !!document.fullscreenElement && canvasRoot.classList.contains('full')")
    page.wait_for_timeout(300)
    box = page.locator(".st-key-network-stage").bounding_box()
    assert box == {"x": 0, "y": 0, "width": 1440, "height": 900}
    page.get_by_role("combobox", name="Station").click()
    page.get_by_role("option", name="Block 1 · Q (step 3)").click()
    page.wait_for_function("() => document.querySelector('.st-key-network-inspector h4').innerText === 'Block 1 · Q'")
    watched.shot("network-full-screen")
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("() => !document.fullscreenElement && !document.body.dataset.full")
    watched.assert_clean()


def test_a_prompt_survives_a_reload(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    prompt(page).fill("Once upon a time")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => location.search.includes('prompt=Once')")
    page.reload()
    watched.ready()
    assert prompt(page).input_value() == "Once upon a time"


def test_a_play_starts_once(visit: Visit) -> None:
    page = network(visit())
    page.get_by_role("button", name="Play slowly").click()
    page.wait_for_function("() => canvasRoot.view.play && canvasRoot.view.play.step >= 1", timeout=20_000)
    for option in ("1. ·Lucy", "2. ·played"):  # to an earlier prediction and back
        page.get_by_role("combobox", name="Prediction").click()
        page.get_by_role("option", name=option).click()
        page.wait_for_timeout(1200)
        assert ask(page, "view.play.timer") is None


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
    assert ask(page, "view.play.step") == 38
    page.get_by_role("button", name="One step back").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-network-inspector h4').innerText === 'Block 3 · RMSNorm'"
    )
    assert ask(page, "view.play.step") == 37


def test_stations_by_keyboard(visit: Visit) -> None:
    page = network(visit())
    page.locator(".tokenviz .stage").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    name = ask(page, "view.cursor")
    page.keyboard.press("Space")
    page.wait_for_function(f"() => canvasRoot.view.selected === '{name}'")
    page.keyboard.press("Space")  # it is open: nothing else happens
    page.wait_for_timeout(200)
    assert ask(page, "[view.selected, view.play.timer]") == [name, None]
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
    page.wait_for_function("() => document.querySelectorAll('.tv-read').length > 30")
    assert tokens(page) == expected(markup)
    assert page.evaluate("() => window.hit") is None
    watched.assert_clean()


def tokens(page: Page) -> list[str]:
    """What stands beneath the prompt: each piece with its number."""
    return page.get_by_role("list", name="Tokens of the text").locator("li").all_inner_texts()


def prompt(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Prompt")


def expected(text: str) -> list[str]:
    """The same from the tokenizer, spaces as dots."""
    tokenizer = load_decoder().tokenizer
    ids = tokenizer.encode(text)
    pieces = [piece.replace(" ", "·") for piece in tokenizer.pieces(ids)]
    return ["start\n0", *(f"{piece}\n{number}" for piece, number in zip(pieces, ids, strict=True))]


def test_tokens_follow_the_typing_and_nothing_is_lost(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    field, text = (
        prompt(page),
        "The quick brown fox jumps over the lazy dog, then it goes to school with its friend Zumpo.",
    )
    field.click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text[:39], delay=30)
    page.wait_for_timeout(400)  # longer than the pause after which tokens are asked for, shorter than a reading
    assert tokens(page) == expected(text[:39])
    assert "Once" in page.locator(".tv-text").inner_text()  # the model has not read it yet
    page.keyboard.type(text[39:], delay=15)
    page.wait_for_timeout(2000)
    start = time.perf_counter()
    page.keyboard.type(" Then")
    page.get_by_role("list", name="Tokens of the text").locator("li").filter(has_text="Then").first.wait_for()
    print(f"\nkey to token: {1e3 * (time.perf_counter() - start):.0f} ms, 150 of them a pause")
    text += " Then"
    # a word into the middle, typed while the model reads: the caret must not move
    page.evaluate(f"() => {{ {FIELD}.setSelectionRange(3, 3); }}")
    for number, letter in enumerate(" very, very"):
        page.keyboard.type(letter)
        page.wait_for_timeout(165 if number % 2 else 40)  # the next letter comes while an answer is on its way
    page.wait_for_timeout(1000)
    page.keyboard.type("!")
    wanted = "The very, very!" + text[3:]
    page.wait_for_timeout(2500)
    assert field.input_value() == wanted
    assert page.evaluate(f"() => document.activeElement.shadowRoot.activeElement === {FIELD}")
    assert page.evaluate(f"() => {FIELD}.selectionStart") == len("The very, very!")
    assert tokens(page) == expected(wanted)
    assert "very" in page.locator(".tv-text").inner_text()  # read after the pause
    watched.assert_clean()


def test_what_was_typed_survives_a_visit_elsewhere_at_once(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    prompt(page).fill("Tom and Anna")
    page.get_by_test_id("stTopNavLink").filter(has_text="Layout").click()
    page.wait_for_selector("h1:has-text('Layout')")
    watched.ready()
    page.get_by_test_id("stTopNavLink").filter(has_text="Network").click()
    page.wait_for_function(VIEW)
    watched.ready()
    assert prompt(page).input_value() == "Tom and Anna"
    assert tokens(page) == expected("Tom and Anna")


def test_a_button_reads_what_was_typed_at_once(visit: Visit) -> None:
    page = network(visit())
    prompt(page).fill("The capital of France is")
    page.get_by_role("button", name="Next token").click()
    page.wait_for_function("() => document.querySelector('.tv-chip.made')?.innerText.startsWith('·P')")
    assert page.locator(".tv-chip.made").count() == 1


def test_an_example_is_written_into_the_field(visit: Visit) -> None:
    page = network(visit())
    prompt(page).fill("something else")
    page.get_by_text("A flat choice", exact=True).click()
    page.wait_for_function(f"() => {FIELD}.value === 'My name is'")
    assert tokens(page) == expected("My name is")


def test_odd_texts_are_shown_as_text(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    for text in ("😀 שלום עולם", "\u202eabc\u0007", "<script>window.hit = 1</script>", "ä" * 3, ""):
        prompt(page).fill(text)
        page.wait_for_timeout(600)
        assert tokens(page) == expected(text)
    prompt(page).fill("word " * 200)
    page.wait_for_timeout(2500)
    assert page.get_by_text("more than the window's 128").is_visible()
    assert page.evaluate("() => window.hit") is None
    watched.assert_clean()


def test_the_rebuild_has_a_mark_of_its_own_on_the_time_line(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    event = page.get_by_role("button", name="cache rebuilt: an event before step 1")
    prompt(page).fill("word " * 200)
    page.wait_for_timeout(2500)
    assert not event.is_visible()
    page.get_by_role("button", name="Next token").click()
    event.wait_for()
    assert ask(page, "[view.play.step, view.play.frames.length, view.lit.size]") == [-1, 77, 4]
    said = "Before step 1 · n = 128 again: the cache was rebuilt."
    assert said in page.locator(".tokenviz .words").inner_text()
    assert said in page.locator(".tokenviz .status").inner_text()
    event.click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-network-inspector h4').innerText === 'Before step 1 · Cache rebuilt'"
    )
    page.get_by_role("button", name="One step on").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-network-inspector h4').innerText === 'Input · Embedding'"
    )
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("Home")  # the event is the time line's first place
    page.wait_for_function("() => canvasRoot.view.play.step === -1")
    prompt(page).fill("My name is")
    event.wait_for(state="hidden")
    watched.assert_clean()


def test_an_earlier_prediction_can_be_opened(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    page.get_by_role("button", name="10 tokens").click()
    page.wait_for_function("() => document.querySelectorAll('.tv-chip.made').length === 11")
    page.get_by_role("combobox", name="Prediction").click()
    page.get_by_role("option", name="2. ·played").click()
    page.get_by_text("not the latest: 9 came after it").wait_for()
    assert page.locator(".tv-chip.shown").inner_text().split() == ["·played", "504"]
    watched.assert_clean()


def test_the_text_keeps_its_height_and_the_map_its_place(visit: Visit) -> None:
    watched = visit()
    page = network(watched)
    top = page.locator(".tokenviz").first.bounding_box()
    for _ in range(11):
        page.get_by_role("button", name="10 tokens").click()
        watched.ready()
    assert page.locator(".tv-chip.made").count() > 60
    assert page.locator(".tokenviz").first.bounding_box()["y"] == top["y"]
    box = page.locator(".tv-text").bounding_box()
    last = page.locator(".tv-chip.last").bounding_box()
    assert last["y"] + last["height"] <= box["y"] + box["height"]  # its end is in sight


def test_following_ends_with_the_drawing(visit: Visit) -> None:
    page = network(visit())
    ask(page, "view.playbar.go(18)")  # the last step of block 1
    rests = (  # the glide is over: the view stands where vis-network was told to go
        "() => { const v = canvasRoot.view, y = v.network.getViewPosition().y, still = y === globalThis.lastY;"
        " globalThis.lastY = y; return still; }"
    )
    page.wait_for_timeout(600)
    page.wait_for_function(rests, polling=200)
    lit, low, end, scale, inset = ask(
        page,
        "[view.items.get([...view.lit][0]).y, view.window[3], view.data.scene.height, view.scale, view.inset.bottom]",
    )
    assert lit < low - inset / scale
    assert low - inset / scale <= end + 13 / scale  # nothing but a margin lies between the drawing's end and the bar


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
