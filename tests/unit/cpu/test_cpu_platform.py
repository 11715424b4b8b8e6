import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from cognate.errors import NativeError, PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import OPERATION_NAMES, get_operation
from cognate.platforms import samples
from cognate.platforms.cpu import CpuPlatform, engine, platform
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.spaces import space_of

WIDTH = 64
QUICK = {"rounds": 1, "most_rounds": 1, "memory_gib": 0.25}


def matrix_of(rows=300, cols=200, density=0.03, seed=0):
    random = np.random.default_rng(seed)
    return SparseMatrix.from_scipy(
        scipy.sparse.random_array((rows, cols), density=density, rng=random), "random"
    )


def evaluate(matrix, operation, schedules, **settings):
    table = CpuPlatform(**{**QUICK, **settings}).evaluate(matrix, operation, schedules)
    samples.validate(table, "test")
    return table


@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_evaluate_answers_every_schedule_in_order(name):
    operation = get_operation(name, WIDTH)
    schedules = space_of("cpu-core", operation).sample(40, seed=1)
    seen = []
    table = CpuPlatform(**QUICK).evaluate(
        matrix_of(), operation, schedules, lambda done, total: seen.append((done, total))
    )
    assert list(table["schedule_id"]) == [schedule.schedule_id for schedule in schedules]
    assert set(table["status"]) <= {"ok", "rejected"}
    good = table[table["status"] == "ok"]
    assert len(good) > 30
    assert (good["seconds"] > 0).all()
    assert (good["plan_seconds"] > 0).all()
    assert good["anchor_seconds"].nunique() == 1
    assert all(len(visits) >= 1 for visits in good["visits"])
    for row in good.itertuples():
        assert len(row.visits) == len(row.visit_rounds)
        assert row.seconds == min(row.visits)
    assert seen[-1] == (len(schedules), len(schedules))


def test_table_survives_parquet(tmp_path):
    operation = get_operation("spmm", WIDTH)
    schedules = space_of("cpu-core", operation).sample(30, seed=2)
    subject = CpuPlatform(**QUICK)
    table = subject.evaluate(matrix_of(), operation, schedules)
    samples.write(table, subject.describe(), tmp_path / "t.parquet")
    again, metadata = samples.read(tmp_path / "t.parquet")
    assert list(again["seconds"]) == pytest.approx(list(table["seconds"]), nan_ok=True)
    assert [list(v) for v in again["visits"]] == [list(v) for v in table["visits"]]
    assert metadata["compiler"]
    assert metadata["threads"] == len(subject.processors)
    assert metadata["policy"]["rounds"] == 1


def test_wasteful_schedules_are_rejected_with_a_reason():
    operation = get_operation("spmm", WIDTH)
    space = space_of("cpu-full", operation)
    dense_tiles = space.parse("order=i1k1i0k0j1j0 i=1 k=1 format=UUUU")  # lists all coordinates
    blocks = space.parse("order=i1j1k1i0k0j0 i=8 k=8 j=64 format=UUCU inner=register")
    table = evaluate(
        matrix_of(density=0.001), operation, [dense_tiles, space.default, blocks], space="cpu-full"
    )
    assert list(table["status"]) == ["rejected", "ok", "rejected"]
    assert table["reason"][0].startswith("lists at least 6e+04 coordinates")
    assert "lists more" in table["reason"][2]
    generous = evaluate(
        matrix_of(density=0.001), operation, [blocks], space="cpu-full", padding_limit=100
    )
    assert list(generous["status"]) == ["ok"]


def test_a_wrong_result_is_failed_loudly(monkeypatch):
    operation = get_operation("sddmm", WIDTH)
    space = space_of("cpu-core", operation)
    other = space.parse("order=i1i0k1j1k0j0 j=32 chunk=64 inner=register unroll=4")
    real = engine.Engine.task

    def sabotaged(self, schedule, plan):
        task = real(self, schedule, plan)
        if schedule["order"] == other["order"]:
            task.struct.stride += 16
        return task

    monkeypatch.setattr(engine.Engine, "task", sabotaged)
    table = evaluate(matrix_of(), operation, [space.default, other])
    assert list(table["status"]) == ["ok", "failed"]
    assert "wrong" in table["reason"][1]


@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_tolerance_is_tight(name):
    """One element that is off by a thousandth of its size is caught."""
    operation = get_operation(name, WIDTH)
    matrix, subject = matrix_of(), CpuPlatform(**QUICK)
    default = subject.space(operation).default
    with engine.Engine(matrix, operation, subject.processors, subject.arena) as running:
        task = running.task(default, running.planner.build(engine.LoopNest.of(default)))
        assert running.check(task).wrong == 0
        reference = running._truth_arrays[0]
        reference.flat[np.argmax(abs(reference))] *= 1.001
        assert running.check(task).wrong == 1


def test_schedules_are_timed_in_batches_when_memory_is_short():
    operation = get_operation("spmm", 16)
    schedules = space_of("cpu-core", operation).sample(25, seed=0)
    matrix = matrix_of(3000, 3000, 0.01)
    roomy = evaluate(matrix, operation, schedules)
    needed = roomy["plan_bytes"].drop_duplicates().sum()
    arena = Arena(1 << 28)
    engine.Engine(matrix, operation, [-1], arena)
    memory = arena.mark() + needed
    tight = evaluate(matrix, operation, schedules, memory_gib=memory / 2**30)
    assert list(tight["status"]) == list(roomy["status"])
    assert tight["anchor_seconds"].nunique() > 1


