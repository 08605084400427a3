"""Small tables as HTML that a phone can read: there each row becomes a heading with its figures below.

rows_html(columns, rows, headings=1) -> str
"""

from collections.abc import Sequence
from html import escape

NUMERIC = frozenset("0123456789+−")


def rows_html(columns: Sequence[str], rows: Sequence[Sequence[str]], headings: int = 1) -> str:
    """A table of texts; everything in it is escaped. The first `headings` columns name the row.

    Cells that start with a figure stand to the right and never break.
    """
    numeric = [all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    head = "".join(f"<th{_kind(i, numeric, headings)}>{escape(name)}</th>" for i, name in enumerate(columns))
    body = "".join(
        "<tr>"
        + "".join(
            f'<td{_kind(i, numeric, headings)} data-name="{escape(columns[i])}">{escape(cell)}</td>'
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f'<table class="tv-rows"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _is_number(cell: str) -> bool:
    return not cell or cell[0] in NUMERIC


def _kind(i: int, numeric: Sequence[bool], headings: int) -> str:
    return ' class="name"' if i < headings else ' class="number"' if numeric[i] else ""
