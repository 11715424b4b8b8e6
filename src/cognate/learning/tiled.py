"""cognate-tiles: rank by what each schedule's tiles make the machine do on the pattern.

The source teaches laws from physical quantities (:mod:`cognate.learning.physics`), which mean
the same on every machine, to run time. The target's few samples then say how its machine departs
from those laws and what its own parameters do.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pandas as pd
import scipy.optimize

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
from cognate.learning.threads import one_thread
from cognate.learning.view import TERM_WEIGHTS, TileView, tile_view
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.platforms.platform import Progress
from cognate.schedules import Schedule


@dataclass(frozen=True)
class TilesSettings:
    """How the laws are learnt; the defaults are the best of a search on validation matrices."""

    prior: int = 1
    """Whether the source's laws help those of the target."""
    corrected: int = 1
    """Whether a process and trees correct the roofline."""
    free: int = 1
    """Whether a process and trees without the roofline have a say."""
    tightness: float = 0.03
    """How near the roofline stays to the source's, when it sees one matrix; less with more."""
    noise: float = 3.0
    """Variance of a sample about the process, whose own is 1.3."""
    members: int = 3
    """Ensembles of trees."""
    rounds: int = 40
    depth: int = 3
    learning_rate: float = 0.05


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


FIRST_PRINCIPLES = Roofline(
    np.array(TERM_WEIGHTS), np.zeros((len(TERM_WEIGHTS), 0)), np.array([0.0, np.log(2.0)])
)
"""What is expected of any machine before a sample of it or of another one."""

UNTESTED_WEIGHTS = (1.0, 0.0, 0.0)
"""Of the corrected roofline and the free laws, where no matrix can be left out to test them."""

FREE_NOISE = 0.05

REPEAT = 0.03
"""Log seconds that a schedule which repeats another one is put behind it."""


@dataclass(frozen=True)
class Laws:
    """Three views of run time over one platform's schedules, and how much each counts."""

    roofline: Roofline
    process: GaussianProcess | None = None
    """Corrects the roofline, as ``trees`` do; the mean of both corrections is added to it."""
    trees: Trees | None = None
    free_process: GaussianProcess | None = None
    """Knows nothing of the roofline, nor do ``free_trees``."""
    free_trees: Trees | None = None
    weights: Array = field(default_factory=lambda: np.array(UNTESTED_WEIGHTS))
    """Shape (3,): of the corrected roofline, the free process and the free trees."""

    def base(self, view: TileView) -> Array:
        """What the roofline says, shape (n,)."""
        return self.roofline(view.terms, view.imbalance, view.own)

    def predictions(self, view: TileView, hint: Array) -> list[Array]:
        """What the corrected roofline and the free laws say, each of shape (n,) and mean 0."""
        base = self.base(view)
        features = _features(view, base, hint)
        corrections = [law(features) for law in (self.process, self.trees) if law is not None]
        said = [base + np.mean(corrections, axis=0) if corrections else base]
        free = np.concatenate([view.features, view.own, hint], axis=1)
        said += [law(free) for law in (self.free_process, self.free_trees) if law is not None]
        return [values - values.mean() for values in said]

    def score(self, view: TileView, hint: Array) -> Array:
        """Expected log seconds up to a constant, shape (n,); laws without weight are not asked."""
        free = dataclasses.replace(
            self,
            free_process=self.free_process if self.weights[1] else None,
            free_trees=self.free_trees if self.weights[2] else None,
        )
        weights = self.weights[[True, free.free_process is not None, free.free_trees is not None]]
        return np.asarray(weights @ np.stack(free.predictions(view, hint)))

    def tensors(self) -> Tensors:
        """All laws' tensors, named ``law.tensor``."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        weights = parts.pop("weights")
        return {"weights": weights} | {
            f"{part}.{name}": tensor
            for part, law in parts.items()
            if law is not None
            for name, tensor in law_tensors(law).items()
        }

    @classmethod
    def from_tensors(cls, tensors: Tensors) -> "Laws":
        """Undo :meth:`tensors`."""
        parts = {part.name: _within(tensors, part.name) for part in fields(cls)}
        processes = [parts["process"], parts["free_process"]]
        process, free_process = (GaussianProcess(**p) if p else None for p in processes)
        trees, free_trees = (
            trees_from(p) if p else None for p in (parts["trees"], parts["free_trees"])
        )
        roofline, weights = Roofline(**parts["roofline"]), np.array(tensors["weights"])
        return cls(roofline, process, trees, free_process, free_trees, weights)

    def shared(self) -> "Laws":
        """The same laws for a platform with other parameters: theirs change nothing."""
        none = np.zeros((len(self.roofline.weights), 0))
        return dataclasses.replace(
            self, roofline=dataclasses.replace(self.roofline, own_weights=none)
        )


def _features(view: TileView, base: Array, hint: Array) -> Array:
    """Shape (n, F): what corrections see."""
    relative = (base - base.mean())[:, None]
    return np.concatenate([view.features, view.own, relative, hint], axis=1)


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
        }, {}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "TiledRanker":
        """Undo :meth:`state`."""
        parts = [_within(tensors, name) for name in ("source", "own")]
        source, own = (Laws.from_tensors(part) if part else None for part in parts)
        return cls(platform, operation, source, own)


def hints(source: Laws | None, view: TileView) -> Array:
    """Shape (n, 1): what the source's laws say, less the matrix's mean; (n, 0) without any."""
    none = view.own[:, :0]
    if source is None:
        return none
    said = source.shared().score(dataclasses.replace(view, own=none), none)
    hint: Array = (said - said.mean())[:, None]
    return hint


@one_thread()
def pretrain_tiled(task: Task, seed: int, progress: Progress | None = None) -> TiledSource:
    """Learn the source's laws; corrections see only what all platforms share."""
    views, sampled = _views(task, task.source_train, task.source)
    laws = fit_source_laws(views, [s.log_seconds for s in sampled], TilesSettings(), seed)
    if progress:
        progress(1, 1)
    return TiledSource(task.source, task.operation, laws)


