"""Choose which matrices to sample on a platform, most informative first."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from cognate.errors import PlatformError
from cognate.learning.profile import pattern_statistics
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.sources import list_matrices, load_matrix
from cognate.matrices.splits import embedded_split, split
from cognate.operations import Operation
from cognate.platforms import Platform


@dataclass(frozen=True)
class Plan:
    """Which matrices to sample, in which order."""

    shots: tuple[str, ...]
    """Most informative first: each as unlike those before it as can be."""
    held_out: tuple[str, ...]
    """Never trained on; the model is judged on them."""
    matrices: Mapping[str, SparseMatrix]


def make_plan(
    platform: Platform,
    operation: Operation,
    shots: int,
    held_out: int,
    source: str = "embedded",
    folder: Path | None = None,
    nnz: tuple[int | None, int | None] = (20_000, 300_000),
) -> Plan:
    """Choose ``shots`` matrices to train on and ``held_out`` to judge on, of other families.

    The first shot is the most typical training matrix (the medoid of all by pattern statistics);
    each next one is the farthest from those chosen. Raises :class:`PlatformError` if the platform
    has times of too few matrices.
    """
    known = platform.answers_for(operation)
    table = list_matrices(source, folder, nnz=nnz)
    if known is not None:
        table = table[table["name"].isin(known)].reset_index(drop=True)
    parts = _split(table, source)
    chosen: dict[str, tuple[str, ...]] = {}
    built: dict[str, SparseMatrix] = {}
    for part, count in (("train", shots), ("test", held_out)):
        names = list(parts.index[parts == part])
        if len(names) < max(1, count):
            raise PlatformError(
                f"{platform.name}: {count} matrices to {part} are wanted, but {len(names)} are "
                "there; ask for fewer, widen --nnz-min and --nnz-max, or sample more matrices"
            )
        matrices = {name: load_matrix(source, name, folder) for name in names}
        chosen[part] = spread(matrices, count)
        built |= {name: matrices[name] for name in chosen[part]}
    return Plan(chosen["train"], chosen["test"], built)


def spread(matrices: Mapping[str, SparseMatrix], count: int) -> tuple[str, ...]:
    """``count`` names, the medoid first, then always the one farthest from those chosen."""
    names = sorted(matrices)
    vectors = np.stack([pattern_statistics(matrices[name]) for name in names])
    vectors = (vectors - vectors.mean(axis=0)) / np.maximum(vectors.std(axis=0), 1e-9)
    distances = np.linalg.norm(vectors[:, None] - vectors[None, :], axis=2)
    chosen = [int(distances.sum(axis=1).argmin())]
    while len(chosen) < min(count, len(names)):
        chosen.append(int(distances[:, chosen].min(axis=1).argmax()))
    return tuple(names[i] for i in chosen[:count])


def _split(table: pd.DataFrame, source: str) -> pd.Series:
    """Train or test for each matrix, index by name; families stay together."""
    names = table.set_index("name")
    if source == "embedded":
        return embedded_split().loc[names.index]
    return split(table, {"train": 0.5, "test": 0.5}).set_axis(names.index)
