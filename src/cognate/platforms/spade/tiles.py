"""Order the nonzeros of a matrix in tiles, and reorder its rows and columns."""

import ctypes
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from cognate.errors import MatrixError
from cognate.matrices.matrix import SparseMatrix
from cognate.platforms.spade.native import CTiling, library


@dataclass(frozen=True)
class Tiling:
    """Coordinates in the order in which they are walked, and where tiles and phases start."""

    row: NDArray[np.int32]
    col: NDArray[np.int32]
    tile_start: NDArray[np.int64]
    """Shape (tiles + 1,): first nonzero of each tile."""
    tile_panel: NDArray[np.int32]
    """Shape (tiles,): row panel of each tile."""
    phase_start: NDArray[np.int64]
    """Shape (phases + 1,): first tile of each column panel if those are walked outside."""
    panels: int
    """Row panels of the matrix."""

    @property
    def tiles(self) -> int:
        """Number of tiles that hold nonzeros."""
        return len(self.tile_panel)

    def as_c(self) -> CTiling:
        """The structure that the simulator takes; this object must outlive it."""
        return CTiling(
            entries=len(self.row),
            tiles=self.tiles,
            phases=len(self.phase_start) - 1,
            panels=self.panels,
            row=self.row.ctypes.data,
            col=self.col.ctypes.data,
            tile_start=self.tile_start.ctypes.data,
            tile_panel=self.tile_panel.ctypes.data,
            phase_start=self.phase_start.ctypes.data,
        )


def tile(matrix: SparseMatrix, panel_rows: int, panel_cols: int, columns_outer: bool) -> Tiling:
    """Tile a matrix by counting sorts: two passes over the nonzeros at most.

    Order: row panel, column panel, row, column; with ``columns_outer`` the column panel
    comes first and starts a phase. Empty tiles do not exist.
    """
    native = library()
    row = np.empty(matrix.nnz, dtype=np.int32)
    col = np.empty(matrix.nnz, dtype=np.int32)
    outer = int(columns_outer)
    if native.order_entries(
        *(matrix.rows, matrix.cols, matrix.row_pointers.ctypes.data, matrix.columns.ctypes.data),
        *(panel_rows, panel_cols, outer, row.ctypes.data, col.ctypes.data),
    ):
        raise MatrixError(f"{matrix.name}: not enough memory to tile {matrix.nnz} nonzeros")
    entries = (matrix.nnz, row.ctypes.data, col.ctypes.data, panel_rows, panel_cols, outer)
    phases = ctypes.c_int64()
    tiles = native.find_tiles(*entries, None, None, None, ctypes.byref(phases))
    tile_start = np.empty(tiles + 1, dtype=np.int64)
    tile_panel = np.empty(tiles, dtype=np.int32)
    phase_start = np.empty(phases.value + 1, dtype=np.int64)
    outputs = (tile_start.ctypes.data, tile_panel.ctypes.data, phase_start.ctypes.data)
    native.find_tiles(*entries, *outputs, ctypes.byref(phases))
    panels = -(-matrix.rows // panel_rows)
    return Tiling(row, col, tile_start, tile_panel, phase_start, panels)


def reorder(matrix: SparseMatrix) -> SparseMatrix:
    """The matrix with rows and columns in reverse Cuthill–McKee order.

    A square matrix gets one permutation, that of ``A + Aᵀ``, on both sides, so that a graph
    stays a graph; a rectangular one gets those of the bipartite graph of rows and columns.
    """
    if matrix.nnz == 0:
        return matrix
    pattern = scipy.sparse.csr_matrix(
        (np.ones(matrix.nnz, dtype=np.int8), matrix.columns, matrix.row_pointers), matrix.shape
    )
    if matrix.rows == matrix.cols:
        order = reverse_cuthill_mckee(_symmetric(pattern), symmetric_mode=True)
        row_order, col_order = order, order
    else:
        both = scipy.sparse.bmat([[None, pattern], [pattern.T, None]], format="csr")
        order = reverse_cuthill_mckee(both, symmetric_mode=True)
        row_order = order[order < matrix.rows]
        col_order = order[order >= matrix.rows] - matrix.rows
    return permute(matrix, row_order, col_order)


def _symmetric(pattern: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    return scipy.sparse.csr_matrix(pattern + pattern.T)


def permute(
    matrix: SparseMatrix, row_order: NDArray[np.int32], col_order: NDArray[np.int32]
) -> SparseMatrix:
    """The matrix whose row ``i`` is row ``row_order[i]``, and columns likewise."""
    position = np.empty(matrix.cols, dtype=np.int32)
    position[col_order] = np.arange(matrix.cols, dtype=np.int32)
    rows = matrix.to_scipy()[row_order]
    moved = scipy.sparse.csr_array(
        (rows.data, position[rows.indices], rows.indptr), shape=matrix.shape
    )
    return SparseMatrix.from_scipy(moved, matrix.name)
