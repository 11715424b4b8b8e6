"""The simulator on cases that can be counted by hand, and at its edges."""

import platform
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse

from cognate.errors import PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms.spade import SpadePlatform, load_machine, simulate, timeline
from cognate.platforms.spade.native import library
from cognate.platforms.spade.simulator import simulate_work
from cognate.platforms.spade.space import make_space, work_of
from cognate.platforms.spade.tiles import tile

MACHINE = load_machine("spade-224")
CYCLE = 1250  # ps
MEMORY = 105_000  # link and access


def matrix_of(rows, cols, shape, name="made"):
    stored = scipy.sparse.coo_array((np.ones(len(rows)), (rows, cols)), shape=shape)
    return SparseMatrix.from_scipy(stored, name)


def picoseconds(report):
    return round(report.run.seconds * 1e12)


def test_one_entry_by_hand():
    """Sparse lines (the last leaves at cycle 2), then both rows side by side, one operation.

    The r row (look-up, memory) is ready first; the c row's request goes out at the same
    time, so both arrive together. Then SIMD latency, and one dirty row of two lines goes
    from L1 to L2.
    """
    report = simulate(matrix_of([0], [0], (1, 1)), get_operation("spmm", 32), default(32), MACHINE)
    sparse = 2 * CYCLE + MEMORY
    assert picoseconds(report) == sparse + 10_000 + MEMORY + 4 * CYCLE + 2 * CYCLE
    lines = report.run.lines
    assert (lines["sparse_read"], lines["r_read"], lines["c_read"]) == (3, 2, 2)
    assert lines["r_written"] == 0


def test_a_dense_row_is_bound_by_its_chain():
    """1600 entries of one row: after the first, each waits four cycles for the one before."""
    entries = 1600
    matrix = matrix_of(np.zeros(entries, int), np.arange(entries), (1, entries))
    near = load_machine("spade-224", {"link_ns": 0, "dram_ns": 5, "lookup_ns": 0})
    chain = (entries - 1) * 4 * CYCLE
    time = picoseconds(simulate(matrix, get_operation("spmm", 32), default(32), near))
    assert chain < time < 1.02 * chain + MEMORY


def test_wide_rows_are_bound_by_issue():
    """With 16 lines a row, sixteen cycles a nonzero; columns repeat, so loads are few."""
    rows, cols = (x.ravel() for x in np.indices((2000, 2)))
    one = load_machine("spade-224", {"pes": 1, "pes_per_l2": 1})
    matrix = matrix_of(rows, cols, (2000, 2))
    report = simulate(matrix, get_operation("sddmm", 256), default(256), one)
    issue = 4000 * 16 * CYCLE
    assert issue <= picoseconds(report)
    assert report.run.causes["issue"] == pytest.approx(issue * 1e-12)
    assert report.run.lines["c_read"] == 2 * 16


def default(width):
    return make_space("spade", get_operation("spmm", width)).default


@pytest.mark.parametrize("name", ["spmm", "sddmm"])
@pytest.mark.parametrize(
    "matrix",
    [
        matrix_of([0], [0], (1, 1)),
        matrix_of([7], [0], (1000, 1), "one column"),
        matrix_of([0], [9], (1, 1000), "one row"),
        matrix_of([3, 900], [5, 5], (1000, 3000), "mostly empty"),
    ],
    ids=lambda matrix: matrix.name,
)
def test_edges_of_shape(name, matrix):
    platform, operation = SpadePlatform(threads=1), get_operation(name, 48)
    table = platform.evaluate(matrix, operation, list(platform.space(operation)))
    assert (table["status"] == "ok").all()
    assert np.isfinite(table["seconds"]).all()


@pytest.mark.parametrize("shape", [(5, 7), (0, 3), (3, 0), (0, 0)])
def test_without_nonzeros_every_schedule_is_rejected(shape):
    platform, operation = SpadePlatform(threads=1), get_operation("spmm", 32)
    table = platform.evaluate(matrix_of([], [], shape), operation, list(platform.space(operation)))
    assert len(table) == 256
    assert (table["status"] == "rejected").all()
    assert table["seconds"].isna().all()


def test_barrier_costs_time_and_saves_memory_where_the_cache_is_small():
    random = np.random.default_rng(0)
    matrix = matrix_of(random.integers(4096, size=60000), random.integers(4096, size=60000),
                       (4096, 4096))  # fmt: skip
    small = load_machine("spade-224", {"llc_bytes": 64 * 12 * 512, "l2_bytes": 0, "pes": 8})
    space = make_space("spade", get_operation("spmm", 128))
    operation = get_operation("spmm", 128)
    apart, together = (
        simulate(matrix, operation, space.parse(f"rp=32 cp=1024 barrier={b}"), small).run
        for b in (0, 1)
    )
    assert together.lines["c_read"] < apart.lines["c_read"]
    assert together.causes["barrier"] > 0
    assert apart.causes["barrier"] == 0


