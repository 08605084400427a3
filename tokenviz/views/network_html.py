"""Small pieces of HTML for the Network page: token chips, attention over the text, the draw. All text is escaped."""

from collections.abc import Sequence
from html import escape

from tokenviz.decoder.sampling import Draw
from tokenviz.views.palette import THEMES

ROOM = "var(--tv-room)"
"""Height of the map and its inspector: with the text above them they fill a window, but not more."""
STYLE = """<style>
.tv-chips { display: flex; flex-wrap: wrap; gap: 3px; align-items: stretch; }
.tv-chip { border: 1px solid var(--tv-line); border-radius: 5px; padding: 1px 5px 0; line-height: 1.25;
  text-align: center; white-space: pre; font-size: 0.95rem; }
.tv-chip small { display: block; font-size: 0.68rem; opacity: 0.75; font-variant-numeric: tabular-nums; }
.tv-chip.start { border-style: dotted; }
.tv-chip.made { background: var(--tv-made); }
.tv-chip.last { border-width: 2px; border-color: var(--tv-accent); font-weight: 600; }
.tv-chip.out { opacity: 0.45; text-decoration: line-through; }
.st-key-network-stage { --tv-room: clamp(420px, calc(100dvh - 216px), 760px); --tv-above: 200px; }
.st-key-network-map { min-height: var(--tv-room); }
[data-testid="stLayoutWrapper"]:has(> .st-key-network-inspector), .st-key-network-inspector {
  height: var(--tv-room) !important; flex-basis: var(--tv-room) !important; }
body[data-full="network-stage"] .st-key-network-stage { position: fixed; inset: 0; z-index: 999995; overflow: auto;
  padding: 12px 16px; background: var(--tv-page); --tv-room: max(420px, calc(100dvh - 150px)); }
@media (min-width: 641px) {
  body[data-full="network-stage"] .stColumn:has(> * > .st-key-network-map) { flex: 2 1 0; min-width: 0; }
  body[data-full="network-stage"] .stColumn:has(.st-key-network-inspector):not(.st-key-network-inspector *) {
    flex: 1 1 0; min-width: 0; }
}
@media (max-width: 640px) {
  body[data-full="network-stage"] .st-key-network-stage [data-testid="stCaptionContainer"]:not(.stColumn *) {
    display: none; }
}
[data-testid="stLayoutWrapper"]:has(> .st-key-network-worked) { position: sticky; top: -1px; z-index: 3; }
.st-key-network-worked { background: var(--tv-page); border: 1px solid var(--tv-line); border-radius: 8px;
  padding: 6px 10px 8px; overflow-x: auto; box-shadow: 0 3px 6px -4px #0006; }
.st-key-network-worked .katex { font-size: 1.05em; }
@media (max-width: 640px) { .st-key-network-worked .katex { font-size: 0.9em; } }
.tv-worked { font-size: 0.85rem; } .tv-worked b { font-weight: 600; } .tv-worked span { opacity: 0.9; }
.tv-worked i { opacity: 0.7; }
.tv-said { border: 1px solid var(--tv-line); border-radius: 8px; padding: 6px 10px; line-height: 1.6; }
.tv-text { height: 74px; overflow-y: auto; display: flex; flex-direction: column-reverse; border-radius: 8px;
  border: 1px solid var(--tv-line); padding: 5px 8px; box-sizing: border-box; }
.tv-text:focus-visible { outline: 2px solid var(--tv-accent); }
.tv-text .tv-chips { gap: 3px 2px; align-items: baseline; margin-bottom: auto; }
.tv-read { white-space: pre; }
.tv-read small { margin-right: 4px; opacity: 0.75; }
.tv-read.out { opacity: 0.5; text-decoration: line-through; }
.tv-chip.shown { outline: 2px dashed currentColor; outline-offset: 1px; }
.tv-share { display: flex; gap: 28px; font-size: 0.85rem; text-align: center; }
.tv-share > div { display: flex; flex-direction: column; align-items: center; }
.tv-share > div > div { display: flex; gap: 10px; }
.tv-share span, .tv-share b { border: 1.5px solid currentColor; border-radius: 6px; padding: 2px 9px;
  font-weight: 400; }
.tv-share b { border: 4px double var(--tv-state); border-radius: 10px; }
.tv-share i { width: 58%; height: 9px; border: 1.5px solid currentColor; border-top: 0; position: relative;
  margin-bottom: 9px; }
.tv-share i::after { content: ""; position: absolute; left: 50%; top: 100%; height: 9px; border-left: 1.5px solid; }
.tv-space { opacity: 0.4; }
.tv-words { display: flex; flex-wrap: wrap; row-gap: 2px; line-height: 1.7; }
.tv-words span { border-radius: 4px; padding: 2px 1px; white-space: pre-wrap; border-bottom: 2px solid transparent; }
.tv-words span.query { outline: 1.5px dashed currentColor; }
.tv-words sub { font-size: 0.65rem; opacity: 0.8; }
.tv-draw { position: relative; display: flex; height: 34px; border: 1px solid var(--tv-line); border-radius: 5px;
  overflow: hidden; }
.tv-draw span { overflow: hidden; border-right: 1px solid var(--tv-line); text-align: center; line-height: 32px;
  white-space: pre; font-size: 0.85rem; min-width: 0; }
.tv-draw span.hit { background: var(--tv-made); font-weight: 600; min-width: 3px; flex-shrink: 0; }
.tv-mark { position: relative; height: 16px; font-size: 0.78rem; }
.tv-mark b { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.tv-legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 0.86rem; align-items: center; }
.tv-legend span { display: inline-flex; gap: 6px; align-items: center; }
.tv-legend i { display: inline-block; width: 40px; height: 20px; font-style: normal; font-size: 0.72rem;
  text-align: center;  box-sizing: border-box; line-height: 1; padding-top: 2px; }
</style>"""


