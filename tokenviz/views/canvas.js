// The interactive canvas: vis-network keeps nodes, edges, view and gestures; canvas_draw.js paints.
// show() is called on the same element at every change of data or theme and must keep what the reader did.

const ICONS = {
  fit: "M3 8V3h5M16 3h5v5M21 16v5h-5M8 21H3v-5M8 8h8v8H8z",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  path: "M6 4v6a3 3 0 0 0 3 3h6a3 3 0 0 1 3 3v4M6 4 3 7M6 4l3 3M18 20l-3-3M18 20l3-3",
  image: "M12 3v12M7 10l5 5 5-5M4 20h16",
  vector: "M4 19c0-9 16-5 16-14M4 19h.01M20 5h.01M4 16v6M1 19h6M17 5h6M20 2v6",
  sheet: "M6 2h9l4 4v16H6zM15 2v4h4M12.5 10v7M9.5 14l3 3 3-3",
  full: "M4 9V4h5M20 15v5h-5M4 4l6 6M20 20l-6-6",
  play: "M7 4l13 8-13 8z",
  pause: "M7 4v16M17 4v16",
  back: "M18 5 9 12l9 7zM6 5v14",
  on: "M6 5l9 7-9 7zM18 5v14",
  close: "M6 6l12 12M18 6 6 18",
  follow: "M12 3v4M12 17v4M3 12h4M17 12h4M12 7a5 5 0 1 0 .01 0",
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

function mount(host, data) {
  const root = make("div", "tokenviz");
  const stage = make("div", "stage");
  const style = make("style");
  style.textContent = STYLE;
  stage.tabIndex = 0;
  stage.setAttribute("role", "application");
  const view = {
    key: data.key, root, stage, items: new Map(), edges: new Map(), panels: [], notes: [], scale: 1, window: [0, 0, 0, 0],
    reach: [0, 0], lit: new Set(), done: new Set(), dim: new Set(), hover: null, cursor: null, keyed: false, selected: null, inset: { top: 12, bottom: 12 },
    path: null, tracing: false, trace: null, play: null, following: true, sent: Date.now(),
  };
  view.hint = make("div", "hint");
  view.nudge = make("div", "nudge");
  view.status = make("div", "status");
  view.status.setAttribute("role", "status");
  view.tabs = make("div", "bar tabs");
  view.playbar = makePlaybar(view);
  view.tools = makeTools(view);
  root.append(stage, view.tabs, view.tools, view.playbar, view.hint, view.nudge, view.status);
  host.append(style, root);
  root.style.height = data.height;
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
  view.fitter = button("Fit all (0)", ICONS.fit, () => fitAll(view));
  bar.append(
    view.fitter,
    button("Zoom in (+)", ICONS.plus, () => zoomBy(view, 1.3, null, true)),
    button("Zoom out (−)", ICONS.minus, () => zoomBy(view, 1 / 1.3, null, true)),
    view.tracer,
    button("Save this view as PNG", ICONS.image, () => savePng(view, false)),
    button("Save this view as SVG", ICONS.vector, () => saveSvg(view)),
    button("Save the whole drawing as PNG", ICONS.sheet, () => savePng(view, true)),
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
  view.root.style.height = data.height;
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
  uncover(view, data.covered);
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
  view.reach = reachOf(view);
  if (!before || data.options.interaction.dragNodes || !samePlaces(before.scene, scene)) {
    sync(view.vis.nodes, scene.nodes);
    sync(view.vis.edges, scene.edges);
  }
  setTabs(view);
  if (data.animate && before && before.scene.id === scene.id && !calm()) glide(view, old);
}

// From where to where the drawing's blocks reach, or its nodes where there are no blocks.
function reachOf(view) {
  const sides = view.panels.map((panel) => [panel.x, panel.x + panel.w]);
  if (!sides.length) for (const item of view.items.values()) sides.push([item.x - item.w / 2, item.x + item.w / 2]);
  return [Math.min(...sides.map(([left]) => left)), Math.max(...sides.map(([, right]) => right))];
}

// Whether only texts changed: vis-network holds the places, the painters read the texts from `view.items`.
function samePlaces(before, scene) {
  const place = ({ id, x, y, w, h }) => `${id} ${x} ${y} ${w} ${h}`;
  const equal = (a, b, name) => a.length === b.length && a.every((row, i) => name(row) === name(b[i]));
  return equal(before.nodes, scene.nodes, place) && equal(before.edges, scene.edges, (edge) => edge.id);
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
  view.fitter.hidden = tabs.length > 0;
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
  if (changed && !quiet && view.play && view.play.timer) pausePlay(view);
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
  if (focus.select) {
    if (focus.id !== null && view.play) halt(view);
    select(view, focus.id, true);
  }
  if (focus.trace !== undefined) setTrace(view, focus.trace);
  const panel = view.panels.find((candidate) => candidate.id === focus.id);
  const item = view.items.get(focus.id);
  if (panel) showRegion(view, panel);
  else if (item && focus.zoom) showItem(view, item);
  else if (focus.id === null && focus.zoom) fitAll(view);
}

// ---- the component's two entry points ---------------------------------------------------------------------------

function show({ data, parentElement, setStateValue }) {
  if (parentElement.tokenviz && parentElement.tokenviz.key !== data.key) drop(parentElement);
  const view = parentElement.tokenviz || (parentElement.tokenviz = mount(parentElement, data));
  view.send = setStateValue;
  update(view, data);
}

function drop(parentElement) {
  const view = parentElement.tokenviz;
  if (!view) return;
  if (view.play) clearTimeout(view.play.timer);
  view.resized.disconnect();
  document.removeEventListener("fullscreenchange", view.fullChanged);
  if (isFull(view)) document.exitFullscreen();
  view.network.destroy();
  parentElement.tokenviz = undefined;
  parentElement.replaceChildren();
}
