// The prompt: a text field that tells what is typed while it is typed, and the tokens of it beneath.
// The field belongs to the reader: only a text chosen elsewhere (a new `made`) is ever written into it.

const TOLD_MS = 150; // after a pause in typing the tokens are asked for
const READ_MS = 900; // after a longer one the model reads the text

function whole(text) {
  return text.toWellFormed ? text.toWellFormed() : text;
}

function tell(view, read) {
  clearTimeout(view.telling);
  if (read) clearTimeout(view.reading);
  const text = whole(view.field.value);
  if (text === view.told && (!read || view.read === text)) return;
  view.told = text;
  if (read) view.read = text;
  view.count = Math.max(view.count + 1, Date.now());
  view.send("typed", { text, read, n: view.count });
}

function typed(view) {
  clearTimeout(view.telling);
  clearTimeout(view.reading);
  view.telling = setTimeout(() => tell(view, false), TOLD_MS);
  view.reading = setTimeout(() => tell(view, true), READ_MS);
}

function chip({ piece, id, kind }) {
  const element = document.createElement("li");
  element.className = kind;
  const text = document.createElement("bdi");
  piece.split(" ").forEach((part, i) => {
    if (i) {
      const space = document.createElement("span");
      space.className = "space";
      space.textContent = "·";
      text.append(space);
    }
    text.append(part);
  });
  const number = document.createElement("small");
  number.textContent = String(id);
  element.append(text, number);
  return element;
}

function mount(host) {
  const find = (name) => host.querySelector(name);
  const view = { field: find("textarea"), list: find("ol"), said: find(".said"), count: 0, made: null };
  const { field } = view;
  field.addEventListener("input", (event) => event.isComposing || typed(view));
  field.addEventListener("compositionend", () => typed(view));
  field.addEventListener("blur", () => tell(view, true));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) tell(view, true);
  });
  host.prompt = view;
  return view;
}

export default function ({ data, parentElement, setStateValue }) {
  const view = parentElement.prompt || mount(parentElement);
  view.send = setStateValue;
  view.field.maxLength = data.most;
  if (view.made !== data.made) {
    view.made = data.made;
    clearTimeout(view.telling);
    clearTimeout(view.reading);
    Object.assign(view, { told: data.text, read: data.text });
    if (view.field.value !== data.text) view.field.value = data.text;
  }
  view.said.textContent = data.says;
  view.said.classList.toggle("over", data.over);
  const stamp = JSON.stringify(data.tokens);
  if (view.stamp !== stamp) {
    view.stamp = stamp;
    view.list.replaceChildren(...data.tokens.map(([piece, id, kind]) => chip({ piece, id, kind })));
    view.list.scrollTop = view.list.scrollHeight;
  }
  return () => {
    clearTimeout(view.telling);
    clearTimeout(view.reading);
  };
}
