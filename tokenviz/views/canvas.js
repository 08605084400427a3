// The interactive canvas: vis-network keeps nodes, edges, view and gestures; canvas_draw.js paints.
// show() is called on the same element at every change of data or theme and must keep what the reader did.

const ICONS = {
  fit: "M3 8V3h5M16 3h5v5M21 16v5h-5M8 21H3v-5M8 8h8v8H8z",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  path: "M6 4v6a3 3 0 0 0 3 3h6a3 3 0 0 1 3 3v4M6 4 3 7M6 4l3 3M18 20l-3-3M18 20l3-3",
  image: "M12 3v12M7 10l5 5 5-5M4 20h16",
  full: "M4 9V4h5M20 15v5h-5M4 4l6 6M20 20l-6-6",
  play: "M7 4l13 8-13 8z",
  pause: "M7 4v16M17 4v16",
  back: "M18 5 9 12l9 7zM6 5v14",
  on: "M6 5l9 7-9 7zM18 5v14",
  close: "M6 6l12 12M18 6 6 18",
};
const ZOOM = { least: 0.03, most: 4 };
const kept = new Map(); // by key: where the reader looks and what is selected, over page changes

function make(tag, name) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  return element;
}

function label(element, text, path) {
  element.title = text;
  element.setAttribute("aria-label", text);
  element.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;
}

function button(text, path, onClick) {
  const element = make("button");
  element.type = "button";
  label(element, text, path);
  element.addEventListener("click", onClick);
  return element;
}

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// ---- mounting ---------------------------------------------------------------------------------------------------

function mount(host, key, data) {
  const root = make("div", "tokenviz");
  const stage = make("div", "stage");
  const style = make("style");
  style.textContent = STYLE;
  stage.tabIndex = 0;
  stage.setAttribute("role", "application");
  const view = {
    key, root, stage, items: new Map(), edges: new Map(), panels: [], notes: [], scale: 1, window: [0, 0, 0, 0],
    lit: new Set(), done: new Set(), dim: new Set(), hover: null, cursor: null, keyed: false, selected: null,
    path: null, tracing: false, trace: null, play: null, sent: Date.now(),
  };
  view.hint = make("div", "hint");
  view.nudge = make("div", "nudge");
  view.nudge.textContent = "Ctrl or ⌘ + wheel to zoom";
  view.status = make("div", "status");
  view.status.setAttribute("role", "status");
  view.tabs = make("div", "bar tabs");
  view.playbar = makePlaybar(view);
  root.append(stage, view.tabs, makeTools(view), view.playbar, view.hint, view.nudge, view.status);
  host.append(style, root);
  root.style.height = `${data.height}px`;
  view.colours = coloursOf(root, data.palette);
  view.vis = { nodes: new vis.DataSet(), edges: new vis.DataSet() };
  const nodes = { ctxRenderer: ({ ctx, id }) => ({ drawNode: () => drawItem(view, ctx, id), nodeDimensions: sizeOf(view, id) }) };
  view.network = new vis.Network(stage, view.vis, { ...data.options, nodes: { ...data.options.nodes, ...nodes } });
  root.network = view.network;
  root.view = view;
  listen(view);
  document.fonts.ready.then(() => {
    widths.clear();
    view.network.redraw();
  });
  return view;
}

function makeTools(view) {
  const bar = make("div", "bar tools");
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", "View");
  view.tracer = button("Show the whole path of what is selected (P)", ICONS.path, () => setTrace(view, view.trace ? null : "both"));
  view.tracer.setAttribute("aria-pressed", "false");
  bar.append(
    button("Fit all (0)", ICONS.fit, () => fitAll(view)),
    button("Zoom in (+)", ICONS.plus, () => zoomBy(view, 1.3, null, true)),
    button("Zoom out (−)", ICONS.minus, () => zoomBy(view, 1 / 1.3, null, true)),
    view.tracer,
    button("Save this view as PNG", ICONS.image, () => savePng(view)),
    button("Full screen", ICONS.full, () => toggleFull(view)),
  );
  return bar;
}

function drawItem(view, ctx, id) {
  const item = view.items.get(id);
  if (item) paintItem(ctx, view, item);
}

function sizeOf(view, id) {
  const item = view.items.get(id);
  return item ? { width: item.w, height: item.h } : { width: 1, height: 1 };
}

