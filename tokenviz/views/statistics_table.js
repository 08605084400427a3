// A table that sorts where it stands: a click or Enter on a header, no question to the server. Figures come twice, as
// they are (`rows`: for sorting and for the file) and as people read them (`texts`).
export default function ({ data, parentElement }) {
  const box = parentElement.querySelector(".tv");
  const state = (box.state ??= { column: null, down: false, words: "" });
  state.data = data;
  if (box.columns !== data.columns.map((c) => c.name).join("\n")) {
    box.columns = data.columns.map((c) => c.name).join("\n");
    Object.assign(state, { column: null, down: false, words: "" });
    build(box, state);
    box.words = null;
  }
  const words = JSON.stringify(data.texts);
  if (box.words !== words) {
    box.words = words;
    fill(box, state);
  }
  box.watcher ??= new ResizeObserver(() => box.clientWidth !== box.fitted && fit(box));
  box.watcher.observe(box);
  return () => box.watcher?.disconnect();
}

function made(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

function build(box, state) {
  const { columns, label } = state.data;
  const search = made("input", { type: "search", placeholder: "Contains", ariaLabel: `Rows of this table that contain` });
  search.oninput = () => {
    state.words = search.value;
    fill(box, state);
  };
  const save = made("button", { type: "button", textContent: "CSV" });
  save.setAttribute("aria-label", "Save this table as CSV");
  save.onclick = () => saved(state.data);
  const heads = columns.map((column, i) => {
    const button = made("button", { type: "button", textContent: column.title });
    button.onclick = () => {
      // Figures open with the largest, names with the first; a third click gives the table's own order back.
      const first = column.number;
      if (state.column !== i) Object.assign(state, { column: i, down: first });
      else if (state.down === first) state.down = !first;
      else state.column = null;
      fill(box, state);
    };
    const head = made("th", { scope: "col", className: column.number ? "number" : "" }, button);
    head.setAttribute("role", "columnheader");
    return head;
  });
  const top = made("tr", {}, ...heads);
  const body = made("tbody");
  const table = made("table", {}, made("thead", {}, top), body);
  // The roles are said again because cards take the table's own away.
  for (const [node, role] of [[table, "table"], [top, "row"], [body, "rowgroup"]]) node.setAttribute("role", role);
  table.setAttribute("aria-label", label);
  const scroll = made("div", { className: "scroll" }, table);
  scroll.onscroll = () => edges(box);
  const more = made("span", { className: "more", textContent: "More columns: scroll sideways →" });
  const bar = made("div", { className: "bar" }, made("span", { role: "status" }), more, search, save);
  box.replaceChildren(bar, made("div", { className: "frame" }, scroll));
}

function fill(box, state) {
  const { columns, rows, texts, height } = state.data;
  const heads = box.querySelectorAll("th");
  heads.forEach((head, i) => {
    const sorted = i !== state.column ? "none" : state.down ? "descending" : "ascending";
    head.setAttribute("aria-sort", sorted);
  });
  const wanted = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows
    .map((_, i) => i)
    .filter((i) => wanted.every((word) => texts[i].join(" ").toLowerCase().includes(word)));
  if (state.column !== null) shown.sort((a, b) => order(rows[a][state.column], rows[b][state.column], state.down));
  const body = box.querySelector("tbody");
  body.replaceChildren(...shown.map((i) => line(columns, texts[i])));
  if (!shown.length) body.append(made("tr", {}, made("td", { colSpan: columns.length, className: "none", textContent: "No row contains this." })));
  const bar = box.querySelector(".bar");
  bar.querySelector("input").hidden = rows.length <= 12;
  bar.querySelector("span").textContent = wanted.length ? `${shown.length} of ${rows.length} rows` : "";
  const scroll = box.querySelector(".scroll");
  scroll.style.maxHeight = rows.length > 12 ? `${height}px` : "";
  fit(box);
}

function line(columns, cells) {
  const row = made("tr", {}, ...columns.map((column, i) => {
    const kind = column.number ? "number" : i === 0 ? "name" : column.long ? "long" : "";
    const cell = made("td", { className: kind, textContent: cells[i] });
    cell.setAttribute("role", "cell");
    cell.dataset.name = column.title;
    return cell;
  }));
  row.setAttribute("role", "row");
  return row;
}

function order(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null); // what has no figure stays at the end
  const by = typeof a === "string" ? a.localeCompare(b) : a - b;
  return down ? -by : by;
}

function fit(box) {
  const scroll = box.querySelector(".scroll");
  box.fitted = box.clientWidth;
  box.classList.remove("cards");
  const wide = scroll.scrollWidth > scroll.clientWidth + 1;
  box.classList.toggle("cards", wide && box.clientWidth < 720);
  // What scrolls can be reached and scrolled with the keyboard, and says what it is.
  const scrolls = scroll.scrollHeight > scroll.clientHeight + 1 || scroll.scrollWidth > scroll.clientWidth + 1;
  scroll.tabIndex = scrolls ? 0 : -1;
  if (scrolls) {
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", `Scrolls: ${box.state.data.label}`);
  } else {
    scroll.removeAttribute("role");
    scroll.removeAttribute("aria-label");
  }
  edges(box);
}

// Shades the edges behind which there is more, and says so while there is more to the right.
function edges(box) {
  const scroll = box.querySelector(".scroll");
  const right = scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 1;
  const below = scroll.scrollTop + scroll.clientHeight < scroll.scrollHeight - 1;
  box.querySelector(".frame").classList.toggle("right", right);
  box.querySelector(".frame").classList.toggle("below", below);
  box.querySelector(".more").hidden = scroll.scrollWidth <= scroll.clientWidth + 1;
}

function saved({ columns, rows, file }) {
  const cell = (x) => (x === null ? "" : typeof x === "string" ? `"${x.replaceAll('"', '""')}"` : String(x));
  const lines = [columns.map((c) => c.name), ...rows].map((row) => row.map(cell).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}
