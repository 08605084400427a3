"""The house rules that a test can hold: dependencies, imports, names, sizes, and no figure typed in."""

import json
import re
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from tokenviz.families import FAMILIES
from tokenviz.recipes import RECIPES

ROOT = Path(__file__).parent.parent
PACKAGE = sorted((ROOT / "tokenviz").rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))


def test_requirements_equal_the_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (ROOT / "requirements.txt").read_text().split("\n")[:-1] == project["dependencies"]


def test_importing_the_library_loads_no_drawing_or_page() -> None:
    code = (
        "import sys, tokenviz, tokenviz.cli, tokenviz.analysis;"
        "print([m for m in ('streamlit', 'altair', 'pyvis', 'IPython') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


LAYERS = (
    "notation", "formats", "config", "graph", "architecture", "scenario", "primitives", "wires", "recorder", "builder",
    "families", "recipes", "catalog", "trace", "execute", "weights", "storage", "schedule", "ledger", "traffic",
    "prediction", "analysis",
)  # fmt: skip


def imports_of(path: Path) -> set[str]:
    return set(re.findall(r"^\s*(?:from|import) tokenviz\.(\w+)", path.read_text(), re.MULTILINE))


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT / "tokenviz").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", [p for p in PACKAGE if layer_of(p) in LAYERS], ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    own = layer_of(path)
    later = [name for name in imports_of(path) if name not in LAYERS or LAYERS.index(name) > LAYERS.index(own)]
    assert later == []


def test_family_names_stop_at_the_families() -> None:
    mechanisms = {recipe.kind for recipe in RECIPES.values()}  # a mechanism may be named like the family it came with
    names = [n for n in FAMILIES if len(n) > 4 and n not in mechanisms]
    found = [
        f"{path.name}: {name}"
        for path in PACKAGE
        if "families" not in path.parts and "decoder" not in path.parts
        for name in names
        if re.search(rf"[\"']{re.escape(name)}[\"']", path.read_text())
    ]
    assert found == []


PUBLISHED = ("10,612", "6,886", "5,337", "3,897", "2,001", "1,467")


@pytest.mark.parametrize("path", [*PACKAGE, *PAGES, ROOT / "streamlit_app.py"], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_published_total_is_typed_in(path: Path) -> None:
    text = path.read_text()
    spellings = [total.replace(",", mark) for total in PUBLISHED for mark in ("", ",", "_")]
    assert [s for s in spellings if re.search(rf"(?<![\d.]){s}(?!\d)", text)] == []


@pytest.mark.parametrize(("paths", "limit"), [(PACKAGE, 400), (PAGES, 80)], ids=["modules", "pages"])
def test_files_stay_short(paths: list[Path], limit: int) -> None:
    assert {str(p.relative_to(ROOT)): n for p in paths if (n := len(p.read_text().splitlines())) > limit} == {}


def test_every_letter_of_a_drawn_shape_is_in_the_notation() -> None:
    from tests.reference.models import CONFIGS
    from tokenviz.catalog import bundled_models, load_model, model_from_text
    from tokenviz.notation import LETTERS, ConfigError
    from tokenviz.trace import trace

    unknown = set()
    models = [model_from_text(json.dumps(config), name) for name, config in CONFIGS.items()]
    for name in bundled_models():
        with suppress(ConfigError):  # a refusal draws nothing
            models.append(load_model(name))
    for model in models:
        for block in trace(model.architecture, model.scenario()).blocks.values():
            unknown |= {d for v in block.values.values() for d in v.dims if d not in LETTERS}
    assert unknown == set()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    readme, ci = (ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()
    commands = re.findall(r"^ {4}(python3 -m venv .*)$", readme, re.MULTILINE)
    assert len(commands) == 2
    assert "streamlit run streamlit_app.py" in commands[0]
    assert commands[1] in ci


def test_a_wheel_takes_every_module_and_every_data_file() -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folder_of = {
        name: "data" + name.removeprefix("tokenviz.data").replace(".", "/")
        if name.startswith("tokenviz.data")
        else name.replace(".", "/")
        for name in setup["packages"]
    }
    assert set(folder_of.values()) >= {str(path.parent.relative_to(ROOT)) for path in PACKAGE}
    taken = {
        path
        for name, patterns in setup["package-data"].items()
        for pattern in patterns
        for path in (ROOT / folder_of[name]).glob(pattern)
    }
    shipped = {ROOT / "data", ROOT / "data" / "configs", ROOT / "data" / "decoder"}
    beside = {path for folder in shipped for path in folder.iterdir()}
    inside = {path for path in (ROOT / "tokenviz").rglob("*") if "__pycache__" not in path.parts}
    files = {path for path in inside | beside if path.is_file() and path.suffix != ".py"}
    assert files - taken == set()
