"""The words and figures of the Pipeline drawing: shapes, bytes, counts, and what each bubble says.

Bytes and counts in SI units with three significant digits (``16.4 kB``, ``1.47 G``); exact integers with separators.
"""

from tokenviz.graph import Block, State, StateKind, Value
from tokenviz.notation import bytes_of
from tokenviz.scenario import Scenario
from tokenviz.traffic import dtype_of, value_bytes
from tokenviz.views.format import exact, si
from tokenviz.views.pipeline_elements import stored


def letters(value: Value) -> str:
    """The shape in letters; a scalar is a single number."""
    return " ".join(value.dims) if value.dims else "one number"


def numbers(value: Value) -> str:
    """The shape in numbers: ``1×8×8×256``; separators from five digits on."""
    return "×".join(f"{n:,}" if n > 9_999 else str(n) for n in value.shape) if value.shape else "1"


def bubble_lines(block: Block, value_id: str, scenario: Scenario) -> tuple[str, str, str]:
    """The texts of a value's bubble: name, shape in letters and numbers, bytes."""
    value = block.values[value_id]
    size = si(value_bytes(value, scenario), "B")
    for state in block.states:
        if value_id == state.read:
            return value.name, f"{letters(value)}\n{numbers(value)}", f"{size} kept"
        if value_id == state.written:
            return _left_lines(block, state, scenario)
    if stored(block, value_id):
        return value.name, f"{letters(value)}\n{numbers(value)}", size
    return value.name, f"{letters(value)} · {numbers(value)}", size


def _left_lines(block: Block, state: State, scenario: Scenario) -> tuple[str, str, str]:
    """The texts of what is left for the next token: only what changes."""
    name = f"{block.values[state.read].name}′"
    if state.kind in (StateKind.GROWING, StateKind.WINDOW):
        return name, f"+ {si(appended_bytes(block, state, scenario), 'B')}", "for the next token"
    return name, "rewritten in place", "for the next token"


def bubble_hint(block: Block, value_id: str) -> str:
    """What a bubble says when pointed at: its lifetime in words."""
    value = block.values[value_id]
    for state in block.states:
        if value_id in (state.read, state.written):
            when = "found from the last token" if value_id == state.read else "left for the next token"
            return f"{state.name}: {when}\n{state.says}"
    what = "stored, the same for every token" if stored(block, value_id) else "made and used within this token"
    return f"{value.name}: {what}" + (f"\n{value.says}" if value.says else "")


def appended_bytes(block: Block, state: State, scenario: Scenario) -> int:
    """Bytes of a state that this step writes: the new entries, or the whole of a fixed state."""
    return bytes_of(state.appended, dtype_of(block.values[state.read], scenario))


def says_growth(block: Block, state: State, scenario: Scenario) -> str:
    """How a state grows, in one sentence."""
    added = si(appended_bytes(block, state, scenario), "B")
    if state.kind is StateKind.GROWING:
        return f"Grows: every token appends {added} per layer, and nothing is ever removed."
    if state.kind is StateKind.WINDOW:
        full = f"until {exact(state.window or 0)} positions are full, then the oldest leaves"
        return f"Grows by {added} per layer and token {full}."
    if state.kind is StateKind.CONVOLUTION:
        return "Fixed size: the oldest column leaves when the token's own enters."
    return "Fixed size: rewritten in place by every token, whatever the context."
