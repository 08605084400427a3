"""The one place for colours: lifetimes, operation classes and surfaces, for the light and the dark theme.

Charts, drawings and tables all read them here, so that one colour means one thing everywhere.

    LIFETIMES, OP_CLASSES           the names, in the order of every legend
    THEMES["light" | "dark"]        a `Theme`: surfaces, `lifetimes[name] -> Swatch`
    OP_FILL[op class]               fill of an operation's cell, the same in both themes; ink is INK_ON_OP
    as_json()                       all of it as plain data, for the canvas

Hues: Okabe-Ito for lifetimes (each lifetime also has a mark of its own: `MARKS`), Tol's light scheme for operation
classes, which was made for labelled cells: near-black text on any of them has a contrast of 7.5:1 or more.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

LIFETIMES = ("static", "ephemeral", "state")
MARKS: Mapping[str, str] = MappingProxyType(
    {"static": "solid outline, small lock", "ephemeral": "solid outline", "state": "double outline, loop"}
)

OP_FILL: Mapping[str, str] = MappingProxyType(
    {
        "fixed linear": "#77AADD",
        "dynamic multiply/divide": "#EE8866",
        "add/subtract": "#EEDD88",
        "reduction": "#BBCC33",
        "nonlinear transfer": "#FFAABB",
        "position-selected": "#99DDFF",
        "compare/select": "#44BB99",
        "route/store": "#DDDDDD",
    }
)
OP_CLASSES = tuple(OP_FILL)
INK_ON_OP = "#111111"


@dataclass(frozen=True, slots=True)
class Swatch:
    """Colours of one lifetime in one theme."""

    outline: str
    fill: str


@dataclass(frozen=True, slots=True)
class Theme:
    """Surfaces and lifetimes of one theme. `gold` belongs to transforms, `accent` to what is selected."""

    background: str
    panel: str
    border: str
    text: str
    muted: str
    edge: str
    accent: str
    gold: str
    gold_fill: str
    lifetimes: Mapping[str, Swatch]


THEMES: Mapping[str, Theme] = MappingProxyType(
    {
        "light": Theme(
            background="#FFFFFF",
            panel="#F6F7F8",
            border="#D9DDE2",
            text="#0B0E12",
            muted="#59636E",
            edge="#7B858F",
            accent="#0B5CAD",
            gold="#E69F00",
            gold_fill="#FFF9EA",
            lifetimes={
                "static": Swatch("#0072B2", "#D6E8F5"),
                "ephemeral": Swatch("#009E73", "#D5F0E6"),
                "state": Swatch("#D55E00", "#FBE1D0"),
            },
        ),
        "dark": Theme(
            background="#0F1419",
            panel="#171D24",
            border="#303A45",
            text="#F3F5F7",
            muted="#A3AEBA",
            edge="#8995A1",
            accent="#7CC0FF",
            gold="#E69F00",
            gold_fill="#241C08",
            lifetimes={
                "static": Swatch("#4FA8DC", "#0B3A57"),
                "ephemeral": Swatch("#2FBF91", "#06452F"),
                "state": Swatch("#F08A4B", "#5A2A06"),
            },
        ),
    }
)


def as_json() -> dict[str, Any]:
    """Every colour as plain data: {"light": {...}, "dark": {...}, "op": {class: fill}, "ink": ...}."""
    themes = {name: asdict(theme) for name, theme in THEMES.items()}
    return {**themes, "op": dict(OP_FILL), "ink": INK_ON_OP}
