"""cognate-tiles: rank by what each schedule's tiles make the machine do on the pattern.

The source teaches a law from physical quantities (:mod:`cognate.learning.physics`), which mean
the same on every machine, to relative run time. The target's few samples then say how its
machine departs from that law and what its own parameters do.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
import xgboost

from cognate.errors import ModelError
from cognate.learning.boosted import booster_from, booster_tensor
from cognate.learning.encoding import Floats, Sampled, one_hot, sampled_by_matrix, specific_names
from cognate.learning.physics import physical_features
from cognate.learning.ranker import Ranker, Scores, SourceModel
from cognate.learning.store import Tensors
from cognate.learning.task import Task
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.platforms.platform import Progress
from cognate.schedules import Schedule


@dataclass(frozen=True)
class TilesSettings:
    """How the law is learnt; the defaults are the best of a search on validation matrices."""

    members: int = 5
    """Models whose mean is the score."""
    trees: int = 200
    depth: int = 4
    learning_rate: float = 0.1
    prior: int = 1
    """Whether the source's law is a feature of the target's."""


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


class Law:
    """Trees from features to relative log time; several, whose mean counts."""

    def __init__(self, boosters: Sequence[xgboost.Booster]):
        self.boosters = list(boosters)

    def __call__(self, features: Floats) -> Scores:
        """Shape (n,)."""
        predictions = [booster.inplace_predict(features) for booster in self.boosters]
        return np.mean(predictions, axis=0, dtype=np.float64)

    def tensors(self) -> Tensors:
        """Each booster's JSON."""
        return {f"booster{i}": booster_tensor(b) for i, b in enumerate(self.boosters)}

    @classmethod
    def from_tensors(cls, tensors: Tensors) -> "Law":
        """Undo :meth:`tensors`."""
        names = sorted((n for n in tensors if n.startswith("booster")), key=lambda n: int(n[7:]))
        return cls([booster_from(tensors[name]) for name in names])


def shared_features(
    platform: Platform, operation: Operation, matrix: SparseMatrix, schedules: Sequence[Schedule]
) -> Floats:
    """Shape (n, F): the physical quantities, in an order that all platforms share."""
    columns = physical_features(matrix, operation, platform, schedules)
    return np.stack(list(columns.values()), axis=1).astype(np.float32)


def own_features(platform: Platform, operation: Operation, schedules: Sequence[Schedule]) -> Floats:
    """Shape (n, P): the platform's specific parameters, one-hot."""
    space = platform.space(operation)
    return one_hot(space, specific_names(platform, operation)).encode(schedules)


class TiledSource(SourceModel):
    """The law of the source platform."""

    kind = "tiles-source"

    def __init__(self, platform: Platform, operation: Operation, law: Law):
        super().__init__(platform, operation)
        self.law = law

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """The trees."""
        return self.law.tensors(), {}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "TiledSource":
        """Undo :meth:`state`."""
        return cls(platform, operation, Law.from_tensors(tensors))


class TiledRanker(Ranker):
    """The law of the target platform, which may start from the source's."""

    kind = "tiles"

    def __init__(
        self,
        platform: Platform,
        operation: Operation,
        prior: Law,
        law: Law,
        settings: TilesSettings,
    ):
        super().__init__(platform, operation)
        self._prior = prior
        self._law = law
        self._settings = settings

    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """Expected log time less a constant of the matrix."""
        shared = shared_features(self.platform, self.operation, matrix, schedules)
        if not self._law.boosters:
            return self._prior(shared)
        own = own_features(self.platform, self.operation, schedules)
        return self._law(target_features(self._prior, shared, own, self._settings))

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Both laws."""
        tensors = {f"{part}.{name}": tensor for part, law in self._parts().items()
                   for name, tensor in law.tensors().items()}  # fmt: skip
        return tensors, asdict(self._settings)

    def _parts(self) -> Mapping[str, Law]:
        return {"prior": self._prior, "law": self._law}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "TiledRanker":
        """Undo :meth:`state`."""
        prior, law = (
            Law.from_tensors(
                {n.partition(".")[2]: t for n, t in tensors.items() if n.startswith(f"{part}.")}
            )
            for part in ("prior", "law")
        )
        return cls(platform, operation, prior, law, TilesSettings(**settings))


def target_features(prior: Law, shared: Floats, own: Floats, settings: TilesSettings) -> Floats:
    """Shape (n, F + P + 1): what the target's law sees."""
    expected = prior(shared)[:, None] if settings.prior else np.zeros((len(shared), 1))
    return np.concatenate([shared, own, expected.astype(np.float32)], axis=1)


def pretrain_tiled(task: Task, seed: int, progress: Progress | None = None) -> TiledSource:
    """Learn the source's law."""
    sampled = sampled_by_matrix(task.source_train, task.source, task.operation, task.matrices)
    features = [
        shared_features(task.source, task.operation, s.matrix, s.schedules) for s in sampled
    ]
    law = fit_law(features, sampled, TilesSettings(), seed, progress)
    return TiledSource(task.source, task.operation, law)


def fit_tiled(
    task: Task,
    source: TiledSource,
    settings: TilesSettings,
    shots: pd.DataFrame,
    progress: Progress | None = None,
) -> TiledRanker:
    """Adapt the source's law to the shots; without any, the law is the source's."""
    sampled = sampled_by_matrix(shots, task.target, task.operation, task.matrices)
    features = [
        target_features(
            source.law,
            shared_features(task.target, task.operation, s.matrix, s.schedules),
            own_features(task.target, task.operation, s.schedules),
            settings,
        )
        for s in sampled
    ]
    law = fit_law(features, sampled, settings, task.seed, progress) if sampled else Law([])
    return TiledRanker(task.target, task.operation, source.law, law, settings)


def fit_law(
    features: Sequence[Floats],
    sampled: Sequence[Sampled],
    settings: TilesSettings,
    seed: int,
    progress: Progress | None,
) -> Law:
    """Trees on log time less the matrix's mean."""
    labels = np.concatenate([s.log_seconds - s.log_seconds.mean() for s in sampled])
    data = xgboost.DMatrix(np.concatenate(features), labels)
    boosters = []
    for member in range(settings.members):
        parameters = {
            "objective": "reg:squarederror",
            "max_depth": settings.depth,
            "eta": settings.learning_rate,
            "subsample": 0.8,
            "colsample_bytree": 0.5,
            "min_child_weight": 4,
            "seed": 1000 * seed + member,
            "verbosity": 0,
            "nthread": 1,
        }
        boosters.append(xgboost.train(parameters, data, num_boost_round=settings.trees))
        if progress:
            progress(member + 1, settings.members)
    return Law(boosters)


def require_tiled(source: SourceModel | None) -> TiledSource:
    """``source`` if it is a law of tiles; else :class:`ModelError` with what to do."""
    if not isinstance(source, TiledSource):
        raise ModelError(
            "method cognate-tiles needs a source model; pass pretrain(task, 'tiles', seed)"
        )
    return source
