"""pyproject.toml, the pip lock and the conda environment must agree."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
# The lock takes the build without GPU libraries, which has the same import name.
SAME_IMPORT = {"xgboost": "xgboost-cpu"}


def locked() -> dict[str, str]:
    lines = (ROOT / "envs" / "requirements.lock").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9._+!-]+", pin) for pin in pins)
    return {canonicalize_name(name): version for name, version in (p.split("==") for p in pins)}


def declared(*extras: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][e] for e in extras)]
    return [Requirement(text) for texts in lists for text in texts]


def test_lock_satisfies_the_project() -> None:
    pins = locked()
    for requirement in declared("dev", "cluster"):
        name = canonicalize_name(requirement.name)
        version = pins[SAME_IMPORT.get(name, name)]
        assert requirement.specifier.contains(version), f"{requirement} against {version}"


def test_conda_environment_is_the_same() -> None:
    content = yaml.safe_load((ROOT / "envs" / "cognate.yaml").read_text())["dependencies"]
    (by_pip,) = [entry["pip"] for entry in content if isinstance(entry, dict)]
    plain = [entry for entry in content if isinstance(entry, str)]
    assert any(entry.startswith("c-compiler") for entry in plain)
    assert any(re.match(r"python\s*=\s*3\.1[1-9]", entry) for entry in plain)
    pins = locked()
    found = {canonicalize_name(n): v for n, v in (entry.split("==") for entry in by_pip)}
    wanted = [canonicalize_name(r.name) for r in declared()]
    assert found == {name: pins[name] for name in (SAME_IMPORT.get(w, w) for w in wanted)}
