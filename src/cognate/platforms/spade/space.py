"""The schedules of SPADE, and what each one means on a given matrix."""

from dataclasses import dataclass

import numpy as np

from cognate.errors import PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.schedules import Parameter, Schedule, ScheduleSpace

ALL = "all"

_BARRIER = Parameter(
    "barrier", (0, 1), 0, "all processing elements finish a column panel before the next begins"
)
_BYPASS = Parameter("bypass", (0, 1), 0, "the row-indexed operand goes around the caches")


def _full_space() -> ScheduleSpace:
    return ScheduleSpace(
        "spade",
        (
            Parameter("rp", (4, 32, 256, 2048), 256, "rows of a row panel"),
            Parameter("cp", (1024, 16384, 65536, ALL), ALL, "columns of a column panel"),
            Parameter("split", (32, ALL), ALL, "dense columns computed at a time"),
            _BARRIER,
            _BYPASS,
            Parameter("reorder", (0, 1), 0, "rows and columns in reverse Cuthill-McKee order"),
        ),
    )


def _isca_space(width: int) -> ScheduleSpace:
    small, medium = (8192, 524288) if width <= 64 else (2048, 131072)

    def forbids(schedule: Schedule) -> str | None:
        if schedule["barrier"] and schedule["cp"] != medium:
            return "the paper sets barriers with the medium column panel only"
        return None

    return ScheduleSpace(
        f"spade-isca-{small}",
        (
            Parameter("rp", (16, 64, 256, 1024), 256, "rows of a row panel"),
            Parameter("cp", (small, medium, ALL), ALL, "columns of a column panel"),
            _BARRIER,
            _BYPASS,
        ),
        forbids,
    )


SPACE_NAMES = ("spade", "spade-isca")


def make_space(name: str, operation: Operation) -> ScheduleSpace:
    """The space called ``name``: ``spade`` (256 schedules) or ``spade-isca`` (Table 3 there).

    The panels of ``spade-isca`` depend on the dense width, as in the paper: its medium panel
    fits the last-level cache and its small one the L2 of a cluster.
    """
    if name == "spade":
        return _full_space()
    if name == "spade-isca":
        return _isca_space(operation.width)
    raise PlatformError(f"spade: space {name!r} is unknown; choose from {', '.join(SPACE_NAMES)}")


@dataclass(frozen=True, order=True)
class Work:
    """What a schedule does to one matrix: equal works are the same run.

    Extents are clipped to the matrix and the dense width; a barrier without a second column
    panel and an order that changes nothing are off.
    """

    reorder: bool
    columns_outer: bool
    panel_cols: int
    panel_rows: int
    slice_width: int
    bypass: bool

    @property
    def layout(self) -> tuple[bool, bool, int, int]:
        """What the order and tiling of the nonzeros depend on."""
        return (self.reorder, self.columns_outer, self.panel_cols, self.panel_rows)


def work_of(schedule: Schedule, matrix: SparseMatrix, width: int, reorders: bool = True) -> Work:
    """The work of a schedule on a matrix; ``reorders`` is whether reordering moves anything."""
    values = schedule.as_dict()
    cp, split = values["cp"], values.get("split", ALL)
    panel_cols = min(matrix.cols if cp == ALL else int(cp), max(1, matrix.cols))
    return Work(
        reorder=bool(values.get("reorder", 0)) and reorders,
        columns_outer=bool(values["barrier"]) and panel_cols < matrix.cols,
        panel_cols=max(1, panel_cols),
        panel_rows=max(1, min(int(values["rp"]), matrix.rows)),
        slice_width=width if split == ALL else min(int(split), width),
        bypass=bool(values["bypass"]),
    )


def extents(
    schedules: list[Schedule], matrix: SparseMatrix, width: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Panel rows, panel columns, slice width and columns-outer of schedules, each (n,)."""
    works = [work_of(schedule, matrix, width) for schedule in schedules]
    return (
        np.array([w.panel_rows for w in works], dtype=np.int64),
        np.array([w.panel_cols for w in works], dtype=np.int64),
        np.array([w.slice_width for w in works], dtype=np.int64),
        np.array([w.columns_outer for w in works], dtype=np.bool_),
    )
