"""Describe all matrices of a study in one table."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cognate.files import replacing
from cognate.matrices import SparseMatrix
from cognate.matrices.statistics import statistics
from cognate.progress import progress
from cognate.study import Study


def tabulate_matrices(study: Study, folders: Sequence[Path], table: Path) -> None:
    """Write identity, split and statistics of every matrix, one row each, sorted by name."""
    rows = []
    paths = sorted(path for folder in folders for path in folder.glob("*.npz"))
    with progress("describe matrices", "matrices") as advance:
        for done, path in enumerate(paths):
            advance(done, len(paths))
            matrix = SparseMatrix.load(path)
            identity = study.matrices.loc[matrix.name, ["group", "kind", "family", "split"]]
            rows.append(
                {"matrix": matrix.name, **identity, "pattern_hash": matrix.pattern_hash}
                | statistics(matrix)
            )
        advance(len(paths), len(paths))
    with replacing(table) as temporary:
        pd.DataFrame(rows).sort_values("matrix").to_csv(temporary, index=False)
