"""Neural cost models as source models and rankers: pre-train, swap, fine-tune."""

import copy
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import pandas as pd
import torch

from cognate.errors import ModelError
from cognate.learning.checks import check_samples
from cognate.learning.configuration import ModelConfiguration
from cognate.learning.encoding import sampled_by_matrix
from cognate.learning.latent import LatentEncoder, train_latent_encoder
from cognate.learning.model import (
    LATENT_KINDS,
    CostModel,
    ScheduleInput,
    as_arrays,
    empty_latent,
    from_arrays,
    hidden_parameters,
)
from cognate.learning.ranker import Ranker, Scores, SourceModel, empty_curves
from cognate.learning.store import Tensors
from cognate.learning.task import Task
from cognate.learning.threads import one_thread
from cognate.learning.trainer import (
    PATTERNS,
    STATISTICS,
    Lists,
    Plan,
    make_lists,
    predict,
    train,
)
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.platforms.platform import Progress
from cognate.schedules import Schedule


class _Network:
    """A cost model with the latent encoder of the platform that it ranks."""

    is_target: bool

    def __init__(
        self,
        platform: Platform,
        operation: Operation,
        model: CostModel,
        latent: LatentEncoder | None,
    ):
        self.platform = platform
        self.operation = operation
        self.model = model
        self.latent = latent
        self.curves = empty_curves()
        self.input = ScheduleInput(model.configuration, platform, operation, latent, self.is_target)

    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Weights of the model and the latent encoder; the configuration."""
        tensors = as_arrays(self.model, "model")
        if self.latent is not None:
            tensors |= as_arrays(self.latent, "latent")
        return tensors, {"configuration": asdict(self.model.configuration)}

    @classmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> Any:
        """Undo :meth:`state`."""
        stored = settings["configuration"]
        configuration = ModelConfiguration(
            **{**stored, "tune_frozen": tuple(stored["tune_frozen"])}
        )
        model = CostModel(configuration, STATISTICS[configuration.statistics])
        from_arrays(model, "model", dict(tensors))
        latent = empty_latent(configuration, platform, operation)
        if latent is not None:
            from_arrays(latent, "latent", dict(tensors))
            latent.requires_grad_(False)
        return cls(platform, operation, model, latent)


class NeuralSource(_Network, SourceModel):
    """What was pre-trained on the source platform."""

    kind = "neural-source"
    is_target = False


class NeuralRanker(_Network, Ranker):
    """Ranks the target's schedules."""

    kind = "neural"
    is_target = True

    @one_thread()
    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """The network's output."""
        return predict(self.model, matrix, self.input(matrix, schedules))


@one_thread()
def pretrain_neural(
    task: Task, configuration: ModelConfiguration, seed: int, progress: Progress | None = None
) -> NeuralSource:
    """Train on the task's source samples, stopping early by τ on its source validation."""
    latent = latent_for(configuration, task.source, task.operation, seed)
    model = new_model(configuration, seed)
    source = NeuralSource(task.source, task.operation, model, latent)
    lists = _lists(task, task.source_train, task.source, source.input)
    validation = None
    if len(task.source_validation):
        what = "source validation samples"
        check_samples(task.source_validation, task.source, task.operation, what)
        validation = _lists(task, task.source_validation, task.source, source.input)
    standardise(model, lists)
    plan = Plan(
        "pre-train",
        epochs_for(configuration.epochs, task.effort),
        configuration.learning_rate,
        patience=configuration.patience,
    )
    source.curves = train(model, lists, validation, plan, seed, progress)
    return source


@one_thread()
def fine_tune(
    task: Task,
    source: NeuralSource,
    configuration: ModelConfiguration,
    shots: pd.DataFrame,
    progress: Progress | None = None,
) -> NeuralRanker:
    """Swap in the target's latent encoder and train on ``shots``; none leave the rest as it is."""
    latent = latent_for(configuration, task.target, task.operation, task.seed)
    model = copy.deepcopy(source.model)
    model.configuration = configuration
    ranker = NeuralRanker(task.target, task.operation, model, latent)
    ranker.curves = source.curves
    if len(shots):
        lists = _lists(task, shots, task.target, ranker.input)
        plan = Plan(
            "fine-tune",
            epochs_for(configuration.tune_epochs, task.effort),
            configuration.tune_learning_rate,
            frozen=configuration.tune_frozen,
        )
        curves = train(model, lists, None, plan, task.seed, progress)
        ranker.curves = pd.concat([source.curves, curves], ignore_index=True)
    return ranker


@one_thread()
def train_on_target(
    task: Task,
    configuration: ModelConfiguration,
    samples: pd.DataFrame,
    progress: Progress | None = None,
) -> NeuralRanker:
    """Train from random weights on target samples alone."""
    latent = latent_for(configuration, task.target, task.operation, task.seed)
    model = new_model(configuration, task.seed)
    ranker = NeuralRanker(task.target, task.operation, model, latent)
    lists = _lists(task, samples, task.target, ranker.input)
    standardise(model, lists)
    plan = Plan(
        "target",
        epochs_for(configuration.epochs, task.effort),
        configuration.learning_rate,
    )
    ranker.curves = train(model, lists, None, plan, task.seed, progress)
    return ranker


def require_neural(
    source: SourceModel | None, method: str, configuration: str | None
) -> NeuralSource:
    """``source`` if it is a neural model; else :class:`ModelError` with what to do."""
    if not isinstance(source, NeuralSource):
        raise ModelError(
            f"method {method} needs a source model; pass pretrain(task, {configuration!r}, seed)"
        )
    return source


def new_model(configuration: ModelConfiguration, seed: int) -> CostModel:
    """A model with random weights that depend on the seed only."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return CostModel(configuration, STATISTICS[configuration.statistics])


def latent_for(
    configuration: ModelConfiguration, platform: Platform, operation: Operation, seed: int
) -> LatentEncoder | None:
    """The platform's trained latent encoder, or None if the configuration has none.

    Kept for the process: it depends on the schedule space, not on samples.
    """
    if configuration.latent not in LATENT_KINDS:
        return None
    names = hidden_parameters(configuration, platform, operation).names
    return _latent(
        _SpaceKey(platform, operation), names, configuration.latent, configuration.latent_size, seed
    )


class _SpaceKey:
    """A platform's space as a cache key."""

    def __init__(self, platform: Platform, operation: Operation):
        self.space = platform.space(operation)

    def __hash__(self) -> int:
        return hash(self.space.fingerprint)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SpaceKey) and other.space.fingerprint == self.space.fingerprint


@lru_cache(maxsize=64)
def _latent(
    key: _SpaceKey, names: tuple[str, ...], kind: str, size: int, seed: int
) -> LatentEncoder:
    return train_latent_encoder(key.space, names, kind, size, seed)


def standardise(model: CostModel, lists: Lists) -> None:
    """Fit the model's input statistics to the training matrices."""
    model.standardise(PATTERNS.inputs(model.configuration, lists.matrices).statistics)


def epochs_for(epochs: int, effort: float) -> int:
    """Epochs at this effort, at least one."""
    return max(1, round(epochs * effort))


def _lists(task: Task, table: pd.DataFrame, platform: Platform, inputs: ScheduleInput) -> Lists:
    sampled = sampled_by_matrix(table, platform, task.operation, task.matrices)
    return make_lists(sampled, inputs)
