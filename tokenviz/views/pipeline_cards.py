"""What the detail panel says about an element of the Pipeline drawing, as data: sentences, figures, links.

    describe(step, scenario, element) -> Card | None

Every link names an element of the drawing, so that a panel can offer it as a way to select it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tokenviz.graph import Block, DecodeStep, Op, State, Transform, Value
from tokenviz.ledger import block_counts
from tokenviz.notation import LETTERS, bytes_of
from tokenviz.scenario import Scenario
from tokenviz.schedule import Span, schedule_block, summarise
from tokenviz.traffic import dtype_of, value_bytes, weight_reads
from tokenviz.views.format import exact, plural, share, si
from tokenviz.views.pipeline_elements import element_of, outside, stored
from tokenviz.views.pipeline_groups import Group, box_id, cell_id, drawn_as, panel_id, parse
from tokenviz.views.pipeline_text import letters, numbers, says_growth

MAC = "multiply–accumulate pairs (MAC)"
COUNTER_NAMES = {
    "mac": MAC, "multiply": "multiplications", "add": "additions", "compare": "comparisons", "exp": "exponentials",
    "log": "logarithms", "log1p": "log(1 + x)", "rsqrt": "reciprocal square roots", "divide": "divisions",
    "tanh": "tanh", "erf": "erf", "cos": "cosines", "sin": "sines",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Link:
    """A way to another element of the drawing."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """What the panel shows, top to bottom. `facts` are (name, value); `links` are (heading, links)."""

    id: str
    title: str
    what: str
    where: str
    says: str
    equation: str
    facts: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, tuple[Link, ...]], ...]
    notes: tuple[str, ...] = ()


def describe(step: DecodeStep, scenario: Scenario, element: str | None) -> Card | None:
    """The card of an element; None when nothing (or nothing of this step) is selected."""
    ref = parse(element or "")
    if ref is None or ref.block not in step.blocks:
        return None
    group = drawn_as(step)[ref.block]
    view = _View(step, scenario, group)
    if ref.kind in "ps":
        return view.block_card()
    if ref.kind == "t" and ref.name in group.block.transform_by_id:
        return view.transform_card(group.block.transform_by_id[ref.name])
    if ref.kind == "o":
        op = next((op for op in group.block.ops if op.id == ref.name), None)
        return view.op_card(op) if op else None
    value = group.block.values.get(ref.name)
    return view.value_card(value, element or "") if ref.kind == "v" and value else None


@dataclass(frozen=True, slots=True)
class _View:
    """One block of one step, about to be described."""

    step: DecodeStep
    scenario: Scenario
    group: Group

    @property
    def block(self) -> Block:
        """The drawn block."""
        return self.group.block

    @property
    def where(self) -> str:
        """The block's title, and how often it runs."""
        return self.block.label + (f", ×{self.group.count}" if self.group.count > 1 else "")

    def link(self, root: str, reader: str = "") -> Link:
        """To the bubble or the maker of a value."""
        value = self.block.values[root]
        return Link(element_of(self.block, root, reader), f"{value.name} ({letters(value)})")

    def transforms(self, ids: Iterable[str]) -> tuple[Link, ...]:
        """To transforms."""
        return tuple(Link(box_id(self.block.key, t), self.block.transform_by_id[t].title) for t in ids)

    def times(self, transform: str) -> int:
        """How often one token runs a transform of this block: a norm that is looked up does not run."""
        return sum(
            self.step.multiplicity[k] for k in self.group.keys if transform in self.step.blocks[k].transform_by_id
        )

    def per_token(self, count: int, times: int) -> str:
        """A count in one block and over all its layers."""
        return exact(count) if times == 1 else f"{exact(count)} a layer, {exact(count * times)} a token"

    # ---------------------------------------------------------------- a block

    def block_card(self) -> Card:
        """A whole block: its size, its arithmetic, its layers."""
        block, schedule = self.block, schedule_block(self.block)
        layers = [r.layer for r in self.step.sequence if r.block in self.group.keys and r.layer is not None]
        total = sum(len(self.step.blocks[k].ops) * self.step.multiplicity[k] for k in self.group.keys)
        facts = [
            ("Operations", f"{len(block.ops)} a layer, {exact(total)} a token" if layers else str(len(block.ops))),
            ("In a row", f"{schedule.depth} of {len(block.ops)}: the longest chain"),
            ("At once", f"at most {max(schedule.profile)} operations"),
            *((COUNTER_NAMES[k], si(n)) for k, n in block_counts(block).items() if n),
        ]
        if layers:
            facts.insert(0, ("Layers", f"{len(layers)}: {_ranges(layers)}"))
        notes: tuple[str, ...] = ()
        if self.group.looked_up is not None:
            saved = len(block.ops) - len(self.group.looked_up.ops)
            notes = (
                f"In layer {layers[0]} the norm's {saved} operations are not computed: their result is looked up.",
            )
        links = (("Transforms", self.transforms(t.id for t in block.transforms)),)
        return Card(panel_id(block.key), block.label, "block", self.where, block.says, "", tuple(facts), links, notes)

    # ---------------------------------------------------------------- a transform

    def transform_card(self, t: Transform) -> Card:
        """A gold box: when it runs, what it waits for, what inside it is parallel."""
        span, depth = schedule_block(self.block).spans[t.id], schedule_block(self.block).depth
        facts = (
            ("Operations", f"{len(t.ops)}, one after the other"),
            ("Parallel inside", self.parallel(t)),
            ("Runs", f"timesteps {span.start + 1} to {span.end} of the block's {depth}"),
            ("Slack", self.slack(t, span)),
            *self.critical(t),
        )
        read = outside(self.block)[t.id]
        beside = [o.id for o in self.block.transforms if o is not t and self._meet(o.id, span)]
        links = (
            ("Reads", tuple(self.link(r, t.id) for r in read)),
            ("Makes", tuple(self.link(r) for r in self.handed_on(t))),
            ("Waits for", self.transforms(self.block.feeds[t.id])),
            ("Waited for by", self.transforms(o.id for o in self.block.transforms if t.id in self.block.feeds[o.id])),
            ("Runs beside", self.transforms(beside)),
            ("Operations", tuple(Link(cell_id(self.block.key, op.id), op.label) for op in t.ops)),
        )
        return Card(
            box_id(self.block.key, t.id), t.title, "transform", self.where, t.says, t.equation, facts, _given(links)
        )

    def _meet(self, other: str, span: Span) -> bool:
        beside = schedule_block(self.block).spans[other]
        return beside.start < span.end and span.start < beside.end

    def handed_on(self, t: Transform) -> list[str]:
        """Values that leave a transform: read elsewhere, handed on by the block, or kept."""
        made = [r for op in t.ops for r in op.results]
        return [r for r in made if element_of(self.block, r).split("/")[1].startswith("v:")]

    def parallel(self, t: Transform) -> str:
        """How wide the transform's last result is, letter by letter."""
        results = self.handed_on(t) or [t.ops[-1].result]
        value = self.block.values[results[0]]
        if value.size == 1:
            return "nothing: one number"
        parts = [f"{n:,} {_meaning(d)}" for d, n in zip(value.dims, value.shape, strict=True) if n > 1]
        return f"{exact(value.size)} results at once: " + " × ".join(parts)

    def slack(self, t: Transform, span: Span) -> str:
        """How much later a transform could start."""
        if span.slack == 0:
            return "0: a delay here delays the block"
        return f"could start {plural(span.slack, 'timestep')} later without delaying anything"

    def critical(self, t: Transform) -> Iterator[tuple[str, str]]:
        """Share of the whole step's critical path, when the transform is on it."""
        if t.id not in schedule_block(self.block).critical:
            tied = schedule_block(self.block).spans[t.id].slack == 0
            yield "Critical path", "beside it, on another chain of equal length" if tied else "not on it"
            return
        on_it = sum(
            len(t.ops) for r in self.step.sequence if r.block in self.group.keys and t.id in _ids(self.step, r.block)
        )
        total = summarise(self.step).critical_path
        yield "Critical path", f"{share(on_it / total)} of it: {exact(on_it)} of {exact(total)} timesteps"

    # ---------------------------------------------------------------- an operation

    def op_card(self, op: Op) -> Card:
        """A cell: its class and why, exact counts, values in and out."""
        block = self.block
        t = block.transform_by_id[op.transform]
        start = schedule_block(block).spans[t.id].start + t.ops.index(op)
        counted = [(COUNTER_NAMES[k], self.per_token(n, self.times(t.id))) for k, n in op.counts.items() if n]
        facts = (
            ("Class", str(op.op_class)),
            ("Why", op.reason),
            (
                "Timestep",
                f"{start + 1} of the block's {schedule_block(block).depth}: every operation is one step of time",
            ),
            *(counted or [("Counts", _no_counts(op))]),
            ("Takes in", " and ".join(self.in_words(o) for o in op.operands)),
            ("Gives", ", ".join(self.in_words(r) for r in op.results)),
        )
        links = (
            ("Reads", tuple(self.link(r, t.id) for r in block.roots_of(op))),
            ("Read by", self.readers(op)),
            ("Inside", self.transforms((t.id,))),
        )
        says = f"Operation {t.ops.index(op) + 1} of {len(t.ops)} in {t.title}."
        return Card(
            cell_id(block.key, op.id), op.label, "operation", self.where, says, t.equation, facts, _given(links)
        )

    def in_words(self, operand: str | float) -> str:
        """An operand with its shape; a constant with its value."""
        if not isinstance(operand, str):
            return f"the constant {operand:.6g}"
        value = self.block.values[operand]
        return f"{value.name} [{letters(value)} = {numbers(value)}]"

    def readers(self, op: Op) -> tuple[Link, ...]:
        """To the operations that read a result."""
        found = [reader for r in op.results for reader in self.block.consumers.get(r, ())]
        return tuple(Link(cell_id(self.block.key, o.id), self.named(o, op)) for o in dict.fromkeys(found))

    def named(self, op: Op, near: Op) -> str:
        """An operation's label, with its transform where that is another one than `near`'s."""
        return op.label if op.transform == near.transform else f"{op.label}, {self.title(op)}"

    # ---------------------------------------------------------------- data

    def value_card(self, value: Value, element: str) -> Card:
        """A bubble: how long it lives, its size, who makes and who reads it."""
        state = next((s for s in self.block.states if value.id in (s.read, s.written)), None)
        dtype = dtype_of(value, self.scenario)
        facts = (
            ("Lifetime", _LIFETIME_WORDS[self.lifetime(value)]),
            ("Shape", f"{letters(value)} = {numbers(value)}, {plural(value.size, 'value')}"),
            ("Letters", "; ".join(f"{d}: {_meaning(d)}" for d in dict.fromkeys(value.dims)) or "none: one number"),
            ("Precision", dtype),
            *self.sizes(value, dtype),
            *((("Growth", says_growth(self.block, state, self.scenario)),) if state else ()),
        )
        maker = self.block.producers.get(value.id)
        made = (Link(cell_id(self.block.key, maker.id), f"{maker.label}, {self.title(maker)}"),) if maker else ()
        read = tuple(Link(cell_id(self.block.key, o.id), f"{o.label}, {self.title(o)}")
                     for o in self.block.consumers.get(value.id, ()))  # fmt: skip
        links = (("Written by" if state else "Made by", made), ("Read by", read), *self.other_end(value, state))
        says = value.says or (state.says if state else "") or _DEFAULT_WORDS[self.lifetime(value)]
        return Card(element, value.name, f"{self.lifetime(value)} data", self.where, says, "", facts, _given(links))

    def title(self, op: Op) -> str:
        """Title of an operation's transform."""
        return self.block.transform_by_id[op.transform].title

    def lifetime(self, value: Value) -> str:
        """Lifetime in a word."""
        return "static" if stored(self.block, value.id) else str(value.lifetime)

    def sizes(self, value: Value, dtype: str) -> Iterator[tuple[str, str]]:
        """Bytes per layer and in total; of a weight also what one token reads."""
        whole, times = value_bytes(value, self.scenario), self.group.count
        shared = bool(value.scope) or times == 1
        yield (
            "Bytes",
            si(whole, "B") if shared else f"{si(whole, 'B')} a layer, {si(whole * times, 'B')} in {times} layers",
        )
        read = next((n for w, n in weight_reads(self.block) if w.id == value.id), value.size)
        if read != value.size:
            yield "Read for one token", f"{si(bytes_of(read, dtype), 'B')} a layer: {share(read / value.size)} of it"

    def other_end(self, value: Value, state: State | None) -> Iterator[tuple[str, tuple[Link, ...]]]:
        """From what was kept to what is left, and back."""
        if state is None:
            return
        other = state.written if value.id == state.read else state.read
        heading = "Left for the next token as" if other == state.written else "Found from the last token as"
        yield heading, (Link(element_of(self.block, other), self.block.values[state.read].name),)


