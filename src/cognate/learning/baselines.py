"""Rankings that need no model: the floor and the ceiling of every table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.errors import ModelError
from cognate.learning.encoding import Floats, one_hot
from cognate.learning.ranker import Ranker, Scores
from cognate.learning.store import Tensors
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.schedules import Schedule


class FixedRanker(Ranker):
    """The same score for a schedule on every matrix; infinite for schedules it has none for."""

    kind = "fixed"

    def __init__(self, platform: Platform, operation: Operation, scores: dict[int, float]):
        super().__init__(platform, operation)
        self._scores = scores

    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """The stored scores, whatever the matrix."""
        return np.array([self._scores.get(s.schedule_id, np.inf) for s in schedules])

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Ids and scores."""
        return {
            "schedule_ids": np.array(list(self._scores), dtype=np.int64),
            "scores": np.array(list(self._scores.values()), dtype=np.float64),
        }, {}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "FixedRanker":
        """Undo :meth:`state`."""
        ids = tensors["schedule_ids"].tolist()
        return cls(platform, operation, dict(zip(ids, tensors["scores"].tolist(), strict=True)))


class RandomRanker(Ranker):
    """A random order, drawn anew for each matrix, the same whenever it is asked for."""

    kind = "random"

    def __init__(self, platform: Platform, operation: Operation, seed: int):
        super().__init__(platform, operation)
        self._seed = seed

    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """Uniform numbers that depend on seed, pattern and schedule id."""
        random = np.random.default_rng([self._seed, int(matrix.pattern_hash, 16)])
        everything = random.random(self.platform.space(self.operation).product_size)
        return everything[[s.schedule_id for s in schedules]]

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """The seed."""
        return {"seed": np.array([self._seed])}, {}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "RandomRanker":
        """Undo :meth:`state`."""
        return cls(platform, operation, int(tensors["seed"][0]))


class OracleRanker(Ranker):
    """The true order, from samples of the very matrices that it ranks. Cannot be stored."""

    kind = "oracle"

    def __init__(self, platform: Platform, operation: Operation, samples: pd.DataFrame):
        super().__init__(platform, operation)
        ran = samples[samples["status"] == "ok"]
        self._seconds = {
            name: dict(zip(rows["schedule_id"], rows["seconds"], strict=True))
            for name, rows in ran.groupby("matrix")
        }

    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """Seconds of each schedule; infinite where it was rejected, failed or not sampled."""
        if matrix.name not in self._seconds:
            raise ModelError(f"the oracle has no samples of {matrix.name}; collect them first")
        known = self._seconds[matrix.name]
        return np.array([known.get(s.schedule_id, np.inf) for s in schedules], dtype=np.float64)

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Refused: the samples themselves are what there is to keep."""
        raise ModelError("the oracle is not a model; keep its samples instead")

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "OracleRanker":
        """Refused, as :meth:`state` is."""
        raise ModelError("the oracle is not a model; make it from samples")


def default_ranker(platform: Platform, operation: Operation) -> FixedRanker:
    """The platform's default schedule first, then those nearest to it.

    Nearest in the number of parameters that differ; equals by id.
    """
    space = platform.space(operation)
    default = space.default.values
    scores = {
        s.schedule_id: float(sum(a != b for a, b in zip(s.values, default, strict=True)))
        for s in space.sample(FIXED_LIMIT, seed=0)
    }
    scores[space.default.schedule_id] = 0.0
    return FixedRanker(platform, operation, scores)


FIXED_LIMIT = 4096
"""The default ranking scores this many schedules of a larger space."""


def best_fixed_ranker(platform: Platform, operation: Operation, shots: pd.DataFrame) -> FixedRanker:
    """What a matrix-blind user does: order schedules by their mean log time over the shots.

    Times are relative to the mean of their matrix. Shots sample different schedules; one that
    some shots lack gets, on those, the time that a ridge regression on the parameters and their
    pairs predicts, and one that was never sampled gets it on all.
    """
    log_seconds = np.log(shots["seconds"])
    relative = (log_seconds - log_seconds.groupby(shots["matrix"]).transform("mean")).to_numpy()
    space = platform.space(operation)
    candidates = {s.schedule_id: s for s in space.sample(FIXED_LIMIT, seed=0)}
    for schedule_id in shots["schedule_id"].unique():
        candidates.setdefault(int(schedule_id), space.at(int(schedule_id)))
    ids = pd.Index(list(candidates))
    design = _with_pairs(
        one_hot(space, [p.name for p in space.parameters]).encode(list(candidates.values()))
    )
    seen = ids.get_indexer(pd.Index(shots["schedule_id"]))
    sampled = design[seen]
    ridge = np.eye(design.shape[1])
    predicted = design @ np.linalg.solve(sampled.T @ sampled + ridge, sampled.T @ relative)
    residual = np.zeros(len(design))
    np.add.at(residual, seen, relative - predicted[seen])
    scores = predicted + residual / shots["matrix"].nunique()
    return FixedRanker(platform, operation, dict(zip(ids.tolist(), scores.tolist(), strict=True)))


def _with_pairs(columns: Floats) -> NDArray[np.float64]:
    """Columns and the products of every two that are ever one together."""
    left, right = np.triu_indices(columns.shape[1], 1)
    products = columns[:, left] * columns[:, right]
    return np.concatenate([columns, products[:, products.any(axis=0)]], axis=1).astype(np.float64)
