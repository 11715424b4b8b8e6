"""What a sparsity pattern looks like, in a few numbers."""

from typing import SupportsFloat

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cognate.matrices.matrix import SparseMatrix

PANEL_ROWS = 32
"""Rows that share a panel in ``panel_reuse``."""
BLOCK = 4
"""Side of the aligned blocks in ``block_fill``."""

Integers = NDArray[np.integer]


def statistics(matrix: SparseMatrix) -> dict[str, float]:
    """Numbers that describe size, balance, locality and symmetry; all are finite.

    * ``rows``, ``cols``, ``nnz``, ``density``
    * entries a row: ``row_mean``, ``row_std``, ``row_max``, ``row_gini``, ``empty_rows``;
      entries a column: ``col_mean``, ``col_std``, ``col_max``, ``col_gini``, ``empty_cols``
    * ``bandwidth``: greatest distance, in columns, from the line from corner to corner;
      ``diagonal_distance``: its mean over entries as a share of the columns
    * ``row_span``: mean over rows that are not empty of last less first column, as a share
    * ``adjacent_share``: entries whose right neighbour is stored
    * ``row_overlap``: entries whose upper neighbour is stored
    * ``panel_reuse``: entries a distinct column in panels of 32 rows
    * ``block_fill``: filling of the aligned 4 × 4 blocks that are not empty
    * ``pattern_symmetry``: entries off the diagonal whose mirror image is stored; 1 if none,
      0 if the matrix is not square
    * ``diagonal_share``: places of the main diagonal that are stored
    """
    per_row = np.diff(matrix.row_pointers)
    per_col = np.bincount(matrix.columns, minlength=matrix.cols)
    row = np.repeat(np.arange(matrix.rows, dtype=np.int32), per_row)
    return {
        "rows": matrix.rows,
        "cols": matrix.cols,
        "nnz": matrix.nnz,
        "density": _share(matrix.nnz, matrix.rows * matrix.cols),
        **_balance(per_row, "row"),
        **_balance(per_col, "col"),
        **_spread(matrix, row),
        **_reuse(matrix, row),
        **_symmetry(matrix, row),
    }


def gini(counts: Integers) -> float:
    """Gini coefficient of counts: 0 when all are equal, near 1 when one has everything."""
    total, size = int(counts.sum()), len(counts)
    if total == 0:
        return 0.0
    ascending = np.sort(counts)
    ranks = 2 * np.arange(1, size + 1, dtype=np.float64) - size - 1
    return float(ranks @ ascending) / (size * total)


def _share(part: SupportsFloat, whole: SupportsFloat) -> float:
    return float(part) / float(whole) if float(whole) else 0.0


def _balance(counts: Integers, side: str) -> dict[str, float]:
    return {
        f"{side}_mean": _share(counts.sum(), len(counts)),
        f"{side}_std": float(counts.std()) if len(counts) else 0.0,
        f"{side}_max": int(counts.max(initial=0)),
        f"{side}_gini": gini(counts),
        f"empty_{side}s": int(np.count_nonzero(counts == 0)),
    }


def _spread(matrix: SparseMatrix, row: Integers) -> dict[str, float]:
    steps = max(1, matrix.cols - 1)
    slope = (matrix.cols - 1) / (matrix.rows - 1) if matrix.rows > 1 else 0.0
    distance = np.abs(matrix.columns - row * slope)
    used = np.flatnonzero(np.diff(matrix.row_pointers))
    first = matrix.columns[matrix.row_pointers[used]].astype(np.int64)
    last = matrix.columns[matrix.row_pointers[used + 1] - 1]
    neighbours = (np.diff(matrix.columns) == 1) & (np.diff(row) == 0)
    return {
        "bandwidth": float(distance.max(initial=0.0)),
        "diagonal_distance": _share(distance.sum(), matrix.nnz * steps),
        "row_span": _share((last - first).sum(), len(used) * steps),
        "adjacent_share": _share(np.count_nonzero(neighbours), matrix.nnz),
    }


def _reuse(matrix: SparseMatrix, row: Integers) -> dict[str, float]:
    col, below = _by_column(matrix.row_pointers, matrix.columns, matrix.shape)
    same_col = np.diff(col) == 0
    stacked = np.count_nonzero(same_col & (np.diff(below) == 1))
    in_panel = np.count_nonzero(same_col & (np.diff(below // PANEL_ROWS) == 0))
    strips = matrix.columns // BLOCK
    first = np.ones(matrix.nnz, dtype=bool)
    first[1:] = (np.diff(strips) != 0) | (np.diff(row) != 0)
    pointers = np.concatenate([[0], np.cumsum(first)])[matrix.row_pointers]
    strip_shape = (matrix.rows, matrix.cols // BLOCK + 1)
    strip, below = _by_column(pointers, strips[first], strip_shape)
    in_block = np.count_nonzero((np.diff(strip) == 0) & (np.diff(below // BLOCK) == 0))
    return {
        "row_overlap": _share(stacked, matrix.nnz),
        "panel_reuse": _share(matrix.nnz, matrix.nnz - in_panel),
        "block_fill": _share(matrix.nnz, BLOCK**2 * (len(strip) - in_block)),
    }


def _by_column(
    row_pointers: Integers, columns: Integers, shape: tuple[int, int]
) -> tuple[Integers, Integers]:
    """Column and row of each entry, sorted by column, then row; linear time."""
    ones = np.ones(len(columns), dtype=np.int8)
    turned = scipy.sparse.csr_array((ones, columns, row_pointers), shape=shape).tocsc()
    return np.repeat(np.arange(shape[1], dtype=np.int32), np.diff(turned.indptr)), turned.indices


def _symmetry(matrix: SparseMatrix, row: Integers) -> dict[str, float]:
    on_diagonal = np.count_nonzero(row == matrix.columns)
    diagonal = _share(on_diagonal, min(matrix.shape))
    if matrix.rows != matrix.cols:
        return {"pattern_symmetry": 0.0, "diagonal_share": diagonal}
    ones = scipy.sparse.csr_array(
        (np.ones(matrix.nnz, dtype=np.int8), matrix.columns, matrix.row_pointers),
        shape=matrix.shape,
    )
    mirrored = ones.multiply(ones.T.tocsr()).nnz
    off_diagonal = matrix.nnz - on_diagonal
    symmetric = (mirrored - on_diagonal) / off_diagonal if off_diagonal else 1.0
    return {"pattern_symmetry": float(symmetric), "diagonal_share": diagonal}