def themed(dark: bool) -> str:
    """The style with the colours of a theme."""
    line, made, accent = ("#45515d", "#123a5e", "#7CC0FF") if dark else ("#b9c1c9", "#dcebf9", "#0B5CAD")
    theme = THEMES["dark" if dark else "light"]
    names = {
        "line": line, "made": made, "accent": accent, "state": theme.lifetimes["state"].outline,
        "page": theme.background,
    }  # fmt: skip
    colours = " ".join(f"--tv-{name}: {colour};" for name, colour in names.items())
    return f"{STYLE}<style>:root {{ {colours} }}</style>"


def piece_html(piece: str) -> str:
    """A text piece, escaped, kept apart from the direction of its neighbours, its spaces as faint dots."""
    spaced = escape(piece).replace(" ", '<span class="tv-space">·</span>')
    return f"<bdi>{spaced}</bdi>"


def chips(pieces: Sequence[str], ids: Sequence[int], first: int, made: int) -> str:
    """Token chips: `first` tokens have left the window, the last `made` were drawn by the model."""
    found = []
    for i, (piece, token) in enumerate(zip(pieces, ids, strict=True)):
        kinds = ["tv-chip"]
        kinds += ["start"] if token == 0 and i == 0 else []
        kinds += ["out"] if i < first else []
        kinds += ["made"] if i >= len(ids) - made else []
        kinds += ["last"] if made and i == len(ids) - 1 else []
        shown = "start" if token == 0 and i == 0 else piece_html(piece)
        found.append(f'<span class="{" ".join(kinds)}">{shown}<small>{token}</small></span>')
    return f'<div class="tv-chips">{"".join(found)}</div>'


def so_far(pieces: Sequence[str], ids: Sequence[int], first: int, made: int, shown: int) -> str:
    """The text in a panel of fixed height, its end in sight: what was read as text, what was written as chips.

    `first` tokens have left the window; the last `made` were drawn by the model; `shown` is the place of the one whose
    prediction is looked at.
    """
    found = []
    for i, (piece, token) in enumerate(zip(pieces, ids, strict=True)):
        written = i >= len(ids) - made
        kinds = ["tv-chip made"] if written else ["tv-read"]
        kinds += ["out"] if i < first else []
        kinds += ["last"] if made and i == len(ids) - 1 else []
        kinds += ["shown"] if i == shown and i < len(ids) - 1 else []
        text = piece_html(piece) if i or token else "<small>start</small>"
        number = f"<small>{token}</small>" if written else ""
        found.append(f'<span class="{" ".join(kinds)}">{text}{number}</span>')
    inner = f'<div class="tv-chips">{"".join(found)}</div>'
    return f'<div class="tv-text" tabindex="0" role="region" aria-label="The text so far">{inner}</div>'


