"""Every schedule computes what scipy and numpy compute, whatever the matrix."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cognate.matrices.matrix import SparseMatrix
from cognate.operations import OPERATION_NAMES, get_operation
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.cores import granted_processors
from cognate.platforms.cpu.engine import Engine
from cognate.platforms.cpu.loops import LoopNest
from cognate.platforms.cpu.plans import WastefulError
from cognate.platforms.cpu.spaces import space_of

ARENA = Arena(1 << 28)
EPSILON = 2.0**-24
SMALLEST = 2.0**-149
GENEROUS = 100.0  # room for every coordinate of a small matrix: padding is tested elsewhere


@st.composite
def matrices(draw):
    """Small matrices: empty, one column, dense rows and columns, explicit zeros, any shape."""
    rows, cols = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    present = random.random((rows, cols)) < draw(st.sampled_from([0.0, 0.02, 0.2, 1.0]))
    if draw(st.booleans()):
        present[random.integers(rows)] = True
    if draw(st.booleans()):
        present[:, random.integers(cols)] = True
    row, col = np.nonzero(present)
    values = random.uniform(-2, 2, len(row))
    values[random.random(len(row)) < 0.1] = 0
    coordinates = scipy.sparse.coo_array((values, (row, col)), shape=(rows, cols))
    return SparseMatrix.from_scipy(coordinates, "drawn")


def tolerance(matrix, operation, operands):
    """Rounding bound of a sum in any order, from absolute values (Higham, §3.1 and §2.1)."""
    absolute = SparseMatrix.from_scipy(abs(matrix.to_scipy()), "absolute")
    sums = operation.reference(absolute, tuple(abs(operand) for operand in operands))
    terms = operation.width if operation.name == "sddmm" else matrix.cols
    return 2 * (terms + 4) * (EPSILON * sums + SMALLEST)


def assert_right(matrix, operation, schedules, threads=2):
    operands = operation.operands(matrix)
    reference = operation.reference(matrix, operands)
    allowed = tolerance(matrix, operation, operands)
    processors = (granted_processors() * threads)[:threads]
    with Engine(matrix, operation, processors, ARENA, padding_limit=GENEROUS) as engine:
        start = ARENA.mark()
        for schedule in schedules:
            ARENA.release(start)
            plan = engine.planner.build(LoopNest.of(schedule))
            result = engine.result(engine.task(schedule, plan))
            wrong = ~(abs(result - reference) <= allowed)
            assert not wrong.any(), f"{schedule}: {wrong.sum()} of {wrong.size}"
            assert engine.check(engine.task(schedule, plan)).wrong == 0


@pytest.mark.parametrize("name", OPERATION_NAMES)
@pytest.mark.parametrize("space", ["cpu-full", "cpu-waco"])
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    matrix=matrices(),
    width=st.sampled_from([1, 3, 16, 20, 33, 64, 100, 256]),
    threads=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_sampled_schedules_equal_the_reference(name, space, matrix, width, threads, seed):
    operation = get_operation(name, width)
    schedules = space_of(space, operation).sample(6, seed)
    assert_right(matrix, operation, schedules, threads)


@pytest.mark.parametrize("name", OPERATION_NAMES)
@pytest.mark.parametrize("width", [16, 100, 256])
def test_all_of_core_equals_the_reference(name, width):
    pattern = scipy.sparse.random_array((150, 90), density=0.05, rng=np.random.default_rng(1))
    operation = get_operation(name, width)
    matrix = SparseMatrix.from_scipy(pattern, "random")
    assert_right(matrix, operation, space_of("cpu-core", operation))


@pytest.mark.parametrize("name", OPERATION_NAMES)
@pytest.mark.parametrize("magnitude", [1e-44, 1e-38, 1e30])
def test_values_that_underflow_or_are_large_are_no_mistakes(name, magnitude):
    random = np.random.default_rng(2)
    pattern = scipy.sparse.random_array((150, 90), density=0.05, rng=random)
    pattern.data = (random.uniform(0.1, 4, pattern.nnz) * magnitude).astype(np.float32)
    operation = get_operation(name, 256)
    schedules = space_of("cpu-core", operation).sample(80, seed=0)
    assert_right(SparseMatrix.from_scipy(pattern, "scaled"), operation, schedules)


@settings(max_examples=100, deadline=None)
@given(
    matrix=matrices(), seed=st.integers(0, 2**32 - 1), limit=st.sampled_from([1.0, 4.0, GENEROUS])
)
def test_plans_round_trip(matrix, seed, limit):
    """Ids, sources and values of a plan give back the matrix; padding is zero."""
    operation = get_operation("sddmm", 16)
    (schedule,) = space_of("cpu-full", operation).sample(1, seed)
    nest = LoopNest.of(schedule)
    with Engine(matrix, operation, granted_processors()[:1], ARENA, limit) as engine:
        try:
            plan = engine.planner.build(nest)
        except WastefulError:
            assert limit != GENEROUS
            return
        arrays = {name: array.copy() for name, array in plan.arrays.items()}
        counts, segments_are_rows = plan.counts(), bool(plan.struct.segment_is_row)
        if counts["phases"]:
            assert arrays["phase_unit"][-1] == counts["units"]
        blocks = (plan.struct.block_rows, plan.struct.block_cols)
    source, value = arrays["source"], arrays["value"]
    present = source >= 0
    assert sorted(source[present]) == list(range(matrix.nnz))
    assert (value[~present] == 0).all()
    assert (value[present] == matrix.values[source[present]]).all()
    if blocks[0]:
        units = np.repeat(arrays["segment_id"], np.diff(arrays["unit_tile"]))
        row = np.add.outer(units, np.repeat(np.arange(blocks[0]), blocks[1])).ravel()
        col = np.add.outer(arrays["entry_id"], np.tile(np.arange(blocks[1]), blocks[0])).ravel()
    else:
        assert arrays["segment_entry"][-1] == counts["entries"]
        segment = np.repeat(arrays["segment_id"], np.diff(arrays["segment_entry"]))
        row, col = segment, arrays["entry_id"]
        if not segments_are_rows:
            row, col = col, row
    true_row = np.repeat(np.arange(matrix.rows), np.diff(matrix.row_pointers))
    assert (row[present] == true_row[source[present]]).all()
    assert (col[present] == matrix.columns[source[present]]).all()
