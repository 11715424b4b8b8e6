"""cognate-tiles: rank by what each schedule's tiles make the machine do on the pattern.

The source teaches laws from physical quantities (:mod:`cognate.learning.physics`), which mean
the same on every machine, to run time. The target's few samples then say how its machine departs
from those laws and what its own parameters do.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from cognate.errors import ModelError
from cognate.learning.encoding import Sampled, sampled_by_matrix
from cognate.learning.laws import (
    Array,
    GaussianProcess,
    Roofline,
    Trees,
    fit_process,
    fit_roofline,
    fit_trees,
    law_tensors,
    trees_from,
)
from cognate.learning.ranker import Ranker, Scores, SourceModel
from cognate.learning.store import Tensors
from cognate.learning.task import Task
from cognate.learning.view import TileView, tile_view
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.platforms.platform import Progress
from cognate.schedules import Schedule


@dataclass(frozen=True)
class TilesSettings:
    """How the laws are learnt; the defaults are the best of a search on validation matrices."""

    roofline: int = 1
    process: int = 1
    trees: int = 1
    """Which laws the score is the mean of."""
    prior: int = 1
    """Whether the source's laws help those of the target."""
    tightness: float = 0.02
    """How near the target's roofline stays to the source's."""
    noise: float = 0.05
    """Variance of a sample about the process."""
    members: int = 3
    """Ensembles of trees."""
    rounds: int = 200
    depth: int = 4
    learning_rate: float = 0.1

    def __post_init__(self) -> None:
        if not (self.roofline or self.process or self.trees):
            raise ModelError("cognate-tiles needs a law: set roofline, process or trees to 1")


def parse_settings(text: str) -> TilesSettings:
    """The settings written ``name=value,name=value`` over the defaults."""
    settings = TilesSettings()
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if name not in {f.name for f in fields(TilesSettings)}:
            known = ", ".join(f.name for f in fields(TilesSettings))
            raise ModelError(f"cognate-tiles has no setting {name!r}; it has {known}")
        try:
            present = type(getattr(settings, name))
            settings = dataclasses.replace(settings, **{name: present(value)})
        except ValueError as error:
            raise ModelError(f"cognate-tiles: {name}={value} is not a number") from error
    return settings


@dataclass(frozen=True)
class Laws:
    """Up to three laws over one platform's schedules; the score is their mean."""

    roofline: Roofline | None = None
    process: GaussianProcess | None = None
    trees: Trees | None = None

    def predictions(self, view: TileView, extra: Array) -> list[Array]:
        """What each law says, shape (n,); ``extra`` are features beside the view's."""
        features = np.concatenate([view.features, view.own, extra], axis=1)
        said = []
        if self.roofline is not None:
            said.append(self.roofline(view.terms, view.imbalance, view.own))
        said.extend(law(features) for law in (self.process, self.trees) if law is not None)
        return said

    def tensors(self) -> Tensors:
        """All laws' tensors, named ``law.tensor``."""
        return {
            f"{part.name}.{name}": tensor
            for part in fields(self)
            if (law := getattr(self, part.name)) is not None
            for name, tensor in law_tensors(law).items()
        }

    @classmethod
    def from_tensors(cls, tensors: Tensors) -> "Laws":
        """Undo :meth:`tensors`."""
        parts = {name: _within(tensors, name) for name in ("roofline", "process", "trees")}
        return cls(
            Roofline(**parts["roofline"]) if parts["roofline"] else None,
            GaussianProcess(**parts["process"]) if parts["process"] else None,
            trees_from(parts["trees"]) if parts["trees"] else None,
        )


def _within(tensors: Tensors, prefix: str) -> dict[str, Any]:
    start = f"{prefix}."
    return {n.removeprefix(start): t for n, t in tensors.items() if n.startswith(start)}


class TiledSource(SourceModel):
    """The laws of the source platform, over what all platforms share."""

    kind = "tiles-source"

    def __init__(self, platform: Platform, operation: Operation, laws: Laws):
        super().__init__(platform, operation)
        self.laws = laws

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """The laws."""
        return self.laws.tensors(), {}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "TiledSource":
        """Undo :meth:`state`."""
        return cls(platform, operation, Laws.from_tensors(tensors))