def fit_source_laws(
    views: Sequence[TileView], log_seconds: Sequence[Array], settings: TilesSettings, seed: int
) -> Laws:
    """A roofline that knows the source's own parameters, then without them, and trees on what it
    leaves, which see only what all platforms share."""
    roofline = fit_laws(
        views, log_seconds, None, dataclasses.replace(settings, corrected=0, free=0), seed
    ).roofline
    residuals = [
        t - roofline(view.terms, view.imbalance, view.own)
        for t, view in zip(log_seconds, views, strict=True)
    ]
    laws = Laws(roofline).shared()
    shared = [dataclasses.replace(view, own=view.own[:, :0]) for view in views]
    features = [_features(view, laws.base(view), view.own) for view in shared]
    return dataclasses.replace(laws, trees=_trees(features, residuals, settings, seed))


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


def fit_laws(
    views: Sequence[TileView],
    log_seconds: Sequence[Array],
    source: Laws | None,
    settings: TilesSettings,
    seed: int,
) -> Laws:
    """Laws of these samples, weighted by how well each predicts a matrix that it has not seen.

    Weights are those of stacked regression (Breiman 1996): non-negative least squares on
    predictions of matrices left out in turn. With one matrix there is nothing to leave out.
    """
    laws = _fit_unweighted(views, log_seconds, source, settings, seed, None)
    if len(views) < 2 or laws.free_trees is None:
        return laws
    said, truth = [], []
    for fold in range(min(FOLDS, len(views))):
        inside = [i for i in range(len(views)) if i % FOLDS != fold]
        part = _fit_unweighted(
            [views[i] for i in inside],
            [log_seconds[i] for i in inside],
            source,
            settings,
            seed,
            laws.roofline,
        )
        for i in set(range(len(views))) - set(inside):
            said.append(np.stack(part.predictions(views[i], hints(source, views[i])), axis=1))
            truth.append(log_seconds[i] - log_seconds[i].mean())
    weights, _ = scipy.optimize.nnls(np.concatenate(said), np.concatenate(truth))
    return dataclasses.replace(laws, weights=weights) if weights.any() else laws


FOLDS = 5


def _fit_unweighted(
    views: Sequence[TileView],
    log_seconds: Sequence[Array],
    source: Laws | None,
    settings: TilesSettings,
    seed: int,
    start: Roofline | None,
) -> Laws:
    roofline = fit_roofline(
        [view.terms for view in views],
        [view.imbalance for view in views],
        [view.own for view in views],
        log_seconds,
        source.roofline if source else FIRST_PRINCIPLES,
        settings.tightness / len(views),
        start,
    )
    laws = Laws(roofline)
    bases = [laws.base(view) for view in views]
    all_hints = [hints(source, view) for view in views]
    features = [_features(*each) for each in zip(views, bases, all_hints, strict=True)]
    residuals = [t - base for t, base in zip(log_seconds, bases, strict=True)]
    if settings.corrected:
        process = fit_process(features, residuals, settings.noise)
        trees = _trees(features, residuals, settings, seed)
        laws = dataclasses.replace(laws, process=process, trees=trees)
    if settings.free:
        free = [
            np.concatenate([view.features, view.own, hint], axis=1)
            for view, hint in zip(views, all_hints, strict=True)
        ]
        process = fit_process(free, log_seconds, FREE_NOISE)
        trees = fit_trees(free, log_seconds, seed, 2, 150, 4, 0.1)
        laws = dataclasses.replace(laws, free_process=process, free_trees=trees)
    return laws


def _views(
    task: Task, table: pd.DataFrame, platform: Platform
) -> tuple[list[TileView], list[Sampled]]:
    sampled = sampled_by_matrix(table, platform, task.operation, task.matrices)
    views = [tile_view(platform, task.operation, s.matrix, s.schedules) for s in sampled]
    return views, sampled


def _trees(
    features: Sequence[Array], residuals: Sequence[Array], settings: TilesSettings, seed: int
) -> Trees:
    return fit_trees(
        features,
        residuals,
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