// ---- data -------------------------------------------------------------------------------------------------------

function update(view, data) {
  const fresh = view.data === undefined;
  const before = view.data;
  view.data = data;
  view.colours = coloursOf(view.root, data.palette);
  view.root.dataset.theme = view.colours.theme;
  view.root.style.height = `${data.height}px`;
  view.stage.setAttribute("aria-label", data.label);
  view.edgesSelectable = data.edges_selectable;
  if (fresh || before.scene.stamp !== data.scene.stamp) setScene(view, data, before);
  view.lit = new Set(data.lit);
  view.done = new Set(data.done);
  view.dim = new Set(data.dim);
  setPlay(view, data.play);
  if (view.play) seek(view, view.play.step);
  if (fresh || before.scene.id !== data.scene.id) openView(view, fresh);
  setFocus(view, data.focus);
  refreshPath(view);
  view.network.redraw();
}

function setScene(view, data, before) {
  const { scene } = data;
  const old = view.items;
  view.items = new Map(scene.nodes.map((node) => [node.id, { ...node }]));
  view.edges = new Map(scene.edges.map((edge) => [edge.id, { ...edge, source: edge.from, target: edge.to }]));
  view.panels = scene.panels;
  view.notes = scene.notes;
  sync(view.vis.nodes, scene.nodes);
  sync(view.vis.edges, scene.edges);
  setTabs(view);
  if (data.animate && before && before.scene.id === scene.id && !calm()) glide(view, old);
}

function sync(dataset, rows) {
  const wanted = new Set(rows.map((row) => row.id));
  dataset.remove(dataset.getIds().filter((id) => !wanted.has(id)));
  dataset.update(rows);
}

function setTabs(view) {
  const tabs = view.panels.filter((panel) => panel.tab);
  view.tabs.replaceChildren();
  view.tabs.hidden = tabs.length === 0;
  const add = (text, act) => {
    const tab = make("button");
    tab.type = "button";
    tab.textContent = text;
    tab.addEventListener("click", act);
    view.tabs.append(tab);
  };
  if (tabs.length) add("Fit all", () => fitAll(view));
  for (const panel of tabs) add(panel.tab, () => showRegion(view, panel));
}

// Move what changed place from where it was to where it belongs.
function glide(view, old) {
  const moving = [...view.items.values()].filter((item) => {
    const was = old.get(item.id);
    return was && (was.x !== item.x || was.y !== item.y);
  });
  const from = moving.map((item) => [old.get(item.id).x, old.get(item.id).y]);
  const to = moving.map((item) => [item.x, item.y]);
  const started = performance.now();
  const step = (time) => {
    const t = Math.min(1, Math.max(0, (time - started) / 900));
    const share = t < 0.5 ? 2 * t * t : 1 - (2 - 2 * t) ** 2 / 2;
    moving.forEach((item, i) => place(view, item, from[i].map((start, k) => start + (to[i][k] - start) * share)));
    forgetLines(view);
    view.network.redraw();
    if (t < 1) requestAnimationFrame(step);
  };
  step(started);
}

function place(view, item, [x, y]) {
  item.x = x;
  item.y = y;
  const node = view.network.body.nodes[item.id];
  if (node) Object.assign(node, { x, y });
}

function forgetLines(view) {
  for (const edge of view.edges.values()) if (!edge.points) edge.line = undefined;
}

// ---- selection --------------------------------------------------------------------------------------------------

function tell(view, name, value) {
  view.sent += 1;
  view.send(name, { value, n: view.sent });
}

function select(view, id, quiet) {
  const known = view.items.has(id) || view.edges.has(id);
  const next = known ? id : null;
  const changed = next !== view.selected;
  view.selected = next;
  view.cursor = next === null ? view.cursor : next;
  refreshPath(view);
  remember(view);
  view.network.redraw();
  if (changed && !quiet) tell(view, "selected", next);
}

function refreshPath(view) {
  view.tracing = view.trace !== null && view.selected !== null;
  view.path = view.selected === null ? null : pathOf(view);
  view.tracer.setAttribute("aria-pressed", String(view.trace !== null));
}

function setTrace(view, trace) {
  view.trace = trace;
  refreshPath(view);
  view.network.redraw();
}

