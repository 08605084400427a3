"""The sortable table: raw values for the file, texts for people, the same rows in both."""

import math

import pandas as pd

from tokenviz.views.statistics_table import sortable, table_script, table_style


def test_raw_values_and_their_texts() -> None:
    data = sortable(pd.DataFrame({"name": ["a", "b"], "bytes": [1_234_567, -5], "ok": [True, False]}), "t.csv")
    assert data["rows"] == [("a", 1_234_567, "yes"), ("b", -5, "no")]
    assert data["texts"] == [("a", "1,234,567", "yes"), ("b", "−5", "no")]
    assert [(c["name"], c["number"]) for c in data["columns"]] == [("name", False), ("bytes", True), ("ok", False)]
    assert (data["file"], data["label"]) == ("t.csv", "name, bytes, ok")


def test_one_column_has_one_precision() -> None:
    def texts(*values: float) -> list[str]:
        return [row[0] for row in sortable(pd.DataFrame({"x": values}), "")["texts"]]

    assert texts(1.5, 86_430_531.611) == ["1.50", "86,430,531.61"]
    assert texts(282_123_456.75, 1_000.0) == ["282,123,457", "1,000"]
    assert texts(0.000123, 0.5) == ["0.000123", "0.5"]


def test_what_has_no_figure_is_empty_and_null() -> None:
    data = sortable(pd.DataFrame({"x": [math.inf, math.nan, 2.0]}), "")
    assert data["rows"] == [(None,), (None,), (2.0,)]
    assert data["texts"] == [("",), ("",), ("2.00",)]
    layers = sortable(pd.DataFrame({"layer": pd.array([None, 3], dtype="Int64")}), "")
    assert (layers["rows"], layers["texts"]) == ([(None,), (3,)], [("",), ("3",)])


def test_times_and_shares_are_never_in_powers_of_ten() -> None:
    data = sortable(pd.DataFrame({"bound (s)": [0.00168, 4.89e-5], "share, %": [66.2, 3.3e-5]}), "")
    assert data["texts"] == [("1.68 ms", "66.20"), ("48.9 µs", "< 0.01")]
    assert data["rows"] == [(0.00168, 66.2), (4.89e-5, 3.3e-5)]
    assert [(c["name"], c["title"]) for c in data["columns"]] == [
        ("bound (s)", "bound"), ("share, %", "share, %"),
    ]  # fmt: skip


def test_differences_have_a_sign() -> None:
    table = pd.DataFrame({"n, difference": [3, -3, 0], "s, difference": [0.5, -0.25, 0.0]})
    assert sortable(table, "")["texts"] == [("+3", "+0.50"), ("−3", "−0.25"), ("0", "0")]


def test_each_figure_of_a_mixed_column_has_its_own_precision() -> None:
    table = pd.DataFrame({
        "figure": ["n", "lower bound (s)", "n", "ratio"],
        "first": pd.Series([1_234, 0.002, 5, 0.001], dtype=object),
        "difference": pd.Series([-1, -0.001, 0, 2_000.25], dtype=object),
    })  # fmt: skip
    data = sortable(table, "")
    assert data["rows"] == [
        ("n", 1_234, -1), ("lower bound (s)", 0.002, -0.001), ("n", 5, 0), ("ratio", 0.001, 2_000.25),
    ]  # fmt: skip
    assert [row[1:] for row in data["texts"]] == [
        ("1,234", "−1"), ("2.00 ms", "−1.00 ms"), ("5", "0"), ("0.001", "+2,000"),
    ]  # fmt: skip
    assert [c["number"] for c in data["columns"]] == [False, True, True]


def test_whole_numbers_beyond_a_browsers_are_sent_exactly() -> None:
    data = sortable(pd.DataFrame({"n": [2**53 + 1]}), "")
    assert data["rows"] == [(str(2**53 + 1),)]
    assert data["texts"] == [("9,007,199,254,740,993",)]


def test_style_and_script_are_whole() -> None:
    # a component takes text of one line for a path
    assert "\n" in table_style()
    assert table_script().count("export default") == 1
