// Where the reader looks: zoom, pan, fit, full screen; and what is painted there.

// What the bars cover at the top and at the bottom of the stage, in pixels.
function insets(view) {
  const inset = { top: 12, bottom: 12 };
  for (const bar of [view.tabs, view.tools, view.playbar]) {
    if (bar.hidden || (bar === view.tools && view.root.classList.contains("narrow"))) continue;
    const [above, below] = [bar.offsetTop, view.root.clientHeight - bar.offsetTop - bar.offsetHeight];
    if (above < below) inset.top = Math.max(inset.top, above + bar.offsetHeight + 8);
    else inset.bottom = Math.max(inset.bottom, below + bar.offsetHeight + 8);
  }
  return inset;
}

function moveView(view, target, still) {
  const animation = still || calm() ? false : { duration: 320, easingFunction: "easeInOutQuad" };
  view.network.moveTo({ ...target, animation });
  setTimeout(() => remember(view), still ? 0 : 360);
}

function room(view) {
  const { top, bottom } = insets(view);
  const height = view.stage.clientHeight - top - bottom;
  return { top, width: view.stage.clientWidth - 24, height, shift: (top - bottom) / 2 };
}

function showRect(view, rect, most, still) {
  const { width, height, shift } = room(view);
  if (width <= 0 || height <= 0) return;
  const scale = Math.min(width / rect.w, height / rect.h, most);
  moveView(view, { position: { x: rect.x + rect.w / 2, y: rect.y + rect.h / 2 - shift / scale }, scale }, still);
}

// Titles have 11 px even where a block is wider than the view.
const LEGIBLE = 11.05 / SIZE.title;

// A block fills the view; one too tall for readable text is shown from its top, at a size at which it can be read.
function showRegion(view, panel, still) {
  const { top, width, height } = room(view);
  const readable = 11.2 / SIZE.small;
  const whole = Math.min(width / panel.w, height / panel.h);
  view.touched = true;
  if (whole >= readable) return showRect(view, panel, 1.5, still);
  const scale = Math.max(LEGIBLE, Math.min(width / panel.w, readable));
  if (panel.h * scale <= height) return showRect(view, panel, scale, still);
  const y = panel.y + (view.stage.clientHeight / 2 - top) / scale;
  return moveView(view, { position: { x: within(view, entryOf(view, panel, width / scale), scale), y }, scale }, still);
}

// No empty margin beside a drawing that is wider than the view: its first and last block stand at the edge.
function within(view, x, scale) {
  const half = view.stage.clientWidth / 2 / scale;
  const last = view.data.scene.width + 8 - half;
  return last < half - 8 ? x : Math.max(half - 8, Math.min(last, x));
}

// The middle of a block; of one wider than the view, the place where its first transform or node stands.
function entryOf(view, panel, seen) {
  const middle = panel.x + panel.w / 2;
  if (seen >= panel.w) return middle;
  const starts = (box) => box.kind === "box" || box.kind === "node";
  const inside = (box) => starts(box) && Math.abs(box.x - middle) < panel.w / 2 && box.y > panel.y;
  const first = [...view.items.values()].filter((box) => inside(box) && box.y < panel.y + panel.h);
  const top = first.reduce((best, box) => (best && best.y <= box.y ? best : box), null);
  // The spine and the weights stand left of the first transform: as much of them as leaves it in view.
  const x = !top ? middle : top.kind === "box" ? top.x + top.w / 2 + 12 - seen / 2 : top.x;
  return Math.max(panel.x + seen / 2 - 8, Math.min(panel.x + panel.w - seen / 2 + 8, x));
}

function showItem(view, item) {
  view.touched = true;
  const scale = Math.max(view.scale, 0.9);
  moveView(view, { position: { x: item.x, y: item.y }, scale });
}

// What was selected moves out from under a card that covers the right side of the stage.
function uncover(view, covered) {
  const item = view.items.get(view.selected);
  if (view.uncovered === view.selected || !item) return;
  view.uncovered = view.selected;
  const free = view.stage.clientWidth - covered;
  if (!covered || free < 200) return;
  const left = (item.x - item.w / 2 - view.window[0]) * view.scale - 24;
  const over = (item.x + item.w / 2 - view.window[0]) * view.scale + 24 - free;
  const shift = Math.min(Math.max(0, left), over);
  if (shift <= 0) return;
  const { x, y } = view.network.getViewPosition();
  view.touched = true;
  moveView(view, { position: { x: x + shift / view.scale, y }, scale: view.scale });
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
  if (view.data.scene.room) showHeaviest(view);
}

// A drawing of weighted arrows that is too wide for readable names opens at its heaviest arrow.
function showHeaviest(view) {
  const { width, height } = view.data.scene;
  const free = room(view);
  if (Math.min(free.width / width, free.height / height) >= 0.3) return;
  const heaviest = [...view.edges.values()].reduce((best, edge) => (best && best.width >= edge.width ? best : edge), null);
  const ends = heaviest ? [view.items.get(heaviest.source), view.items.get(heaviest.target)] : [];
  if (!ends.length) return;
  view.touched = true;
  const middle = (axis) => (ends[0][axis] + ends[1][axis]) / 2;
  moveView(view, { position: { x: middle("x"), y: middle("y") }, scale: 0.6 }, true);
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

// Full screen shows the drawing alone, or what `beside` names with it. Lists and hints that a page opens are drawn
// outside of both, so then the whole document goes full screen and the page's own style spreads that part over it.
function isFull(view) {
  if (!view.data.beside) return view.root.getRootNode().fullscreenElement === view.root;
  return !!document.fullscreenElement && document.body.dataset.full === view.data.beside;
}

function toggleFull(view) {
  if (isFull(view)) return document.exitFullscreen();
  if (!view.data.beside) return view.root.requestFullscreen();
  document.body.dataset.full = view.data.beside;
  return document.documentElement.requestFullscreen();
}

function fullChanged(view) {
  if (!document.fullscreenElement) delete document.body.dataset.full;
  view.root.classList.toggle("full", isFull(view));
}

// The page scrolls so far that the drawing and its bars can be seen.
function reveal(view) {
  if (view.following) view.root.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
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
  for (const edge of view.edges.values()) paintEdgeLabel(ctx, view, edge);
}

function paintAbove(view, ctx) {
  for (const note of view.notes) paintFarNote(ctx, view, note);
  for (const panel of view.panels) {
    paintFarHeading(ctx, view, panel);
    paintPinnedHeading(ctx, view, panel);
  }
  paintRings(ctx, view);
}

function look(view) {
  view.scale = view.network.getScale();
  const a = view.network.DOMtoCanvas({ x: 0, y: 0 });
  const b = view.network.DOMtoCanvas({ x: view.stage.clientWidth, y: view.stage.clientHeight });
  view.window = [a.x, a.y, b.x, b.y];
  view.inset = insets(view);
  const [left, right] = view.reach;
  view.root.classList.toggle("more-left", a.x > left + 4);
  view.root.classList.toggle("more-right", b.x < right - 4);
}
