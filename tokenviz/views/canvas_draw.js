// Drawing: panels, edges, boxes, cells, bubbles and nodes on a 2D context, in canvas units.
// A "view" carries what the painters read: colours, scale, what is selected, lit, done or dim.

const SIZE = { heading: 18, sub: 13, title: 13, body: 12, small: 11 };
const LINE = 15;
const HEAD = 24;
const FADED = 0.25;
const ASIDE = 0.5;
const TOO_SMALL = 5;
const LEAST_NAME = 9;
const MOST_GROWTH = 2.2;

function coloursOf(element, palette) {
  const css = getComputedStyle(element);
  const read = (name, fallback) => css.getPropertyValue(name).trim() || fallback;
  const page = read("--st-background-color", "#ffffff");
  const theme = luminance(page) < 0.4 ? "dark" : "light";
  const base = palette[theme];
  return {
    ...base,
    theme,
    op: palette.op,
    ink: palette.ink,
    background: page,
    text: read("--st-text-color", base.text),
    font: read("--st-font", '"Source Sans", sans-serif'),
  };
}

function luminance(colour) {
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}

function fontOf(view, size, weight) {
  return `${weight || 400} ${size}px ${view.colours.font}`;
}

const widths = new Map();

function widthOf(ctx, text) {
  const key = ctx.font + text;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 5000) widths.clear();
    width = ctx.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

// Text that stays inside `room`: squeezed a little, then cut with an ellipsis.
function write(ctx, text, x, y, room) {
  const width = widthOf(ctx, text);
  if (width <= room) return ctx.fillText(text, x, y);
  if (width * 0.85 <= room) return ctx.fillText(text, x, y, room);
  let keep = text;
  while (keep.length > 1 && widthOf(ctx, keep + "…") * 0.85 > room) keep = keep.slice(0, -1);
  return ctx.fillText(keep + "…", x, y, room);
}

function legible(view, size) {
  return size * view.scale >= TOO_SMALL;
}

function hair(view, width, least) {
  return Math.max(width, (least || 0.8) / view.scale);
}

function rounded(ctx, left, top, width, height, radius) {
  ctx.beginPath();
  ctx.roundRect(left, top, width, height, Math.min(radius, width / 2, height / 2));
}

function strengthOf(view, id) {
  if (view.lit.has(id)) return 1; // what runs now is never faded, whatever was selected before
  if (view.dim.has(id)) return FADED;
  if (!view.path || view.path.items.has(id)) return 1;
  return view.tracing ? FADED : ASIDE;
}

// ---- panels and notes -------------------------------------------------------------------------------------------

function paintPanel(ctx, view, panel) {
  const { colours } = view;
  rounded(ctx, panel.x, panel.y, panel.w, panel.h, 14);
  ctx.fillStyle = colours.panel;
  ctx.fill();
  ctx.lineWidth = hair(view, 1);
  ctx.strokeStyle = colours.border;
  ctx.stroke();
  if (SIZE.heading * view.scale < 11.5 || panel.y + 24 < pinnedFrom(view)) return; // pinned: painted on top of all
  paintHeading(ctx, view, panel, panel.x + panel.indent, panel.y + 24);
}

// Headings above this line lie under the bars or out of sight.
function pinnedFrom(view) {
  return view.window[1] + view.inset.top / view.scale + 14;
}

function paintHeading(ctx, view, panel, x, y) {
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.font = fontOf(view, SIZE.heading, 600);
  ctx.fillStyle = view.colours.text;
  const room = panel.x + panel.w - x - 16;
  write(ctx, panel.heading, x, y, room);
  const used = Math.min(room, widthOf(ctx, panel.heading)) + 12;
  if (!panel.sub || room - used < 40) return;
  ctx.font = fontOf(view, SIZE.sub);
  ctx.fillStyle = view.colours.muted;
  write(ctx, panel.sub, x + used, y + 1, room - used);
}

// A heading that scrolled out of sight stays at the edge of the view while its panel is there.
function paintPinnedHeading(ctx, view, panel) {
  if (SIZE.heading * view.scale < 11.5) return;
  const [left, top, right] = view.window;
  const px = 1 / view.scale;
  ctx.font = fontOf(view, SIZE.heading, 600);
  const width = widthOf(ctx, panel.heading);
  const x = Math.min(Math.max(panel.x + panel.indent, left + 14 * px), panel.x + panel.w - width - 16);
  const y = Math.min(Math.max(panel.y + 24, pinnedFrom(view)), panel.y + panel.h - 24);
  if ((x === panel.x + panel.indent && y === panel.y + 24) || x > right || y < top) return;
  ctx.globalAlpha = 0.9;
  ctx.font = fontOf(view, SIZE.sub);
  const sub = panel.sub && panel.x + panel.w - x - width - 28 > 40 ? widthOf(ctx, panel.sub) + 12 : 0;
  rounded(ctx, x - 8, y - 14, width + sub + 16, 28, 6);
  ctx.fillStyle = view.colours.panel;
  ctx.fill();
  ctx.globalAlpha = 1;
  paintHeading(ctx, view, panel, x, y);
}

