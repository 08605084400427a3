"""Proposed layout types: what kind of physical arrangement a group of operations asks for, why, and what is open.

    cards(groups, tokens_per_s) -> str                 one HTML section with a drawing, the reason and the numbers each
    type_table(groups, tokens_per_s) -> DataFrame      the same numbers, raw

The drawings use the text colour of the page and the colours of the palette, so they follow the theme.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

import pandas as pd

from tokenviz.arrangements import Group
from tokenviz.views.format import exact, si
from tokenviz.views.layout_sketches import image


@dataclass(frozen=True, slots=True)
class Proposal:
    """The words of one row: which operations, which arrangement, why (operand lifetimes), and what is open."""

    operations: str
    arrangement: str
    why: str
    question: str


PROPOSALS: Mapping[str, Proposal] = MappingProxyType(
    {
        "fixed": Proposal(
            "Fixed linear products: every W·x",
            "Coefficient-stationary array",
            "One operand is known before any token and never rewritten; the other lives for this token only. So the "
            "coefficients stay where they are and the vector moves past them.",
            "Every coefficient is used once a token at batch 1: is an array worth its area, or does a memory that "
            "multiplies on the way out do as well?",
        ),
        "growing": Proposal(
            "Dynamic products over a cache: scores and value mix",
            "Broadcast and accumulate, beside the cache banks",
            "One operand is kept from all earlier tokens and grows; the other is small and new. Send the small one to "
            "every bank, multiply there, and move only sums.",
            "The softmax needs the largest score of all banks before the mix: one pass with rescaling, or two passes?",
        ),
        "recurrent": Proposal(
            "Recurrent state: decay, correct, read out",
            "In-place memory bank with local multiply",
            "The state is read whole and rewritten whole at every token and never leaves; only keys, values and the "
            "read-out cross the border. Arithmetic belongs into the bank.",
            "Four passes over the state in one token: can decay, correction and read-out share one?",
        ),
        "reduction": Proposal(
            "Reductions: sum, mean, max",
            "Reduction tree",
            "Many values made for this token become one, and that one is wanted back at all its inputs. Depth grows "
            "with the logarithm of the width if the tree spans the vector where it lies.",
            "A separate tree, or adders inside the arrays that make the vector?",
        ),
        "function": Proposal(
            "exp, log1p, rsqrt, reciprocal",
            "Function unit or table",
            "One live operand, one result, no coefficient that changes: a small fixed table or polynomial beside "
            "wherever the value is.",
            "How many copies, when the softmax over the context asks for millions and a norm for one?",
        ),
        "position": Proposal(
            "RoPE: × cos, rotated × sin",
            "Position-indexed coefficient store",
            "The coefficient is known ahead of time but the token's position selects it: the same row for every head "
            "and every layer of one token.",
            "Store the table, or recompute the row from its neighbour by one rotation?",
        ),
        "compare": Proposal(
            "Top-k, argmax, masks",
            "Compare network",
            "Live values are only compared, and the result is which, not how much. Nothing routed can start before it "
            "has finished.",
            "Exact order is not needed for a set: how much cheaper is a threshold search?",
        ),
        "experts": Proposal(
            "Routed experts: gate, up, down",
            "Router and crossbar in front of stationary arrays",
            "Coefficients are fixed, but which of them are used is decided by this token. Weights stay; a vector is "
            "sent to the chosen few and their outputs come back.",
            "Most arrays rest at any time: place likely partners together, or spread them for balance?",
        ),
        "cache": Proposal(
            "K append, V append",
            "Append-only banked store",
            "Each token adds one row a layer and nothing is ever rewritten; every later token reads all rows. Writing "
            "is rare and local, reading is everything.",
            "Interleave positions over banks for the broadcast, or keep heads together?",
        ),
        "window": Proposal(
            "Short convolution: append, taps, save",
            "Shift register with fixed taps",
            "A few columns are kept and each moves one place a token; the taps are fixed. Each channel needs only its "
            "own past.",
            "Shift the data, or move a pointer and rotate the taps?",
        ),
        "table": Proposal(
            "Lookup of the embedding row",
            "Addressed table",
            "A fixed table of which one row is read, by an address that the last token decided.",
            "With tied weights the same table is also the output array: one copy or two?",
        ),
        "lanes": Proposal(
            "Element by element: add, multiply, scale, residual",
            "Lanes along the vector",
            "Two vectors of one token meet coordinate by coordinate; no value travels further than its own lane. Their "
            "place is wherever their producer's lanes end.",
            "Fuse them into the neighbours they feed, and they vanish from the map: which ones?",
        ),
    }
)
ORDER = tuple(PROPOSALS)


def ordered(groups: Sequence[Group]) -> list[Group]:
    """Groups in the order in which they are explained."""
    return sorted(groups, key=lambda g: ORDER.index(g.key))


def type_table(groups: Sequence[Group], tokens_per_s: float) -> pd.DataFrame:
    """One row a group: operations and values a token, bytes resident, read and rewritten."""
    return pd.DataFrame(
        [
            {
                "operations": PROPOSALS[g.key].operations,
                "arrangement": PROPOSALS[g.key].arrangement,
                "operations/token": g.operations,
                "values in": g.values_in,
                "values out": g.values_out,
                "bytes resident": g.resident_bytes,
                "bytes read/token": g.read_bytes,
                "bytes rewritten/token": g.written_bytes,
                "bytes rewritten/s": g.written_bytes * tokens_per_s,
            }
            for g in ordered(groups)
        ]
    )


def cards(groups: Sequence[Group], tokens_per_s: float) -> str:
    """All proposals of a model as one HTML section; no script, nothing from outside."""
    rows = "".join(_card(g, tokens_per_s) for g in ordered(groups))
    return f'{_STYLE}<div class="tv-types" role="list">{rows}</div>'


def _card(g: Group, tokens_per_s: float) -> str:
    p = PROPOSALS[g.key]
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in _facts(g, tokens_per_s))
    return (
        f'<section role="listitem"><div class="pic">{image(g.key)}</div><div class="say">'
        f"<h4>{escape(p.arrangement)}</h4><p class=ops>{escape(p.operations)}</p><p>{escape(p.why)}</p>"
        f"<p class=open><b>Open:</b> {escape(p.question)}</p></div><dl>{facts}</dl></section>"
    )


def _facts(g: Group, tokens_per_s: float) -> list[tuple[str, str]]:
    written = "never rewritten"
    if g.written_bytes:
        written = f"{si(g.written_bytes, 'B')} a token"
    return [
        ("operations a token", exact(g.operations)),
        ("values in, a token", si(g.values_in)),
        ("values out, a token", si(g.values_out)),
        ("bytes resident", si(g.resident_bytes, "B") if g.resident_bytes else "none of its own"),
        ("read a token", si(g.read_bytes, "B") if g.read_bytes else "only what is handed on"),
        ("rewritten", written if g.resident_bytes else "nothing to rewrite"),
        *([("rewrite rate", si(g.written_bytes * tokens_per_s, "B/s"))] if g.written_bytes else []),
    ]


_STYLE = """<style>
.tv-types { display: grid; gap: 0; }
.tv-types section { display: grid; grid-template-columns: 132px minmax(0, 1fr) 290px; gap: 20px; padding: 16px 0;
  border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
.tv-types img { width: 132px; height: 88px; display: block; }
.tv-types h4 { margin: 0; padding: 0; font-size: 1rem; font-weight: 600; }
.tv-types p { margin: 4px 0 0; font-size: 0.9rem; line-height: 1.4; }
.tv-types .ops { opacity: 0.75; }
.tv-types dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 12px; margin: 0; font-size: 0.84rem;
  align-content: start; font-variant-numeric: tabular-nums; }
.tv-types dt { opacity: 0.75; margin: 0; }
.tv-types dd { text-align: right; margin: 0; }
@media (max-width: 900px) { .tv-types section { grid-template-columns: 104px minmax(0, 1fr); }
  .tv-types img { width: 104px; height: 70px; } .tv-types dl { grid-column: 1 / -1; } }
</style>"""
