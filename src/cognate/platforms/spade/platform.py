"""SPADE as a platform: schedules in, samples out."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Literal

import pandas as pd

from cognate.errors import NativeError, PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms.platform import Machine, Platform, Progress
from cognate.platforms.spade.machine import describe_machine, load_machine
from cognate.platforms.spade.native import library
from cognate.platforms.spade.report import describe, loop_nest
from cognate.platforms.spade.simulator import counters_of, sweep
from cognate.platforms.spade.space import SPACE_NAMES, extents, make_space
from cognate.platforms.spade.tiles import reorder
from cognate.schedules import Schedule, ScheduleSpace, Slots


class SpadePlatform(Platform):
    """The SPADE accelerator, simulated.

    ``machine`` is the name of a shipped machine or a YAML file, ``overrides`` replaces any of
    its values, ``space`` is ``spade`` (256 schedules) or ``spade-isca``, ``threads`` is how
    many simulations run side by side (results do not depend on it; 0 means all processors).
    """

    name: ClassVar[str] = "spade"
    kind: ClassVar[Literal["measured", "simulated"]] = "simulated"
    sample_cost: ClassVar[float] = 1000.0
    specific_parameters: ClassVar[tuple[str, ...]] = ("bypass", "reorder")

    def __init__(
        self,
        machine: str = "spade-224",
        overrides: Mapping[str, Any] | None = None,
        space: str = "spade",
        threads: int = 0,
    ):
        if space not in SPACE_NAMES:
            raise PlatformError(
                f"spade: space {space!r} is unknown; choose from {', '.join(SPACE_NAMES)}"
            )
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
            raise PlatformError(f"spade: threads = {threads!r} must be a number, 0 for all")
        self.hardware = load_machine(machine, dict(overrides or {}))
        self._described = machine
        self._overrides = dict(overrides or {})
        self._space = space
        self._threads = threads or len(os.sched_getaffinity(0))
        self._reordered: tuple[str, SparseMatrix | None] = ("", None)

    def space(self, operation: Operation) -> ScheduleSpace:
        """The chosen space; ``spade-isca`` has other panels at other widths."""
        return make_space(self._space, operation)

    def slots(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Slots:
        """Panel rows, panel columns, slice width, and whether barriers turn the walk."""
        sizes = extents(list(schedules), matrix, operation.width)
        return Slots.clipped(matrix, operation.width, *sizes)

    def walked(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Sequence[SparseMatrix]:
        """The reordered matrix where a schedule reorders; kept until another one is asked for."""
        reorders = [bool(schedule.as_dict().get("reorder")) for schedule in schedules]
        if any(reorders) and self._reordered[0] != matrix.pattern_hash:
            self._reordered = (matrix.pattern_hash, reorder(matrix))
        other = self._reordered[1]
        return [other if moved and other is not None else matrix for moved in reorders]

    def machine(self) -> Machine:
        """Balance points; L1 and L2 as an element sees them, then the shared last level."""
        m = self.hardware
        levels = (m.l1_bytes, m.l2_bytes, m.llc_bytes)
        return Machine(
            workers=m.pes,
            cache_bytes=tuple(size for size in levels if size),
            bytes_per_second=m.bandwidth_gb_s * 1e9,
            flops_per_second=m.flops_per_second,
        )

    def evaluate(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        schedules: Sequence[Schedule],
        progress: Progress | None = None,
    ) -> pd.DataFrame:
        """Simulate each schedule; those that do the same work on this matrix run once.

        Columns: ``schedule_id``, ``seconds``, ``status``, ``reason``, ``run`` (equal for
        schedules that are the same run), ``reorder_seconds`` (the time that reordering took
        here, not part of ``seconds``) and the counters of :func:`counters_of`. A matrix
        without nonzeros takes no time, so its schedules are ``rejected``.
        """
        outcome = sweep(matrix, operation, schedules, self.hardware, self._threads, progress)
        flops = operation.flops(matrix)
        number = {work: i for i, work in enumerate(outcome.runs)}
        counters = {w: counters_of(r, self.hardware, flops) for w, r in outcome.runs.items()}
        empty = matrix.nnz == 0
        rows = [
            {
                "schedule_id": schedule.schedule_id,
                "seconds": float("nan") if empty else outcome.runs[work].seconds,
                "status": "rejected" if empty else "ok",
                "reason": "the matrix has no nonzeros: there is nothing to do" if empty else "",
                "run": number[work],
                "reorder_seconds": outcome.reorder_seconds if work.reorder else 0.0,
                **counters[work],
            }
            for schedule, work in zip(schedules, outcome.works, strict=True)
        ]
        return pd.DataFrame(rows)

    def baselines(self, operation: Operation) -> Mapping[str, Schedule]:
        """``default`` is SPADE Base: row panels of 256, whole rows, nothing else."""
        return {"default": self.space(operation).default}

    def explain(self, schedule: Schedule, operation: Operation) -> str:
        """The schedule as a loop nest in pseudo-C."""
        return loop_nest(schedule.as_dict(), operation.name, operation.width)

    def report(
        self, matrix: SparseMatrix, operation: Operation, schedule: Schedule, row: Mapping[str, Any]
    ) -> str:
        """Time and rates, then where element time, cache accesses and memory traffic went."""
        if row["status"] != "ok":
            return super().report(matrix, operation, schedule, row)
        about = {
            "matrix": matrix.name,
            "rows": matrix.rows,
            "cols": matrix.cols,
            "nnz": matrix.nnz,
            "operation": operation.name,
            "width": operation.width,
            "machine": self.hardware.name,
            "schedule": str(schedule),
        }
        return describe(about | dict(row))

    def skip(self) -> str | None:
        """The simulator needs a C compiler."""
        try:
            library()
        except NativeError as error:
            return str(error)
        return None

    def describe(self) -> dict[str, Any]:
        """The machine with the source of every value, the overrides, and the space."""
        described = describe_machine(self._described)
        sources = {field: entry["source"] for field, entry in described.items()}
        sources.update(dict.fromkeys(self._overrides, "overridden"))
        return {"machine": asdict(self.hardware), "sources": sources, "space": self._space}
