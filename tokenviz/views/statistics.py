"""The Statistics page's words and tables: what each section found, the totals, and every operation as a row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import pandas as pd

from tokenviz.breakdown import AMOUNTS, every_stage, stages
from tokenviz.catalog import Model
from tokenviz.context import FIELDS, STATE_FIELDS, Dependence, dependence
from tokenviz.conventions import CONVENTIONS, all_totals
from tokenviz.graph import COUNTERS, DecodeStep
from tokenviz.scenario import Scenario
from tokenviz.schedule import Summary, summarise
from tokenviz.timeline import slack, widths
from tokenviz.trace import traced
from tokenviz.traffic import Traffic, traffic
from tokenviz.views.format import exact, serial, share, si
from tokenviz.views.statistics_work import exponentials_split


@dataclass(frozen=True, eq=False)
class Side:
    """One model in one scenario, as the page shows it; a second one may stand beside it."""

    model: Model
    scenario: Scenario

    @cached_property
    def step(self) -> DecodeStep:
        """The traced step."""
        return traced(self.model.architecture, self.scenario)

    @cached_property
    def summary(self) -> Summary:
        """The four totals as drawn."""
        return summarise(self.step)

    @cached_property
    def dependence(self) -> Dependence:
        """Every count and byte as lines in the context."""
        return dependence(self.model.architecture, self.scenario)

    @cached_property
    def traffic(self) -> Traffic:
        """Bytes of one token by origin."""
        return traffic(self.step, self.scenario)

    @property
    def label(self) -> str:
        """Name, context and precision: ``qwen3.8-27b · 1,000,000 cached · int4``."""
        return f"{self.model.name} · {exact(self.scenario.context)} cached · {self.precision}"

    @property
    def precision(self) -> str:
        """The format of most weights: the config's own, or what was asked for."""
        declared = self.scenario.quantization
        return declared.format if declared else self.scenario.weights


# ------------------------------------------------------------------------------------------------ sentences


def finding(side: Side) -> str:
    """What one sees first, for this model."""
    s, moved = side.summary, side.traffic
    state = 1 - moved.weights / moved.total
    return (
        f"Decoding one token is {serial(s.average_parallelism)}: **{exact(s.operations)}** operations, "
        f"**{exact(s.critical_path)}** of them in one chain; **{s.average_parallelism:.2f}** run at once on average, "
        f"never more than **{s.peak_parallelism}**. It moves **{si(moved.total, 'B')}**, {share(1 - state)} of it "
        f"weights and {share(state)} state."
    )


def gate_note(side: Side) -> str:
    """The one sentence about the two readings of the attention output gate; empty where they do not differ."""
    if not side.model.gate_differs:
        return ""
    study, own = (summarise(traced(side.model.architecture, replace(side.scenario, gate=g))).operations
                  for g in ("study", "implemented"))  # fmt: skip
    return (
        f"Operations are {exact(study)} as the published study read the attention output gate and {exact(own)} as it "
        "is implemented (always a sigmoid); the sidebar switches between the two."
    )


def prediction_note(side: Side) -> str:
    """What the extra prediction heads have to do with the figures; empty for a model without."""
    if side.model.architecture.prediction is None:
        return ""
    loaded = "counted" if side.scenario.prediction else "left out"
    return (
        " This model's extra prediction heads guess further tokens. One step does not run them, so they move no bytes "
        f"here; what they store and keep is {loaded} (the sidebar's “Load prediction heads”)."
    )


def timeline_finding(side: Side) -> str:
    """Title of the picture."""
    s = side.summary
    return f"A chain of {exact(s.critical_path)} timesteps, at most {s.peak_parallelism} operations at once"


def widths_finding(side: Side) -> str:
    """Title of the width chart."""
    alone = widths(side.step).get(1, 0)
    return f"In {share(alone / side.summary.critical_path)} of the timesteps one operation runs alone"


def slack_finding(side: Side) -> str:
    """Title of the slack chart."""
    none = sum(s.operations for s in slack(side.step) if s.timesteps == 0)
    return f"{share(none / side.summary.operations)} of the operations cannot wait for a single timestep"


def classes_finding(table: pd.DataFrame) -> str:
    """Title of the class chart."""
    first = table.iloc[0]
    return f"Most frequent class: {first['class']}, {share(first['share'])} of the operations"


def families_finding(side: Side) -> str:
    """Title of the arithmetic chart."""
    found, context = side.dependence, side.scenario.context
    mac = found.value(found.select(lambda r: r.what == "mac"), context)
    split = exponentials_split(found, context)
    total = sum(split.values())
    return (
        f"{si(mac)} MAC ({si(2 * mac, 'FLOP')}) and {si(total)} exponentials, "
        f"{share(split['attention softmax'] / total)} of them attention softmax"
    )


