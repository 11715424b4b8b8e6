"""The sparse kernels under study: operands, reference result, work and compulsory traffic.

* SpMM ``C = A·B``: ``A`` sparse (rows × cols), ``B`` dense (cols × width), ``C`` dense.
* SDDMM ``C = A ∘ (B·Dᵀ)``: ``B`` dense (rows × width), ``D`` dense (cols × width), ``C`` has
  the pattern of ``A``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cognate.errors import ConfigError
from cognate.matrices.matrix import SparseMatrix

FLOAT_BYTES = 4
INDEX_BYTES = 4

Dense = NDArray[np.float32]


def _spmm_operands(matrix: SparseMatrix, width: int) -> tuple[tuple[int, int], ...]:
    return ((matrix.cols, width),)


def _sddmm_operands(matrix: SparseMatrix, width: int) -> tuple[tuple[int, int], ...]:
    return ((matrix.rows, width), (matrix.cols, width))


def _spmm_reference(matrix: SparseMatrix, operands: tuple[Dense, ...]) -> NDArray[np.float64]:
    (dense,) = operands
    product: NDArray[np.float64] = matrix.to_scipy().astype(np.float64) @ dense.astype(np.float64)
    return product


def _sddmm_reference(matrix: SparseMatrix, operands: tuple[Dense, ...]) -> NDArray[np.float64]:
    left, right = operands
    row_of_entry = np.repeat(np.arange(matrix.rows), np.diff(matrix.row_pointers))
    result = np.empty(matrix.nnz, dtype=np.float64)
    block = max(1, (1 << 22) // max(1, left.shape[1]))
    for start in range(0, matrix.nnz, block):
        chosen = slice(start, start + block)
        result[chosen] = np.einsum(
            "ij,ij->i",
            left[row_of_entry[chosen]].astype(np.float64),
            right[matrix.columns[chosen]].astype(np.float64),
        )
    return result * matrix.values


def _spmm_result_bytes(matrix: SparseMatrix, width: int) -> int:
    return matrix.rows * width * FLOAT_BYTES


def _sddmm_result_bytes(matrix: SparseMatrix, width: int) -> int:
    return matrix.nnz * FLOAT_BYTES


@dataclass(frozen=True)
class Operation:
    """A sparse kernel at one dense width. Get one from :func:`get_operation`."""

    name: str
    width: int
    """Number of dense columns, K."""
    _operand_shapes: Callable[[SparseMatrix, int], tuple[tuple[int, int], ...]]
    _reference: Callable[[SparseMatrix, tuple[Dense, ...]], NDArray[np.float64]]
    _result_bytes: Callable[[SparseMatrix, int], int]

    def operand_shapes(self, matrix: SparseMatrix) -> tuple[tuple[int, int], ...]:
        """Shapes of the dense operands, in the order that kernels take them."""
        return self._operand_shapes(matrix, self.width)

    def operands(self, matrix: SparseMatrix, seed: int = 0) -> tuple[Dense, ...]:
        """Dense operands with uniform values in [-1, 1), equal for equal seeds."""
        random = np.random.default_rng(seed)
        return tuple(
            random.random(shape, dtype=np.float32) * 2 - 1 for shape in self.operand_shapes(matrix)
        )

    def reference(self, matrix: SparseMatrix, operands: tuple[Dense, ...]) -> NDArray[np.float64]:
        """The result in float64 by scipy or numpy: (rows, width) for SpMM, (nnz,) for SDDMM."""
        return self._reference(matrix, operands)

    def flops(self, matrix: SparseMatrix) -> int:
        """Floating-point operations: a multiply and an add for each nonzero and dense column."""
        return 2 * matrix.nnz * self.width

    def compulsory_bytes(self, matrix: SparseMatrix) -> int:
        """Bytes that must cross the memory interface once, whatever the schedule.

        ``A`` in coordinate form (row, column, value), every dense operand, the result.
        """
        sparse = matrix.nnz * (2 * INDEX_BYTES + FLOAT_BYTES)
        dense = sum(rows * cols for rows, cols in self.operand_shapes(matrix)) * FLOAT_BYTES
        return sparse + dense + self._result_bytes(matrix, self.width)


_OPERATIONS = {
    "spmm": (_spmm_operands, _spmm_reference, _spmm_result_bytes),
    "sddmm": (_sddmm_operands, _sddmm_reference, _sddmm_result_bytes),
}
OPERATION_NAMES = tuple(_OPERATIONS)


def get_operation(name: str, width: int) -> Operation:
    """The operation called ``name`` (``spmm`` or ``sddmm``) with ``width`` dense columns."""
    if name not in _OPERATIONS:
        raise ConfigError(f"operation {name!r} is unknown; choose from {', '.join(_OPERATIONS)}")
    if width < 1:
        raise ConfigError(f"dense width {width} must be at least 1")
    return Operation(name, width, *_OPERATIONS[name])
