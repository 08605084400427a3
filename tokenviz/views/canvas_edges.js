// Drawing edges: their look, their line, their head and their number.

const HEAVIEST = 7.5; // the width of the heaviest arrow

function edgeLook(view, edge) {
  const { colours } = view;
  const looks = {
    data: [colours.edge, 1],
    residual: [colours.muted, 1],
    static: [colours.lifetimes.static.outline, 0.6],
    state: [colours.lifetimes.state.outline, 0.9],
    retained: [colours.lifetimes.state.outline, 0.75],
  };
  let [colour, alpha] = looks[edge.kind];
  const inPath = view.path && view.path.edges.has(edge.id);
  const hovered = view.hover && (view.hover === edge.id || touches(view, edge, view.hover));
  if (inPath || hovered) [colour, alpha] = [edge.kind === "state" ? colour : colours.accent, 1];
  else if (view.path) alpha *= view.tracing ? FADED : ASIDE;
  if (view.dim.has(edge.source) && view.dim.has(edge.target)) alpha *= FADED;
  const flowing = view.lit.has(edge.target);
  if (flowing) [colour, alpha] = [colours.accent, 1];
  const strong = inPath || hovered || flowing || view.selected === edge.id;
  // In a drawing of weighted arrows the light ones step back, and from afar the heavy ones stay wide.
  const weighted = view.data.scene.room > 0;
  if (weighted && !strong) alpha *= 0.45 + 0.55 * weightOf(edge);
  const width = edge.width * (weighted ? Math.sqrt(growth(view)) : 1);
  return { colour, alpha, width: hair(view, width) + (strong ? hair(view, 0.8, 0.6) : 0), strong };
}

// 0 for the lightest arrow that can be, 1 for the heaviest.
function weightOf(edge) {
  return Math.min(1, edge.width / HEAVIEST);
}

function paintEdge(ctx, view, edge) {
  const line = lineOf(view, edge);
  if (!line || !near(view, line.bounds)) return;
  const look = edgeLook(view, edge);
  ctx.globalAlpha = look.alpha;
  ctx.strokeStyle = look.colour;
  ctx.fillStyle = look.colour;
  ctx.lineWidth = look.width;
  ctx.lineJoin = "round";
  ctx.setLineDash(edge.dashed ? [5 + edge.width, 3 + edge.width] : []);
  ctx.beginPath();
  traceLine(ctx, line, edge.arrow ? headLength(view, edge) * 0.8 : 0);
  ctx.stroke();
  ctx.setLineDash([]);
  if (edge.arrow) paintHead(ctx, line, headLength(view, edge));
  ctx.globalAlpha = 1;
}

function headLength(view, edge) {
  return Math.max(6 + edge.width, 3.5 / view.scale);
}

// Follow the line and stop `short` of its end, where the arrowhead takes over.
function traceLine(ctx, line, short) {
  const points = line.points;
  const last = points[points.length - 1];
  const [dx, dy] = line.end;
  const stop = [last[0] - dx * short, last[1] - dy * short];
  ctx.moveTo(points[0][0], points[0][1]);
  if (line.bend) {
    ctx.quadraticCurveTo(line.bend[0], line.bend[1], stop[0], stop[1]);
  } else if (line.loop) {
    ctx.bezierCurveTo(...line.loop[0], ...line.loop[1], stop[0], stop[1]);
  } else {
    for (let i = 1; i < points.length - 1; i++) {
      const [a, b, c] = [points[i - 1], points[i], i + 1 === points.length - 1 ? stop : points[i + 1]];
      const radius = Math.min(8, span(a, b) / 2, span(b, c) / 2);
      ctx.arcTo(b[0], b[1], c[0], c[1], radius);
    }
    ctx.lineTo(stop[0], stop[1]);
  }
}

function paintHead(ctx, line, length) {
  const [x, y] = line.points[line.points.length - 1];
  const [dx, dy] = line.end;
  const half = length * 0.42;
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x - dx * length - dy * half, y - dy * length + dx * half);
  ctx.lineTo(x - dx * length + dy * half, y - dy * length - dx * half);
  ctx.closePath();
  ctx.fill();
}

function paintEdgeLabel(ctx, view, edge) {
  if (!edge.text) return;
  const grown = weightOf(edge) > 0.6 ? growth(view) : 1; // from afar only the heavy ones have their number
  if (!legible(view, SIZE.small * 1.3 * (grown > 1 ? 2 : 1))) return;
  const line = lineOf(view, edge);
  if (!line || !near(view, line.bounds)) return;
  const look = edgeLook(view, edge);
  ctx.globalAlpha = Math.min(1, look.alpha + 0.1);
  ctx.font = fontOf(view, SIZE.small * grown, look.strong ? 600 : 400);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4;
  ctx.strokeStyle = view.colours.background;
  ctx.strokeText(edge.text, line.middle[0], line.middle[1]);
  ctx.fillStyle = look.strong ? view.colours.text : view.colours.muted;
  ctx.fillText(edge.text, line.middle[0], line.middle[1]);
  ctx.globalAlpha = 1;
}
