"""Simulate one schedule, or many of them side by side, and report what the machine did."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cognate.errors import PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import OPERATION_NAMES, Operation
from cognate.platforms.spade.machine import LINE_BYTES, LINE_FLOATS, SpadeMachine
from cognate.platforms.spade.native import (
    CAUSES,
    COUNTS,
    TRAFFICS,
    CMachine,
    CResult,
    CWork,
    library,
)
from cognate.platforms.spade.space import Work, work_of
from cognate.platforms.spade.tiles import Tiling, reorder, tile
from cognate.schedules import Schedule

IDENTITIES = 2**31 - 1
NARROWEST_SLICE = 32


@dataclass(frozen=True)
class Run:
    """What the simulator counted for one distinct work; lines are 64 bytes."""

    seconds: float
    causes: dict[str, float]
    """Seconds of all elements together by what they were spent on."""
    lines: dict[str, int]
    """Hits and misses by level, reads and writes of memory by operand."""


def simulate_work(
    machine: SpadeMachine,
    tiling: Tiling,
    matrix: SparseMatrix,
    operation: Operation,
    work: Work,
    extrapolate: bool = True,
) -> Run:
    """Run one work on the matrix that ``tiling`` was made from.

    Dense slices run one after another, with a barrier between them. Once they repeat, the
    rest is extrapolated (``extrapolate``). A narrower last slice runs alone.
    """
    rest = operation.width % work.slice_width
    c_work = _c_work(matrix, operation, work, extrapolate)
    run = _simulate_slices(machine, tiling, c_work)
    if rest:
        c_work.lines, c_work.slices = rest // LINE_FLOATS, 1
        run = _add(run, _simulate_slices(machine, tiling, c_work))
    return run


def _c_work(matrix: SparseMatrix, operation: Operation, work: Work, extrapolate: bool) -> CWork:
    return CWork(
        operation=OPERATION_NAMES.index(operation.name),
        rows=matrix.rows,
        cols=matrix.cols,
        lines=work.slice_width // LINE_FLOATS,
        bypass=int(work.bypass),
        used_rows=int(np.count_nonzero(np.diff(matrix.row_pointers))),
        slices=operation.width // work.slice_width,
        extrapolate=int(extrapolate),
    )


def _simulate_slices(machine: SpadeMachine, tiling: Tiling, work: CWork) -> Run:
    result = CResult()
    if library().simulate(as_c(machine), tiling.as_c(), work, result):
        raise PlatformError(f"spade: not enough memory to simulate {work.rows} rows")
    return _run_from(result, work.slices, machine.pes)


def as_c(machine: SpadeMachine) -> CMachine:
    """The machine in the simulator's units: picoseconds, lines, sets."""

    def sets(size: int, ways: int) -> int:
        return size // (LINE_BYTES * ways)

    def ps(nanoseconds: float) -> int:
        return round(1000 * nanoseconds)

    m = machine
    return CMachine(
        pes=m.pes,
        pes_per_l2=m.pes_per_l2,
        cycle_ps=round(1000 / m.clock_ghz),
        quantum_ps=ps(m.quantum_ns),
        dynamic=int(m.assignment == "dynamic"),
        registers=m.vector_registers,
        dirty_high=m.vector_registers * m.dirty_high_percent // 100,
        dirty_low=m.vector_registers * m.dirty_low_percent // 100,
        window=m.window,
        simd_ps=ps(m.simd_cycles / m.clock_ghz),
        sparse_groups=m.sparse_load_queue,
        l1_sets=sets(m.l1_bytes, m.l1_ways),
        l1_ways=m.l1_ways,
        vc_sets=sets(m.victim_bytes, m.victim_ways),
        vc_ways=m.victim_ways,
        l2_sets=sets(m.l2_bytes, m.l2_ways),
        l2_ways=m.l2_ways if m.l2_bytes else 0,
        llc_sets=sets(m.llc_bytes, m.llc_ways),
        llc_ways=m.llc_ways if m.llc_bytes else 0,
        l1_ps=ps(m.l1_ns),
        vc_ps=ps(m.victim_ns),
        l2_ps=ps(m.l2_ns),
        llc_ps=ps(m.llc_ns),
        lookup_ps=ps(m.lookup_ns),
        link_ps=ps(m.link_ns),
        dram_ps=ps(m.dram_ns),
        channels=m.channels,
        line_ps=round(1000 * LINE_BYTES * m.channels / m.bandwidth_gb_s),
        l2_line_fs=round(1e6 * LINE_BYTES / m.l2_gb_s) if m.l2_bytes else 0,
        llc_line_fs=round(1e6 * LINE_BYTES / m.llc_gb_s) if m.llc_bytes else 0,
    )