function setFocus(view, focus) {
  const last = kept.get(view.key) || {};
  if (!focus || last.focus === focus.n) return;
  kept.set(view.key, { ...last, focus: focus.n });
  if (focus.select) select(view, focus.id, true);
  const panel = view.panels.find((candidate) => candidate.id === focus.id);
  const item = view.items.get(focus.id);
  if (panel) showRegion(view, panel);
  else if (item && focus.zoom) showItem(view, item);
  else if (focus.id === null && focus.zoom) fitAll(view);
}

// ---- view -------------------------------------------------------------------------------------------------------

function inset(view) {
  return view.tabs.hidden ? 12 : 48;
}

function moveView(view, target, still) {
  const animation = still || calm() ? false : { duration: 320, easingFunction: "easeInOutQuad" };
  view.network.moveTo({ ...target, animation });
  setTimeout(() => remember(view), still ? 0 : 360);
}

function room(view) {
  return { width: view.stage.clientWidth - 24, height: view.stage.clientHeight - inset(view) - 12 };
}

function showRect(view, rect, most, still) {
  const { width, height } = room(view);
  if (width <= 0 || height <= 0) return;
  const scale = Math.min(width / rect.w, height / rect.h, most);
  const shift = (inset(view) - 12) / 2 / scale;
  moveView(view, { position: { x: rect.x + rect.w / 2, y: rect.y + rect.h / 2 - shift }, scale }, still);
}

// A block fills the view; one too tall for readable text is shown from its top, at a size at which it can be read.
function showRegion(view, panel, still) {
  const { width, height } = room(view);
  const readable = 11.2 / SIZE.small;
  const whole = Math.min(width / panel.w, height / panel.h);
  view.touched = true;
  if (whole >= readable) return showRect(view, panel, 1.5, still);
  const scale = Math.max(0.6, Math.min(width / panel.w, readable));
  const top = panel.y + (view.stage.clientHeight / 2 - inset(view)) / scale;
  const y = panel.h * scale > height ? top : panel.y + panel.h / 2;
  return moveView(view, { position: { x: panel.x + panel.w / 2, y }, scale }, still);
}

function showItem(view, item) {
  view.touched = true;
  const scale = Math.max(view.scale, 0.9);
  moveView(view, { position: { x: item.x, y: item.y }, scale });
}

function fitAll(view, still) {
  view.touched = false;
  const { width, height } = view.data.scene;
  showRect(view, { x: 0, y: 0, w: width, h: height }, 1.4, still);
}

function openView(view, fresh) {
  const last = kept.get(view.key);
  if (fresh && last && last.scene === view.data.scene.id && last.scale) {
    view.touched = last.touched;
    view.trace = last.trace;
    moveView(view, { position: last.position, scale: last.scale }, true);
    if (last.selected) select(view, last.selected, true);
    return;
  }
  if (!view.items.has(view.selected)) select(view, null, true);
  const panel = view.panels.find((candidate) => candidate.id === view.data.open);
  if (panel) showRegion(view, panel, true);
  else fitAll(view, true);
}

function remember(view) {
  kept.set(view.key, {
    ...kept.get(view.key), scene: view.data.scene.id, scale: view.network.getScale(),
    position: view.network.getViewPosition(), selected: view.selected, touched: view.touched, trace: view.trace,
  });
}

function zoomBy(view, factor, at, smooth) {
  const scale = Math.max(ZOOM.least, Math.min(ZOOM.most, view.network.getScale() * factor));
  const centre = view.network.getViewPosition();
  const fixed = at || centre;
  const share = view.network.getScale() / scale;
  const position = { x: fixed.x + (centre.x - fixed.x) * share, y: fixed.y + (centre.y - fixed.y) * share };
  view.touched = true;
  moveView(view, { position, scale }, !smooth);
}

// After a drag at least the middle of the view stays on the drawing.
function holdOn(view) {
  const centre = view.network.getViewPosition();
  const { width, height } = view.data.scene;
  const position = { x: Math.max(0, Math.min(width, centre.x)), y: Math.max(0, Math.min(height, centre.y)) };
  if (position.x !== centre.x || position.y !== centre.y) moveView(view, { position, scale: view.network.getScale() });
}

function isFull(view) {
  return view.root.getRootNode().fullscreenElement === view.root;
}

function toggleFull(view) {
  if (isFull(view)) document.exitFullscreen();
  else view.root.requestFullscreen();
}

// ---- painting ---------------------------------------------------------------------------------------------------

