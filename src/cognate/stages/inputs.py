"""Read what earlier stages wrote, for stages that learn."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pandas as pd

from cognate.errors import MatrixError, SamplesError
from cognate.matrices import SparseMatrix
from cognate.platforms import samples
from cognate.study import Study

MATRICES_IN_MEMORY = 32


class StoredMatrices(Mapping[str, SparseMatrix]):
    """The study's matrices by name, loaded when asked for, a few kept in memory."""

    def __init__(self, study: Study, folder: Path):
        self._batches = study.matrices["batch"]
        self._folder = folder
        self._load = lru_cache(MATRICES_IN_MEMORY)(self._read)

    def _read(self, name: str) -> SparseMatrix:
        return SparseMatrix.load(self._folder / str(self._batches[name]) / f"{name}.npz")

    def __getitem__(self, name: str) -> SparseMatrix:
        if name not in self._batches.index:
            raise MatrixError(f"{name} is not a matrix of this study")
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._batches.index)

    def __len__(self) -> int:
        return len(self._batches)


def read_samples(paths: Sequence[Path], names: Sequence[str]) -> pd.DataFrame:
    """The samples of these matrices, sorted; :class:`SamplesError` names those without any.

    Raises also when tables come from different schedule spaces or different hardware.
    """
    tables = []
    origins: dict[tuple[str, str], Path] = {}
    for path in paths:
        table, metadata = samples.read(path)
        measured = metadata["kind"] == "measured"
        processor = metadata["environment"]["processor"] if measured else ""
        origins[metadata["space_fingerprint"], processor] = path
        tables.append(table)
    if len(origins) > 1:
        (first, one), (second, other) = list(origins.items())[:2]
        raise SamplesError(
            f"{one} and {other} do not belong together ({' '.join(first)} against "
            f"{' '.join(second)}); delete one and run again"
        )
    joined = pd.concat(tables, ignore_index=True)
    missing = sorted(set(names) - set(joined["matrix"]))
    if missing:
        raise SamplesError(f"no samples of {', '.join(missing)} in {paths[0].parent}")
    chosen = joined[joined["matrix"].isin(set(names))]
    return chosen.sort_values(["matrix", "schedule_id"], ignore_index=True)
