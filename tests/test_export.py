"""Files that other programs read: the trace's slices are the schedule, the CSV's cells are the table."""

import csv
import io
import json
from itertools import pairwise
from typing import Any

import pytest

from tokenviz.breakdown import every_stage
from tokenviz.catalog import load_model
from tokenviz.export import BLOCKS, OPERATIONS, chrome_trace, to_csv
from tokenviz.schedule import expand, summarise
from tokenviz.trace import trace


@pytest.fixture(scope="module", params=["qwen3.5-0.8b", "qwen3.8-2.4t-a95b"])
def step_and_events(request: pytest.FixtureRequest) -> tuple[Any, list[dict[str, Any]]]:
    model = load_model(request.param)
    step = trace(model.architecture, model.scenario())
    return step, json.loads(chrome_trace(step, model.name))["traceEvents"]


def test_every_operation_is_a_slice_at_its_timestep(step_and_events: tuple[Any, list[dict[str, Any]]]) -> None:
    step, events = step_and_events
    slices = [e for e in events if e["ph"] == "X" and e["pid"] == OPERATIONS and e["cat"] != "transform"]
    assert [(e["name"], e["ts"], e["dur"]) for e in slices] == [(p.op.label, p.t, 1) for p in expand(step)]
    assert max(e["ts"] + e["dur"] for e in slices) == summarise(step).critical_path


def test_lanes_are_tracks_and_never_overlap(step_and_events: tuple[Any, list[dict[str, Any]]]) -> None:
    step, events = step_and_events
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == OPERATIONS}
    assert tracks == {i: f"lane {i}" for i in range(1, summarise(step).peak_parallelism + 1)}
    for lane in tracks:
        for category in (True, False):
            taken = sorted((e["ts"], e["dur"]) for e in events if e["ph"] == "X" and e["pid"] == OPERATIONS
                           and e["tid"] == lane and (e["cat"] == "transform") is category)  # fmt: skip
            assert all(a + n <= b for (a, n), (b, _) in pairwise(taken))


def test_the_trace_keeps_to_its_published_format(step_and_events: tuple[Any, list[dict[str, Any]]]) -> None:
    """Trace Event Format, complete events (X) and metadata events (M): their fields, and slices that nest."""
    _, events = step_and_events
    named, used = set(), set()
    for e in events:
        assert (e["pid"] > 0, e["tid"] > 0, isinstance(e["name"], str), isinstance(e["args"], dict)) == (True,) * 4
        if e["ph"] == "X":
            assert isinstance(e["ts"], int)
            assert isinstance(e["dur"], int)
            assert e["ts"] >= 0
            assert e["dur"] > 0
            assert e["cat"]
            used.add((e["pid"], e["tid"]))
        else:
            assert e["ph"] == "M"
            assert list(e["args"]) == ["sort_index" if e["name"].endswith("sort_index") else "name"]
            if e["name"] == "thread_name":
                named.add((e["pid"], e["tid"]))
    assert named == used
    assert len({tid for _, tid in used}) == len(used)
    for track in used:
        _assert_nested([e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == track])


def _assert_nested(slices: list[dict[str, Any]]) -> None:
    """In the order of the file, by time: a slice ends before the next begins, or holds all of it."""
    open_until: list[int] = []
    for e in sorted(slices, key=lambda e: e["ts"]):  # stable: of two that begin together the first is the outer one
        while open_until and open_until[-1] <= e["ts"]:
            open_until.pop()
        assert not open_until or e["ts"] + e["dur"] <= open_until[-1]
        open_until.append(e["ts"] + e["dur"])


def test_transforms_hold_their_operations_and_blocks_follow_each_other(
    step_and_events: tuple[Any, list[dict[str, Any]]],
) -> None:
    step, events = step_and_events
    transforms = [e for e in events if e["ph"] == "X" and e["cat"] == "transform"]
    assert sum(e["dur"] for e in transforms) == summarise(step).operations
    blocks = [e for e in events if e["ph"] == "X" and e["pid"] == BLOCKS]
    assert len(blocks) == len(step.sequence)
    assert [e["ts"] for e in blocks[1:]] == [e["ts"] + e["dur"] for e in blocks[:-1]]
    assert blocks[1]["name"].startswith("layers.0.mixer: ")


def test_csv_holds_every_cell_raw() -> None:
    model = load_model("qwen3.5-0.8b")
    scenario = model.scenario()
    columns = every_stage(trace(model.architecture, scenario), scenario)
    rows = list(csv.reader(io.StringIO(to_csv(columns))))
    assert rows[0] == list(columns)
    assert len(rows) == 2_002
    for name, cells in zip(rows[0], zip(*rows[1:], strict=True), strict=True):
        assert list(cells) == [str(x) for x in columns[name].tolist()]


def test_csv_quotes_text() -> None:
    assert to_csv({"name": ['a,"b"', "+ 1"], "n": [1, 2]}) == '"name","n"\n"a,""b""",1\n"+ 1",2\n'
    with pytest.raises(ValueError, match="zip"):
        to_csv({"a": [1], "b": [1, 2]})
