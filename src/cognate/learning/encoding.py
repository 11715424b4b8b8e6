"""Samples and schedules as arrays: what every model is fed with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.errors import ModelError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.schedules import Schedule, ScheduleSpace

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class OneHot:
    """One column for each value of each of these parameters."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    """Number of values of each."""
    positions: tuple[Mapping[int | str, int], ...]

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(self.sizes)

    def encode(self, schedules: Sequence[Schedule]) -> Floats:
        """Shape (n, width), a single one for each parameter."""
        encoded = np.zeros((len(schedules), self.width), dtype=np.float32)
        offset = 0
        rows = np.arange(len(schedules))
        for name, size, position in zip(self.names, self.sizes, self.positions, strict=True):
            encoded[rows, offset + np.array([position[s[name]] for s in schedules], int)] = 1
            offset += size
        return encoded


def one_hot(space: ScheduleSpace, names: Sequence[str]) -> OneHot:
    """The encoding of the parameters ``names`` of ``space``."""
    chosen = [p for p in space.parameters if p.name in names]
    if len(chosen) != len(set(names)):
        known = ", ".join(p.name for p in space.parameters)
        raise ModelError(f"{space.name} lacks some of the parameters {names}; it has {known}")
    return OneHot(
        tuple(p.name for p in chosen),
        tuple(len(p.values) for p in chosen),
        tuple({value: i for i, value in enumerate(p.values)} for p in chosen),
    )


def specific_names(platform: Platform, operation: Operation) -> tuple[str, ...]:
    """The parameters of this operation's space that slots do not express."""
    names = {p.name for p in platform.space(operation).parameters}
    return tuple(n for n in platform.specific_parameters if n in names)


@dataclass(frozen=True)
class Sampled:
    """The schedules that ran on one matrix."""

    matrix: SparseMatrix
    schedules: tuple[Schedule, ...]
    log_seconds: NDArray[np.float64]


def sampled_by_matrix(
    table: pd.DataFrame,
    platform: Platform,
    operation: Operation,
    matrices: Mapping[str, SparseMatrix],
) -> list[Sampled]:
    """The rows of ``table`` that ran, a matrix each, in order of first appearance."""
    space = platform.space(operation)
    schedules: dict[int, Schedule] = {}
    result = []
    for name, rows in table[table["status"] == "ok"].groupby("matrix", sort=False):
        if name not in matrices:
            raise ModelError(f"samples of matrix {name} are given, but not the matrix")
        ids = rows["schedule_id"].tolist()
        for schedule_id in ids:
            if schedule_id not in schedules:
                schedules[schedule_id] = space.at(schedule_id)
        result.append(
            Sampled(
                matrices[str(name)],
                tuple(schedules[i] for i in ids),
                np.log(rows["seconds"].to_numpy(dtype=np.float64)),
            )
        )
    return result


SHAPE_NAMES = ("rows", "cols", "nnz")


def shape_statistics(matrix: SparseMatrix) -> Floats:
    """Shape (3,): rows, columns, entries, in log2 (WACO's statistics of a matrix)."""
    sizes = np.maximum(1, [matrix.rows, matrix.cols, matrix.nnz])
    return np.log2(sizes).astype(np.float32)
