"""What a schedule makes a machine do on a pattern, in quantities that all machines share.

Work, traffic and working sets follow from exact tile counts (:mod:`cognate.learning.tiles`);
each is given relative to a balance point of the machine: seconds at its bandwidth or peak rate,
shares of its caches, its number of workers. A law between them and run time can thus be learnt
on one machine and hold on another.

Traffic behind a cache of capacity X follows Denning's working-set argument (CACM 1968): rows are
walked in order, so the column operand is fetched once a window of rows for the largest window
whose distinct columns fit X; the reuse profile says how many fetches that makes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cognate.learning.tiles import Counts, reuse_profile, tile_statistics
from cognate.learning.trace import trace_misses
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import FLOAT_BYTES, INDEX_BYTES, Operation
from cognate.platforms import Machine, Platform
from cognate.schedules import Schedule, Slots

Column = NDArray[np.float64]

ENTRY_BYTES = 2 * INDEX_BYTES + FLOAT_BYTES


@dataclass(frozen=True)
class Tiling:
    """Everything counted about the tiles of n schedules on one matrix; arrays of shape (n,)."""

    slots: Slots
    row_panels: Column
    col_panels: Column
    slices: Column
    """Times that the sparse matrix is walked, each for a part of the dense columns."""
    occupied: Column
    segments: Column
    largest_panel: Column
    makespan: Column
    barrier_work: Column


def tiling(matrix: SparseMatrix, width: int, slots: Slots, workers: int) -> Tiling:
    """Count the tiles of each schedule; equal sizes are counted once."""
    row_sizes, row_of = np.unique(slots.rows_per_tile, return_inverse=True)
    col_sizes, col_of = np.unique(slots.cols_per_tile, return_inverse=True)
    counts = tile_statistics(matrix, tuple(row_sizes.tolist()), tuple(col_sizes.tolist()), workers)
    return Tiling(
        slots=slots,
        row_panels=np.ceil(max(1, matrix.rows) / slots.rows_per_tile),
        col_panels=np.ceil(max(1, matrix.cols) / slots.cols_per_tile),
        slices=np.ceil(width / slots.width_per_slice),
        occupied=np.maximum(1.0, counts.occupied[row_of, col_of]),
        segments=np.maximum(1.0, counts.segments[col_of]),
        largest_panel=counts.largest_panel[row_of].astype(np.float64),
        makespan=counts.makespan[row_of],
        barrier_work=counts.barrier_work[row_of, col_of],
    )


def physical_features(
    matrix: SparseMatrix, operation: Operation, platform: Platform, schedules: Sequence[Schedule]
) -> dict[str, Column]:
    """Named columns of shape (n,), one value a schedule; log2 of positive quantities, or 0/1.

    Tiles are those of the pattern that the schedule walks, which is another one where the
    platform reorders the matrix.
    """
    walked = platform.walked(matrix, operation, schedules)
    columns: dict[str, Column] = {}
    for pattern in {id(p): p for p in walked}.values():
        places = np.array([i for i, p in enumerate(walked) if p is pattern])
        part = _on_pattern(pattern, operation, platform, [schedules[i] for i in places])
        for name, values in part.items():
            columns.setdefault(name, np.empty(len(schedules)))[places] = values
    return columns


def _on_pattern(
    pattern: SparseMatrix, operation: Operation, platform: Platform, schedules: Sequence[Schedule]
) -> dict[str, Column]:
    machine = platform.machine()
    slots = platform.slots(pattern, operation, schedules)
    tiles = tiling(pattern, operation.width, slots, machine.workers)
    columns = _load_columns(pattern, tiles, machine)
    return columns | _traffic_columns(pattern, operation, tiles, machine)


def _load_columns(matrix: SparseMatrix, tiles: Tiling, machine: Machine) -> dict[str, Column]:
    """How evenly the work falls on workers, and how finely it is cut."""
    entries = max(1, matrix.nnz)
    fair = entries / machine.workers
    outer = tiles.slots.columns_outer
    return {
        "rows_per_tile": _log2(tiles.slots.rows_per_tile),
        "cols_per_tile": _log2(tiles.slots.cols_per_tile),
        "width_per_slice": _log2(tiles.slots.width_per_slice),
        "columns_outer": outer.astype(np.float64),
        "one_column_panel": (tiles.col_panels == 1).astype(np.float64),
        "imbalance": _log2(np.where(outer, tiles.barrier_work, tiles.makespan) / fair),
        "largest_panel": _log2(tiles.largest_panel / fair),
        "panels_per_worker": _log2(tiles.row_panels / machine.workers),
        "column_panels": _log2(tiles.col_panels),
        "slices": _log2(tiles.slices),
        "entries_per_tile": _log2(entries / tiles.occupied),
        "entries_per_segment": _log2(entries / tiles.segments),
        "tiles_per_panel": _log2(tiles.occupied / tiles.row_panels),
        "segments_per_row": _log2(tiles.segments / max(1, matrix.rows)),
    }


def _traffic_columns(
    matrix: SparseMatrix, operation: Operation, tiles: Tiling, machine: Machine
) -> dict[str, Column]:
    """Working sets against caches, and estimated traffic at each in seconds of bandwidth."""
    profile = Reuse(reuse_profile(matrix), matrix.rows)
    rows = tiles.slots.rows_per_tile.astype(np.float64)
    slice_bytes: Column = tiles.slots.width_per_slice.astype(np.float64) * FLOAT_BYTES
    row_seconds = operation.width * FLOAT_BYTES / machine.bytes_per_second
    sparse_bytes = tiles.slices * max(1, matrix.nnz) * ENTRY_BYTES
    # Of the columns that a row panel touches, a tile has this share.
    share: Column = np.minimum(1.0, tiles.row_panels / tiles.occupied)
    tile_columns = profile.footprint(rows) * share
    tile_rows = tiles.segments / tiles.occupied
    columns = {
        "reuse_in_panel": _log2(max(1, matrix.nnz) / profile.fetches(rows)),
        "sparse_seconds": _log2(sparse_bytes / machine.bytes_per_second),
        "flop_seconds": np.full(
            len(rows), np.log2(max(1, operation.flops(matrix)) / machine.flops_per_second)
        ),
    }
    traced = _traced(matrix, operation.width, tiles.slots, machine)
    for level, (capacity, sharers) in enumerate(_levels(machine)):
        held = capacity / slice_bytes
        together = np.minimum(rows * sharers, max(1, matrix.rows))
        window = _largest_window(profile, tiles, together, share, held)
        if level:
            fetched, loaded = traced[level - 1][:2]
        else:
            fetched = profile.fetches(window)
            stay = together + profile.footprint(together) * share <= held
            loaded = np.where(stay, float(max(1, matrix.rows)), tiles.segments)
        columns |= {
            f"tile_columns_{level}": _log2(tile_columns / held),
            f"working_set_{level}": _log2((tile_columns + tile_rows) * sharers / held),
            f"panel_columns_{level}": _log2(profile.footprint(together) / held),
            f"rows_{level}": _log2(together / held),
            f"window_{level}": _log2(window / together),
            f"column_seconds_{level}": _log2(fetched * row_seconds),
            f"row_seconds_{level}": _log2(loaded * row_seconds),
            f"seconds_{level}": _log2(
                (fetched + loaded) * row_seconds + sparse_bytes / machine.bytes_per_second
            ),
        }
    nearest = _levels(machine)[0][0] / slice_bytes
    reloaded = 1 / (1 + (nearest / tile_rows) ** 2)
    entered = np.where(tiles.slots.columns_outer, 1.0, reloaded)
    row_loads = max(1, matrix.rows) + entered * (tiles.segments - max(1, matrix.rows))
    columns["streamed_column_seconds"] = _log2(traced[1][2] * row_seconds)
    columns["streamed_row_seconds"] = _log2(np.maximum(row_loads, 1) * row_seconds)
    columns["streamed_seconds"] = _log2(
        (traced[1][2] + row_loads) * row_seconds + sparse_bytes / machine.bytes_per_second
    )
    return columns


def _traced(
    matrix: SparseMatrix, width: int, slots: Slots, machine: Machine
) -> list[tuple[Column, Column, Column]]:
    """Fetches of columns and rows, and of columns with rows streamed, that miss the middle cache
    (of one worker) and the last one (of all), each shape (n,)."""
    walks = np.stack([slots.rows_per_tile, slots.cols_per_tile, slots.columns_outer], axis=1)
    walks, walk_of = np.unique(walks, axis=0, return_inverse=True)
    widths, width_of = np.unique(slots.width_per_slice, return_inverse=True)
    levels = [capacity for capacity, _ in _levels(machine)[1:]]
    held = np.array([level / (w * FLOAT_BYTES) for level in levels for w in widths])
    found = trace_misses(
        matrix, walks[:, 0], walks[:, 1], walks[:, 2].astype(bool), held, machine.workers
    )
    middle, last = (walk_of, width_of), (walk_of, len(widths) + width_of)
    return [
        (found.columns_alone[middle], found.rows_alone[middle], found.streamed[middle]),
        (found.columns_shared[last], found.rows_shared[last], found.streamed[last]),
    ]


class Reuse:
    """A reuse profile, read between its points by straight lines in log-log."""

    def __init__(self, profile: Counts, rows: int):
        self.log2_sizes = np.arange(len(profile), dtype=np.float64)
        self._log2_fetches = np.log2(np.maximum(1, profile))
        self._rows = max(1, rows)

    def fetches(self, window_rows: Column) -> Column:
        """Distinct columns of windows of so many rows, summed over the windows."""
        at = np.interp(np.log2(window_rows), self.log2_sizes, self._log2_fetches)
        return np.exp2(at)

    def footprint(self, window_rows: Column) -> Column:
        """Distinct columns of one window of so many rows, on average."""
        return self.fetches(window_rows) / np.maximum(1.0, self._rows / window_rows)


def _largest_window(
    profile: Reuse, tiles: Tiling, together: Column, share: Column, held: Column
) -> Column:
    """Rows of the largest window whose distinct columns a cache of ``held`` dense rows holds.

    A window within the tiles that are walked together needs only a tile's ``share`` of its
    columns; a larger one needs all of them, unless column panels are the outer loop.
    """
    sizes: Column = np.exp2(profile.log2_sizes)
    narrow = (sizes[None, :] <= together[:, None]) | tiles.slots.columns_outer[:, None]
    needed = profile.footprint(sizes)[None, :] * np.where(narrow, share[:, None], 1.0)
    excess = np.log2(np.maximum(needed, 1e-9)) - np.log2(held)[:, None]
    fits = np.logical_and.accumulate(excess <= 0, axis=1).sum(axis=1)
    last = np.clip(fits - 1, 0, len(sizes) - 2)
    row = np.arange(len(last))
    below, above = excess[row, last], excess[row, last + 1]
    part = np.where(above > below, np.clip(-below / np.maximum(above - below, 1e-9), 0, 1), 1.0)
    # A step up at the tiles' edge is a wall, not a slope: the window ends there.
    wall = ~narrow[row, last + 1] & narrow[row, last]
    log2_window = np.where(wall, last, last + part)
    return np.where(fits == 0, 1.0, np.exp2(log2_window))


def _levels(machine: Machine) -> list[tuple[float, int]]:
    """The nearest cache, one in the middle and the last, with the workers that share each.

    Every machine has three, so that models of one fit another: a level that is missing is the
    next nearer one again.
    """
    caches = machine.cache_bytes
    middle = caches[min(1, len(caches) - 1)] if len(caches) > 2 else caches[0]
    return [(float(caches[0]), 1), (float(middle), 1), (float(caches[-1]), machine.workers)]


def _log2(values: Column | NDArray[np.int64] | float) -> Column:
    return np.log2(np.maximum(np.asarray(values, dtype=np.float64), 1e-12))
