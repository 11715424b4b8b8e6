"""What both kinds of described platforms share: everything but the answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cognate.errors import PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms.external.description import ByValue, Description, Slot, file_hash
from cognate.platforms.platform import Machine, Platform
from cognate.schedules import Parameter, Schedule, ScheduleSpace, Slots

_EVERYTHING = np.iinfo(np.int64).max


class ExternalPlatform(Platform):
    """A platform whose space, slots and machine a YAML file describes."""

    def __init__(self, description: Description, path: Path):
        self.description = description
        self.path = path
        self.folder = path.resolve().parent
        self.content_hash = file_hash(path)
        """Changes with any file that the answers depend on."""
        self._space = ScheduleSpace(
            description.name,
            [Parameter(p.name, p.values, p.default, p.meaning) for p in description.parameters],
            self._forbids if description.forbid else None,
        )

    def space(self, operation: Operation) -> ScheduleSpace:
        """The described space; :class:`PlatformError` for an operation that is not offered."""
        if operation.name not in self.description.operations:
            offered = ", ".join(self.description.operations)
            raise PlatformError(f"{self.name} does not compute {operation.name}, only {offered}")
        return self._space

    def slots(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Slots:
        """As the file's ``slots`` say."""
        entries = self.description.slots
        rows, cols, width = (
            np.array([_extent(entry, schedule) for schedule in schedules], dtype=np.int64)
            for entry in (entries.rows_per_tile, entries.cols_per_tile, entries.width_per_slice)
        )
        outer: NDArray[np.bool_] = np.array(
            [bool(_looked_up(entries.columns_outer, schedule)) for schedule in schedules], np.bool_
        )
        return Slots.clipped(matrix, operation.width, rows, cols, width, outer)

    def machine(self) -> Machine:
        """As the file's ``machine`` says."""
        return Machine(**self.description.machine.model_dump())

    def describe(self) -> dict[str, Any]:
        """The whole file, and the hash of everything that answers depend on."""
        content = self.description.model_dump(mode="json", exclude_none=True)
        return {**content, "content_hash": self.content_hash}

    def _forbids(self, schedule: Schedule) -> str | None:
        values = schedule.as_dict()
        for entry in self.description.forbid:
            if all(values[name] == value for name, value in entry.when.items()):
                return entry.reason
        return None


def _looked_up(entry: Slot, schedule: Schedule) -> int | bool | str:
    if isinstance(entry, ByValue):
        return entry.values[schedule[entry.parameter]]
    if isinstance(entry, str) and entry != "all":
        return schedule[entry]
    return entry


def _extent(entry: Slot, schedule: Schedule) -> int:
    value = _looked_up(entry, schedule)
    return _EVERYTHING if isinstance(value, str) else int(value)
