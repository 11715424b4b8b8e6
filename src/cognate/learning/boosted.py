"""Boosted trees on pattern statistics, slots and parameters: the rival without a network."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import xgboost

from cognate.errors import ModelError
from cognate.learning.encoding import Floats, Sampled, one_hot, sampled_by_matrix
from cognate.learning.profile import pattern_statistics
from cognate.learning.ranker import Ranker, Scores
from cognate.learning.store import Tensors, text_tensor
from cognate.learning.task import Task
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.schedules import Schedule

Objective = Literal["time", "rank"]


@dataclass(frozen=True)
class Boosting:
    """How trees are grown; the defaults are the best of a search on validation matrices."""

    objective: Objective = "time"
    """Squared error of log time less the matrix's mean, or pairs of schedules (LambdaMART)."""
    trees: int = 200
    depth: int = 4
    learning_rate: float = 0.05
    row_share: float = 0.8
    column_share: float = 0.5
    minimum_weight: float = 4.0

    def __post_init__(self) -> None:
        if self.objective not in get_args(Objective):
            raise ModelError(f"objective={self.objective} is unknown; choose time or rank")


def parse_boosting(text: str) -> Boosting:
    """The settings written ``name=value,name=value`` over the defaults."""
    settings = Boosting()
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if name not in {f.name for f in fields(Boosting)}:
            raise ModelError(f"xgboost has no setting {name!r}: {fields_text()}")
        try:
            present = type(getattr(settings, name))
            settings = dataclasses.replace(settings, **{name: present(value)})
        except ValueError as error:
            raise ModelError(f"xgboost: {name}={value} is not a number") from error
    return settings


def fields_text() -> str:
    """The names of all settings."""
    return ", ".join(f.name for f in fields(Boosting))


def plain_features(
    platform: Platform, operation: Operation, matrix: SparseMatrix, schedules: Sequence[Schedule]
) -> Floats:
    """Shape (n, F): pattern statistics, comparable slots, every parameter one-hot."""
    space = platform.space(operation)
    encoding = one_hot(space, [p.name for p in space.parameters])
    statistics = np.tile(pattern_statistics(matrix), (len(schedules), 1))
    slots = platform.slots(matrix, operation, schedules).features()
    return np.concatenate([statistics, slots, encoding.encode(schedules)], axis=1)


class BoostedRanker(Ranker):
    """Trees on :func:`plain_features`."""

    kind = "boosted"

    def __init__(self, platform: Platform, operation: Operation, booster: xgboost.Booster):
        super().__init__(platform, operation)
        self.booster = booster

    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """The sum of the trees."""
        features = plain_features(self.platform, self.operation, matrix, schedules)
        return self.booster.inplace_predict(features).astype(np.float64)

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """The trees as xgboost's JSON."""
        return {"booster": booster_tensor(self.booster)}, {}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "BoostedRanker":
        """Undo :meth:`state`."""
        return cls(platform, operation, booster_from(tensors["booster"]))


def fit_boosted(task: Task, settings: Boosting, samples: pd.DataFrame) -> BoostedRanker:
    """Train on ``samples`` of the target."""
    sampled = sampled_by_matrix(samples, task.target, task.operation, task.matrices)
    features = [plain_features(task.target, task.operation, s.matrix, s.schedules) for s in sampled]
    booster = grow(features, sampled, settings, task.seed)
    return BoostedRanker(task.target, task.operation, booster)


def grow(
    features: Sequence[Floats], sampled: Sequence[Sampled], settings: Boosting, seed: int
) -> xgboost.Booster:
    """Trees on the features of each matrix's samples."""
    relative = [s.log_seconds - s.log_seconds.mean() for s in sampled]
    labels = np.concatenate(relative)
    data = xgboost.DMatrix(np.concatenate(features), labels)
    parameters: dict[str, Any] = {
        "objective": "reg:squarederror",
        "max_depth": settings.depth,
        "eta": settings.learning_rate,
        "subsample": settings.row_share,
        "colsample_bytree": settings.column_share,
        "min_child_weight": settings.minimum_weight,
        "seed": seed,
        "verbosity": 0,
        "nthread": 1,
    }
    if settings.objective == "rank":
        sizes = [len(part) for part in relative]
        # xgboost gives the most relevant the highest score; here that is the slowest. Relevance
        # must be a whole number from 0 to 31.
        places = [np.argsort(np.argsort(part)) * 31 // len(part) for part in relative]
        data = xgboost.DMatrix(np.concatenate(features), np.concatenate(places))
        data.set_group(sizes)
        parameters |= {"objective": "rank:pairwise", "lambdarank_pair_method": "mean"}
    return xgboost.train(parameters, data, num_boost_round=settings.trees)


def booster_tensor(booster: xgboost.Booster) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """xgboost's JSON as bytes."""
    return text_tensor(bytes(booster.save_raw("json")))


def booster_from(tensor: "np.ndarray[Any, Any]") -> xgboost.Booster:
    """Undo :func:`booster_tensor`; JSON holds data only, so nothing is executed."""
    return xgboost.Booster(model_file=bytearray(tensor.tobytes()))