function paintBelow(view, ctx) {
  for (const panel of view.panels) paintPanel(ctx, view, panel);
  for (const note of view.notes) paintNote(ctx, view, note);
  const strong = [];
  for (const edge of view.edges.values()) {
    const raised = view.selected === edge.id || view.hover === edge.id || (view.path && view.path.edges.has(edge.id));
    if (raised) strong.push(edge);
    else paintEdge(ctx, view, edge);
  }
  for (const edge of strong) paintEdge(ctx, view, edge);
}

function paintAbove(view, ctx) {
  for (const edge of view.edges.values()) paintEdgeLabel(ctx, view, edge);
  for (const panel of view.panels) paintFarHeading(ctx, view, panel);
  paintRings(ctx, view);
}

function look(view) {
  view.scale = view.network.getScale();
  const a = view.network.DOMtoCanvas({ x: 0, y: 0 });
  const b = view.network.DOMtoCanvas({ x: view.stage.clientWidth, y: view.stage.clientHeight });
  view.window = [a.x, a.y, b.x, b.y];
}

function savePng(view) {
  const ratio = Math.max(2, window.devicePixelRatio);
  const picture = make("canvas");
  picture.width = view.stage.clientWidth * ratio;
  picture.height = view.stage.clientHeight * ratio;
  const ctx = picture.getContext("2d");
  ctx.fillStyle = view.colours.background;
  ctx.fillRect(0, 0, picture.width, picture.height);
  const [left, top] = view.window;
  ctx.setTransform(view.scale * ratio, 0, 0, view.scale * ratio, -left * view.scale * ratio, -top * view.scale * ratio);
  paintBelow(view, ctx);
  for (const item of view.items.values()) paintItem(ctx, view, item);
  paintAbove(view, ctx);
  picture.toBlob((blob) => {
    const link = make("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${view.data.name}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

// ---- events -----------------------------------------------------------------------------------------------------

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
  network.on("dragStart", () => hide(view));
  network.on("dragging", ({ nodes }) => dragged(view, nodes));
  network.on("dragEnd", ({ nodes }) => dropped(view, nodes));
  network.on("zoom", () => {
    view.touched = true;
    remember(view);
  });
  root.addEventListener("wheel", (event) => onWheel(view, event), { capture: true, passive: false });
  stage.addEventListener("pointermove", (event) => onMove(view, event));
  stage.addEventListener("pointerleave", () => hide(view));
  stage.addEventListener("keydown", (event) => onKey(view, event));
  stage.addEventListener("blur", () => {
    view.keyed = false;
    network.redraw();
  });
  for (const inner of stage.querySelectorAll("[tabindex]")) inner.tabIndex = -1;
  view.resized = new ResizeObserver(() => {
    if (!view.data || !stage.clientWidth) return;
    network.setSize("100%", "100%");
    if (!view.touched) fitAll(view, true);
    network.redraw();
  });
  view.resized.observe(stage);
}

function pointOf(view, event) {
  const box = view.stage.getBoundingClientRect();
  return view.network.DOMtoCanvas({ x: event.clientX - box.left, y: event.clientY - box.top });
}

function onWheel(view, event) {
  event.stopPropagation();
  if (!event.ctrlKey && !event.metaKey && !isFull(view)) {
    if (view.nudged) return;
    view.nudged = true;
    view.nudge.classList.add("shown");
    setTimeout(() => view.nudge.classList.remove("shown"), 1600);
    return;
  }
  event.preventDefault();
  const speed = event.deltaMode ? 0.06 : Math.abs(event.deltaY) < 40 ? 0.01 : 0.0024;
  zoomBy(view, Math.exp(-event.deltaY * speed), pointOf(view, event));
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
  Escape: (view) => select(view, null),
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
  view.keyed = true;
  showHint(view, null);
  act(view);
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

// ---- the component's two entry points ---------------------------------------------------------------------------

function show({ key, data, parentElement, setStateValue }) {
  const view = parentElement.tokenviz || (parentElement.tokenviz = mount(parentElement, key, data));
  view.send = setStateValue;
  update(view, data);
}

function drop(parentElement) {
  const view = parentElement.tokenviz;
  if (!view) return;
  remember(view);
  if (view.play) clearTimeout(view.play.timer);
  view.resized.disconnect();
  view.network.destroy();
  parentElement.tokenviz = undefined;
  parentElement.replaceChildren();
}
