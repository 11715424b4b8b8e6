"""Put the rows and columns of a matrix in another order."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
from numpy.typing import NDArray

from cognate.errors import MatrixError
from cognate.matrices.matrix import SparseMatrix

Order = NDArray[np.int64]
"""Shape (n,): the old index at each new place."""


def permute(
    matrix: SparseMatrix, rows: Order | None = None, cols: Order | None = None
) -> SparseMatrix:
    """The matrix whose row ``i`` is the old row ``rows[i]``, and columns likewise.

    None leaves that side as it is. Name and identity stay. Raises :class:`MatrixError` if
    an order is not a permutation.
    """
    moved = matrix.to_scipy()
    for what, order, extent in (("rows", rows, matrix.rows), ("columns", cols, matrix.cols)):
        if order is not None and not np.array_equal(np.sort(order), np.arange(extent)):
            raise MatrixError(f"{matrix.name}: not a permutation of its {extent} {what}")
    if rows is not None:
        moved = moved[rows]
    if cols is not None:
        moved = moved[:, cols]
    return _like(matrix, moved)


def shuffled(matrix: SparseMatrix, seed: int) -> SparseMatrix:
    """Rows and columns in random order; square matrices keep their diagonal."""
    random = np.random.default_rng(seed)
    rows = np.argsort(random.random(matrix.rows), kind="stable")
    if matrix.rows == matrix.cols:
        return permute(matrix, rows, rows)
    return permute(matrix, rows, np.argsort(random.random(matrix.cols), kind="stable"))


def by_degree(matrix: SparseMatrix) -> SparseMatrix:
    """Rows with most entries first; columns stay."""
    return permute(matrix, rows=np.argsort(-np.diff(matrix.row_pointers), kind="stable"))


def reverse_cuthill_mckee(matrix: SparseMatrix) -> SparseMatrix:
    """A narrow band, by breadth-first search (Cuthill and McKee, 1969; reversed, George 1971).

    A square matrix is reordered on both sides by the graph of A + Aᵀ. For a rectangular one
    the bipartite graph of rows and columns gives each side its order.
    """
    pattern = scipy.sparse.csr_array(
        (np.ones(matrix.nnz, dtype=np.int8), matrix.columns, matrix.row_pointers),
        shape=matrix.shape,
    )
    if matrix.rows == matrix.cols:
        order = _cuthill_mckee(pattern + pattern.T)
        return permute(matrix, order, order)
    order = _cuthill_mckee(scipy.sparse.block_array([[None, pattern], [pattern.T, None]]))
    is_row = order < matrix.rows
    return permute(matrix, order[is_row], order[~is_row] - matrix.rows)


def _cuthill_mckee(graph: Any) -> Order:
    found = scipy.sparse.csgraph.reverse_cuthill_mckee(
        scipy.sparse.csr_array(graph), symmetric_mode=True
    )
    return np.asarray(found, dtype=np.int64)


def _like(matrix: SparseMatrix, moved: Any) -> SparseMatrix:
    csr = scipy.sparse.csr_array(moved)
    csr.sort_indices()
    return replace(
        matrix,
        row_pointers=csr.indptr.astype(np.int64),
        columns=csr.indices.astype(np.int32),
        values=csr.data,
    )
