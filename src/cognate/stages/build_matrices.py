"""Build, read or fetch a batch of matrices."""

from collections.abc import Sequence
from pathlib import Path

from cognate.progress import progress
from cognate.study import Study


def build_matrices(study: Study, names: Sequence[str], folder: Path) -> None:
    """Store each matrix as ``folder/<name>.npz``."""
    folder.mkdir(parents=True, exist_ok=True)
    with progress("build matrices", "matrices") as advance:
        for done, name in enumerate(names):
            advance(done, len(names))
            study.load(name).save(folder / f"{name}.npz")
        advance(len(names), len(names))
