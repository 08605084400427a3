// Geometry and graph questions: where a line runs, what is under a point, what lies on a path, where a key leads.

function span(a, b) {
  return Math.hypot(b[0] - a[0], b[1] - a[1]);
}

function near(view, [left, top, right, bottom]) {
  const [l, t, r, b] = view.window;
  return left <= r && right >= l && top <= b && bottom >= t;
}

// Where the ray from the centre of `item` towards `point` leaves its border (2 units outside).
function borderPoint(item, [px, py]) {
  const [dx, dy] = [px - item.x, py - item.y];
  const across = dx ? (item.w / 2 + 2) / Math.abs(dx) : Infinity;
  const down = dy ? (item.h / 2 + 2) / Math.abs(dy) : Infinity;
  const share = Math.min(across, down);
  return Number.isFinite(share) ? [item.x + dx * share, item.y + dy * share] : [item.x, item.y];
}

// The line of an edge: its points, the direction of its end, a place for its label. Kept until something moves.
function lineOf(view, edge) {
  if (edge.line === undefined) edge.line = edge.points ? polyline(edge.points) : between(view, edge);
  return edge.line;
}

function direction(a, b) {
  const length = span(a, b) || 1;
  return [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
}

function boundsOf(points) {
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  return [Math.min(...xs) - 10, Math.min(...ys) - 10, Math.max(...xs) + 10, Math.max(...ys) + 10];
}

function polyline(points) {
  let longest = 1;
  for (let i = 1; i < points.length; i++) {
    if (span(points[i - 1], points[i]) > span(points[longest - 1], points[longest])) longest = i;
  }
  const [a, b] = [points[longest - 1], points[longest]];
  const end = direction(points[points.length - 2], points[points.length - 1]);
  return { points, end, middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], bounds: boundsOf(points), samples: points };
}

function between(view, edge) {
  const [a, b] = [view.items.get(edge.source), view.items.get(edge.target)];
  if (!a || !b) return null;
  if (a === b) return selfLoop(a);
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [nx, ny] = [(-(b.y - a.y) / length) * edge.curve * length, ((b.x - a.x) / length) * edge.curve * length];
  const bend = [(a.x + b.x) / 2 + nx, (a.y + b.y) / 2 + ny];
  const start = borderPoint(a, edge.curve ? bend : [b.x, b.y]);
  const stop = borderPoint(b, edge.curve ? bend : [a.x, a.y]);
  const at = (t) => [0, 1].map((k) => (1 - t) ** 2 * start[k] + 2 * t * (1 - t) * bend[k] + t ** 2 * stop[k]);
  if (!edge.curve) return polyline([start, stop]);
  const samples = [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1].map(at);
  return { points: [start, stop], bend, end: direction(bend, stop), middle: at(0.5), bounds: boundsOf(samples), samples };
}

function selfLoop(item) {
  const [x, y] = [item.x + item.w / 2 + 2, item.y];
  const points = [[x, y - 8], [x, y + 8]];
  const samples = [points[0], [x + 22, y - 8], [x + 22, y + 8], points[1]];
  return { points, loop: [[x + 34, y - 18], [x + 34, y + 18]], end: [-0.93, -0.36], middle: [x + 40, y],
    bounds: boundsOf(samples), samples };
}

function hit(view, { x, y }) {
  const inside = (item, by) => Math.abs(x - item.x) <= item.w / 2 + by && Math.abs(y - item.y) <= item.h / 2 + by;
  let best = null;
  for (const item of view.items.values()) {
    if (inside(item, 1) && (!best || item.w * item.h < best.w * best.h)) best = item;
  }
  return best ? best.id : hitEdge(view, [x, y]);
}

function hitEdge(view, point) {
  if (!view.edgesSelectable) return null;
  let best = null;
  let least = 6 / view.scale;
  for (const edge of view.edges.values()) {
    const line = lineOf(view, edge);
    for (let i = 1; line && i < line.samples.length; i++) {
      const distance = toSegment(point, line.samples[i - 1], line.samples[i]) - edge.width / 2;
      if (distance < least) [least, best] = [distance, edge.id];
    }
  }
  return best;
}