// Far out, headings keep a readable size: beside their panel where there is room, else over its upper edge.
function paintFarHeading(ctx, view, panel) {
  if (SIZE.heading * view.scale >= 11.5) return;
  const px = 1 / view.scale;
  const [bold, plain] = [fontOf(view, 13 * px, 600), fontOf(view, 12 * px)];
  ctx.font = bold;
  const heading = widthOf(ctx, panel.heading);
  ctx.font = plain;
  const sub = panel.sub ? widthOf(ctx, panel.sub) : 0;
  ctx.textBaseline = "middle";
  const put = (text, font, colour, x, y) => {
    ctx.font = font;
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
  };
  const beyond = (other) => other.x < panel.x && other.y < panel.y + 30 * px && other.y + other.h > panel.y;
  if (!view.panels.some(beyond) && panel.x - view.window[0] > Math.max(heading, sub) + 20 * px) {
    ctx.textAlign = "right";
    put(panel.heading, bold, view.colours.text, panel.x - 10 * px, panel.y + 9 * px);
    put(panel.sub, plain, view.colours.muted, panel.x - 10 * px, panel.y + 26 * px);
    return;
  }
  ctx.textAlign = "left";
  const beside = sub && heading + sub + 20 * px < panel.w;
  const width = heading + (beside ? sub + 6 * px : 0) + 12 * px;
  const left = Math.min(Math.max(panel.x, view.window[0] + 8 * px), panel.x + panel.w - width);
  const above = view.window[1] + (view.inset.top - 6) * px;
  const top = Math.min(Math.max(panel.y, above), panel.y + panel.h - 24 * px);
  ctx.globalAlpha = 0.9;
  rounded(ctx, left + 2 * px, top + 2 * px, heading + (beside ? sub + 6 * px : 0) + 10 * px, 18 * px, 4 * px);
  ctx.fillStyle = view.colours.background;
  ctx.fill();
  ctx.globalAlpha = 1;
  put(panel.heading, bold, view.colours.text, left + 7 * px, top + 11 * px);
  if (beside) put(panel.sub, plain, view.colours.muted, left + heading + 13 * px, top + 11 * px);
}

function paintNote(ctx, view, note) {
  if (note.far || !legible(view, note.size)) return;
  ctx.textAlign = note.anchor === "middle" ? "center" : note.anchor;
  ctx.textBaseline = "middle";
  ctx.font = fontOf(view, note.size, note.strong ? 600 : 400);
  ctx.fillStyle = note.strong ? view.colours.text : view.colours.muted;
  ctx.fillText(note.text, note.x, note.y);
}

// From afar a group's name stands over its nodes, which are too small to have theirs.
function paintFarNote(ctx, view, note) {
  if (!note.far || legible(view, SIZE.title)) return;
  const px = 1 / view.scale;
  ctx.font = fontOf(view, 12 * px, 600);
  const width = widthOf(ctx, note.text) + 8 * px;
  ctx.globalAlpha = 0.9;
  rounded(ctx, note.x - width / 2, note.y - 9 * px, width, 18 * px, 4 * px);
  ctx.fillStyle = view.colours.background;
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = view.colours.text;
  ctx.fillText(note.text, note.x, note.y);
}

// ---- items ------------------------------------------------------------------------------------------------------

function paintItem(ctx, view, item) {
  ctx.globalAlpha = strengthOf(view, item.id);
  ({ box: paintBox, cell: paintCell, bubble: paintBubble, node: paintNode })[item.kind](ctx, view, item, {
    left: item.x - item.w / 2,
    top: item.y - item.h / 2,
  });
  ctx.globalAlpha = 1;
}