def split_finding(side: Side) -> str:
    """Title of the bytes chart."""
    moved = side.traffic
    kv = moved.kv_read + moved.kv_write
    fixed = moved.total - moved.weights - kv
    parts = {"active weights": moved.weights, "K/V": kv, "fixed-size state": fixed}
    name, n = max(parts.items(), key=lambda part: part[1])
    return f"{share(n / moved.total)} of the {si(moved.total, 'B')} of one token are {name}"


def growth_finding(side: Side) -> str:
    """Title of the growth chart: where K/V reads overtake the weights."""
    found = side.dependence
    if not any(p.line(found.bytes_of(*STATE_FIELDS)).slope for p in found.pieces):
        return "No byte depends on the context"
    lines = found.bytes_of("kv_read"), found.bytes_of("weights")
    cross, good = found.crossover(*lines), found.for_good(*lines)
    if cross is None:
        return "K/V reads stay below the active weights, however long the context"
    if cross == good:
        return f"From {exact(cross)} cached positions on, K/V reads exceed the active weights"
    settled = "" if good is None else f", for good from {exact(good)} on"
    return f"K/V reads first exceed the active weights at {exact(cross)} cached positions{settled}"


def growth_words(side: Side) -> str:
    """The same in a sentence, with the slope."""
    found, n = side.dependence, side.scenario.context
    line = found.piece(n).line(found.bytes_of(*FIELDS))
    lines = found.bytes_of("kv_read"), found.bytes_of("weights")
    cross = found.crossover(*lines)
    words = f"At this context every further cached position adds {exact(line.slope)} bytes to each token"
    if not cross or cross != found.for_good(*lines):
        return f"{words}. {growth_finding(side)}."
    return (
        f"{words}; from about {si(cross)} cached positions on (exactly {exact(cross)} before the new token), K/V reads "
        "exceed active weights."
    )


def bend_note(side: Side) -> str:
    """What fixed part and slope mean where the counts are not one straight line; empty where they are."""
    found = side.dependence
    if len(found.pieces) == 1 and not found.period:
        return ""
    piece = found.piece(side.scenario.context)
    return (
        f" The counts of {side.model.name} bend where a window is full or a chunk begins: fixed part and slope are "
        f"those of the straight line from {exact(piece.start)} to {exact(piece.stop)} cached positions, continued to 0."
    )


# ------------------------------------------------------------------------------------------------ tables


def totals_table(step: DecodeStep) -> pd.DataFrame:
    """The four figures under the four conventions."""
    return pd.DataFrame([
        {"convention": f"{CONVENTIONS[t.convention].title} ({CONVENTIONS[t.convention].unit}s)",
         "operations": t.operations, "critical path": t.critical_path, "peak": t.peak_parallelism,
         "average": round(t.average_parallelism, 2)}
        for t in all_totals(step)
    ])  # fmt: skip


def rows_table(side: Side, *, folded: bool) -> pd.DataFrame:
    """The breakdown: one row for each operation of each distinct block, or of every layer; empty counters left out."""
    return _rows(side.step, side.scenario, folded)


@lru_cache(maxsize=8)
def _rows(step: DecodeStep, scenario: Scenario, folded: bool) -> pd.DataFrame:
    columns = stages(step, scenario) if folded else every_stage(step, scenario)
    table = pd.DataFrame(dict(columns))
    empty = [c for c in COUNTERS if not table[c].any()]
    if "layer" in table:
        table["layer"] = table["layer"].where(table["layer"] >= 0).astype("Int64")
    return table.drop(columns=empty)


def rows_summary(side: Side) -> pd.DataFrame:
    """One row for each block title, transform and operation, summed over all layers; a counter not used is absent."""
    table = rows_table(side, folded=True)
    values = [name for name in AMOUNTS if name in table]
    summed = table[["block", "transform", "operation", "count", *values]].rename(columns={"count": "operations"})
    return summed.groupby(["block", "transform", "operation"], sort=False, as_index=False).sum()


def matching(table: pd.DataFrame, words: str, chosen: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    """Rows that contain all words (in any text column) and one of the chosen values in each column named."""
    keep = pd.Series(True, index=table.index)
    for column, values in chosen.items():
        values = list(values)
        if values:
            keep &= table[column].isin(values)
    wanted = words.lower().split()
    if wanted:
        text = table["block"] + " " + table["transform"] + " " + table["operation"] + " " + table["class"]
        text = (text + " " + table["operands"]).str.lower()
        for word in wanted:
            keep &= text.str.contains(word, regex=False)
    return table[keep]
