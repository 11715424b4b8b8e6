"""Build, read or fetch a batch of matrices."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from cognate.stages.isolation import attempt_each
from cognate.stages.missing import write_missing
from cognate.study import Study


def build_matrices(study: Study, names: Sequence[str], folder: Path) -> None:
    """Store each matrix as ``folder/<name>.npz``, and why any is missing.

    What an earlier configuration left in the folder is removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    def build(name: str) -> None:
        study.load(name).save(folder / f"{name}.npz")

    _, missing = attempt_each("build matrices", names, build)
    write_missing(missing, folder)
