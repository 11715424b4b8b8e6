"""What a study had to leave out under ``--keep-going``, and why."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from cognate.files import replacing, write_text
from cognate.stages.inputs import read_files
from cognate.study import Study

COLUMNS = ["matrix", "split", "stage", "platform", "operation", "reason", "file"]


def write_missing(missing: Mapping[str, str], folder: Path) -> None:
    """Record in a batch's folder which matrices could not be built, by name, and why."""
    write_text(folder / "missing.json", json.dumps(missing, indent=1, sort_keys=True) + "\n")


def read_missing(folder: Path) -> dict[str, str]:
    """The matrices of a batch's folder that could not be built, by name, and why."""
    reasons: dict[str, str] = json.loads((folder / "missing.json").read_text(encoding="utf-8"))
    return reasons


def tabulate_missing(study: Study, folders: Sequence[Path], output: Path) -> None:
    """Write a row for each matrix that a stage left out; no row means a complete study.

    ``file`` is what to delete to have the stage tried again.
    """
    rows = [*_unbuilt(folders), *_unsampled(study)]
    table = pd.DataFrame(rows, columns=[c for c in COLUMNS if c != "split"])
    table.insert(1, "split", table["matrix"].map(study.matrices["split"]))
    with replacing(output) as temporary:
        table.sort_values(COLUMNS).to_csv(temporary, index=False)


def _unbuilt(folders: Sequence[Path]) -> Iterator[tuple[str, ...]]:
    for folder in folders:
        for name, reason in read_missing(folder).items():
            yield name, "build_matrices", "", "", reason, str(folder)


def _unsampled(study: Study) -> Iterator[tuple[str, ...]]:
    for platform in study.platform_names:
        for operation in study.config.operations:
            batches = study.sampled_batches(platform)
            for path, about in read_files(study, platform, operation, batches)[1].items():
                stage = "measure" if about["kind"] == "measured" else "simulate"
                for name, reason in about["missing"].items():
                    yield name, stage, platform, operation, reason, str(path)
