// Pictures of the canvas: the painters draw on a bitmap, or on a context that writes down what is drawn as SVG.

// What to show: the current view, or the whole drawing at the size at which every text is drawn.
function frameOf(view, whole) {
  const [left, top, right, bottom] = view.window;
  if (!whole) return { left, top, width: right - left, height: bottom - top, scale: view.scale };
  const margin = 16;
  const { width, height } = view.data.scene;
  return { left: -margin, top: -margin, width: width + 2 * margin, height: height + 2 * margin, scale: 1 };
}

function paintFrame(view, ctx, frame) {
  const before = { window: view.window, scale: view.scale, inset: view.inset };
  view.window = [frame.left, frame.top, frame.left + frame.width, frame.top + frame.height];
  view.scale = frame.scale;
  view.inset = { top: 0, bottom: 0 };
  ctx.fillStyle = view.colours.background;
  ctx.fillRect(frame.left, frame.top, frame.width, frame.height);
  paintBelow(view, ctx);
  for (const item of view.items.values()) paintItem(ctx, view, item);
  paintAbove(view, ctx);
  Object.assign(view, before);
}

function savePng(view, whole) {
  const frame = frameOf(view, whole);
  const most = 16000 / Math.max(frame.width, frame.height);
  const ratio = Math.min(most, frame.scale * Math.max(2, window.devicePixelRatio));
  const picture = make("canvas");
  picture.width = Math.round(frame.width * ratio);
  picture.height = Math.round(frame.height * ratio);
  const ctx = picture.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, -frame.left * ratio, -frame.top * ratio);
  paintFrame(view, ctx, frame);
  picture.toBlob((blob) => saveBlob(blob, `${view.data.name}${whole ? "" : " view"}.png`));
}

function saveSvg(view) {
  const frame = frameOf(view, false);
  const ctx = new SvgContext();
  paintFrame(view, ctx, frame);
  saveBlob(new Blob([ctx.document(frame)], { type: "image/svg+xml" }), `${view.data.name} view.svg`);
}

function saveBlob(blob, name) {
  const link = make("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const ANCHORS = { left: "start", start: "start", center: "middle", right: "end", end: "end" };

function short(number) {
  return String(Math.round(number * 100) / 100);
}

function safe(text) {
  return String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

class SvgContext {
  constructor() {
    this.parts = [];
    this.path = [];
    this.dash = [];
    this.globalAlpha = 1;
    this.ruler = make("canvas").getContext("2d");
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = [];
  }

  add(letter, ...numbers) {
    this.path.push(letter + numbers.map(short).join(" "));
    if (numbers.length) this.at = numbers.slice(-2);
  }

  moveTo(x, y) {
    this.add("M", x, y);
  }

  lineTo(x, y) {
    this.add("L", x, y);
  }

  closePath() {
    this.add("Z");
  }

  quadraticCurveTo(a, b, x, y) {
    this.add("Q", a, b, x, y);
  }

  bezierCurveTo(a, b, c, d, x, y) {
    this.add("C", a, b, c, d, x, y);
  }

  arcTo(x, y, nextX, nextY, radius) {
    const corner = [x, y];
    const into = direction(corner, this.at);
    const out = direction(corner, [nextX, nextY]);
    this.add("L", x + into[0] * radius, y + into[1] * radius);
    this.add("Q", x, y, x + out[0] * radius, y + out[1] * radius);
  }

  arc(x, y, radius, from, to) {
    this.add(this.path.length ? "L" : "M", x + radius * Math.cos(from), y + radius * Math.sin(from));
    const end = [x + radius * Math.cos(to), y + radius * Math.sin(to)];
    const turn = (to - from + 2 * Math.PI) % (2 * Math.PI);
    this.add("A", radius, radius, 0, turn > Math.PI ? 1 : 0, 1, ...end);
  }

  roundRect(x, y, width, height, radius) {
    const r = Math.max(0, radius);
    const [right, bottom] = [x + width, y + height];
    this.add("M", x + r, y);
    for (const [ax, ay, bx, by] of [
      [right - r, y, right, y + r], [right, bottom - r, right - r, bottom], [x + r, bottom, x, bottom - r], [x, y + r, x + r, y],
    ]) {
      this.add("L", ax, ay);
      this.add("A", r, r, 0, 0, 1, bx, by);
    }
    this.add("Z");
  }

  alpha() {
    return this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
  }

  strokes() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.map(short).join(" ")}"` : "";
    return ` stroke="${safe(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${dash}`;
  }

  fill() {
    this.parts.push(`<path d="${this.path.join("")}" fill="${safe(this.fillStyle)}"${this.alpha()}/>`);
  }

  stroke() {
    this.parts.push(`<path d="${this.path.join("")}" fill="none"${this.strokes()}${this.alpha()}/>`);
  }

  fillRect(x, y, width, height) {
    const place = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${place} fill="${safe(this.fillStyle)}"/>`);
  }

  text(words, x, y, most, look) {
    const squeeze = most && this.measureText(words).width > most ? ` textLength="${short(most)}" lengthAdjust="spacingAndGlyphs"` : "";
    const anchor = ANCHORS[this.textAlign] || "start";
    const [, weight, size, family] = /^(\S+) ([\d.]+)px (.*)$/.exec(this.font);
    const font = `font-family="${safe(family)}" font-size="${short(Number(size))}" font-weight="${weight}"`;
    const place = `x="${short(x)}" y="${short(y)}" dy="0.35em" text-anchor="${anchor}"`;
    this.parts.push(`<text ${place} ${font}${squeeze}${look}${this.alpha()}>${safe(words)}</text>`);
  }

  fillText(words, x, y, most) {
    this.text(words, x, y, most, ` fill="${safe(this.fillStyle)}"`);
  }

  strokeText(words, x, y, most) {
    this.text(words, x, y, most, ` fill="none" stroke-linejoin="round"${this.strokes()}`);
  }

  document({ left, top, width, height, scale }) {
    const box = [left, top, width, height].map(short).join(" ");
    const size = `width="${short(width * scale)}" height="${short(height * scale)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" ${size}>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
