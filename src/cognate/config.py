"""The configuration of a study: one typed model, from which the JSON schema is generated.

Presets differ in values only. Read a file with :func:`load_config`; a mistake raises
:class:`ConfigError` that names the key and the nearest valid one.
"""

import difflib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cognate.errors import ConfigError

OperationName = Literal["spmm", "sddmm"]
Bounds = tuple[int | None, int | None]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Split(_Section):
    """How matrices are divided; near copies always stay together."""

    by: Literal["family", "group"] = Field("family", description="What is never split.")
    train: float = Field(0.5, gt=0, lt=1, description="Share of matrices to train on.")
    validation: float = Field(0.15, gt=0, lt=1, description="Share of matrices to tune on.")
    seed: int = Field(0, ge=0, description="Draws the split; the embedded corpus has it stored.")

    @model_validator(mode="after")
    def _leaves_a_test_set(self) -> "Split":
        if self.train + self.validation >= 1:
            raise ValueError("train and validation leave nothing to test on")
        return self


class Matrices(_Section):
    """Which matrices the study uses. Selection rules are combined with 'and'."""

    source: Literal["embedded", "suitesparse", "directory"] = Field(
        "embedded", description="Where matrices come from."
    )
    folder: str | None = Field(None, description="Folder of .mtx files, for source: directory.")
    values: Literal["stored", "pattern"] = Field(
        "stored", description="'pattern' reads complex and non-finite files as patterns."
    )
    names: tuple[str, ...] = Field((), description="These matrices; empty: no restriction.")
    kinds: tuple[str, ...] = Field((), description="Kinds (domains) to take; empty: all.")
    groups: tuple[str, ...] = Field((), description="Groups to take; empty: all.")
    families: tuple[str, ...] = Field((), description="Families to take; empty: all.")
    rows: Bounds = Field((None, None), description="Least and greatest number of rows.")
    nnz: Bounds = Field((None, None), description="Least and greatest number of entries.")
    count: int | None = Field(None, ge=3, description="Draw this many of what is left.")
    seed: int = Field(0, ge=0, description="Draws the 'count' matrices.")
    offline: bool = Field(False, description="Never go to the network; say what is missing.")
    split: Split = Field(Split(), description="How matrices are divided.")
    batch_nnz: int = Field(
        2_000_000, ge=1, description="Matrices share a job until they have this many entries."
    )

    @model_validator(mode="after")
    def _has_its_folder(self) -> "Matrices":
        if (self.source == "directory") != (self.folder is not None):
            raise ValueError("'folder' is needed with source: directory, and only there")
        return self


class PlatformChoice(_Section):
    """A platform, its settings, and how many schedules to sample on each matrix."""

    platform: str = Field(description="Name of an installed platform, or a YAML file.")
    label: str | None = Field(
        None, pattern=r"^[a-z][a-z0-9-]*$", description="Name in results; default: the platform's."
    )
    schedules: int | Literal["all"] = Field("all", description="Schedules sampled a matrix.")
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Keyword arguments of the platform."
    )

    @property
    def name(self) -> str:
        """The name in results: the label, or the platform's own name, or its file's."""
        is_file = self.platform.endswith((".yaml", ".yml"))
        return self.label or (PurePath(self.platform).stem if is_file else self.platform)


class Experiment(_Section):
    """Every combination of these methods, shots and source sizes, with all seeds."""

    methods: tuple[str, ...] = Field(min_length=1, description="Names of learning methods.")
    shots: tuple[int, ...] = Field((5,), min_length=1, description="Numbers of target matrices.")
    source_matrices: tuple[int | Literal["all"], ...] = Field(
        ("all",), min_length=1, description="Numbers of source matrices to pre-train on."
    )
    seeds: int | None = Field(None, ge=1, description="First so many of the study's seeds only.")


class Learning(_Section):
    """Training and the experiments that compare methods."""

    seeds: tuple[int, ...] = Field((0, 1, 2), min_length=1, description="Repetitions.")
    samples_per_shot: int = Field(100, ge=2, description="Target schedules of a shot matrix.")
    shot_selection: Literal["random", "diverse"] = Field(
        "random", description="How shot matrices are drawn, unless a method says shots=…"
    )
    effort: float = Field(
        1.0, gt=0, description="Scales the number of training steps; 1 is the tuned amount."
    )
    experiments: dict[str, Experiment] = Field(
        min_length=1, description="Named experiments; 'headline' is required."
    )

    @model_validator(mode="after")
    def _has_headline(self) -> "Learning":
        if "headline" not in self.experiments:
            raise ValueError("experiments must have one called 'headline'")
        return self


class Evaluation(_Section):
    """How rankings become numbers."""

    bootstrap: int = Field(2000, ge=10, description="Resamples for intervals.")
    confidence: float = Field(0.95, gt=0.5, lt=1, description="Level of intervals.")
    resample: Literal["matrix", "family"] = Field(
        "matrix", description="What is drawn for intervals: single matrices or whole families."
    )
    sample_cost: dict[str, float] = Field(
        default_factory=dict,
        description="Relative cost β of one sample by platform; default: the platform's own.",
    )
    source_on_test: bool = Field(
        False,
        description="Sample the source on test matrices too, to compare platforms on them; "
        "nothing learns from these samples.",
    )
    end_to_end: int = Field(
        0, ge=0, description="Square test matrices to measure graph layers on; 0: none."
    )


