import numpy as np
import pytest
import scipy.sparse as sp

from cognate.errors import ConfigError
from cognate.matrices import SparseMatrix
from cognate.operations import get_operation


def some_matrix() -> SparseMatrix:
    return SparseMatrix.from_scipy(
        sp.random_array((40, 30), density=0.1, rng=np.random.default_rng(1)), "m"
    )


def test_references_equal_dense_algebra() -> None:
    matrix = some_matrix()
    dense = matrix.to_scipy().toarray().astype(np.float64)
    spmm, sddmm = get_operation("spmm", 16), get_operation("sddmm", 16)
    (b,) = spmm.operands(matrix)
    np.testing.assert_allclose(spmm.reference(matrix, (b,)), dense @ b, rtol=1e-12)
    left, right = sddmm.operands(matrix)
    full = dense * (left.astype(np.float64) @ right.astype(np.float64).T)
    pattern = matrix.to_scipy().tocoo()
    expected = full[pattern.row, pattern.col]
    np.testing.assert_allclose(sddmm.reference(matrix, (left, right)), expected, rtol=1e-12)


def test_work_and_traffic_by_hand() -> None:
    matrix = SparseMatrix.from_scipy(sp.csr_array(np.eye(3, 5)), "eye")
    spmm, sddmm = get_operation("spmm", 16), get_operation("sddmm", 16)
    assert spmm.flops(matrix) == sddmm.flops(matrix) == 2 * 3 * 16
    assert spmm.compulsory_bytes(matrix) == 3 * 12 + 5 * 16 * 4 + 3 * 16 * 4
    assert sddmm.compulsory_bytes(matrix) == 3 * 12 + (3 + 5) * 16 * 4 + 3 * 4


def test_operands_are_repeatable() -> None:
    matrix, spmm = some_matrix(), get_operation("spmm", 4)
    assert np.array_equal(spmm.operands(matrix, 3)[0], spmm.operands(matrix, 3)[0])
    assert not np.array_equal(spmm.operands(matrix, 3)[0], spmm.operands(matrix, 4)[0])


@pytest.mark.parametrize(
    ("name", "width", "message"), [("spmv", 8, "choose from spmm, sddmm"), ("spmm", 0, "at least")]
)
def test_unknown_operations_are_refused(name: str, width: int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        get_operation(name, width)
