from pathlib import Path

import jsonschema
import pytest
import yaml

from cognate.config import json_schema, load_config, parse_config, reference
from cognate.errors import ConfigError

ROOT = Path(__file__).parents[2]
PRESETS = [ROOT / "config.yaml", *sorted((ROOT / "config").glob("*.yaml"))]
MINIMAL = {
    "source": {"platform": "cpu"},
    "targets": [{"platform": "spade"}],
    "learning": {"experiments": {"headline": {"methods": ["default"]}}},
}


def keys(content: object, prefix: str = "") -> set[str]:
    if not isinstance(content, dict) or prefix in (".learning.experiments", ".source.settings"):
        return set()
    found = {f"{prefix}.{key}" for key in content}
    return found.union(*(keys(value, f"{prefix}.{key}") for key, value in content.items()))


def test_stored_schema_is_the_generated_one() -> None:
    stored = (ROOT / "config" / "schema.json").read_text()
    assert stored == json_schema(), "run: cognate config schema > config/schema.json"


@pytest.mark.parametrize("path", PRESETS, ids=lambda p: p.stem)
def test_presets_are_valid_and_keep_the_schema(path: Path) -> None:
    load_config(path)
    jsonschema.validate(yaml.safe_load(path.read_text()), yaml.safe_load(json_schema()))


def test_presets_differ_in_values_only() -> None:
    found = {path.stem: keys(yaml.safe_load(path.read_text())) for path in PRESETS}
    assert {name: found["config"] ^ names for name, names in found.items()} == {
        name: set() for name in found
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"matrces": {}}, "matrces: unknown key; did you mean 'matrices'"),
        ({"matrices": {"sorce": "embedded"}}, "matrices.sorce: unknown key; did you mean 'source'"),
        ({"source": {"platform": "cpu", "xyz": 1}}, "source.xyz: unknown key; valid keys: label"),
        ({"matrices": {"source": "directory"}}, "'folder' is needed with source: directory"),
        ({"operations": ["spmv"]}, "operations.0: .*'spmm' or 'sddmm'"),
        ({"width": 0}, "width: .*greater than or equal to 1"),
        ({"targets": [{"platform": "cpu"}]}, "platform labels must differ: cpu, cpu"),
        ({"learning": {"experiments": {"shots": {"methods": ["x"]}}}}, "one called 'headline'"),
        ({"matrices": {"split": {"train": 0.9, "validation": 0.2}}}, "nothing to test on"),
    ],
)
def test_mistakes_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_config({**MINIMAL, **change})


def test_all_mistakes_are_listed_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config({**MINIMAL, "widht": 3, "sead": 1})
    assert str(caught.value).count("unknown key") == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [("a: [", "not valid YAML"), ("- a", "must be a mapping"), (None, "cannot be read")],
)
def test_bad_files_are_refused(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "study.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match=message):
        load_config(path)


def test_hash_ignores_where_results_go() -> None:
    base = parse_config(MINIMAL)
    assert parse_config({**MINIMAL, "results": "elsewhere"}).config_hash == base.config_hash
    assert parse_config({**MINIMAL, "width": 128}).config_hash != base.config_hash


def test_reference_in_the_documentation_is_the_generated_one() -> None:
    text = (ROOT / "config" / "README.md").read_text()
    assert text.endswith(reference()), "replace its table by: cognate config reference"
