"""A platform's schedules on a matrix as the laws of tiles see them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cognate.learning.encoding import one_hot, specific_names
from cognate.learning.laws import Array
from cognate.learning.physics import Column, physical_features
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.schedules import Schedule, ScheduleSpace

REFERENCES = 256
"""Schedules whose mean is the zero of relative features: the whole space if it has no more."""

BOUND = 12.0
"""Features beyond 2**±BOUND (16 times further downwards) say no more."""

SHARED_TERMS = {
    "seconds_2": 0.0,
    "streamed_seconds": -2.0,
    "sparse_seconds": -2.0,
    "column_seconds_2": -2.0,
    "row_seconds_2": -2.0,
    "streamed_column_seconds": -2.0,
    "streamed_row_seconds": -2.0,
    "column_seconds_1": -3.0,
    "row_seconds_1": -3.0,
}
"""Terms of the roofline that all workers share, with the log weight that one has before any
sample: traffic behind the last cache counts in full, its parts and nearer caches little."""

ALONE_TERMS = {
    "flop_seconds": 0.0,
    "sparse_seconds": -2.0,
    "tile_seconds": -2.0,
    "segment_seconds": -2.0,
    "column_seconds_0": -3.0,
    "row_seconds_0": -3.0,
}
"""Terms that the busiest worker bears alone."""

TERM_WEIGHTS = (*SHARED_TERMS.values(), *ALONE_TERMS.values(), -2.0)
"""Log weights before any sample, the last for barriers."""


@dataclass(frozen=True)
class TileView:
    """What n schedules make the machine do."""

    terms: Array
    """Shape (n, T): times that the roofline's terms would take, in natural log."""
    imbalance: Array
    """Shape (n,): the slowest worker's load over a fair share, in natural log."""
    features: Array
    """Shape (n, F): physical quantities, then the same less the mean of reference schedules."""
    own: Array
    """Shape (n, P): the platform's specific parameters, one-hot."""

    def repeats(self, schedule_ids: Sequence[int]) -> NDArray[np.bool_]:
        """Shape (n,): whether a schedule of smaller id does the same in every respect."""
        everything = np.concatenate([self.terms, self.features, self.own], axis=1).round(6)
        _, same = np.unique(everything, axis=0, return_inverse=True)
        ids = np.asarray(schedule_ids)
        first = np.full(same.max(initial=-1) + 1, np.iinfo(np.int64).max)
        np.minimum.at(first, same, ids)
        repeated: NDArray[np.bool_] = first[same] != ids
        return repeated


def tile_view(
    platform: Platform, operation: Operation, matrix: SparseMatrix, schedules: Sequence[Schedule]
) -> TileView:
    """Count tiles and turn them into terms and features, all within one matrix."""
    space = platform.space(operation)
    references = _references(space)
    asked = {s.schedule_id: s for s in [*references, *schedules]}
    place = {schedule_id: i for i, schedule_id in enumerate(asked)}
    columns = physical_features(matrix, operation, platform, list(asked.values()))
    values = np.clip(np.stack(list(columns.values()), axis=1), -2 * BOUND - 8, BOUND)
    chosen = [place[s.schedule_id] for s in schedules]
    relative = values - values[: len(references)].mean(axis=0)
    terms, imbalance = _terms(columns)
    return TileView(
        terms[chosen] - terms[: len(references)].mean(),
        imbalance[chosen],
        np.concatenate([values, relative], axis=1)[chosen],
        one_hot(space, specific_names(platform, operation)).encode(schedules).astype(np.float64),
    )


_REFERENCES_OF: dict[str, list[Schedule]] = {}


def _references(space: ScheduleSpace) -> list[Schedule]:
    """The reference schedules of a space, drawn once in a process."""
    if space.fingerprint not in _REFERENCES_OF:
        _REFERENCES_OF[space.fingerprint] = space.sample(REFERENCES, seed=0)
    return _REFERENCES_OF[space.fingerprint]


def _terms(columns: dict[str, Column]) -> tuple[Array, Array]:
    """Times of all terms in natural log, shape (n, T), and the imbalance, shape (n,)."""
    walks, imbalance = columns["sparse_seconds"], columns["imbalance"]
    known = columns | {
        "tile_seconds": walks - columns["entries_per_tile"],
        "segment_seconds": walks - columns["entries_per_segment"],
    }
    barriers = np.where(
        columns["columns_outer"] > 0, columns["column_panels"] + columns["slices"], -30
    )
    terms = [known[name] for name in SHARED_TERMS]
    terms += [known[name] + imbalance for name in ALONE_TERMS]
    terms.append(barriers + LOG2_BARRIER_SECONDS)
    return np.stack(terms, axis=1) * np.log(2), imbalance * np.log(2)


LOG2_BARRIER_SECONDS = -20
"""A barrier takes about a microsecond before any sample says otherwise."""