function paintBox(ctx, view, box, { left, top }) {
  const { colours } = view;
  rounded(ctx, left, top, box.w, box.h, 7);
  ctx.fillStyle = colours.gold_fill;
  ctx.fill();
  ctx.lineWidth = hair(view, isHot(view, box.id) ? 2.4 : 1.4);
  ctx.strokeStyle = colours.gold;
  ctx.stroke();
  if (!legible(view, SIZE.title)) return;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const middle = box.bare ? top + box.h / 2 : top + HEAD / 2 + 1;
  let room = box.w - 20;
  if (box.note) {
    ctx.font = fontOf(view, SIZE.small);
    ctx.fillStyle = colours.muted;
    ctx.textAlign = "right";
    ctx.fillText(box.note, left + box.w - 10, middle);
    room -= widthOf(ctx, box.note) + 10;
    ctx.textAlign = "left";
  }
  ctx.font = fontOf(view, SIZE.title, 600);
  ctx.fillStyle = colours.text;
  write(ctx, box.text, left + 10, middle, room);
}

function paintCell(ctx, view, cell, { left, top }) {
  const { colours } = view;
  const playing = view.lit.size + view.done.size > 0;
  const lit = view.lit.has(cell.id);
  const waiting = playing && !lit && !view.done.has(cell.id);
  rounded(ctx, left, top, cell.w, cell.h, 4);
  if (waiting) {
    ctx.fillStyle = colours.background;
    ctx.fill();
    ctx.lineWidth = hair(view, 1);
    ctx.strokeStyle = colours.op[cell.op];
    ctx.stroke();
  } else {
    const strength = ctx.globalAlpha;
    if (playing && !lit) {
      ctx.fillStyle = colours.background;
      ctx.fill();
      ctx.globalAlpha = strength * 0.62;
    }
    ctx.fillStyle = colours.op[cell.op];
    ctx.fill();
    ctx.globalAlpha = strength;
  }
  if (isHot(view, cell.id)) {
    ctx.lineWidth = hair(view, 1.6, 1.2);
    ctx.strokeStyle = colours.text;
    ctx.stroke();
  }
  if (lit) {
    rounded(ctx, left - 2, top - 2, cell.w + 4, cell.h + 4, 6);
    ctx.lineWidth = hair(view, 3.2, 2);
    ctx.strokeStyle = colours.accent;
    ctx.stroke();
  }
  if (!legible(view, SIZE.body)) return;
  ctx.font = fontOf(view, SIZE.body, lit ? 600 : 400);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = waiting ? colours.muted : colours.ink;
  const lines = cell.text.split("\n");
  lines.forEach((text, i) => write(ctx, text, cell.x, cell.y + 0.5 + (i - (lines.length - 1) / 2) * 13, cell.w - 6));
}

function paintBubble(ctx, view, bubble, { left, top }) {
  const { colours } = view;
  const swatch = colours.lifetimes[bubble.life];
  const radius = Math.min(bubble.h / 2, 18);
  rounded(ctx, left, top, bubble.w, bubble.h, radius);
  ctx.fillStyle = swatch.fill;
  ctx.fill();
  ctx.lineWidth = hair(view, isHot(view, bubble.id) ? 2.6 : 1.6, 1);
  ctx.strokeStyle = swatch.outline;
  ctx.stroke();
  if (bubble.life === "state") {
    rounded(ctx, left + 3.5, top + 3.5, bubble.w - 7, bubble.h - 7, radius - 3.5);
    ctx.lineWidth = hair(view, 1, 0.6);
    ctx.stroke();
  }
  if (view.lit.has(bubble.id)) {
    ctx.strokeStyle = colours.accent;
    paintHere(ctx, view, bubble, left);
  }
  if (!legible(view, SIZE.title)) return;
  const lines = [bubble.text, ...(bubble.dims || "").split("\n"), bubble.bytes].filter(Boolean);
  const first = bubble.y - ((lines.length - 1) * LINE) / 2;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.font = fontOf(view, SIZE.title, 600);
  const mark = bubble.life === "ephemeral" ? 0 : LINE;
  const room = bubble.w - 18 - mark;
  const name = Math.min(widthOf(ctx, bubble.text), room);
  ctx.fillStyle = colours.text;
  write(ctx, bubble.text, bubble.x + mark / 2, first, room);
  const at = bubble.x - name / 2 - mark / 2 + 5;
  if (bubble.life === "static") paintLock(ctx, swatch.outline, at, first);
  if (bubble.life === "state") paintLoop(ctx, swatch.outline, at, first);
  if (!legible(view, SIZE.small)) return;
  ctx.font = fontOf(view, SIZE.small);
  ctx.fillStyle = colours.text;
  lines.slice(1).forEach((text, i) => write(ctx, text, bubble.x, first + (i + 1) * LINE, bubble.w - 16));
}

function paintLock(ctx, colour, x, y) {
  ctx.fillStyle = colour;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.4;
  ctx.beginPath();
  ctx.roundRect(x - 4.5, y - 1, 9, 6.5, 1.2);
  ctx.fill();
  ctx.beginPath();
  ctx.arc(x, y - 1.2, 2.8, Math.PI, 0);
  ctx.stroke();
}

