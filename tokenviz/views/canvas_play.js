// Playing a token: frames of item ids light up one after the other; earlier ones stay tinted.
// With captions each step has a sentence, and the view may follow; with marks the slider shows where parts begin.
// `before` is an event of its own ahead of the steps, at place −1: {name, words, lit}.
// A long play comes folded: frames of each part, and visits [part, start, what is drawn, words], sorted by start.

const SLOW = 2; // up to so many steps a second the page is told of every step

function lengthOf(play) {
  return play.visits ? play.length : play.frames.length;
}

// The first place of the time line.
function leastOf(play) {
  return play.before ? -1 : 0;
}

function visitAt(play, step) {
  let [low, high] = [0, play.visits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (play.visits[middle][1] <= step) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// What runs at a step, and what has run before: of each drawn part only in its latest visit.
function framesAt(play, step) {
  if (step < 0) return { lit: play.before.lit, done: [] };
  if (!play.visits) return { lit: play.frames[step], done: play.frames.slice(0, step).flat() };
  const [lit, done, seen] = [[], [], new Set()];
  for (let i = visitAt(play, step); i >= 0; i--) {
    const [part, start, drawn] = play.visits[i];
    const frames = play.parts[part];
    lit.push(...(frames[step - start] || []));
    if (!seen.has(drawn)) done.push(...frames.slice(0, step - start).flat());
    seen.add(drawn);
  }
  return { lit, done };
}

function wordsAt(play, step) {
  const count = lengthOf(play).toLocaleString("en");
  if (step === null) return `${count} steps`;
  if (step < 0) return "before step 1";
  const where = play.visits ? ` · ${play.visits[visitAt(play, step)][3]}` : "";
  return `step ${(step + 1).toLocaleString("en")} of ${count}${where}`;
}

function setPlay(view, play) {
  const before = view.play;
  if (!play) {
    if (before) stopPlay(view);
    view.play = null;
    view.playbar.hidden = true;
    return;
  }
  view.playbar.hidden = false;
  if (before && before.n === play.n && lengthOf(before) === lengthOf(play)) {
    Object.assign(before, { frames: play.frames, parts: play.parts, visits: play.visits });
    return;
  }
  if (before) stopPlay(view);
  view.play = { ...play, timer: null };
  view.playbar.slider.min = String(leastOf(play));
  view.playbar.slider.max = String(Math.max(0, lengthOf(play) - 1));
  setMarks(view.playbar, play);
  view.playbar.follow.hidden = !play.captions;
  view.playbar.words.hidden = !play.captions;
  view.playbar.rate.value = String(play.rate || 4);
  seek(view, play.step);
  // A play that runs `once` does not start again when the reader comes back to it.
  if (!play.running || (play.once && view.ran === play.id)) return;
  view.ran = play.id;
  reveal(view);
  startPlay(view);
}

function seek(view, step) {
  const { play } = view;
  play.step = step === null || step === undefined ? null : Math.max(leastOf(play), Math.min(lengthOf(play) - 1, step));
  const { lit, done } = play.step === null ? { lit: [], done: [] } : framesAt(play, play.step);
  view.lit = new Set(lit);
  view.done = new Set(done);
  view.playbar.slider.value = String(play.step || 0);
  view.playbar.count.textContent = wordsAt(play, play.step);
  view.playbar.slider.setAttribute("aria-valuetext", wordsAt(play, play.step));
  if (play.captions) view.playbar.words.textContent = captionAt(play);
  if (play.step !== null && play.step < 0) view.status.textContent = play.before.words;
  follow(view);
  view.network.redraw();
}

function captionAt(play) {
  if (play.step === null) return play.start || "";
  return play.step < 0 ? play.before.words : play.captions[play.step];
}

function follow(view) {
  const item = view.items.get([...view.lit][0]);
  const wanted = view.play.captions ? view.following : view.play.timer;
  if (!item || !wanted) return;
  const [left, top, right, bottom] = view.window;
  const { top: over, bottom: under } = insets(view);
  const px = 1 / view.scale;
  const free = [top + over * px + item.h / 2, bottom - under * px - item.h / 2];
  const side = item.w / 2 + 24 * px; // the view's edges fade
  const beside = item.x - side > left && item.x + side < right;
  if (beside && item.y > free[0] && item.y < free[1]) return;
  const x = beside ? (left + right) / 2 : columnOf(view, item, right - left);
  const high = bottom - top;
  // The step stands in the upper third, but the view does not go on past the drawing's end.
  const end = view.data.scene.height + (under + 12) * px - high / 2;
  const y = Math.min(item.y + high / 2 - over * px - high / 5, Math.max(end, high / 2 - over * px));
  moveView(view, { position: { x, y }, scale: view.scale });
}

// The middle of the block that an item stands in, if the block fits the view; else the item's own place.
function columnOf(view, item, seen) {
  const inside = (panel) => item.x > panel.x && item.x < panel.x + panel.w && item.y > panel.y && item.y < panel.y + panel.h;
  const panel = view.panels.find(inside);
  return panel && panel.w <= seen ? panel.x + panel.w / 2 : item.x;
}

// A play with captions shows one step at a time: what was selected before fades nothing of it.
function letGo(view) {
  if (view.play.captions && view.selected !== null) select(view, null);
}

function startPlay(view) {
  const { play, playbar } = view;
  letGo(view);
  if (play.step === null || play.step >= lengthOf(play) - 1) seek(view, leastOf(play));
  const tick = () => {
    if (play.step >= lengthOf(play) - 1) return pausePlay(view);
    seek(view, play.step + 1);
    if (play.captions && Number(playbar.rate.value) <= SLOW) tell(view, "step", play.step);
    play.timer = setTimeout(tick, 1000 / Number(playbar.rate.value));
    return undefined;
  };
  play.timer = setTimeout(tick, 1000 / Number(playbar.rate.value));
  label(playbar.toggle, "Pause", ICONS.pause);
}

function stopPlay(view) {
  halt(view);
  view.lit = new Set();
  view.done = new Set();
}

// Standing still without a word to the page: it asked for it.
function halt(view) {
  clearTimeout(view.play.timer);
  view.play.timer = null;
  label(view.playbar.toggle, "Play", ICONS.play);
}

function pausePlay(view) {
  halt(view);
  tell(view, "step", view.play.step);
}

function goTo(view, step) {
  halt(view);
  letGo(view);
  seek(view, step);
  tell(view, "step", view.play.step);
}

function togglePlay(view) {
  if (!view.play) return;
  if (view.play.timer) pausePlay(view);
  else startPlay(view);
}

// Following moves the view along with what is played; it lets go when the reader moves the view by hand.
function setFollow(view, on) {
  view.following = on;
  view.playbar.follow.setAttribute("aria-pressed", String(on));
  if (on && view.play) follow(view);
}

// Where each part of a long play begins: a tick and a name that leads there.
function setMarks(bar, play) {
  bar.marks.replaceChildren();
  bar.marks.classList.toggle("two", !!play.before);
  const least = leastOf(play);
  const last = Math.max(1, lengthOf(play) - 1 - least);
  for (const [step, name, title] of play.marks || []) {
    const mark = make("button");
    mark.type = "button";
    mark.textContent = name;
    mark.title = `${title}: go to step ${step + 1}`;
    mark.setAttribute("aria-label", mark.title);
    mark.style.left = `calc(8px + (100% - 16px) * ${(step - least) / last})`;
    mark.addEventListener("click", () => bar.go(step));
    bar.marks.append(mark);
  }
  if (!play.before) return;
  const event = make("button", "event");
  event.type = "button";
  event.textContent = `◆ ${play.before.name}`;
  event.title = `${play.before.name}: an event before step 1`;
  event.setAttribute("aria-label", event.title);
  event.addEventListener("click", () => bar.go(-1));
  bar.marks.prepend(event);
}

function makePlaybar(view) {
  const bar = make("div", "bar play");
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Play the token");
  bar.hidden = true;
  const now = () => view.play.step || 0;
  bar.words = make("div", "words");
  bar.words.hidden = true;
  bar.append(bar.words);
  bar.go = (step) => goTo(view, step);
  bar.append(button("One step back", ICONS.back, () => goTo(view, now() - 1)));
  bar.toggle = button("Play", ICONS.play, () => togglePlay(view));
  bar.append(bar.toggle, button("One step on", ICONS.on, () => goTo(view, view.play.step === null ? leastOf(view.play) : now() + 1)));
  bar.slider = make("input");
  Object.assign(bar.slider, { type: "range", min: "0", step: "1" });
  bar.slider.setAttribute("aria-label", "Step");
  bar.slider.addEventListener("input", () => seek(view, Number(bar.slider.value)));
  bar.slider.addEventListener("change", () => goTo(view, Number(bar.slider.value)));
  bar.count = make("span", "count");
  bar.rate = make("select");
  bar.rate.setAttribute("aria-label", "Steps per second");
  for (const rate of [1, 2, 4, 8, 16, 32]) {
    const option = make("option");
    Object.assign(option, { value: String(rate), textContent: `${rate} steps/s` });
    bar.rate.append(option);
  }
  const track = make("div", "track");
  bar.marks = make("div", "marks");
  track.append(bar.slider, bar.marks);
  bar.follow = button("Follow the current step", ICONS.follow, () => setFollow(view, !view.following));
  bar.follow.setAttribute("aria-pressed", "true");
  bar.append(track, bar.count, bar.rate, bar.follow, button("Stop playing", ICONS.close, () => goTo(view, null)));
  return bar;
}
