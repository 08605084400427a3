"""Models by name: the bundled configs, the pinned profiles, and configs from a path or pasted text."""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from tokenviz.architecture import Architecture
from tokenviz.config import MAX_CONFIG_BYTES, parse
from tokenviz.families import read_architecture
from tokenviz.notation import ConfigError
from tokenviz.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Profile:
    """How the published study looked at a model, where that differs from the config itself."""

    weights: str | None  # None: the config's own precision
    gate: str


PROFILES = MappingProxyType(
    {
        "qwen3.8-2.4t-a95b": Profile(weights=None, gate="study"),
        "qwen3.8-27b": Profile(weights="int4", gate="study"),
        "qwen3.5-0.8b": Profile(weights=None, gate="study"),
    }
)

DEFAULT_MODEL = "qwen3.8-2.4t-a95b"


@dataclass(frozen=True, slots=True)
class Model:
    """An architecture with its name and the way it is looked at by default."""

    name: str
    architecture: Architecture
    profile: Profile

    def scenario(self, **changes: object) -> Scenario:
        """The default scenario of this model: its precision and gate reading, one token after 1,000,000."""
        weights = self.profile.weights or self.architecture.dtype
        if "quantization" not in changes and changes.get("weights") is None and self.profile.weights is None:
            changes["quantization"] = self.architecture.quantization
        own = {"weights": weights, "gate": self.profile.gate}
        return Scenario(**{**own, **{k: v for k, v in changes.items() if v is not None}})  # type: ignore[arg-type]

    @property
    def gate_differs(self) -> bool:
        """Whether the study's reading of the output gate differs from the implementation."""
        gates = (getattr(s.body, "gate", None) for layer in self.architecture.layers for s in layer.sections)
        return any(gate is not None and gate.activation != gate.as_studied for gate in gates)


def data_dir() -> Path:
    """The folder of bundled data: beside the package in a checkout, inside it when installed."""
    inside = Path(__file__).parent / "data"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "data"


@lru_cache(maxsize=1)
def _files() -> dict[str, Path]:
    paths = sorted((data_dir() / "configs").glob("*__*.json"))
    return {path.stem.split("__", 1)[1].lower(): path for path in paths}


def bundled_models() -> tuple[str, ...]:
    """Names of the bundled configs: the pinned profiles first, then by name."""
    names = _files()
    return (*PROFILES, *sorted(n for n in names if n not in PROFILES))


@lru_cache(maxsize=128)
def load_model(name: str) -> Model:
    """A bundled model by name; case does not matter. `ConfigError` lists near names when there is none."""
    key = name.strip().lower()
    model = model_from_text(config_text(key), key)
    return Model(key, model.architecture, PROFILES.get(key, model.profile))


def config_text(name: str) -> str:
    """The published config.json of a bundled model; case does not matter. `ConfigError` lists near names, if any."""
    files, key = _files(), name.strip().lower()
    if key not in files:
        near = get_close_matches(key[:100], files, cutoff=0.5)
        hint = f"the nearest: {', '.join(near)}; " if near else ""
        raise ConfigError(f"no bundled model {name!r}; {hint}`tokenviz models` lists the {len(files)} names")
    return files[key].read_text(encoding="utf-8")


def model_from_text(text: str | bytes, name: str) -> Model:
    """A model from the text of a config.json, with its own precision and the gate as implemented."""
    return Model(name, read_architecture(parse(text)), Profile(weights=None, gate="implemented"))


def model_from_path(path: Path) -> Model:
    """A model from a config.json on disk."""
    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError(
                f"{path} has {path.stat().st_size:,} bytes; a config.json has at most {MAX_CONFIG_BYTES:,}"
            )
        with path.open("rb") as file:
            text = file.read(MAX_CONFIG_BYTES + 1)  # a device has no size of its own
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({error.strerror}); give a bundled name or the path of a config.json"
        ) from None
    return model_from_text(text, path.stem)
