"""The generated parts of the README: ``python -m tests.readme`` writes them, a test holds them up to date."""

import ast
import re
from pathlib import Path

from tokenviz.analysis import analyze
from tokenviz.catalog import bundled_models, load_model
from tokenviz.families.common import TITLES
from tokenviz.notation import TokenvizError

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def model_table() -> str:
    """One row for each bundled config: operations and depth at the default scenario, parameters, growth of state."""
    columns = ("model", "family", "operations", "critical path", "parameters, total", "read per token",
               "K/V per position", "fixed state")  # fmt: skip
    rows = [
        f"| {' | '.join(columns)} |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    refused = []
    for name in bundled_models():
        try:
            model = load_model(name)
            a = analyze(model, model.scenario())
        except TokenvizError as error:
            refused.append(f"- `{name}` is refused: {error}.")
            continue
        growth = f"{a.kept.kv_per_position:,} B"
        if a.kept.window_per_position:
            growth += f" + {a.kept.window_per_position:,} B in windows"
        counts = (a.summary.operations, a.summary.critical_path, a.parameters.total, a.parameters.active)
        cells = [f"`{name}`", TITLES[model.architecture.family], *(f"{n:,}" for n in counts), growth]
        rows.append(f"| {' | '.join(cells)} | {a.kept.recurrent + a.kept.convolution:,} B |")
    known = ", ".join(f"`{n}`" for n in sorted(TITLES))
    return "\n".join([*rows, "", *refused, "", f"Known `model_type`s: {known}."])


def file_map() -> str:
    """Every module with the first line of its docstring, packages by their `__init__`."""
    lines = []
    for path in sorted((ROOT / "tokenviz").rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        inside_small_package = len(parts) > 2 and parts[1] in (
            "recipes",
            "families",
            "architecture",
            "views",
            "decoder",
        )
        if inside_small_package and path.name != "__init__.py":
            continue
        name = "/".join(parts[:-1]) + "/" if path.name == "__init__.py" else "/".join(parts)
        doc = (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n")[0]
        lines.append(f"| `{name}` | {doc} |")
    return "\n".join(["| file | what it is |", "| --- | --- |", *lines])


def rendered() -> str:
    """The README with its generated parts written anew."""
    text = README.read_text()
    for mark, content in (("models", model_table()), ("files", file_map())):
        pattern = rf"(<!-- {mark}: [^>]*-->\n).*?(<!-- end -->)"
        text = re.sub(pattern, lambda m, content=content: f"{m[1]}{content}\n{m[2]}", text, flags=re.DOTALL)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    README.write_text(rendered())
