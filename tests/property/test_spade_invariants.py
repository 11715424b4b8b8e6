"""What must hold for every matrix, schedule and machine."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms.spade.machine import load_machine
from cognate.platforms.spade.simulator import counters_of, simulate_work
from cognate.platforms.spade.space import Work, make_space, work_of
from cognate.platforms.spade.tiles import reorder, tile

SMALL = {"pes": 4, "llc_bytes": 64 * 12 * 1024, "l2_bytes": 64 * 20 * 256}


def random_matrix(rows, cols, entries, seed):
    random = np.random.default_rng(seed)
    coordinates = (random.integers(rows, size=entries), random.integers(cols, size=entries))
    stored = scipy.sparse.coo_array((np.ones(entries), coordinates), shape=(rows, cols))
    return SparseMatrix.from_scipy(stored, "random")


matrices = st.builds(
    random_matrix,
    rows=st.integers(1, 300),
    cols=st.integers(1, 300),
    entries=st.integers(1, 3000),
    seed=st.integers(0, 2**32),
)
operations = st.builds(
    get_operation, st.sampled_from(["spmm", "sddmm"]), st.sampled_from([16, 32, 64, 128])
)
works = st.builds(
    Work,
    reorder=st.just(False),
    columns_outer=st.booleans(),
    panel_cols=st.sampled_from([16, 64, 300]),
    panel_rows=st.sampled_from([4, 32, 256]),
    slice_width=st.just(0),
    bypass=st.booleans(),
)


def run(machine, matrix, operation, work):
    whole = Work(**{**vars(work), "slice_width": operation.width})
    tiling = tile(matrix, work.panel_rows, work.panel_cols, work.columns_outer)
    return simulate_work(machine, tiling, matrix, operation, whole)


def used(matrix):
    """Rows and columns that hold a nonzero."""
    return int((np.diff(matrix.row_pointers) > 0).sum()), len(np.unique(matrix.columns))


@settings(deadline=None, max_examples=60)
@given(matrix=matrices, operation=operations, work=works)
def test_with_room_for_all_memory_is_read_once(matrix, operation, work):
    run_ = run(load_machine("spade-224", {"pes": 8}), matrix, operation, work)
    rows, cols = used(matrix)
    lines = operation.width // 16
    assert run_.lines["c_read"] == cols * lines
    if not work.bypass:
        assert run_.lines["r_read"] == rows * lines
        assert run_.lines["r_written"] == 0


@settings(deadline=None, max_examples=60)
@given(matrix=matrices, operation=operations, work=works)
def test_lines_are_conserved(matrix, operation, work):
    machine = load_machine("spade-224", SMALL)
    lines = run(machine, matrix, operation, work).lines
    assert lines["l1_misses"] == lines["l2_hits"] + lines["l2_misses"]
    assert lines["l2_misses"] == lines["llc_hits"] + lines["llc_misses"]
    from_caches = lines["c_read"] + (0 if work.bypass else lines["r_read"])
    assert lines["llc_misses"] == from_caches
    past_registers = lines["l1_hits"] + lines["l1_misses"]
    past_registers += lines["victim_hits"] + lines["victim_misses"]
    assert lines["vrf_misses"] == past_registers
    if work.bypass:
        assert lines["victim_misses"] == lines["r_read"]
    written = lines["r_written"]
    assert written == 0 if operation.name == "sddmm" else written <= lines["vrf_misses"]
    least = -(-matrix.nnz // 16)
    assert lines["sparse_read"] >= 3 * least
    assert (lines["output_written"] >= least) == (operation.name == "sddmm")


@settings(deadline=None, max_examples=60)
@given(matrix=matrices, operation=operations, work=works)
def test_bypassing_output_is_all_written(matrix, operation, work):
    bypassing = Work(**{**vars(work), "bypass": True})
    lines = run(load_machine("spade-224", SMALL), matrix, operation, bypassing).lines
    rows = used(matrix)[0] * operation.width // 16
    if operation.name == "spmm":
        assert rows <= lines["r_read"] <= lines["r_written"]
    else:
        assert lines["r_written"] == 0


@settings(deadline=None, max_examples=60)
@given(matrix=matrices, operation=operations, work=works)
def test_time_is_no_less_than_any_bound(matrix, operation, work):
    machine = load_machine("spade-224", SMALL)
    result = run(machine, matrix, operation, work)
    counters = counters_of(result, machine, operation.flops(matrix))
    cycle, lines = 1e-9 / machine.clock_ghz, operation.width // 16
    moved = counters["bytes_read"] + counters["bytes_written"]
    assert result.seconds >= 0.999 * moved / (machine.bandwidth_gb_s * 1e9) - 5e-8
    assert result.seconds >= matrix.nnz * lines * cycle / machine.pes
    assert result.seconds >= (machine.link_ns + machine.dram_ns) * 2e-9
    if operation.name == "spmm":
        longest = int(np.diff(matrix.row_pointers).max())
        assert result.seconds >= (longest - 1) * max(lines, machine.simd_cycles) * cycle
    shares = sum(value for name, value in counters.items() if name.endswith("_share"))
    assert shares == pytest.approx(1)


@settings(deadline=None, max_examples=60)
@given(
    matrix=matrices,
    operation=operations,
    work=works,
    sizes=st.tuples(st.integers(3, 9), st.integers(3, 9)),
)
def test_larger_fully_associative_caches_miss_no_more(matrix, operation, work, sizes):
    """One element keeps the order of accesses; one set makes LRU obey inclusion."""
    small, large = sorted(sizes)

    def misses(ways_exponent):
        ways = min(64, 2**ways_exponent)
        one_set = {"pes": 1, "l1_ways": ways, "l1_bytes": 64 * ways * (operation.width // 16)}
        machine = load_machine("spade-224", {**one_set, "l2_bytes": 0, "llc_bytes": 0})
        return run(machine, matrix, operation, work).lines["l1_misses"]

    assert misses(large) <= misses(small)


@settings(deadline=None, max_examples=30)
@given(matrix=matrices, operation=operations, work=works)
def test_one_element_needs_no_assignment(matrix, operation, work):
    """Without barriers: with them, panels that are its own come before those of nobody."""
    work = Work(**{**vars(work), "columns_outer": False})
    static, dynamic = (
        run(load_machine("spade-224", {"pes": 1, "assignment": a}), matrix, operation, work)
        for a in ("static", "dynamic")
    )
    assert static == dynamic


@settings(deadline=None, max_examples=40)
@given(matrix=matrices, operation=operations)
def test_dynamic_assignment_obeys_grahams_bound(matrix, operation):
    """Greedy lists finish within average + longest unit, on a machine without contention."""
    plain = {"bandwidth_gb_s": 1e5, "l2_gb_s": 1e6, "llc_gb_s": 1e7, "quantum_ns": 1}
    plain |= {"l1_bytes": 64 * 4 * 8, "l2_bytes": 0, "llc_bytes": 0, "channels": 64}
    work = Work(False, False, 300, 4, operation.width, True)
    many = run(load_machine("spade-224", {**plain, "pes": 4}), matrix, operation, work)
    counters = many.causes
    busy = sum(v for name, v in counters.items() if name not in ("imbalance", "barrier"))
    rows = np.diff(matrix.row_pointers)
    longest = max(int(rows[i : i + 4].sum()) for i in range(0, matrix.rows, 4))
    worst_entry = 1e-9 * (4 * machine_latency() + 200)
    assert many.seconds <= busy / 4 + longest * worst_entry + 1e-6


def machine_latency():
    machine = load_machine("spade-224")
    return machine.link_ns + machine.dram_ns + machine.lookup_ns


@settings(deadline=None, max_examples=60)
@given(matrix=matrices, width=st.sampled_from([16, 32, 64, 256]))
def test_equal_works_are_equal_schedules(matrix, width):
    """Schedules with one work tile the matrix alike, so one run stands for all of them."""
    space = make_space("spade", get_operation("spmm", width))
    by_work = {}
    for schedule in space:
        if not schedule["reorder"]:
            by_work.setdefault(work_of(schedule, matrix, width), []).append(schedule)
    assert sum(map(len, by_work.values())) == 128
    for work, schedules in by_work.items():
        expected = tile(matrix, work.panel_rows, work.panel_cols, work.columns_outer)
        for schedule in schedules[-1:]:
            cp = matrix.cols if schedule["cp"] == "all" else schedule["cp"]
            given_ = tile(matrix, schedule["rp"], cp, bool(schedule["barrier"]))
            for name in ("row", "col", "tile_start", "tile_panel", "phase_start"):
                assert np.array_equal(getattr(expected, name), getattr(given_, name)), name


@settings(deadline=None, max_examples=60)
@given(
    matrix=matrices,
    panel_rows=st.integers(1, 400),
    panel_cols=st.integers(1, 400),
    columns_outer=st.booleans(),
)
def test_tiles_hold_every_entry_once_in_order(matrix, panel_rows, panel_cols, columns_outer):
    tiling = tile(matrix, panel_rows, panel_cols, columns_outer)
    row, col = tiling.row.astype(np.int64), tiling.col.astype(np.int64)
    panels = (col // panel_cols, row // panel_rows)
    outer, inner = panels if columns_outer else panels[::-1]
    keys = (col, row, inner, outer)
    assert np.array_equal(np.lexsort(keys), np.arange(matrix.nnz))
    there = scipy.sparse.csr_array((np.ones(matrix.nnz), (row, col)), shape=matrix.shape)
    assert (there != matrix.to_scipy().astype(bool).astype(float)).nnz == 0
    starts = np.flatnonzero(np.diff(outer * 1000 + inner, prepend=-1))
    assert np.array_equal(tiling.tile_start[:-1], starts)
    assert np.array_equal(tiling.tile_panel, row[starts] // panel_rows)
    assert len(tiling.phase_start) - 1 == (len(np.unique(outer)) if columns_outer else 1)


@settings(deadline=None, max_examples=40)
@given(matrix=matrices)
def test_reordering_permutes_rows_and_columns(matrix):
    moved = reorder(matrix)
    assert moved.shape == matrix.shape
    for axis in (0, 1):
        before, after = (np.sort(m.to_scipy().astype(bool).sum(axis)) for m in (matrix, moved))
        assert np.array_equal(before, after)
    if matrix.rows == matrix.cols:
        diagonals = [m.to_scipy().astype(bool).diagonal().sum() for m in (matrix, moved)]
        assert diagonals[0] == diagonals[1]
