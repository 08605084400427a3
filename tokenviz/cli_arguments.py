"""What the commands share: a parser that refuses in one sentence, and how models and numbers are read."""

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from tokenviz.catalog import Model, bundled_models, load_model, model_from_path, model_from_text
from tokenviz.config import MAX_CONFIG_BYTES
from tokenviz.notation import ConfigError, ScenarioError


class Parser(argparse.ArgumentParser):
    """One sentence on standard error for a wrong call."""

    def error(self, message: str) -> NoReturn:
        """Raise `ScenarioError` where argparse would print its usage and leave."""
        raise ScenarioError(f"{message}; see `{self.prog} --help`")


Commands = argparse._SubParsersAction  # the type of what `add_subparsers` returns; it has no public name


def add_model(sub: Parser) -> None:
    """Add the positional argument that names a model."""
    sub.add_argument(
        "model", metavar="MODEL", help="a bundled name, the path of a config.json, or - for standard input"
    )


def add_context(sub: Parser) -> None:
    """Add the option for the cached positions."""
    sub.add_argument("--context", type=whole, metavar="N", help="cached positions (default 1000000)")


def whole(text: str) -> int:
    """A whole number; underscores and commas may group its digits."""
    try:
        return int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def number(text: str) -> float:
    """A decimal number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def find_model(name: str) -> Model:
    """A model by bundled name, path, or ``-`` for standard input."""
    if name == "-":
        return model_from_text(_standard_input(), "standard input")
    if name.lower() in bundled_models():
        return load_model(name)
    path = Path(name)
    # os.path.exists is false where Path.exists raises: for names that no file can have
    if path.suffix == ".json" or os.path.exists(name):  # noqa: PTH110
        return model_from_path(path)
    return load_model(name)


def _standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read(MAX_CONFIG_BYTES + 1) if sys.stdin else b""
    except OSError as error:
        raise ConfigError(f"standard input cannot be read ({error.strerror}); give the text of a config.json") from None
