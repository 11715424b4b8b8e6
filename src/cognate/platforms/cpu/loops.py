"""What a schedule means: its loops, the layout of A they imply, and both in words.

Rows of A are split into ``i1`` (tiles) and ``i0`` (rows of a tile), columns into ``k1`` and
``k0``, dense columns into ``j1`` (slices) and ``j0``.
"""

from dataclasses import dataclass

from cognate.schedules import Schedule

SINGLE_PANEL_SHIFT = 31
SPARSE_LEVELS = ("i1", "i0", "k1", "k0")
BLOCK_SIZES = (2, 4, 8)
PLACES = ("outermost", "unit", "tile", "segment", "entry")
"""Where the loop over dense slices stands, in the numbering of ``kernels.h``."""


def split_order(order: str) -> tuple[str, ...]:
    """``i1i0k1k0j1j0`` as its six loops."""
    return tuple(order[i : i + 2] for i in range(0, len(order), 2))


@dataclass(frozen=True)
class LoopNest:
    """The loops of a schedule, outermost first."""

    order: tuple[str, ...]
    rows: int
    cols: int | None
    """Columns a panel, None for a single panel."""
    width: int | None
    """Dense columns a slice, None for a single slice."""
    dense: dict[str, bool]
    """Whether a sparse level lists its absent coordinates too."""
    parallel: str
    register: bool
    """Whether sums are kept in registers, by hand-vectorised kernels."""

    @classmethod
    def of(cls, schedule: Schedule) -> "LoopNest":
        """The loops that a schedule of any CPU space means."""
        cols, width = schedule["k"], schedule["j"]
        return cls(
            order=split_order(str(schedule["order"])),
            rows=int(schedule["i"]),
            cols=None if cols == "all" else int(cols),
            width=None if width == "all" else int(width),
            dense=dict(
                zip(SPARSE_LEVELS, (c == "U" for c in str(schedule["format"])), strict=True)
            ),
            parallel=str(schedule["parallel"]),
            register=schedule["inner"] == "register",
        )

    @property
    def levels(self) -> tuple[str, ...]:
        """The four sparse loops, outermost first."""
        return tuple(loop for loop in self.order if loop in SPARSE_LEVELS)

    @property
    def depth_of_slices(self) -> int:
        """How many sparse loops stand outside the loop over dense slices."""
        outside = self.order[: self.order.index("j1")]
        return sum(loop in SPARSE_LEVELS for loop in outside)

    @property
    def place_of_slices(self) -> str:
        """The place of the loop over slices, one of :data:`PLACES`."""
        depth, parallel = self.depth_of_slices, self.levels.index(self.parallel)
        if depth in (0, 4):
            return "outermost" if depth == 0 else "entry"
        if depth == parallel + 1:
            return "unit"
        return "segment" if depth == 3 else "tile"

    @property
    def segments_are_rows(self) -> bool:
        """Whether the innermost sparse loop walks along a row."""
        return self.levels[-1] == "k0"

    @property
    def blocks(self) -> bool:
        """Whether A is stored as small dense blocks that a register kernel takes whole."""
        return (
            self.register
            and self.levels == ("i1", "k1", "i0", "k0")
            and self.dense["i0"]
            and self.dense["k0"]
            and not self.dense["k1"]
            and self.rows in BLOCK_SIZES
            and self.cols in BLOCK_SIZES
            and self.depth_of_slices <= 1
        )

    @property
    def writes_rows_once(self) -> bool:
        """Whether SpMM writes every row of C (a block of rows, a slice) exactly once."""
        if self.blocks:
            return self.dense["i1"]
        listed = self.dense["i1"] and self.dense["i0"] and self.dense["k1"]
        return self.segments_are_rows and self.cols is None and listed

    @property
    def plan_key(self) -> tuple[object, ...]:
        """Equal for schedules that use the same layout of A."""
        return (
            self.levels,
            self.rows,
            self.cols,
            tuple(self.dense.values()),
            self.parallel,
            self.blocks,
        )
