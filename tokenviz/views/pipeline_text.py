"""The words and figures of the Pipeline drawing: shapes, bytes, counts, and what each bubble says.

Bytes and counts in SI units with three significant digits (``16.4 kB``, ``1.47 G``); exact integers with separators.
"""

from tokenviz.graph import Block, State, StateKind, Value
from tokenviz.notation import bytes_of
from tokenviz.scenario import Scenario
from tokenviz.traffic import dtype_of, value_bytes

_SI = ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


def si(number: float, unit: str = "") -> str:
    """Three significant digits with an SI prefix: si(16_384, "B") -> "16.4 kB". Whole numbers below 1,000 stay whole."""
    for size, prefix in _SI:
        if abs(number) >= size * 0.9995:
            return f"{_three(number / size)} {prefix}{unit}"
    text = str(int(number)) if number == int(number) else _three(number)
    return f"{text} {unit}".rstrip()


def _three(number: float) -> str:
    digits = 2 if abs(number) < 9.995 else 1 if abs(number) < 99.95 else 0
    return f"{number:.{digits}f}"


def exact(number: int) -> str:
    """An integer with separators."""
    return f"{number:,}"


def letters(value: Value) -> str:
    """The shape in letters; a scalar is a single number."""
    return " ".join(value.dims) if value.dims else "one number"


def numbers(value: Value) -> str:
    """The shape in numbers: ``1×8×8×256``; separators from five digits on."""
    return "×".join(f"{n:,}" if n > 9_999 else str(n) for n in value.shape) if value.shape else "1"


def plural(count: int, noun: str) -> str:
    """``1 layer``, ``2 layers``."""
    return f"{exact(count)} {noun}{'' if count == 1 else 's'}"


def bubble_lines(value: Value, scenario: Scenario, *, tall: bool) -> tuple[str, str, str]:
    """Name, shape (letters and numbers, on two lines when `tall`), bytes."""
    shape = f"{letters(value)}\n{numbers(value)}" if tall else f"{letters(value)} · {numbers(value)}"
    return value.name, shape, si(value_bytes(value, scenario), "B")


def kept_lines(block: Block, state: State, scenario: Scenario, *, written: bool) -> tuple[str, str, str]:
    """The three texts of a state bubble: as found from the last token, or as left for the next one."""
    read = block.values[state.read]
    if not written:
        name, shape, size = bubble_lines(read, scenario, tall=False)
        return name, shape, f"{size} from the last token"
    size = "rewritten in place"
    if state.kind in (StateKind.GROWING, StateKind.WINDOW):
        size = f"+ {si(appended_bytes(block, state, scenario), 'B')} per token"
    return f"{read.name}′", size, "for the next token"


def appended_bytes(block: Block, state: State, scenario: Scenario) -> int:
    """Bytes of a state that this step writes: the new entries, or the whole of a fixed state."""
    return bytes_of(state.appended, dtype_of(block.values[state.read], scenario))


def says_growth(block: Block, state: State, scenario: Scenario) -> str:
    """How a state grows, in one sentence."""
    added = si(appended_bytes(block, state, scenario), "B")
    if state.kind is StateKind.GROWING:
        return f"Grows: every token appends {added} per layer, and nothing is ever removed."
    if state.kind is StateKind.WINDOW:
        return f"Grows by {added} per layer and token until {exact(state.window or 0)} positions are full, then the oldest leaves."
    if state.kind is StateKind.CONVOLUTION:
        return "Fixed size: the oldest column leaves when the token's own enters."
    return "Fixed size: rewritten in place by every token, whatever the context."
