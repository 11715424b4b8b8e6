"""Blend laws of tiles: a roofline, what corrects it, and laws that do not know it.

The blend's weights say how well each predicts matrices that it has not seen.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import scipy.optimize

from cognate.errors import ModelError
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
from cognate.learning.store import Tensors
from cognate.learning.view import TERM_WEIGHTS, TileView


@dataclass(frozen=True)
class TilesSettings:
    """How the laws are learnt; the defaults are the best of a search on validation matrices."""

    prior: int = 1
    """Whether the source's laws help those of the target."""
    corrected: int = 1
    """Whether a process and trees correct the roofline."""
    free: int = 1
    """Whether a process and trees without the roofline have a say."""
    tightness: float = 0.1
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
        parts = {part.name: within(tensors, part.name) for part in fields(cls)}
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


def within(tensors: Tensors, prefix: str) -> dict[str, Any]:
    """The tensors named ``prefix.name``, by ``name``."""
    start = f"{prefix}."
    return {n.removeprefix(start): t for n, t in tensors.items() if n.startswith(start)}


def hints(source: Laws | None, view: TileView) -> Array:
    """Shape (n, 1): what the source's laws say, less the matrix's mean; (n, 0) without any."""
    none = view.own[:, :0]
    if source is None:
        return none
    said = source.shared().score(dataclasses.replace(view, own=none), none)
    hint: Array = (said - said.mean())[:, None]
    return hint


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
    return dataclasses.replace(laws, weights=_stack(np.concatenate(said), np.concatenate(truth)))


def _stack(said: Array, truth: Array) -> Array:
    """Non-negative weights of the columns of ``said`` that predict ``truth``, drawn towards
    :data:`UNTESTED_WEIGHTS` by as much as CAUTION times the whole of ``truth`` weighs."""
    pull = np.sqrt(CAUTION * float(truth @ truth))
    weights, _ = scipy.optimize.nnls(
        np.concatenate([said, pull * np.eye(said.shape[1])]),
        np.concatenate([truth, pull * np.array(UNTESTED_WEIGHTS)]),
    )
    return np.asarray(weights)


CAUTION = 0.1

SOURCE_TIGHTNESS = 0.03
"""How near the source's roofline stays to first principles."""

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


def fit_source_laws(
    views: Sequence[TileView], log_seconds: Sequence[Array], settings: TilesSettings, seed: int
) -> Laws:
    """A roofline that knows the source's own parameters, then without them, and trees on what it
    leaves, which see only what all platforms share."""
    bare = dataclasses.replace(settings, corrected=0, free=0, tightness=SOURCE_TIGHTNESS)
    roofline = fit_laws(views, log_seconds, None, bare, seed).roofline
    residuals = [
        t - roofline(view.terms, view.imbalance, view.own)
        for t, view in zip(log_seconds, views, strict=True)
    ]
    laws = Laws(roofline).shared()
    shared = [dataclasses.replace(view, own=view.own[:, :0]) for view in views]
    features = [_features(view, laws.base(view), view.own) for view in shared]
    return dataclasses.replace(laws, trees=_trees(features, residuals, settings, seed))


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
