// What the reader does: pointer, wheel, drag and keys.

function listen(view) {
  const { network, stage, root } = view;
  network.on("beforeDrawing", (ctx) => {
    look(view);
    paintBelow(view, ctx);
  });
  network.on("afterDrawing", (ctx) => paintAbove(view, ctx));
  network.on("click", ({ pointer }) => {
    view.keyed = false;
    select(view, hit(view, pointer.canvas));
  });
  network.on("doubleClick", ({ pointer }) => zoomBy(view, 1.6, pointer.canvas, true));
  network.on("dragStart", ({ nodes }) => {
    hide(view);
    if (!nodes.length) setFollow(view, false);
  });
  network.on("dragging", ({ nodes }) => dragged(view, nodes));
  network.on("dragEnd", ({ nodes }) => dropped(view, nodes));
  network.on("zoom", () => {
    const excess = network.getScale() / ZOOM.most;
    if (excess > 1) zoomBy(view, 1 / excess);
    view.touched = true;
    setFollow(view, false);
    remember(view);
  });
  stage.addEventListener("touchstart", (event) => onTouch(view, event), { passive: false });
  stage.addEventListener("touchmove", (event) => onTouch(view, event), { passive: false });
  stage.addEventListener("pointercancel", () => nudge(view, "Two fingers move and zoom the picture"));
  root.addEventListener("wheel", (event) => onWheel(view, event), { capture: true, passive: false });
  stage.addEventListener("pointermove", (event) => onMove(view, event));
  stage.addEventListener("pointerleave", () => hide(view));
  stage.addEventListener("keydown", (event) => onKey(view, event));
  root.addEventListener("keydown", (event) => leaveFull(view, event));  // from the tool bar's buttons, too
  stage.addEventListener("blur", () => {
    view.keyed = false;
    network.redraw();
  });
  for (const inner of stage.querySelectorAll("[tabindex]")) inner.tabIndex = -1;
  view.resized = new ResizeObserver(() => {
    if (!view.data || !stage.clientWidth) return;
    view.root.classList.toggle("narrow", !view.tabs.hidden && stage.clientWidth < 760 && innerWidth > 640);
    network.setSize("100%", "100%");
    if (!view.touched) fitAll(view, true);
    network.redraw();
  });
  view.resized.observe(stage);
  view.fullChanged = () => fullChanged(view);
  document.addEventListener("fullscreenchange", view.fullChanged);
}

function pointOf(view, event) {
  const box = view.stage.getBoundingClientRect();
  return view.network.DOMtoCanvas({ x: event.clientX - box.left, y: event.clientY - box.top });
}

function onWheel(view, event) {
  event.stopPropagation();
  if (!event.ctrlKey && !event.metaKey && !isFull(view)) {
    nudge(view, "Ctrl or ⌘ + wheel to zoom");
    return;
  }
  event.preventDefault();
  const speed = event.deltaMode ? 0.06 : Math.abs(event.deltaY) < 40 ? 0.01 : 0.0024;
  zoomBy(view, Math.exp(-event.deltaY * speed), pointOf(view, event));
}

function nudge(view, text) {
  if (view.nudged || isFull(view)) return;
  view.nudged = true;
  view.nudge.textContent = text;
  view.nudge.classList.add("shown");
  setTimeout(() => view.nudge.classList.remove("shown"), 1800);
}

// One finger scrolls the page; two move the picture (vis-network zooms it by their distance).
function onTouch(view, event) {
  if (event.touches.length !== 2) return;
  event.preventDefault();
  const [a, b] = event.touches;
  const middle = [(a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2];
  if (event.type === "touchmove" && view.fingers) {
    const { x, y } = view.network.getViewPosition();
    const [dx, dy] = [middle[0] - view.fingers[0], middle[1] - view.fingers[1]];
    const scale = view.network.getScale();
    moveView(view, { position: { x: x - dx / scale, y: y - dy / scale }, scale }, true);
  }
  view.fingers = middle;
  view.touched = true;
}

function onMove(view, event) {
  if (event.buttons || event.pointerType === "touch") return;
  const id = hit(view, pointOf(view, event));
  view.stage.style.cursor = id ? "pointer" : "";
  if (id !== view.hover) {
    view.hover = id;
    view.network.redraw();
    showHint(view, view.items.get(id) || view.edges.get(id));
  }
  const box = view.root.getBoundingClientRect();
  const left = Math.min(event.clientX - box.left + 14, box.width - view.hint.offsetWidth - 8);
  const top = event.clientY - box.top + 18;
  const above = top + view.hint.offsetHeight > box.height - 8;
  view.hint.style.left = `${Math.max(8, left)}px`;
  view.hint.style.top = `${above ? top - view.hint.offsetHeight - 30 : top}px`;
}

function showHint(view, item) {
  clearTimeout(view.hinting);
  view.hint.classList.remove("shown");
  if (!item || !item.hint) return;
  view.hinting = setTimeout(() => {
    view.hint.textContent = item.hint;
    view.hint.classList.add("shown");
  }, 280);
}

function hide(view) {
  view.hover = null;
  showHint(view, null);
  view.network.redraw();
}

function dragged(view, nodes) {
  for (const id of nodes) {
    const { x, y } = view.network.getPosition(id);
    Object.assign(view.items.get(id), { x, y });
  }
  if (nodes.length) forgetLines(view);
  else view.touched = true;
}

function dropped(view, nodes) {
  if (!nodes.length) {
    holdOn(view);
    remember(view);
    return;
  }
  dragged(view, nodes);
  view.network.unselectAll();
  const all = [...view.items.values()].map((item) => [item.id, [Math.round(item.x * 10) / 10, Math.round(item.y * 10) / 10]]);
  tell(view, "positions", Object.fromEntries(all));
}

const KEYS = {
  "+": (view) => zoomBy(view, 1.3, null, true),
  "=": (view) => zoomBy(view, 1.3, null, true),
  "-": (view) => zoomBy(view, 1 / 1.3, null, true),
  0: (view) => fitAll(view),
  Enter: (view) => select(view, view.cursor),
  Escape: (view) => (isFull(view) ? toggleFull(view) : select(view, null)),
  " ": (view) => (view.keyed ? select(view, view.cursor) : togglePlay(view)),
  ",": (view) => view.play && goTo(view, (view.play.step || 0) - 1),
  ".": (view) => view.play && goTo(view, view.play.step === null ? leastOf(view.play) : view.play.step + 1),
  p: (view) => setTrace(view, view.trace ? null : "both"),
  a: (view) => setTrace(view, view.trace === "before" ? null : "before"),
  d: (view) => setTrace(view, view.trace === "after" ? null : "after"),
};

function onKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = event.key.startsWith("Arrow") ? () => moveCursor(view, event.key) : KEYS[event.key.toLowerCase()] || KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  view.keyed = view.keyed || event.key.startsWith("Arrow");
  showHint(view, null);
  act(view);
}

function leaveFull(view, event) {
  if (event.key === "Escape" && isFull(view)) toggleFull(view);
}

function moveCursor(view, key) {
  const next = stepFrom(view, view.cursor, key);
  if (next === null) return;
  view.cursor = next;
  const item = view.items.get(next);
  view.status.textContent = spoken(item);
  const [left, top, right, bottom] = view.window;
  const margin = 20 / view.scale;
  const inView = item.x - margin > left && item.x + margin < right && item.y - margin > top && item.y + margin < bottom;
  if (!inView || view.scale < 0.5) showItem(view, item);
  view.network.redraw();
}
