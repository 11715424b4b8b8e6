"""A platform in Python: a machine whose time is the longer of its traffic and its arithmetic.

Row panels go to four workers in turn. A panel loads each dense row it needs once, ``slice``
columns at a time, if the panel's rows fit the cache, and once an entry if they do not.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from cognate.errors import PlatformError
from cognate.matrices import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Machine, Platform
from cognate.platforms.platform import Progress
from cognate.schedules import Parameter, Schedule, ScheduleSpace, Slots

EVERYTHING = np.iinfo(np.int64).max


class RooflinePlatform(Platform):
    """Four workers with a cache of ``cache_kib`` each."""

    name: ClassVar[str] = "roofline"
    kind: ClassVar[Literal["measured", "simulated"]] = "simulated"
    sample_cost: ClassVar[float] = 1.0
    specific_parameters: ClassVar[tuple[str, ...]] = ("prefetch",)

    def __init__(self, cache_kib: int = 256):
        if cache_kib < 1:
            raise PlatformError(f"roofline: cache_kib = {cache_kib} must be at least 1")
        self._cache_bytes = cache_kib << 10

    def space(self, operation: Operation) -> ScheduleSpace:
        """Row panels, slices, and whether dense rows are fetched ahead."""
        return ScheduleSpace(
            "roofline",
            (
                Parameter("panel", (16, 256, 4096), 256, "rows of a panel"),
                Parameter("slice", (16, 64, "all"), "all", "dense columns at a time"),
                Parameter("prefetch", (0, 1), 0, "fetch the next entry's dense row ahead"),
            ),
        )

    def slots(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Slots:
        """A tile is a panel over all columns."""
        panels = np.array([schedule["panel"] for schedule in schedules], dtype=np.int64)
        slices = np.array([_width(schedule, operation) for schedule in schedules], dtype=np.int64)
        everything = np.full(len(schedules), EVERYTHING)
        outer = np.zeros(len(schedules), dtype=np.bool_)
        return Slots.clipped(matrix, operation.width, panels, everything, slices, outer)

    def machine(self) -> Machine:
        """Balance points."""
        return Machine(4, (self._cache_bytes,), bytes_per_second=20e9, flops_per_second=100e9)

    def evaluate(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        schedules: Sequence[Schedule],
        progress: Progress | None = None,
    ) -> pd.DataFrame:
        """One row a schedule; an empty matrix is rejected."""
        rows = []
        for done, schedule in enumerate(schedules, start=1):
            seconds = self._seconds(matrix, operation, schedule) if matrix.nnz else np.nan
            rows.append(
                {
                    "schedule_id": schedule.schedule_id,
                    "seconds": seconds,
                    "status": "ok" if matrix.nnz else "rejected",
                    "reason": "" if matrix.nnz else "the matrix has no entries",
                }
            )
            if progress:
                progress(done, len(schedules))
        return pd.DataFrame(rows)

    def _seconds(self, matrix: SparseMatrix, operation: Operation, schedule: Schedule) -> float:
        panel_rows = int(schedule["panel"])
        width = _width(schedule, operation)
        panel = np.repeat(np.arange(matrix.rows) // panel_rows, np.diff(matrix.row_pointers))
        touched = np.unique(panel * matrix.cols + matrix.columns) // matrix.cols
        panels = -(-matrix.rows // panel_rows)
        entries = np.bincount(panel, minlength=panels)
        distinct = np.bincount(touched, minlength=panels)
        fits = distinct * width * 4 <= self._cache_bytes
        loaded = np.where(fits, distinct, entries)
        waste = 1.1 if schedule["prefetch"] else 1.0
        latency = 2e-9 if schedule["prefetch"] else 20e-9
        machine = self.machine()
        traffic = (12 * entries + 4 * width * loaded * waste) / machine.bytes_per_second
        compute = 2 * entries * width / (machine.flops_per_second / machine.workers)
        alone = np.maximum(compute, loaded * latency)
        of_worker = np.bincount(np.arange(panels) % machine.workers, alone, machine.workers)
        passes = -(-operation.width // width)
        return float(passes * max(of_worker.max(), traffic.sum()))


def _width(schedule: Schedule, operation: Operation) -> int:
    value = schedule["slice"]
    return operation.width if value == "all" else min(int(value), operation.width)