function paintLoop(ctx, colour, x, y) {
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.arc(x, y, 4.2, -0.3 * Math.PI, 1.35 * Math.PI);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x - 0.4, y - 6.4);
  ctx.lineTo(x + 4.6, y - 4.6);
  ctx.lineTo(x + 0.8, y - 1.2);
  ctx.closePath();
  ctx.fill();
}

function paintNode(ctx, view, node, { top }) {
  const { colours } = view;
  const lit = view.lit.has(node.id);
  const hot = lit || isHot(view, node.id);
  const [lines, grown] = [node.text.split("\n"), growth(view)];
  const width = widthOfNode(ctx, view, node, lines, grown);
  const left = node.x - width / 2;
  rounded(ctx, left, top, width, node.h, node.look ? node.h / 2 : 8);
  ctx.fillStyle = lit ? colours.accent : node.op ? colours.op[node.op] : colours.background;
  ctx.fill();
  if (view.done.has(node.id) && !lit) {
    const strength = ctx.globalAlpha;
    ctx.globalAlpha = strength * 0.2;
    ctx.fillStyle = colours.accent;
    ctx.fill();
    ctx.globalAlpha = strength;
  }
  ctx.lineWidth = hair(view, node.look ? 2.6 : hot ? 2.4 : 1.2);
  ctx.strokeStyle = hot ? colours.accent : node.op ? "rgba(0,0,0,0.28)" : colours.muted;
  ctx.stroke();
  if (lit) paintHere(ctx, view, node, left);
  if (!legible(view, SIZE.title * grown)) return;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = lit ? colours.background : node.op ? colours.ink : colours.text;
  const most = grown > 1 ? Math.max(1, Math.floor(node.h / (LINE * grown))) : lines.length + 1;
  const texts = [...lines.map((line) => [line, SIZE.title, 600]), [node.number, SIZE.small, 400]];
  const shown = texts.filter(([text]) => text).slice(0, most);
  shown.forEach(([text, size, weight], i) => {
    ctx.font = fontOf(view, size * grown, weight);
    write(ctx, text, node.x, node.y + (i - (shown.length - 1) / 2) * LINE * grown, width - 12);
  });
}

// Where a drawing leaves room between its nodes, their names keep a size that can be read from afar.
function growth(view) {
  if (!view.data.scene.room) return 1;
  return Math.min(Math.max(1, LEAST_NAME / (SIZE.title * view.scale)), MOST_GROWTH);
}

// A node is as wide as its grown name asks for, as far as there is room beside it.
function widthOfNode(ctx, view, node, lines, grown) {
  if (grown === 1) return node.w;
  ctx.font = fontOf(view, SIZE.title * grown, 600);
  const wanted = Math.max(...lines.map((line) => widthOf(ctx, line))) + 12;
  return Math.min(Math.max(node.w, wanted), node.w + view.data.scene.room);
}

// The step that is played: a second outline and a pointer from the left, so that colour is not the only sign.
function paintHere(ctx, view, node, left) {
  const gap = 4;
  rounded(ctx, left - gap, node.y - node.h / 2 - gap, node.w + 2 * gap, node.h + 2 * gap, node.look || node.life ? node.h : 11);
  ctx.lineWidth = hair(view, 2, 1.4);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(left - gap - 4, node.y);
  ctx.lineTo(left - gap - 16, node.y - 8);
  ctx.lineTo(left - gap - 16, node.y + 8);
  ctx.closePath();
  ctx.fillStyle = view.colours.accent;
  ctx.fill();
}

// The ring around what is selected, and the dashed one around what the keyboard points at.
function paintRings(ctx, view) {
  const ring = (id, dash, width) => {
    const item = view.items.get(id);
    if (!item) return;
    const gap = item.kind === "cell" ? 2 : 4;
    const radius = { box: 10, cell: 6, bubble: 21, node: 11 }[item.kind];
    rounded(ctx, item.x - item.w / 2 - gap, item.y - item.h / 2 - gap, item.w + 2 * gap, item.h + 2 * gap, radius);
    ctx.setLineDash(dash);
    ctx.lineWidth = hair(view, width, 1.6);
    ctx.strokeStyle = view.colours.accent;
    ctx.stroke();
    ctx.setLineDash([]);
  };
  ring(view.selected, [], 2.4);
  if (view.keyed && view.cursor !== view.selected) ring(view.cursor, [5, 4], 2);
}

function isHot(view, id) {
  return view.hover === id || view.selected === id;
}