function toSegment([x, y], a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const squared = dx * dx + dy * dy;
  const t = squared ? Math.max(0, Math.min(1, ((x - a[0]) * dx + (y - a[1]) * dy) / squared)) : 0;
  return Math.hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

// ---- graph ------------------------------------------------------------------------------------------------------

function outerOf(view, id) {
  const item = view.items.get(id);
  return item && item.owner ? item.owner : id;
}

function touches(view, edge, id) {
  return edge.source === id || edge.target === id || outerOf(view, edge.source) === id || outerOf(view, edge.target) === id;
}

// What the selection brings to full strength: neighbours, or when tracing everything before and after it.
function pathOf(view) {
  const edge = view.edges.get(view.selected);
  if (edge) return spread(view, [edge.source, edge.target], [edge.id]);
  if (!view.items.has(view.selected)) return null;
  const items = new Set([outerOf(view, view.selected)]);
  const edges = new Set();
  if (view.trace !== "after") walk(view, items, edges, "target", "source");
  if (view.trace !== "before") walk(view, items, edges, "source", "target");
  return spread(view, items, edges);
}

function walk(view, items, edges, from, to) {
  const seen = new Set([outerOf(view, view.selected)]);
  const queue = [...seen];
  for (let here = queue.shift(); here !== undefined; here = queue.shift()) {
    for (const edge of view.edges.values()) {
      if (outerOf(view, edge[from]) !== here || (view.trace && edge.bridge)) continue;
      const next = outerOf(view, edge[to]);
      edges.add(edge.id);
      items.add(next);
      if (view.trace && !seen.has(next)) queue.push(next);
      seen.add(next);
    }
  }
}

function spread(view, outer, edges) {
  const ids = new Set(outer);
  const items = new Set([...ids].map((id) => outerOf(view, id)));
  for (const id of ids) items.add(id);
  for (const item of view.items.values()) if (item.owner && ids.has(item.owner)) items.add(item.id);
  return { items, edges: new Set(edges) };
}

// Where an arrow key leads. Cells are walked inside their box; otherwise a linked neighbour wins over a nearer stranger.
function stepFrom(view, id, key) {
  const here = view.items.get(id);
  if (!here) return firstItem(view);
  const siblings = [...view.items.values()].filter((item) => item.owner && item.owner === (here.owner || here.id));
  const row = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  if (row && siblings.length) {
    const at = siblings.indexOf(here) + row;
    if (here.owner && at < 0) return here.owner;
    if (siblings[at] && (here.owner || row > 0)) return siblings[at].id;
  }
  if (here.owner && key === "ArrowUp") return here.owner;
  return nearest(view, view.items.get(outerOf(view, id)), key);
}

function firstItem(view) {
  const outer = [...view.items.values()].filter((item) => !item.owner);
  outer.sort((a, b) => a.y - b.y || a.x - b.x);
  return outer.length ? outer[0].id : null;
}

function nearest(view, here, key) {
  const [ux, uy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key];
  const linked = new Set();
  for (const edge of view.edges.values()) {
    const ends = [outerOf(view, edge.source), outerOf(view, edge.target)];
    if (ends.includes(here.id)) ends.forEach((end) => linked.add(end));
  }
  let best = null;
  let least = Infinity;
  for (const item of view.items.values()) {
    if (item.owner || item === here) continue;
    const [dx, dy] = [item.x - here.x, item.y - here.y];
    const along = dx * ux + dy * uy;
    if (along <= 1) continue;
    const score = (along + 2 * Math.abs(dx * uy + dy * ux)) * (linked.has(item.id) ? 0.3 : 1);
    if (score < least) [least, best] = [score, item.id];
  }
  return best;
}

function spoken(item) {
  const kinds = { box: "transform", cell: item.op, bubble: `${item.life} data`, node: "node" };
  return [item.text.replace(/\n/g, " "), kinds[item.kind], item.dims, item.bytes, item.number].filter(Boolean).join(", ");
}
