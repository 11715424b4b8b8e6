"""Traced misses against a plain LRU simulation of the same walk."""

from collections import OrderedDict

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cognate.errors import ModelError
from cognate.learning.trace import trace_misses
from cognate.matrices.matrix import SparseMatrix


def drawn(rows: int, cols: int, density: float, seed: int) -> SparseMatrix:
    random = np.random.default_rng(seed)
    sparse = scipy.sparse.random_array((rows, cols), density=density, rng=random, format="csr")
    return SparseMatrix.from_scipy(sparse, "drawn")


def walk(matrix: SparseMatrix, panel: int, width: int, outer: bool) -> list[tuple[int, int, int]]:
    """Row, column and tile column of every entry, as one worker walks them."""
    coo = matrix.to_scipy().tocoo()
    entries = zip(coo.row.tolist(), coo.col.tolist(), (coo.col // width).tolist(), strict=True)

    def order(entry: tuple[int, int, int]) -> tuple[int, ...]:
        row, column, tile = entry
        return (tile, row, column) if outer else (row // panel, tile, row, column)

    return sorted(entries, key=order)


def lru_misses(references: list[tuple[str, int]], capacity: float) -> dict[str, int]:
    held: OrderedDict[tuple[str, int], None] = OrderedDict()
    misses = {"row": 0, "column": 0}
    for reference in references:
        if reference in held:
            held.move_to_end(reference)
            continue
        misses[reference[0]] += 1
        held[reference] = None
        if len(held) > capacity:
            held.popitem(last=False)
    return misses


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.floats(0.02, 0.5),
    st.integers(0, 100),
    st.integers(1, 20),
    st.integers(1, 50),
    st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_one_worker_traced_in_full_equals_lru(
    rows: int, cols: int, density: float, seed: int, panel: int, width: int, outer: bool
) -> None:
    matrix = drawn(rows, cols, density, seed)
    references: list[tuple[str, int]] = []
    previous = None
    for row, column, tile in walk(matrix, panel, width, outer):
        if (row, tile) != previous:
            references.append(("row", row))
            previous = (row, tile)
        references.append(("column", column))
    capacities = np.array([1.0, 4.0, 16.0, 1000.0])
    found = trace_misses(
        matrix,
        np.array([panel]),
        np.array([width]),
        np.array([outer]),
        capacities,
        workers=1,
        references=10**6,
    )
    columns_only = [r for r in references if r[0] == "column"]
    for k, capacity in enumerate(capacities):
        expected = lru_misses(references, capacity)
        streamed = lru_misses(columns_only, capacity)["column"]
        assert found.columns_shared[0, k] == found.columns_alone[0, k] == expected["column"]
        assert found.rows_shared[0, k] == found.rows_alone[0, k] == expected["row"]
        assert found.streamed[0, k] == streamed


def test_a_sample_estimates_the_whole() -> None:
    matrix = drawn(3000, 3000, 0.01, 1)
    walks = np.array([16, 256]), np.array([512, 3000]), np.array([False, True])
    capacities = np.array([200.0, 1000.0])
    exact = trace_misses(matrix, *walks, capacities, 8, references=10**6)
    sampled = trace_misses(matrix, *walks, capacities, 8, references=20_000)
    for name in ("columns_shared", "rows_shared", "streamed"):
        whole, part = getattr(exact, name), getattr(sampled, name)
        np.testing.assert_allclose(part, whole, rtol=0.15)


def test_workers_compete_for_a_shared_cache_and_not_for_their_own() -> None:
    band = scipy.sparse.diags_array(
        [np.ones(4000)] * 9, offsets=range(-4, 5), shape=(4000, 4000)
    ).tocsr()
    matrix = SparseMatrix.from_scipy(band, "band")
    walks = np.array([50]), np.array([4000]), np.array([False])
    one, many = (
        trace_misses(matrix, *walks, np.array([64.0]), workers, references=10**6)
        for workers in (1, 32)
    )
    assert many.columns_shared[0, 0] > 2 * one.columns_shared[0, 0]
    assert many.columns_alone[0, 0] < 1.2 * one.columns_alone[0, 0]


def test_misses_fall_as_the_cache_grows_and_never_below_first_touches() -> None:
    matrix = drawn(500, 700, 0.02, 3)
    capacities = np.array([2.0, 8.0, 32.0, 128.0, 10_000.0])
    found = trace_misses(
        matrix, np.array([32]), np.array([128]), np.array([True]), capacities, 4, references=10**6
    )
    assert (np.diff(found.columns_shared[0]) <= 0).all()
    assert found.columns_shared[0, -1] == len(np.unique(matrix.columns))
    assert found.rows_shared[0, -1] == np.count_nonzero(np.diff(matrix.row_pointers))


def test_an_empty_matrix_misses_nothing_and_too_many_capacities_are_refused() -> None:
    empty = SparseMatrix.from_scipy(scipy.sparse.csr_array((4, 5), dtype=np.float32), "empty")
    walks = np.array([2]), np.array([5]), np.array([False])
    assert trace_misses(empty, *walks, np.array([1.0]), 2).columns_shared.sum() == 0
    with pytest.raises(ModelError):
        trace_misses(empty, *walks, np.ones(17), 2)
