"""cognate-tiles: rank by what each schedule's tiles make the machine do on the pattern.

The source teaches laws from physical quantities (:mod:`cognate.learning.physics`), which mean
the same on every machine, to run time. The target's few samples then say how its machine departs
from those laws and what its own parameters do.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from cognate.errors import ModelError
from cognate.learning.blend import (
    Laws,
    TilesSettings,
    fit_laws,
    fit_source_laws,
    hints,
    within,
)
from cognate.learning.encoding import Sampled, sampled_by_matrix
from cognate.learning.laws import Array
from cognate.learning.ranker import Ranker, Scores, SourceModel
from cognate.learning.store import Tensors
from cognate.learning.task import Task
from cognate.learning.threads import one_thread
from cognate.learning.view import TileView, tile_view
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.platforms.platform import Progress
from cognate.schedules import Schedule

REPEAT = 0.03
"""Log seconds that a schedule which repeats another one is put behind it."""


class TiledSource(SourceModel):
    """The laws of the source platform, over what all platforms share."""

    kind = "tiles-source"

    def __init__(self, platform: Platform, operation: Operation, laws: Laws):
        super().__init__(platform, operation)
        self.laws = laws

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """The laws."""
        return self.laws.tensors(), {"view": _view_sizes(self.platform, self.operation)}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "TiledSource":
        """Undo :meth:`state`."""
        _require_view(platform, operation, settings)
        return cls(platform, operation, Laws.from_tensors(tensors))


class TiledRanker(Ranker):
    """The laws of the target platform, which may start from the source's."""

    kind = "tiles"

    def __init__(
        self, platform: Platform, operation: Operation, source: Laws | None, own: Laws | None
    ):
        super().__init__(platform, operation)
        self._source = source
        self._own = own

    @one_thread()
    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """Expected log time up to a constant of the matrix.

        A schedule that makes the machine do just what another one does is put a little behind
        it, because it is not worth a try of its own.
        """
        view = tile_view(self.platform, self.operation, matrix, schedules)
        hint = hints(self._source, view)
        expected = hint[:, 0] if self._own is None else self._own.score(view, hint)
        return expected + REPEAT * view.repeats([s.schedule_id for s in schedules])

    def predictions(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> list[Array]:
        """What each law says, in log seconds; where they differ the ranking is uncertain."""
        view = tile_view(self.platform, self.operation, matrix, schedules)
        hint = hints(self._source, view)
        return [hint[:, 0]] if self._own is None else self._own.predictions(view, hint)

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """The source's laws and the target's."""
        parts = {"source": self._source, "own": self._own}
        return {
            f"{part}.{name}": tensor
            for part, laws in parts.items()
            if laws is not None
            for name, tensor in laws.tensors().items()
        }, {"view": _view_sizes(self.platform, self.operation)}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "TiledRanker":
        """Undo :meth:`state`."""
        _require_view(platform, operation, settings)
        parts = [within(tensors, name) for name in ("source", "own")]
        source, own = (Laws.from_tensors(part) if part else None for part in parts)
        return cls(platform, operation, source, own)


@one_thread()
def pretrain_tiled(task: Task, seed: int, progress: Progress | None = None) -> TiledSource:
    """Learn the source's laws; corrections see only what all platforms share."""
    views, sampled = _views(task, task.source_train, task.source)
    laws = fit_source_laws(views, [s.log_seconds for s in sampled], TilesSettings(), seed)
    if progress:
        progress(1, 1)
    return TiledSource(task.source, task.operation, laws)


@one_thread()
def fit_tiled(
    task: Task,
    source: TiledSource,
    settings: TilesSettings,
    shots: pd.DataFrame,
    progress: Progress | None = None,
) -> TiledRanker:
    """Adapt the source's laws to the shots; without any, they stay the source's."""
    known = source.laws if settings.prior else None
    if shots.empty:
        return TiledRanker(task.target, task.operation, source.laws, None)
    views, sampled = _views(task, shots, task.target)
    laws = fit_laws(views, [s.log_seconds for s in sampled], known, settings, task.seed)
    if progress:
        progress(1, 1)
    return TiledRanker(task.target, task.operation, known, laws)


def _views(
    task: Task, table: pd.DataFrame, platform: Platform
) -> tuple[list[TileView], list[Sampled]]:
    sampled = sampled_by_matrix(table, platform, task.operation, task.matrices)
    views = [tile_view(platform, task.operation, s.matrix, s.schedules) for s in sampled]
    return views, sampled


def _view_sizes(platform: Platform, operation: Operation) -> list[int]:
    """How many terms and features today's code sees of a schedule."""
    one = SparseMatrix.from_scipy(scipy.sparse.eye_array(1, dtype=np.float32), "one")
    view = tile_view(platform, operation, one, [platform.space(operation).default])
    return [view.terms.shape[1], view.features.shape[1]]


def _require_view(platform: Platform, operation: Operation, settings: dict[str, Any]) -> None:
    if settings["view"] != _view_sizes(platform, operation):
        raise ModelError(
            "the model sees other terms and features of a schedule than this version of cognate; "
            "train it again"
        )


def require_tiled(source: SourceModel | None) -> TiledSource:
    """``source`` if it is of tiles; else :class:`ModelError` with what to do."""
    if not isinstance(source, TiledSource):
        raise ModelError(
            "method cognate-tiles needs a source model; pass pretrain(task, 'tiles', seed)"
        )
    return source