def attention(pieces: Sequence[str], shares: Sequence[float], query: int, dark: bool) -> str:
    """The text with each piece shaded by its share of attention, and the shares of 5 % or more written below."""
    colour = "240, 138, 75" if dark else "213, 94, 0"
    found = []
    for i, (piece, share) in enumerate(zip(pieces, shares, strict=True)):
        number = f"<sub>{share * 100:.0f} %</sub>" if share >= 0.05 else ""
        mark = ' class="query"' if i == query else ""
        style = (
            f"background: rgba({colour}, {0.75 * share:.3f}); border-color: rgba({colour}, {min(1.0, share * 2):.3f})"
        )
        title = f"{share:.7f}"
        found.append(f'<span{mark} style="{style}" title="{title}">{piece_html(piece)}{number}</span>')
    return f'<div class="tv-words">{"".join(found)}</div>'


def draw_bar(draw: Draw, pieces: Sequence[str], most: int = 12) -> str:
    """All shares end to end from 0 to 1, most likely first, and where the drawn number fell."""
    ranked = [int(i) for i in draw.order if draw.after[i] > 0]
    own = ranked.index(draw.token)
    parts = [_slice(draw, [token], pieces) for token in ranked[:most]]
    if own < most:
        parts.append(_slice(draw, ranked[most:], pieces))
    else:  # what was drawn is never hidden among the others
        parts += [_slice(draw, part, pieces) for part in (ranked[most:own], [draw.token], ranked[own + 1 :])]
    bar = f'<div class="tv-draw">{"".join(parts)}</div>'
    if draw.number is None:
        return bar
    return f'{bar}<div class="tv-mark"><b style="left: {draw.number:.3%}">▲ {draw.number:.4f}</b></div>'


def _slice(draw: Draw, tokens: Sequence[int], pieces: Sequence[str]) -> str:
    """A part of the bar: one token, or several without a name of their own."""
    share = float(sum(draw.after[i] for i in tokens))
    if not tokens:
        return ""
    hit = ' class="hit"' if list(tokens) == [draw.token] else ""
    name = "others" if len(tokens) > 1 else piece_html(pieces[tokens[0]]) if share > 0.04 else ""
    title = f"{len(tokens)} others" if len(tokens) > 1 else escape(pieces[tokens[0]])
    return f'<span{hit} style="width: {share:.4%}" title="{title} {share * 100:.4f} %">{name}</span>'


def sharing(heads: int, groups: int) -> str:
    """Query heads above, the key/value heads that they read below, joined by a bracket."""
    each = heads // groups
    parts = []
    for k in range(groups):
        queries = "".join(f"<span>query {h}</span>" for h in range(k * each, (k + 1) * each))
        parts.append(f"<div><div>{queries}</div><i></i><b>key/value {k}</b></div>")
    return f'<div class="tv-share">{"".join(parts)}</div>'


def legend(dark: bool) -> str:
    """What the map's shapes mean; every entry has a shape of its own."""
    text, edge = ("#F3F5F7", "#A3AEBA") if dark else ("#0B0E12", "#59636E")
    accent, page = ("#7CC0FF", "#0F1419") if dark else ("#0B5CAD", "#FFFFFF")
    lifetimes = THEMES["dark" if dark else "light"].lifetimes
    static, static_fill = lifetimes["static"].outline, lifetimes["static"].fill
    green, green_fill = lifetimes["ephemeral"].outline, lifetimes["ephemeral"].fill
    state, state_fill = lifetimes["state"].outline, lifetimes["state"].fill
    entries = (
        ("calculation", f"border: 1.3px solid {edge}; border-radius: 5px", ""),
        ("residual stream: round stations on a thick line", f"border: 3px solid {edge}; border-radius: 10px", "+"),
        ("cache K/V: double outline, dashed lines",
         f"border: 4px double {state}; border-radius: 10px; background: {state_fill}", "↻"),
        ("E weights, one table used twice: lock",
         f"border: 1.6px solid {static}; border-radius: 10px; background: {static_fill}", "🔒︎"),
        ("text: what goes in and comes out", f"border: 1.6px solid {green}; border-radius: 10px; "
         f"background: {green_fill}", ""),
        ("current step: filled, with a pointer",
         f"border: 1.6px solid {accent}; border-radius: 5px; background: {accent}; color: {page}", "▶"),
        ("step that has run: tinted", f"border: 1.3px solid {edge}; border-radius: 5px; "
         f"background: color-mix(in srgb, {accent} 22%, {page})", ""),
        ("opened: double ring", f"border: 1.3px solid {edge}; border-radius: 5px; outline: 2px solid {accent}; "
         "outline-offset: 1px", ""),
    )  # fmt: skip
    parts = [f'<span><i style="{look}" aria-hidden="true">{mark}</i>{name}</span>' for name, look, mark in entries]
    return f'<div class="tv-legend" style="color: {text}">{"".join(parts)}</div>'