def test_what_does_not_fit_is_rejected():
    operation = get_operation("spmm", 256)
    schedules = [space_of("cpu-core", operation).default]
    table = evaluate(matrix_of(5000, 5000, 0.001), operation, schedules, memory_gib=0.004)
    assert list(table["status"]) == ["rejected"]
    assert "memory" in table["reason"][0]


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (40, 40)])
@pytest.mark.parametrize("name", OPERATION_NAMES)
def test_degenerate_matrices(name, shape):
    operation = get_operation(name, 32)
    schedules = space_of("cpu-core", operation).sample(20, seed=3)
    empty = SparseMatrix.from_scipy(scipy.sparse.coo_array(shape), "empty")
    full = SparseMatrix.from_scipy(scipy.sparse.coo_array(np.ones(shape)), "full")
    for matrix in (empty, full):
        table = evaluate(matrix, operation, schedules)
        assert "failed" not in set(table["status"])
        assert (table["status"] == "ok").sum() >= 10


def test_no_schedules_is_a_valid_empty_table():
    assert len(evaluate(matrix_of(), get_operation("spmm", 32), [])) == 0


def test_memory_for_operands_but_not_for_plans():
    operation, matrix = get_operation("spmm", 16), matrix_of(2000, 2000, 0.01)
    arena = Arena(1 << 28)
    engine.Engine(matrix, operation, [-1], arena)
    schedules = [space_of("cpu-core", operation).default]
    table = evaluate(matrix, operation, schedules, memory_gib=(arena.mark() + 4096) / 2**30)
    assert list(table["status"]) == ["rejected"]


def test_a_wrong_anchor_stops_the_measurement(monkeypatch):
    monkeypatch.setattr(engine.Engine, "check", lambda self, task: engine.Check(3, 1e-3, 0.0))
    operation = get_operation("spmm", WIDTH)
    with pytest.raises(PlatformError, match="anchor"):
        evaluate(matrix_of(), operation, [space_of("cpu-core", operation).default])


def test_settings_are_checked():
    with pytest.raises(PlatformError, match="cpu-core, cpu-waco, cpu-full"):
        CpuPlatform(space="cpu-all")
    with pytest.raises(PlatformError, match="threads=100000"):
        CpuPlatform(threads=100000)
    with pytest.raises(PlatformError, match="rounds"):
        CpuPlatform(rounds=9, most_rounds=3)


def test_without_a_compiler_it_is_skipped_with_the_reason(monkeypatch):
    def missing():
        raise NativeError("no C compiler found")

    monkeypatch.setattr(platform, "find_compiler", missing)
    subject = CpuPlatform(**QUICK)
    operation = get_operation("spmm", WIDTH)
    assert subject.skip() == "no C compiler found"
    assert subject.describe()["compiler"] is None
    with pytest.raises(PlatformError, match="no C compiler"):
        subject.evaluate(matrix_of(), operation, [subject.space(operation).default])


def test_slots_and_baselines():
    operation, matrix = get_operation("spmm", 256), matrix_of(300, 200)
    subject = CpuPlatform()
    space = subject.space(operation)
    assert set(subject.baselines(operation)) == {"default", "anchor"}
    assert set(CpuPlatform(space="cpu-waco").baselines(operation)) == {"default"}
    slots = subject.slots(
        matrix,
        operation,
        [
            space.default,
            space.parse("order=k1i1j1i0k0j0 i=256 k=1024 j=64 format=UCUC inner=register "
                        "chunk=1 unroll=2"),
            space.parse("order=i1j1k1i0k0j0 i=4 k=2 j=32 format=UUCU chunk=64 inner=register"),
        ],
    )  # fmt: skip
    assert list(slots.rows_per_tile) == [1, 256, 4]
    assert list(slots.cols_per_tile) == [200, 200, 2]
    assert list(slots.width_per_slice) == [256, 64, 32]
    assert list(slots.columns_outer) == [False, False, False]
    expressed = {"i", "k"}
    assert {p.name for p in space.parameters} == expressed | set(subject.specific_parameters)


def test_threads_and_affinity_are_given_back():
    before = os.sched_getaffinity(0)
    operation = get_operation("spmm", WIDTH)
    evaluate(matrix_of(), operation, [space_of("cpu-core", operation).default], threads=1)
    assert os.sched_getaffinity(0) == before
    assert len(os.listdir("/proc/self/task")) <= len(sys._current_frames()) + 64


def test_real_time_priority_is_recorded_or_refused():
    operation = get_operation("spmm", WIDTH)
    subject = CpuPlatform(real_time=True, threads=1, **QUICK)
    assert subject.describe()["real_time"] is True
    assert subject.policy.idle_share > 0
    schedules = [subject.space(operation).default]
    try:
        table = subject.evaluate(matrix_of(), operation, schedules)
    except PlatformError as error:
        pytest.skip(str(error))
    assert list(table["status"]) == ["ok"]
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_importing_the_platform_imports_no_torch():
    code = "import sys, cognate.platforms.cpu; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_forked_child_does_not_inherit_the_threads():
    """The pool ends with its context: a fork later on cannot wait for threads it lacks."""
    operation = get_operation("spmm", WIDTH)
    schedules = [space_of("cpu-core", operation).default]
    evaluate(matrix_of(), operation, schedules)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        table = evaluate(matrix_of(), operation, schedules)
        os._exit(0 if list(table["status"]) == ["ok"] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_arena_is_aligned_and_reused():
    arena = Arena(8 << 20)
    small, large = arena.array(3, np.float32), arena.array((1 << 19,), np.float32)
    assert small.ctypes.data % 64 == 0
    assert large.ctypes.data % (2 << 20) == 0
    mark = arena.mark()
    first = arena.array((5, 7), np.int32)
    arena.release(mark)
    second = arena.array(1, np.int64)
    assert second.ctypes.data == first.ctypes.data
    with pytest.raises(MemoryError):
        arena.array(8 << 20, np.float32)
    with pytest.raises(PlatformError, match="memory_gib"):
        Arena(1 << 60)
