"""How many fetches of dense rows miss a cache, for many ways to walk a sparse matrix.

Stack distances of a even sample of the operands' rows: see ``trace.c``.
"""

import ctypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cognate.errors import ModelError
from cognate.learning.tiles import pattern_arguments, pointer
from cognate.matrices.matrix import SparseMatrix
from cognate.native import load_library

Misses = NDArray[np.float64]
Integers = NDArray[np.int64]

REFERENCES = 4096
"""References that are followed, of all that a walk makes."""

CAPACITIES_LIMIT = 16


@dataclass(frozen=True)
class TraceMisses:
    """Misses of W walks at C capacities, shape (W, C) each, first touches included."""

    columns_alone: Misses
    """Fetches of the column operand that miss a cache of one worker's own."""
    rows_alone: Misses
    columns_shared: Misses
    """… that miss one cache of all workers, which walk at the same time."""
    rows_shared: Misses
    streamed: Misses
    """Column fetches that miss the shared cache when the row operand goes past it."""


def trace_misses(
    matrix: SparseMatrix,
    row_sizes: Integers,
    col_sizes: Integers,
    outer: NDArray[np.bool_],
    capacities: NDArray[np.float64],
    workers: int,
    references: int = REFERENCES,
) -> TraceMisses:
    """Estimated misses of walks by tiles of ``row_sizes`` × ``col_sizes`` (each shape (W,)).

    ``outer`` says which walk column panels outside; ``capacities`` are in rows of a dense
    operand. Exact when the matrix makes no more than ``references`` references.
    """
    if len(capacities) > CAPACITIES_LIMIT:
        raise ModelError(f"{len(capacities)} capacities are more than {CAPACITIES_LIMIT}")
    share = min(1.0, references / max(1, 2 * matrix.nnz))
    shape = (len(row_sizes), len(capacities))
    found = [np.zeros(shape) for _ in range(5)]
    sizes = np.ascontiguousarray(np.stack([row_sizes, col_sizes]), dtype=np.int64)
    columns_outer = np.ascontiguousarray(outer, dtype=np.int32)
    held = np.ascontiguousarray(capacities, dtype=np.float64)
    outcome = _library().trace_misses(
        *pattern_arguments(matrix),
        ctypes.c_uint32(max(0, round(share * 2**32) - 1)),
        ctypes.c_int64(workers),
        shape[0],
        pointer(sizes[0]),
        pointer(sizes[1]),
        pointer(columns_outer),
        shape[1],
        pointer(held),
        *map(pointer, found),
    )
    if outcome:
        raise ModelError(f"{matrix.name}: not enough memory to trace its walks")
    return TraceMisses(*found)


@cache
def _library() -> ctypes.CDLL:
    return load_library([Path(__file__).with_name("trace.c")])
