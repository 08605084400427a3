"""Small HTML tables: every text is there once, escaped, and named for a phone."""

import re

from tokenviz.views.rows import rows_html

AWFUL = "<img src=x onerror=alert(1)>"


def test_what_stands_in_a_table() -> None:
    html = rows_html(("block", "size", "how"), [("A", "8.39 MB", "fixed"), ("All", "", "")])
    assert re.findall(r"<th(?: [^>]*)?>(.*?)</th>", html) == ["block", "size", "how"]
    assert re.findall(r"<td([^>]*)>(.*?)</td>", html) == [
        (' class="name" data-name="block"', "A"), (' class="number" data-name="size"', "8.39 MB"),
        (' data-name="how"', "fixed"), (' class="name" data-name="block"', "All"),
        (' class="number" data-name="size"', ""), (' data-name="how"', ""),
    ]  # fmt: skip


def test_two_columns_may_name_a_row() -> None:
    html = rows_html(("block", "keeps", "size"), [("A", "state", "1 B")], headings=2)
    assert html.count('<td class="name"') == 2


def test_markup_in_a_cell_or_a_header_stays_text() -> None:
    html = rows_html((AWFUL, 'a"b'), [(AWFUL, "1")])
    assert "<img" not in html
    assert html.count("&lt;img src=x onerror=alert(1)&gt;") == 3  # header, cell, and the name of its column
    assert 'data-name="a&quot;b"' in html
