"""Tile counts against brute force over the dense pattern."""

import heapq

import numpy as np
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cognate.learning.tiles import pool_pattern, reuse_profile, tile_statistics
from cognate.matrices.matrix import SparseMatrix


@st.composite
def matrices(draw: st.DrawFn) -> SparseMatrix:
    rows, cols = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    count = draw(st.integers(0, rows * cols // 2))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    dense = np.zeros(rows * cols, dtype=np.float32)
    dense[random.choice(rows * cols, count, replace=False)] = 1
    return SparseMatrix.from_scipy(scipy.sparse.csr_array(dense.reshape(rows, cols)), "drawn")


sizes = st.lists(st.integers(1, 45), min_size=1, max_size=4, unique=True).map(tuple)


def panels(pattern: np.ndarray, size: int) -> list[np.ndarray]:
    return [pattern[start : start + size] for start in range(0, len(pattern), size)]


def greedy(loads: list[int], workers: int) -> float:
    free = [0] * workers
    for load in loads:
        heapq.heapreplace(free, free[0] + load)
    return max(free)


@given(matrices(), sizes, sizes, st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_counts_equal_brute_force(
    matrix: SparseMatrix, row_sizes: tuple[int, ...], col_sizes: tuple[int, ...], workers: int
) -> None:
    counted = tile_statistics(matrix, row_sizes, col_sizes, workers)
    pattern = matrix.to_scipy().toarray() != 0
    for k, row_size in enumerate(row_sizes):
        loads = [int(panel.sum()) for panel in panels(pattern, row_size)]
        assert counted.largest_panel[k] == max(loads)
        assert counted.makespan[k] == greedy(loads, workers)
    for j, col_size in enumerate(col_sizes):
        column_panels = panels(pattern.T, col_size)
        assert counted.segments[j] == sum(int(p.any(axis=0).sum()) for p in column_panels)
        for k, row_size in enumerate(row_sizes):
            tiles = [[int(t.sum()) for t in panels(p.T, row_size)] for p in column_panels]
            assert counted.occupied[k, j] == sum(t > 0 for panel in tiles for t in panel)
            work = sum(max(max(panel), sum(panel) / workers) for panel in tiles)
            assert np.isclose(counted.barrier_work[k, j], work)


@given(matrices())
@settings(max_examples=40, deadline=None)
def test_reuse_profile_equals_brute_force(matrix: SparseMatrix) -> None:
    pattern = matrix.to_scipy().toarray() != 0
    profile = reuse_profile(matrix)
    for power in range(8):
        windows = panels(pattern, 2**power)
        assert profile[power] == sum(int(w.any(axis=0).sum()) for w in windows)
    assert profile[0] == matrix.nnz
    assert (np.diff(profile) <= 0).all()


@given(matrices(), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_pooling_keeps_every_entry_on_the_finest_grid_that_fits(
    matrix: SparseMatrix, cells: int
) -> None:
    pooled = pool_pattern(matrix, cells)
    coo = matrix.to_scipy().tocoo()
    for shift in range(pooled.shift + 1):
        grid: dict[tuple[int, int], int] = {}
        for row, col in zip(coo.row >> shift, coo.col >> shift, strict=True):
            grid[int(row), int(col)] = grid.get((int(row), int(col)), 0) + 1
        assert (len(grid) <= cells) == (shift == pooled.shift)
    found = zip(pooled.rows.tolist(), pooled.columns.tolist(), pooled.counts.tolist(), strict=True)
    assert [((r, c), n) for r, c, n in found] == sorted(grid.items())
    assert pooled.kept == (len(grid) / matrix.nnz if matrix.nnz else 0)


def test_many_row_sizes_take_several_passes() -> None:
    matrix = SparseMatrix.from_scipy(scipy.sparse.random_array((200, 90), density=0.1), "many")
    row_sizes = tuple(range(1, 81))
    together = tile_statistics(matrix, row_sizes, (16,), 4)
    for k, size in enumerate(row_sizes):
        alone = tile_statistics(matrix, (size,), (16,), 4)
        assert together.occupied[k] == alone.occupied[0]
        assert together.makespan[k] == alone.makespan[0]
