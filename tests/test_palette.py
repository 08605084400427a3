"""Colours: one place, the names of the graph, and enough contrast to read."""

import tomllib
from pathlib import Path

import pytest

from tokenviz.graph import Lifetime, OpClass
from tokenviz.views.palette import INK_ON_OP, LIFETIMES, OP_CLASSES, OP_FILL, THEMES, as_json

CONFIG = tomllib.loads((Path(__file__).parent.parent / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_black_on_white_is_21():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)


def test_the_names_are_those_of_the_graph():
    assert tuple(str(c) for c in OpClass) == OP_CLASSES
    assert tuple(str(life) for life in Lifetime) == LIFETIMES
    for theme in THEMES.values():
        assert tuple(theme.lifetimes) == LIFETIMES


@pytest.mark.parametrize("op_class", OP_CLASSES)
def test_text_on_an_operation_reads_at_7_5_to_1(op_class):
    assert contrast(INK_ON_OP, OP_FILL[op_class]) >= 7.5


@pytest.mark.parametrize(("name", "least"), [("light", 15), ("dark", 10)])
def test_text_on_data_reads_in_both_themes(name, least):
    theme = THEMES[name]
    for swatch in theme.lifetimes.values():
        assert contrast(theme.text, swatch.fill) >= least
        assert contrast(swatch.outline, theme.panel) >= 3  # a graphic that must be told apart: WCAG 1.4.11
    assert contrast(theme.text, theme.gold_fill) >= least
    assert contrast(theme.muted, theme.panel) >= 4.5
    assert contrast(theme.edge, theme.panel) >= 3


@pytest.mark.parametrize("name", THEMES)
def test_the_app_theme_has_the_same_surfaces(name):
    theme, config = THEMES[name], CONFIG["theme"][name]
    assert (config["backgroundColor"], config["textColor"]) == (theme.background, theme.text)
    assert (config["secondaryBackgroundColor"], config["borderColor"]) == (theme.panel, theme.border)
    assert config["primaryColor"] == theme.accent


def test_the_canvas_gets_every_colour():
    data = as_json()
    assert data["light"]["lifetimes"]["static"] == {"outline": "#0072B2", "fill": "#D6E8F5"}
    assert data["op"] == dict(OP_FILL)
    assert set(data) == {"light", "dark", "op", "ink"}
