"""How layers alternate, as a strip: one small mark for each layer, coloured by its kind, and what the kinds are."""

from html import escape

from tokenviz.graph import DecodeStep
from tokenviz.views.format import exact, plural
from tokenviz.views.pipeline_groups import drawn_as, layer_kinds, layer_strip, letter, rhythm

_FILLS = ("#6699CC", "#EE8866", "#44BB99", "#BBCC33", "#AA4499", "#EEDD88", "#999933", "#CC6677", "#88CCEE", "#AAAAAA")
MOST_NAMED = 12


def strip_html(step: DecodeStep) -> str:
    """The strip and its key as HTML; all text is escaped."""
    kinds = layer_kinds(step)
    marks = "".join(
        f'<i style="--chip:{_fill(kind)}" title="layer {layer}: {escape(_sections(step, kind))}"></i>'
        for layer, kind in enumerate(layer_strip(step))
    )
    named = "".join(
        f'<i style="--chip:{_fill(i)}"></i>{letter(i)} {escape(_sections(step, i))}, {plural(k.count, "layer")}'
        for i, k in enumerate(kinds[:MOST_NAMED])
    )
    order = "" if len(kinds) == 1 else f". Their order: {escape(rhythm(step))}."
    words = f"{plural(len(layer_strip(step)), 'layer')} of {plural(len(kinds), 'kind')}."
    alone = f'<div class="tokenviz-strip" role="img" aria-label="{escape(words + order)}">{marks}</div>'
    more = f" and {exact(len(kinds) - MOST_NAMED)} more kinds" if len(kinds) > MOST_NAMED else ""
    return f'{alone}<div class="tokenviz-key">{words}{named}{more}{order}</div>'


def _fill(kind: int) -> str:
    return _FILLS[kind % len(_FILLS)]


def _sections(step: DecodeStep, kind: int) -> str:
    return " + ".join(drawn_as(step)[key].block.label for key in layer_kinds(step)[kind].sections)
