"""How numbers are written for people: three significant digits with an SI prefix, exact integers, signs, times.

si(282e9, "B") -> "282 GB"        exact(94208) -> "94,208"       signed(-3) -> "−3"      signed(0) -> "0"
seconds(0.0587) -> "58.7 ms"      share(0.3342) -> "33.4 %"      times(8.0) -> "8×"
"""

_UP = ((10**18, "E"), (10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_DOWN = ((1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
# A number that rounds up to the next prefix takes it: 999,600 is 1.00 M, not 1000 k.
_ROUNDS_UP = 0.9995


def three(number: float) -> str:
    """Three significant digits of a number below 1,000, trailing zeros kept: 4.10, 33.4, 282."""
    size = abs(number)
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{number:.{digits}f}".replace("-", "−")


def si(number: float, unit: str = "") -> str:
    """Three significant digits with an SI prefix; whole numbers below 1,000 stay whole."""
    for size, prefix in _UP:
        if abs(number) >= size * _ROUNDS_UP:
            return f"{three(number / size)} {prefix}{unit}"
    text = f"{number:.0f}".replace("-", "−") if number == int(number) else three(number)
    return f"{text} {unit}".rstrip()


def exact(number: int) -> str:
    """An integer with separators."""
    return f"{number:,}".replace("-", "−")


def signed(number: int, unit: str = "") -> str:
    """A difference, always with its sign and zero without one: exact as a count, in SI when it has a unit."""
    if number == 0:
        return f"0 {unit}".rstrip()
    return f"{'+' if number > 0 else ''}{si(number, unit) if unit else exact(number)}"


def seconds(time_s: float) -> str:
    """A time in the unit that keeps one to three digits before the point."""
    if time_s == 0:
        return "0 s"
    for size, prefix in _DOWN:
        if time_s >= size * _ROUNDS_UP:
            return f"{three(time_s / size)} {prefix}s"
    return f"{three(time_s / 1e-9)} ns"


def share(part: float) -> str:
    """A part of a whole in percent, three significant digits; what is not zero is never shown as zero."""
    if 0 < part < 0.0001:
        return "< 0.01 %"
    if part < 1 and three(part * 100) == "100":
        return "> 99.9 %"
    return f"{three(part * 100)} %"


def times(ratio: float) -> str:
    """A factor, three significant digits without trailing zeros: 8×, 1.54×, 3.9999 as 4×."""
    return f"{exact(round(ratio)) if abs(ratio) >= 999.5 else f'{ratio:.3g}'}×"


def serial(average_parallelism: float) -> str:
    """How serial a step is, in words that all pages share."""
    if average_parallelism < 2:
        return "almost entirely serial"
    return "mostly serial" if average_parallelism < 4 else "partly parallel"


def wrapped(text: str, width: int = 46) -> list[str]:
    """Lines of at most `width` characters, for chart titles that also fit a phone."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines


def plural(count: int, noun: str) -> str:
    """``1 operation``, ``2 operations``."""
    return f"{exact(count)} {noun}{'' if count == 1 else 's'}"
