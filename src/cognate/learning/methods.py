"""The methods that a study compares, in one registry with one interface.

A method is written ``name`` or ``name:setting=value,setting=value``; see :func:`get_method`.
Modules that need torch or xgboost are imported when a method is fitted, not before.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import pandas as pd

from cognate.errors import ModelError
from cognate.learning.baselines import (
    OracleRanker,
    RandomRanker,
    best_fixed_ranker,
    default_ranker,
)
from cognate.learning.checks import check_samples
from cognate.learning.configuration import (
    ModelConfiguration,
    parse_configuration,
    source_name,
)
from cognate.learning.ranker import Ranker, SourceModel
from cognate.learning.shots import require_strategy
from cognate.learning.task import Task
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.platforms.platform import Progress

TILES_SOURCE = "tiles"


class Method(ABC):
    """A way to make a ranker of the target's schedules. Get one from :func:`get_method`."""

    name: ClassVar[str]
    uses_source: ClassVar[bool] = False
    """Whether it learns from source samples."""
    uses_shots: ClassVar[bool] = False
    """Whether its result depends on the shot matrices."""
    trains: ClassVar[bool] = False
    """Whether its result depends on the seed beyond the choice of shots."""
    shot_selection: str | None = None
    """How its shot matrices are chosen, where that is not the study's choice."""

    def __init__(self, changes: str = ""):
        if changes:
            raise ModelError(f"method {self.name} has no settings; got {changes!r}")

    @property
    def source_configuration(self) -> str | None:
        """What to pass to :func:`pretrain` for the source model that :meth:`fit` needs."""
        return None

    @abstractmethod
    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """Learn from the task; :class:`ModelError` if that cannot be done.

        ``source_model`` is what :func:`pretrain` made for :attr:`source_configuration`.
        """


class Default(Method):
    """The platform's default schedule, whatever the matrix."""

    name = "default"

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """No data is looked at."""
        return default_ranker(task.target, task.operation)


class Random(Method):
    """A random order."""

    name = "random"
    trains = True

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """No data is looked at."""
        return RandomRanker(task.target, task.operation, task.seed)


class BestFixed(Method):
    """The schedule that is best on average over the shots."""

    name = "best-fixed"
    uses_shots = True

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """Looks at the shots' times only."""
        return best_fixed_ranker(task.target, task.operation, shots_of(task, self.name))


class Oracle(Method):
    """The true best schedule of every matrix that was sampled."""

    name = "oracle"

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """Knows the task's training matrices; for test matrices use :func:`oracle_ranker`."""
        return oracle_ranker(task.target, task.operation, task.target_train)


def oracle_ranker(platform: Platform, operation: Operation, samples: pd.DataFrame) -> Ranker:
    """The ranker that knows these samples of ``platform``; the evaluator passes the test's."""
    return OracleRanker(platform, operation, samples)


class _Neural(Method):
    """A neural cost model, by default the configuration of the method's own name."""

    base: ClassVar[str] = "cognate"
    trains = True

    def __init__(self, changes: str = ""):
        self._text = f"{self.base}:{changes}" if changes else self.base
        self.configuration: ModelConfiguration = parse_configuration(self._text)


class _Transferred(_Neural):
    uses_source = True
    uses_shots = True

    @property
    def source_configuration(self) -> str | None:
        """The same model without fine-tuning's settings."""
        return source_name(self._text)

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """Fine-tune the source model on the shots; with none, the source model as it is."""
        from cognate.learning.neural import fine_tune, require_neural

        source = require_neural(source_model, self.name, self.source_configuration)
        shots = task.shots() if self.uses_shots else task.target_train.iloc[:0]
        return fine_tune(task, source, self.configuration, shots, progress)


class Cognate(_Transferred):
    """The paper's method: pre-train on the source, swap the latent encoder, fine-tune."""

    name = "cognate"


class WacoFA(_Transferred):
    """WACO's model with feature augmentation: common, source's and target's blocks."""

    name = "waco-fa"
    base = "waco-fa"


class WacoFM(_Transferred):
    """WACO's model with feature mapping: slots mapped, other parameters in a padded block."""

    name = "waco-fm"
    base = "waco-fm"


