import itertools
import math

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.statistics import BLOCK, PANEL_ROWS, gini, statistics


def matrix_of(dense: np.ndarray) -> SparseMatrix:
    return SparseMatrix.from_scipy(scipy.sparse.csr_array(dense), "m")


def brute_force(dense: np.ndarray) -> dict[str, float]:
    """The same numbers from the dense pattern, one definition at a time."""
    rows, cols = dense.shape
    entries = [(i, j) for i, j in itertools.product(range(rows), range(cols)) if dense[i, j]]
    stored = set(entries)
    nnz = len(entries)
    steps = max(1, cols - 1)
    slope = (cols - 1) / (rows - 1) if rows > 1 else 0
    distance = [abs(j - i * slope) for i, j in entries]
    spans = [np.ptp(np.flatnonzero(row)) for row in dense if row.any()]
    off = [(i, j) for i, j in entries if i != j]
    mirrored = sum((j, i) in stored for i, j in off)

    def share(part: float, whole: float) -> float:
        return part / whole if whole else 0.0

    return {
        "density": share(nnz, rows * cols),
        "bandwidth": max(distance, default=0),
        "diagonal_distance": share(sum(distance), nnz * steps),
        "row_span": share(sum(spans), len(spans) * steps),
        "adjacent_share": share(sum((i, j + 1) in stored for i, j in entries), nnz),
        "row_overlap": share(sum((i - 1, j) in stored for i, j in entries), nnz),
        "panel_reuse": share(nnz, len({(i // PANEL_ROWS, j) for i, j in entries})),
        "block_fill": share(nnz, BLOCK**2 * len({(i // BLOCK, j // BLOCK) for i, j in entries})),
        "pattern_symmetry": 0 if rows != cols else mirrored / len(off) if off else 1,
        "diagonal_share": share(nnz - len(off), min(rows, cols)),
        "empty_rows": sum(not row.any() for row in dense),
        "empty_cols": sum(not col.any() for col in dense.T),
        "row_max": max((row.sum() for row in dense), default=0),
        "col_mean": share(nnz, cols),
        "col_std": float(dense.sum(axis=0).std()),
    }


@given(st.integers(1, 70), st.integers(1, 20), st.floats(0, 1), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_equals_brute_force(rows: int, cols: int, density: float, seed: int) -> None:
    dense = (np.random.default_rng(seed).random((rows, cols)) < density).astype(np.float64)
    found = statistics(matrix_of(dense))
    for name, value in brute_force(dense).items():
        assert found[name] == pytest.approx(value, abs=1e-9), name
    assert all(math.isfinite(value) for value in found.values())


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (1, 7), (7, 1), (40, 40)])
def test_empty_matrices_have_finite_statistics(shape: tuple[int, int]) -> None:
    found = statistics(SparseMatrix.from_scipy(scipy.sparse.csr_array(shape), "empty"))
    assert all(math.isfinite(value) for value in found.values())
    assert found["nnz"] == 0


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30))
def test_gini_equals_the_mean_difference(counts: list[int]) -> None:
    differences = sum(abs(a - b) for a, b in itertools.product(counts, repeat=2))
    expected = differences / (2 * len(counts) * sum(counts)) if sum(counts) else 0
    assert gini(np.array(counts)) == pytest.approx(expected, abs=1e-12)
