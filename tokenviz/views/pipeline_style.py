"""The Pipeline page's own style: the card over the drawing, colours of the legend's entries."""

from tokenviz.views.palette import LIFETIMES, OP_CLASSES, OP_FILL, THEMES

ROOM = "var(--tokenviz-room)"
"""Height of the canvas."""
_FRAME = """
@media (min-width: 641px) {
  [data-testid="stMainBlockContainer"] { padding-left: 2rem; padding-right: 2rem; padding-top: 4rem; }
}
.st-key-pipeline-stage { position: relative; gap: 0; --tokenviz-room: %(height)dpx; }
.st-key-pipeline-stage > .st-key-pipeline { min-height: var(--tokenviz-room); }
body[data-full="pipeline-stage"] .st-key-pipeline-stage { position: fixed; inset: 0; z-index: 999995; overflow: auto;
  background: var(--tokenviz-page); --tokenviz-room: 100dvh; }
.st-key-pipeline-card {
  position: absolute; top: 52px; right: 10px; width: 350px; overflow-y: auto; z-index: 5;
  max-height: calc(var(--tokenviz-room) - 72px);
  gap: 0.5rem; padding: 0.9rem 1rem 1rem; border: 1px solid var(--tokenviz-line); border-radius: 10px;
  background: var(--tokenviz-page); box-shadow: 0 6px 24px rgba(0, 0, 0, 0.14);
}
.st-key-pipeline-card p { margin-bottom: 0.1rem; font-size: 0.9rem; line-height: 1.4; }
.st-key-pipeline-card [data-testid="stButtonGroup"] button { min-height: 1.7rem; padding: 0.05rem 0.6rem; }
.st-key-pipeline-card [data-testid="stButtonGroup"] button p { font-size: 0.82rem; }
.st-key-pipeline-card .tokenviz-facts {
  display: grid; grid-template-columns: minmax(5rem, auto) 1fr; gap: 0.25rem 0.75rem; margin: 0.4rem 0 0;
  padding: 0;
  font-size: 0.84rem; line-height: 1.35;
}
.tokenviz-facts dt { margin: 0; padding: 0; opacity: 0.75; font-weight: 400; }
.tokenviz-facts dd { margin: 0; font-variant-numeric: tabular-nums; }
@media (max-width: 900px) {
  .st-key-pipeline-card { position: static; width: auto; max-height: none; margin-top: 0.75rem; box-shadow: none; }
}
.st-key-legend-box button:not([aria-label])::before {
  content: ""; flex: none; width: 0.8em; height: 0.8em; margin-right: 0.45em; border-radius: 3px;
  background: var(--chip); border: 2px solid var(--rim, transparent);
}
.tokenviz-strip { display: flex; flex-wrap: wrap; gap: 2px; margin: 0.1rem 0 0.3rem; }
.tokenviz-strip i { display: block; width: 8px; height: 14px; border-radius: 2px; background: var(--chip); }
.tokenviz-key { font-size: 0.86rem; opacity: 0.85; }
.tokenviz-key i {
  display: inline-block; width: 8px; height: 12px; margin: 0 0.35em 0 0.7em; border-radius: 2px;
  background: var(--chip);
}
"""


def style(height: int, theme: str) -> str:
    """CSS for a canvas of this height."""
    colours = THEMES["dark" if theme == "dark" else "light"]
    chips = [
        _chip(i, colours.lifetimes[name].fill, colours.lifetimes[name].outline) for i, name in enumerate(LIFETIMES)
    ]
    chips += [_chip(len(LIFETIMES) + i, OP_FILL[name], OP_FILL[name]) for i, name in enumerate(OP_CLASSES)]
    root = f":root {{ --tokenviz-page: {colours.background}; --tokenviz-line: {colours.border}; }}"
    return f"<style>{root}{_FRAME % {'height': height}}{''.join(chips)}</style>"


def _chip(place: int, fill: str, rim: str) -> str:
    return f".st-key-legend-box button:not([aria-label]):nth-of-type({place + 1}) {{ --chip: {fill}; --rim: {rim}; }}"
