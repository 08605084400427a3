"""Streamlit glue for the interactive canvas.

    graph_canvas(scene, key="net", height=640, ...) -> CanvasState(selected, step, positions)
    select(key, id, zoom=True)     select from Python, before or after the canvas is drawn; None clears
    look_at(key, id)               zoom to an item or a panel without selecting it; None fits all

The selection is kept in `st.session_state[f"{key}.selected"]`: it survives reruns and page changes, and a test can set
it. Put the canvas and its detail panel into one `st.fragment`, so that a click reruns only the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from tokenviz.views import palette
from tokenviz.views.canvas import graph_script, loader_script, scene_payload
from tokenviz.views.scene import Point, Scene

_loader = st.components.v2.component("tokenviz_loader", js=loader_script())
_graph = st.components.v2.component("tokenviz_graph", js=graph_script())


@dataclass(frozen=True, slots=True)
class CanvasState:
    """What the reader did: the selected id, the step at which playing stopped, nodes dragged by hand."""

    selected: str | None
    step: int | None
    positions: Mapping[str, Point] | None


def graph_canvas(
    scene: Scene | Mapping[str, Any],
    *,
    key: str,
    label: str,
    height: int | str = 640,
    beside: str = "",
    open_at: str = "",
    lit: Sequence[str] = (),
    done: Sequence[str] = (),
    dim: Sequence[str] = (),
    frames: Sequence[Sequence[str]] | Mapping[str, Any] = (),
    step: int | None = None,
    running: bool = False,
    rate: int = 4,
    animate: bool = False,
    draggable: bool = False,
    edges_selectable: bool = False,
    file_name: str = "tokenviz",
    covered: int = 0,
) -> CanvasState:
    """Draw a scene and report what the reader does with it.

    Args:
        scene: a `Scene`, or the cached result of `scene_payload(scene, draggable)`.
        key: names this canvas; view and selection are kept under it.
        label: says to a screen reader what the picture is.
        height: in CSS pixels, or a CSS length.
        beside: key of the container that goes full screen with the canvas; "" leaves the canvas alone there. The page's
            style spreads it while `body` has its key as `data-full`.
        open_at: id of the panel to show first; "" shows the whole drawing.
        lit, done, dim: ids drawn as running now, as finished, and faded.
        frames: what runs at each step; shows the play bar, which starts at `step` (None: nothing lit yet). A long
            play can be folded: {"id", "length", "parts": part -> frames, "visits": [part, start, drawn, words]}.
        running, rate: whether playing starts at once, and at how many steps a second.
        animate: nodes glide when a rerun changes their place.
        draggable: nodes can be dragged; their centres come back in `positions`.
        edges_selectable: a click on an edge selects it.
        file_name: stem of the picture that the reader can save.
        covered: CSS pixels at the right under a card; what is selected there moves into sight.
    """
    kept = st.session_state
    payload = scene_payload(scene, draggable) if isinstance(scene, Scene) else scene
    folded = frames if isinstance(frames, Mapping) else {"frames": [list(frame) for frame in frames]}
    play = {**folded, "step": step, "running": running, "rate": rate}
    data = {
        **payload,
        "key": key,
        "palette": palette.as_json(),
        "height": f"{height}px" if isinstance(height, int) else height,
        "beside": beside,
        "label": label,
        "open": open_at,
        "lit": list(lit),
        "done": list(done),
        "dim": list(dim),
        "play": {**play, "n": f"{folded.get('id', '')}/{step}/{running}/{rate}"} if frames else None,
        "animate": animate,
        "edges_selectable": edges_selectable,
        "name": file_name,
        "covered": covered,
        "focus": kept.get(f"{key}.focus"),
    }

    def keep(field: str) -> None:
        kept[f"{key}.{field}"] = kept[key][field]["value"]

    _loader(key=f"canvas-loader-{key}", height=1)
    _graph(
        key=key,
        data=data,
        height=height if isinstance(height, int) else "content",
        on_selected_change=lambda: keep("selected"),
        on_step_change=lambda: keep("step"),
        on_positions_change=lambda: keep("positions"),
    )
    positions = kept.get(f"{key}.positions")
    centres = {name: (float(x), float(y)) for name, (x, y) in positions.items()} if positions else None
    return CanvasState(kept.get(f"{key}.selected"), kept.get(f"{key}.step"), centres)


def select(key: str, id: str | None, zoom: bool = True, trace: str | None = None) -> None:
    """Select an item of the canvas `key` and, with `zoom`, bring it into view. None clears the selection.

    `trace` shows all that comes "before" it, "after" it, or "both"; None shows its neighbours.
    """
    st.session_state[f"{key}.selected"] = id
    _aim(key, {"id": id, "select": True, "zoom": zoom and id is not None, "trace": trace})


def look_at(key: str, id: str | None) -> None:
    """Bring an item or a panel of the canvas `key` into view; None shows the whole drawing."""
    _aim(key, {"id": id, "select": False, "zoom": True})


def _aim(key: str, focus: dict[str, Any]) -> None:
    last = st.session_state.get(f"{key}.focus") or {"n": 0}
    st.session_state[f"{key}.focus"] = {**focus, "n": last["n"] + 1}