class Config(_Section):
    """A whole study."""

    name: str = Field("study", pattern=r"^[A-Za-z0-9_-]+$", description="Shown in the report.")
    results: str = Field("results", description="Folder that receives everything.")
    seed: int = Field(0, ge=0, description="Draws the schedules that are sampled.")
    matrices: Matrices = Matrices()
    operations: tuple[OperationName, ...] = Field(
        ("spmm", "sddmm"), min_length=1, description="Sparse kernels to study."
    )
    width: int = Field(256, ge=1, description="Dense columns K.")
    source: PlatformChoice
    targets: tuple[PlatformChoice, ...] = Field(min_length=1)
    learning: Learning
    evaluation: Evaluation = Evaluation()

    @model_validator(mode="after")
    def _names_are_distinct(self) -> "Config":
        names = [choice.name for choice in (self.source, *self.targets)]
        if len(set(names)) != len(names):
            raise ValueError(f"platform labels must differ: {', '.join(names)}")
        return self

    def platform_choice(self, name: str) -> PlatformChoice:
        """The source or target whose name in results is ``name``."""
        for choice in (self.source, *self.targets):
            if choice.name == name:
                return choice
        raise ConfigError(f"the study has no platform {name!r}")

    @property
    def config_hash(self) -> str:
        """Sixteen hex digits of everything that the study's numbers depend on."""
        content = self.model_dump(mode="json", exclude={"results"})
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def parse_config(content: Mapping[str, Any], source: str = "configuration") -> Config:
    """A checked :class:`Config`; :class:`ConfigError` lists every mistake found."""
    try:
        return Config.model_validate(dict(content))
    except ValidationError as error:
        lines = [f"{source}: {_explain(problem)}" for problem in error.errors()]
        raise ConfigError("\n".join(lines)) from None


def load_config(path: Path | str) -> Config:
    """Read a YAML file into a checked :class:`Config`."""
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must be a mapping of keys, see config/README.md")
    return parse_config(content, str(path))


def json_schema() -> str:
    """The JSON schema of a configuration file, as text that ends in a newline."""
    return json.dumps(Config.model_json_schema(), indent=2) + "\n"


def _explain(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"]) or "the study"
    if problem["type"] != "extra_forbidden":
        return f"{where}: {problem['msg'].removeprefix('Value error, ')}"
    valid = _valid_keys(problem["loc"][:-1])
    near = difflib.get_close_matches(str(problem["loc"][-1]), valid, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"valid keys: {', '.join(valid)}"
    return f"{where}: unknown key; {hint}"


def _valid_keys(location: tuple[int | str, ...]) -> list[str]:
    """Keys of the section at this location, by walking the generated schema."""
    schema = Config.model_json_schema()
    node: dict[str, Any] = schema
    for part in location:
        node = _resolve(schema, node)
        if "properties" in node and part in node["properties"]:
            node = node["properties"][part]
        elif "items" in node:
            node = node["items"]
        else:
            node = node.get("additionalProperties", {})
    return sorted(_resolve(schema, node).get("properties", {}))


def _resolve(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        resolved: dict[str, Any] = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        return resolved
    return node


def reference() -> str:
    """A Markdown table of every key: path, type, default and meaning."""
    lines = ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    lines += _reference_rows(Config, "")
    return "\n".join(lines) + "\n"


def _reference_rows(model: type[BaseModel], prefix: str) -> list[str]:
    rows = []
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        section, suffix = _section(field.annotation)
        if section:
            meaning = (section.__doc__ or "").strip().split("\n")[0]
            rows.append(f"| **`{path}{suffix}`** | | | {meaning} |")
            rows += _reference_rows(section, f"{path}{suffix}.")
            continue
        default = (
            "required"
            if field.is_required()
            else f"`{_shown(field.get_default(call_default_factory=True))}`"
        )
        kind = _type_name(field.annotation).replace("|", "\\|")
        rows.append(f"| `{path}` | {kind} | {default} | {field.description or ''} |")
    return rows


def _section(annotation: Any) -> tuple[type[BaseModel] | None, str]:
    """The section that a key holds, and how its path goes on when it holds several."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, ""
    for argument in get_args(annotation):
        if isinstance(argument, type) and issubclass(argument, BaseModel):
            return argument, ".<name>" if get_origin(annotation) is dict else "[]"
    return None, ""


def _type_name(annotation: Any) -> str:
    text = str(annotation) if get_args(annotation) else annotation.__name__
    return text.replace("typing.", "").replace("NoneType", "None")


def _shown(default: Any) -> str:
    return json.dumps(default) if not isinstance(default, BaseModel) else "…"
