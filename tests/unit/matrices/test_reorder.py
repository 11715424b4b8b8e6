import numpy as np
import pytest
import scipy.sparse

from cognate.errors import MatrixError
from cognate.matrices import embedded, reorder
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.statistics import statistics


def random_matrix(rows: int, cols: int, seed: int = 0) -> SparseMatrix:
    dense = scipy.sparse.random_array((rows, cols), density=0.2, rng=seed)
    return SparseMatrix.from_scipy(dense, "random", family="f")


def test_permute_equals_dense_indexing() -> None:
    matrix = random_matrix(9, 6)
    random = np.random.default_rng(1)
    rows, cols = random.permutation(9), random.permutation(6)
    dense = matrix.to_scipy().toarray()
    moved = reorder.permute(matrix, rows, cols)
    np.testing.assert_array_equal(moved.to_scipy().toarray(), dense[rows][:, cols])
    assert (moved.name, moved.family) == ("random", "f")
    for start, end in zip(moved.row_pointers[:-1], moved.row_pointers[1:], strict=True):
        assert (np.diff(moved.columns[start:end]) > 0).all()
    np.testing.assert_array_equal(
        reorder.permute(matrix, cols=cols).to_scipy().toarray(), dense[:, cols]
    )


@pytest.mark.parametrize("bad", [[0, 1, 1], [0, 1], [0, 1, 3]])
def test_permute_refuses_what_is_no_permutation(bad: list[int]) -> None:
    with pytest.raises(MatrixError, match="not a permutation of its 3 rows"):
        reorder.permute(random_matrix(3, 3), rows=np.array(bad))


def test_permute_keeps_stored_zeros() -> None:
    matrix = SparseMatrix.from_scipy(
        scipy.sparse.csr_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2)), "zero"
    )
    assert reorder.permute(matrix, rows=np.array([1, 0])).nnz == 2


def test_cuthill_mckee_undoes_a_shuffle() -> None:
    natural = embedded.build("grid2d_5pt_40x50")
    shuffled = reorder.shuffled(natural, seed=1)
    narrow = reorder.reverse_cuthill_mckee(shuffled)
    assert statistics(shuffled)["bandwidth"] > 1500
    assert statistics(narrow)["bandwidth"] <= 60
    assert statistics(narrow)["diagonal_share"] == 1


def test_cuthill_mckee_narrows_a_rectangle() -> None:
    natural = embedded.build("staircase_small")
    shuffled = reorder.shuffled(natural, seed=2)
    narrow = reorder.reverse_cuthill_mckee(shuffled)
    assert narrow.shape == natural.shape
    assert statistics(narrow)["row_span"] < 0.5 * statistics(shuffled)["row_span"]


def test_shuffle_is_repeatable_and_keeps_the_diagonal() -> None:
    matrix = embedded.build("grid2d_5pt_40x50")
    one = reorder.shuffled(matrix, seed=1)
    assert one.pattern_hash == reorder.shuffled(matrix, seed=1).pattern_hash
    assert one.pattern_hash != reorder.shuffled(matrix, seed=2).pattern_hash
    assert statistics(one)["diagonal_share"] == 1
    assert reorder.shuffled(random_matrix(4, 9), seed=1).shape == (4, 9)


def test_by_degree_sorts_rows() -> None:
    counts = np.diff(reorder.by_degree(random_matrix(30, 8)).row_pointers)
    assert (np.diff(counts) <= 0).all()
