"""The physical quantities that every platform's schedules share.

A tile is the part of the sparse matrix whose operands a schedule means to reuse together.
Models see a schedule on any platform through these slots; what is left of it is
platform-specific (COGNATE's homogeneous and heterogeneous parts).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cognate.matrices.matrix import SparseMatrix

SLOT_NAMES = ("log2_rows_per_tile", "log2_cols_per_tile", "log2_width_per_slice", "columns_outer")


@dataclass(frozen=True)
class Slots:
    """Comparable slots of n schedules on one matrix; every array has shape (n,)."""

    rows_per_tile: NDArray[np.int64]
    cols_per_tile: NDArray[np.int64]
    width_per_slice: NDArray[np.int64]
    columns_outer: NDArray[np.bool_]
    """Whether column panels are walked outside row panels; False for one column panel."""

    @classmethod
    def clipped(
        cls,
        matrix: SparseMatrix,
        width: int,
        rows_per_tile: NDArray[np.int64],
        cols_per_tile: NDArray[np.int64],
        width_per_slice: NDArray[np.int64],
        columns_outer: NDArray[np.bool_],
    ) -> "Slots":
        """Slots whose extents do not exceed the matrix and the dense width."""
        cols = np.clip(cols_per_tile, 1, max(1, matrix.cols))
        return cls(
            rows_per_tile=np.clip(rows_per_tile, 1, max(1, matrix.rows)),
            cols_per_tile=cols,
            width_per_slice=np.clip(width_per_slice, 1, width),
            columns_outer=columns_outer & (cols < matrix.cols),
        )

    def features(self) -> NDArray[np.float32]:
        """Shape (n, 4), columns as :data:`SLOT_NAMES`: extents in log2, then 0 or 1."""
        return np.stack(
            [
                np.log2(self.rows_per_tile),
                np.log2(self.cols_per_tile),
                np.log2(self.width_per_slice),
                self.columns_outer,
            ],
            axis=1,
        ).astype(np.float32)