class TiledRanker(Ranker):
    """The laws of the target platform, which may start from the source's."""

    kind = "tiles"

    def __init__(
        self, platform: Platform, operation: Operation, source: Laws, own: Laws | None, prior: bool
    ):
        super().__init__(platform, operation)
        self._source = source
        self._own = own
        self._prior = prior

    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """Expected log time up to a constant of the matrix."""
        return np.mean(self.predictions(matrix, schedules), axis=0)

    def predictions(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> list[Array]:
        """What each law says; where they differ the ranking is uncertain."""
        view = tile_view(self.platform, self.operation, matrix, schedules)
        if self._own is None:
            return source_predictions(self._source, view)
        return self._own.predictions(view, hints(self._source, view, self._prior))

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """The source's laws and the target's."""
        parts: Mapping[str, Laws] = {"source": self._source, "own": self._own or Laws()}
        tensors = {f"{p}.{n}": t for p, laws in parts.items() for n, t in laws.tensors().items()}
        return tensors, {"prior": self._prior, "tuned": self._own is not None}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "TiledRanker":
        """Undo :meth:`state`."""
        source = Laws.from_tensors(_within(tensors, "source"))
        own = Laws.from_tensors(_within(tensors, "own")) if settings["tuned"] else None
        return cls(platform, operation, source, own, settings["prior"])


def source_predictions(laws: Laws, view: TileView) -> list[Array]:
    """What the source's laws say of another platform's schedules, knowing only what is shared."""
    shared = dataclasses.replace(view, own=view.own[:, :0])
    roofline = laws.roofline
    if roofline is not None:
        neutral = np.zeros((len(roofline.weights), 0))
        roofline = dataclasses.replace(roofline, own_weights=neutral)
    return dataclasses.replace(laws, roofline=roofline).predictions(shared, view.own[:, :0])


def hints(laws: Laws, view: TileView, prior: bool) -> Array:
    """Shape (n, laws): the source's predictions as features, less the matrix's mean."""
    if not prior:
        return view.own[:, :0]
    said = source_predictions(laws, view)
    return np.stack([p - p.mean() for p in said], axis=1)


def pretrain_tiled(task: Task, seed: int, progress: Progress | None = None) -> TiledSource:
    """Learn the source's laws; its own parameters are averaged out."""
    settings = TilesSettings()
    views, sampled = _views(task, task.source_train, task.source)
    shared = [dataclasses.replace(view, own=view.own[:, :0]) for view in views]
    nothing = [view.own for view in shared]
    roofline = _roofline(views, sampled, None, settings)
    laws = Laws(roofline, None, _trees(shared, nothing, sampled, settings, seed))
    if progress:
        progress(1, 1)
    return TiledSource(task.source, task.operation, laws)


def fit_tiled(
    task: Task,
    source: TiledSource,
    settings: TilesSettings,
    shots: pd.DataFrame,
    progress: Progress | None = None,
) -> TiledRanker:
    """Adapt the source's laws to the shots; without any, they stay the source's."""
    prior = bool(settings.prior)
    if shots.empty:
        return TiledRanker(task.target, task.operation, source.laws, None, prior)
    views, sampled = _views(task, shots, task.target)
    extra = [hints(source.laws, view, prior) for view in views]
    known = source.laws.roofline if prior else None
    laws = Laws(
        _roofline(views, sampled, known, settings) if settings.roofline else None,
        _process(views, extra, sampled, settings) if settings.process else None,
        _trees(views, extra, sampled, settings, task.seed) if settings.trees else None,
    )
    if progress:
        progress(1, 1)
    return TiledRanker(task.target, task.operation, source.laws, laws, prior)


def _views(
    task: Task, table: pd.DataFrame, platform: Platform
) -> tuple[list[TileView], list[Sampled]]:
    sampled = sampled_by_matrix(table, platform, task.operation, task.matrices)
    views = [tile_view(platform, task.operation, s.matrix, s.schedules) for s in sampled]
    return views, sampled


def _roofline(
    views: Sequence[TileView],
    sampled: Sequence[Sampled],
    prior: Roofline | None,
    settings: TilesSettings,
) -> Roofline:
    if prior is not None:
        prior = dataclasses.replace(prior, own_weights=np.zeros((len(prior.weights), 0)))
    return fit_roofline(
        [view.terms for view in views],
        [view.imbalance for view in views],
        [view.own for view in views],
        [s.log_seconds for s in sampled],
        prior,
        settings.tightness,
    )


def _features(views: Sequence[TileView], extra: Sequence[Array]) -> list[Array]:
    return [
        np.concatenate([view.features, view.own, hint], axis=1)
        for view, hint in zip(views, extra, strict=True)
    ]


def _process(
    views: Sequence[TileView],
    extra: Sequence[Array],
    sampled: Sequence[Sampled],
    settings: TilesSettings,
) -> GaussianProcess:
    times = [s.log_seconds for s in sampled]
    return fit_process(_features(views, extra), times, settings.noise)


def _trees(
    views: Sequence[TileView],
    extra: Sequence[Array],
    sampled: Sequence[Sampled],
    settings: TilesSettings,
    seed: int,
) -> Trees:
    return fit_trees(
        _features(views, extra),
        [s.log_seconds for s in sampled],
        seed,
        settings.members,
        settings.rounds,
        settings.depth,
        settings.learning_rate,
    )


def require_tiled(source: SourceModel | None) -> TiledSource:
    """``source`` if it is of tiles; else :class:`ModelError` with what to do."""
    if not isinstance(source, TiledSource):
        raise ModelError(
            "method cognate-tiles needs a source model; pass pretrain(task, 'tiles', seed)"
        )
    return source
