"""What tilings do to a pattern: exact counts for many tile sizes in one compiled pass.

Row sizes cut the rows into panels, column sizes the columns; a tile is their crossing. Every
count that needs one of the two sizes only is given for that size only: columns are shared out
among column panels, so the distinct columns of all tiles of a row panel add up to those of the
panel, whatever the column size; likewise for rows.
"""

import ctypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cognate.errors import ModelError
from cognate.matrices.matrix import SparseMatrix
from cognate.native import load_library

Counts = NDArray[np.int64]

SIZES_LIMIT = 32
"""Row sizes a pass takes; more are split over passes."""


@dataclass(frozen=True)
class TileStatistics:
    """Counts for R row sizes and C column sizes on one matrix."""

    row_sizes: tuple[int, ...]
    col_sizes: tuple[int, ...]
    occupied: Counts
    """Shape (R, C): tiles with an entry."""
    segments: Counts
    """Shape (C,): pairs of a row and a column panel with an entry: distinct rows a tile, summed."""
    largest_panel: Counts
    """Shape (R,): entries of the fullest row panel."""
    makespan: NDArray[np.float64]
    """Shape (R,): entries of the last worker when idle workers take row panels in order."""
    barrier_work: NDArray[np.float64]
    """Shape (R, C): over column panels that all workers share one after the other, the sum of
    the fullest tile or a worker's fair share, whichever is more."""


def tile_statistics(
    matrix: SparseMatrix, row_sizes: tuple[int, ...], col_sizes: tuple[int, ...], workers: int
) -> TileStatistics:
    """Exact tile counts of ``matrix`` for all pairs of the given sizes."""
    if min(*row_sizes, *col_sizes, workers) < 1:
        raise ModelError(f"{matrix.name}: tile sizes and workers must be at least 1")
    parts = [
        _tile_statistics(matrix, row_sizes[start : start + SIZES_LIMIT], col_sizes, workers)
        for start in range(0, len(row_sizes), SIZES_LIMIT)
    ]
    return TileStatistics(
        row_sizes,
        col_sizes,
        occupied=np.concatenate([p.occupied for p in parts]),
        segments=parts[0].segments,
        largest_panel=np.concatenate([p.largest_panel for p in parts]),
        makespan=np.concatenate([p.makespan for p in parts]),
        barrier_work=np.concatenate([p.barrier_work for p in parts]),
    )


def _tile_statistics(
    matrix: SparseMatrix, row_sizes: tuple[int, ...], col_sizes: tuple[int, ...], workers: int
) -> TileStatistics:
    shape = (len(col_sizes), len(row_sizes))
    occupied, barrier_work = np.zeros(shape, np.int64), np.zeros(shape)
    segments = np.zeros(shape[0], np.int64)
    largest, makespan = np.zeros(shape[1], np.int64), np.zeros(shape[1])
    row_array, col_array = np.array(row_sizes, np.int64), np.array(col_sizes, np.int64)
    outcome = _library().tile_statistics(
        *pattern_arguments(matrix),
        shape[1],
        pointer(row_array),
        shape[0],
        pointer(col_array),
        ctypes.c_int64(workers),
        *map(pointer, (segments, occupied, barrier_work, largest, makespan)),
    )
    if outcome:
        raise ModelError(f"{matrix.name}: not enough memory for the statistics of its tiles")
    return TileStatistics(
        row_sizes, col_sizes, occupied.T, segments, largest, makespan, barrier_work.T
    )


def reuse_profile(matrix: SparseMatrix) -> Counts:
    """Shape (32,): distinct columns of windows of 1, 2, 4 … rows, summed over the windows.

    The first is the number of entries, the last the number of columns with an entry. Windows
    start at multiples of their size.
    """
    distinct = np.zeros(SIZES_LIMIT, np.int64)
    outcome = _library().reuse_profile(*pattern_arguments(matrix), pointer(distinct))
    if outcome:
        raise ModelError(f"{matrix.name}: not enough memory for its reuse profile")
    return distinct


@dataclass(frozen=True)
class PooledPattern:
    """A pattern on a grid whose cells are ``2**shift`` rows by ``2**shift`` columns."""

    shift: int
    rows: NDArray[np.int32]
    """Shape (cells,): row of each occupied cell, ascending."""
    columns: NDArray[np.int32]
    """Shape (cells,), ascending within a row."""
    counts: NDArray[np.int32]
    """Shape (cells,): entries of the cell."""

    @property
    def kept(self) -> float:
        """Cells for each entry: 1 when nothing was pooled; what pooling lost is 1 - kept."""
        return len(self.rows) / max(1, int(self.counts.sum()))


def pool_pattern(matrix: SparseMatrix, cells: int) -> PooledPattern:
    """The finest grid on which ``matrix`` occupies at most ``cells`` cells."""
    for shift in range(32):
        rows, columns, counts = (np.empty(cells, np.int32) for _ in range(3))
        found = _library().pool_pattern(
            *pattern_arguments(matrix),
            shift,
            ctypes.c_int64(cells),
            *map(pointer, (rows, columns, counts)),
        )
        if found < 0:
            raise ModelError(f"{matrix.name}: not enough memory to pool its pattern")
        if found <= cells:
            order = np.lexsort((columns[:found], rows[:found]))
            return PooledPattern(shift, rows[order], columns[order], counts[order])
    raise ModelError(f"a pattern cannot be pooled to {cells} cells; allow at least 1")


def pattern_arguments(matrix: SparseMatrix) -> tuple[Any, ...]:
    """Shape and CSR pattern as the C functions of this room take them first."""
    return (
        ctypes.c_int64(matrix.rows),
        ctypes.c_int64(matrix.cols),
        pointer(matrix.row_pointers),
        pointer(matrix.columns),
    )


def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    """The address of a contiguous array, which the caller keeps alive."""
    return ctypes.c_void_p(array.ctypes.data)


@cache
def _library() -> ctypes.CDLL:
    library = load_library([Path(__file__).with_name("tiles.c")])
    library.pool_pattern.restype = ctypes.c_int64
    return library