@pytest.mark.parametrize("machine", ["spade-224", "spade-32"])
@pytest.mark.parametrize("name", ["spmm", "sddmm"])
def test_extrapolating_over_slices_errs_less_than_a_percent(machine, name):
    random = np.random.default_rng(1)
    near = np.clip(np.arange(12000) + random.integers(-300, 300, size=(3, 12000)), 0, 11999)
    matrix = matrix_of(np.tile(np.arange(12000), 3), near.ravel(), (12000, 12000))
    operation = get_operation(name, 256)
    space = make_space("spade", operation)
    for text in ("rp=256", "rp=32 cp=1024 bypass=1", "rp=256 cp=16384 barrier=1", "rp=4"):
        work = work_of(space.parse(f"{text} split=32"), matrix, 256)
        tiling = tile(matrix, work.panel_rows, work.panel_cols, work.columns_outer)
        hardware = load_machine(machine)
        every, some = (
            simulate_work(hardware, tiling, matrix, operation, work, extrapolate=some)
            for some in (False, True)
        )
        assert some.seconds == pytest.approx(every.seconds, rel=0.01), text


def test_later_sddmm_slices_read_what_earlier_ones_wrote():
    matrix = matrix_of(np.arange(100), np.arange(100), (100, 100))
    operation = get_operation("sddmm", 64)
    space = make_space("spade", operation)
    split = simulate(matrix, operation, space.parse("split=32"), MACHINE).run.lines
    whole = simulate(matrix, operation, space.default, MACHINE).run.lines
    assert whole["output_read"] == 0
    assert split["output_read"] > 0
    assert split["output_written"] == 2 * whole["output_written"]


def test_static_assignment_keeps_panels_on_their_element():
    """Two heavy panels that share an element modulo the count take twice as long."""
    rows = np.repeat([0, 2], 3000)
    matrix = matrix_of(rows, np.tile(np.arange(3000), 2), (4, 3000))
    plain = make_space("spade", get_operation("spmm", 32)).default
    two = {"pes": 2, "pes_per_l2": 2, "link_ns": 0, "dram_ns": 0, "lookup_ns": 0}
    work = work_of(plain, matrix, 32)
    tiling = tile(matrix, 1, 3000, False)
    static, dynamic = (
        simulate_work(
            load_machine("spade-224", {**two, "assignment": assignment}),
            *(tiling, matrix, get_operation("spmm", 32), work),
        ).seconds
        for assignment in ("static", "dynamic")
    )
    assert static > 1.9 * dynamic


def test_identities_beyond_32_bits_are_refused():
    huge = SparseMatrix(
        (2**30, 2**30),
        np.zeros(1, np.int64),
        np.zeros(0, np.int32),
        np.zeros(0, np.float32),
        "huge",
    )
    with pytest.raises(PlatformError, match="huge"):
        simulate(huge, get_operation("spmm", 32), default(32), MACHINE)


@pytest.mark.parametrize("text", ["rp=32", "rp=256 cp=1024 barrier=1 split=32"])
def test_timeline_adds_up_to_the_issue_time(text):
    rows, cols = (x.ravel() for x in np.indices((1500, 3)))
    matrix, operation = matrix_of(rows, cols * 700, (1500, 2000)), get_operation("spmm", 64)
    schedule = make_space("spade", operation).parse(text)
    shown = timeline(matrix, operation, schedule, MACHINE, bins=50)
    assert shown.busy.shape == (224, 50)
    issue = 4500 * 4 * CYCLE * 1e-12
    assert shown.busy.sum() * shown.seconds_per_bin == pytest.approx(issue)
    assert shown.busy.max() <= 1 + 4 * CYCLE * 1e-12 / shown.seconds_per_bin


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the flag is for x86-64")
@pytest.mark.parametrize("width", [16, 32, 256])
def test_code_without_wide_vectors_counts_the_same(width):
    random = np.random.default_rng(2)
    entries = (random.integers(500, size=4000), random.integers(700, size=4000))
    matrix, operation = matrix_of(*entries, (500, 700)), get_operation("spmm", width)
    small = load_machine("spade-224", {"pes": 4, "l2_bytes": 64 * 20 * 64, "llc_bytes": 64 * 1200})
    for text in ("rp=32", "rp=256 cp=1024 bypass=1"):
        schedule = make_space("spade", operation).parse(text)
        wide = simulate(matrix, operation, schedule, small).run
        portable = library("-mno-avx512f")
        with patch("cognate.platforms.spade.simulator.library", return_value=portable):
            assert simulate(matrix, operation, schedule, small).run == wide