_LIFETIME_WORDS = {
    "static": "static: known before the token, the same for every token",
    "ephemeral": "ephemeral: made and used up within this token",
    "state": "mutable state: kept from token to token",
}
_DEFAULT_WORDS = {
    "static": "Learned once; every token uses the same numbers.",
    "ephemeral": "A value of this token; nothing of it stays.",
    "state": "Carried from one token to the next.",
}


def _meaning(letter: str) -> str:
    return LETTERS.get(letter, letter)


def _no_counts(op: Op) -> str:
    if op.primitive in ("row_sum", "accumulate"):
        return "none of its own: its additions are the second half of the pairs counted before it"
    return "no arithmetic: it moves or chooses values"


def _ids(step: DecodeStep, block: str) -> set[str]:
    return set(schedule_block(step.blocks[block]).critical)


def _given(links: Iterable[tuple[str, tuple[Link, ...]]]) -> tuple[tuple[str, tuple[Link, ...]], ...]:
    return tuple((heading, found) for heading, found in links if found)


def _ranges(numbers_: list[int]) -> str:
    """``0–2, 4–6, 8`` with a bound on its length."""
    runs: list[list[int]] = []
    for n in numbers_:
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    texts = [f"{a}" if a == b else f"{a}–{b}" for a, b in runs]
    return ", ".join(texts if len(texts) <= 6 else [*texts[:4], "…", texts[-1]])