def _run_from(result: CResult, slices: int, pes: int) -> Run:
    """Totals of the simulated slices; those left out repeat the last."""
    _, before, last = result.after
    left_out = int(slices - result.slices)

    def extended(to_last: int, to_before: int) -> int:
        return to_last + left_out * (to_last - to_before)

    def named(names: tuple[str, ...], field: str) -> dict[str, int]:
        pairs = zip(getattr(last, field), getattr(before, field), strict=True)
        return {name: extended(*pair) for name, pair in zip(names, pairs, strict=True)}

    causes = {name: value * 1e-12 for name, value in named(CAUSES, "causes").items()}
    traffic = named(TRAFFICS, "traffic")
    traffic["r_written"] += result.flushed
    return Run(
        seconds=(extended(last.ps, before.ps) + result.flush_ps) * 1e-12,
        causes={**causes, "flush": pes * result.flush_ps * 1e-12},
        lines={**named(COUNTS, "counts"), **traffic},
    )


def _add(first: Run, second: Run) -> Run:
    return Run(
        seconds=first.seconds + second.seconds,
        causes={name: value + second.causes[name] for name, value in first.causes.items()},
        lines={name: value + second.lines[name] for name, value in first.lines.items()},
    )


@dataclass(frozen=True)
class Report:
    """Everything about one simulated schedule. ``as_dict`` is plain data, ``text`` is to read."""

    matrix: SparseMatrix
    operation: Operation
    schedule: Schedule
    machine: SpadeMachine
    run: Run

    @cached_property
    def counters(self) -> dict[str, float | int | str]:
        """The counters of one row of samples; see docs/simulator.md for each."""
        return counters_of(self.run, self.machine, self.operation.flops(self.matrix))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: matrix, operation, schedule, machine, seconds and all counters."""
        return {
            "matrix": self.matrix.name,
            "rows": self.matrix.rows,
            "cols": self.matrix.cols,
            "nnz": self.matrix.nnz,
            "operation": self.operation.name,
            "width": self.operation.width,
            "schedule_id": self.schedule.schedule_id,
            "schedule": str(self.schedule),
            "machine": self.machine.name,
            "seconds": self.run.seconds,
            **self.counters,
        }

    def text(self) -> str:
        """A few lines for a terminal."""
        from cognate.platforms.spade.report import describe

        return describe(self.as_dict())

    def json(self) -> str:
        """``as_dict`` as one JSON object."""
        return json.dumps(self.as_dict())


def counters_of(run: Run, machine: SpadeMachine, flops: int) -> dict[str, float | int | str]:
    """Counters of a run: cycles, shares of element time, lines, bytes, rates, the bound."""
    element_seconds = run.seconds * machine.pes
    shares = {
        f"{name}_share": value / element_seconds if element_seconds else 0.0
        for name, value in run.causes.items()
    }
    memory = {f"{name}_bytes": run.lines[name] * LINE_BYTES for name in TRAFFICS}
    read = sum(memory[f"{n}_bytes"] for n in ("sparse_read", "r_read", "c_read", "output_read"))
    written = memory["r_written_bytes"] + memory["output_written_bytes"]
    bandwidth = (read + written) / run.seconds if run.seconds else 0.0
    return {
        "cycles": round(run.seconds * machine.clock_ghz * 1e9),
        **shares,
        **{name: run.lines[name] for name in COUNTS},
        **memory,
        "bytes_read": read,
        "bytes_written": written,
        "bandwidth_gb_s": bandwidth * 1e-9,
        "gflops": flops / run.seconds * 1e-9 if run.seconds else 0.0,
        "bound": _bound(shares, bandwidth, machine),
    }


def _bound(shares: dict[str, float], bandwidth: float, machine: SpadeMachine) -> str:
    """What holds the run back: bandwidth if 80 % of it is used, else the largest share."""
    if bandwidth >= 0.8e9 * machine.bandwidth_gb_s:
        return "bandwidth"
    largest = max(shares, key=lambda name: shares[name])
    return largest.removesuffix("_share")


def simulate(
    matrix: SparseMatrix, operation: Operation, schedule: Schedule, machine: SpadeMachine
) -> Report:
    """Simulate one schedule of either SPADE space and report on it."""
    check(matrix, operation)
    work = work_of(schedule, matrix, operation.width)
    ordered = reorder(matrix) if work.reorder else matrix
    tiling = tile(ordered, work.panel_rows, work.panel_cols, work.columns_outer)
    run = simulate_work(machine, tiling, ordered, operation, work)
    return Report(matrix, operation, schedule, machine, run)


@dataclass(frozen=True)
class Timeline:
    """How busy each element was over time."""

    seconds_per_bin: float
    busy: NDArray[np.float64]
    """Shape (elements, bins): share of each bin spent issuing vector operations."""


def timeline(
    matrix: SparseMatrix,
    operation: Operation,
    schedule: Schedule,
    machine: SpadeMachine,
    bins: int = 200,
) -> Timeline:
    """Occupation of the elements over the run, by simulating it twice.

    All dense slices of equal width are simulated, none is extrapolated.
    """
    check(matrix, operation)
    work = work_of(schedule, matrix, operation.width)
    ordered = reorder(matrix) if work.reorder else matrix
    tiling = tile(ordered, work.panel_rows, work.panel_cols, work.columns_outer)
    c_work = _c_work(ordered, operation, work, extrapolate=False)
    total_ps = round(_simulate_slices(machine, tiling, c_work).seconds * 1e12)
    busy = np.zeros((machine.pes, bins), dtype=np.int64)
    c_work.timeline, c_work.timeline_bins = busy.ctypes.data, bins
    c_work.timeline_ps = max(1, -(-total_ps // bins))
    _simulate_slices(machine, tiling, c_work)
    return Timeline(c_work.timeline_ps * 1e-12, busy / c_work.timeline_ps)


def check(matrix: SparseMatrix, operation: Operation) -> None:
    """Refuse widths that are not whole lines, and matrices beyond the simulator's identities."""
    if operation.width % LINE_FLOATS:
        raise PlatformError(
            f"spade: dense width {operation.width} is not a multiple of {LINE_FLOATS} "
            "(one 64-byte line); pad the operands"
        )
    slices = -(-operation.width // NARROWEST_SLICE)
    if (matrix.rows + matrix.cols) * slices >= IDENTITIES:
        raise PlatformError(
            f"spade: {matrix.name} has {matrix.rows} rows and {matrix.cols} columns; times "
            f"{slices} dense slices that is more than the simulator's {IDENTITIES}"
        )


@dataclass(frozen=True)
class Sweep:
    """Runs of distinct works, which of them each schedule is, and what reordering cost."""

    runs: dict[Work, Run]
    works: list[Work]
    reorder_seconds: float


def sweep(
    matrix: SparseMatrix,
    operation: Operation,
    schedules: Sequence[Schedule],
    machine: SpadeMachine,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Simulate every distinct work among ``schedules`` once, ``threads`` at a time."""
    check(matrix, operation)
    reordered, reorder_seconds = None, 0.0
    if any(schedule.as_dict().get("reorder") for schedule in schedules):
        start = time.perf_counter()
        reordered = reorder(matrix)
        reorder_seconds = time.perf_counter() - start
    moved = reordered is not None and reordered.pattern_hash != matrix.pattern_hash
    works = [work_of(schedule, matrix, operation.width, moved) for schedule in schedules]
    groups = defaultdict(list)
    for work in sorted(set(works)):
        groups[work.layout].append(work)
    runs: dict[Work, Run] = {}

    def run_group(group: list[Work]) -> dict[Work, Run]:
        first = group[0]
        ordered = reordered if first.reorder and reordered is not None else matrix
        tiling = tile(ordered, first.panel_rows, first.panel_cols, first.columns_outer)
        return {w: simulate_work(machine, tiling, ordered, operation, w) for w in group}

    total = len(set(works))
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for done in pool.map(run_group, groups.values()):
            runs.update(done)
            if progress:
                progress(len(runs), total)
    return Sweep(runs, works, reorder_seconds)