class ZeroShot(_Transferred):
    """The source model with the target's latent encoder, not fine-tuned."""

    name = "zero-shot"
    uses_shots = False


class NoTransfer(_Neural):
    """The same network, trained on the shots alone."""

    name = "no-transfer"
    uses_shots = True

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """Train from random weights on the shots."""
        from cognate.learning.neural import train_on_target

        return train_on_target(task, self.configuration, shots_of(task, self.name), progress)


class FullTarget(_Neural):
    """The same network, trained on 20 × the samples of the target: accelerator-specific."""

    name = "full-target"

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """Train from random weights on :meth:`Task.full_target`."""
        from cognate.learning.neural import train_on_target

        return train_on_target(task, self.configuration, task.full_target(), progress)


class Xgboost(Method):
    """Boosted trees on pattern statistics, slots and parameters, trained on the shots."""

    name = "xgboost"
    uses_shots = True
    trains = True

    def __init__(self, changes: str = ""):
        self._changes = changes

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """``objective=time`` regresses log time, ``objective=rank`` ranks pairs."""
        from cognate.learning.boosted import fit_boosted, parse_boosting

        settings = parse_boosting(self._changes)
        return fit_boosted(task, settings, shots_of(task, self.name))


class CognateTiles(Method):
    """Ours: what each schedule's tiles do to the pattern, on a law learnt from the source."""

    name = "cognate-tiles"
    uses_source = True
    uses_shots = True
    trains = True

    def __init__(self, changes: str = ""):
        self._changes = changes

    @property
    def source_configuration(self) -> str | None:
        """One for all settings."""
        return TILES_SOURCE

    def fit(
        self, task: Task, source_model: SourceModel | None = None, progress: Progress | None = None
    ) -> Ranker:
        """Adapt the source's law to the shots."""
        from cognate.learning.blend import parse_settings
        from cognate.learning.tiled import fit_tiled, require_tiled

        source = require_tiled(source_model)
        return fit_tiled(task, source, parse_settings(self._changes), task.shots(), progress)


METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Default,
        Random,
        BestFixed,
        Oracle,
        ZeroShot,
        NoTransfer,
        FullTarget,
        WacoFA,
        WacoFM,
        Xgboost,
        Cognate,
        CognateTiles,
    )
}


def get_method(text: str) -> Method:
    """The method written ``name`` or ``name:changes``, e.g. ``cognate:latent=pca``.

    Changes of neural methods are :class:`ModelConfiguration` fields. Every method that learns
    from shots takes ``shots=STRATEGY`` (:mod:`cognate.learning.shots`). Raises
    :class:`ModelError` for an unknown name or setting.
    """
    name, _, changes = text.partition(":")
    if name not in METHODS:
        raise ModelError(f"method {name!r} is unknown; choose from {', '.join(METHODS)}")
    words = changes.split(",")
    strategies = [word.removeprefix(_SHOTS) for word in words if word.startswith(_SHOTS)]
    method = METHODS[name](",".join(word for word in words if not word.startswith(_SHOTS)))
    if strategies:
        if not method.uses_shots:
            raise ModelError(f"method {name} learns from no shots; leave out {_SHOTS}…")
        method.shot_selection = require_strategy(strategies[-1])
    return method


_SHOTS = "shots="


def pretrain(
    task: Task, configuration: str, seed: int, progress: Progress | None = None
) -> SourceModel:
    """Learn from the task's source samples what ``configuration`` (a method's
    ``source_configuration``) needs. Looks at no target sample."""
    check_samples(task.source_train, task.source, task.operation, "source samples")
    if configuration == TILES_SOURCE:
        from cognate.learning.tiled import pretrain_tiled

        return pretrain_tiled(task, seed, progress)
    from cognate.learning.neural import pretrain_neural

    return pretrain_neural(task, parse_configuration(configuration), seed, progress)


def shots_of(task: Task, method: str) -> pd.DataFrame:
    """The task's shots; :class:`ModelError` if it has none."""
    if not task.shot_matrices:
        raise ModelError(f"method {method} learns from shots; give at least one shot matrix")
    return task.shots()
