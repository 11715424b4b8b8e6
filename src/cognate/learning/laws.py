"""Laws from features of a schedule to its log time on a matrix, learnt from lists of samples.

Three kinds that err differently, so that their mean errs less: a roofline of physical terms with
a weight each (few parameters, extrapolates), a Gaussian process (smooth), boosted trees (steps).
All predict log seconds up to a constant of the matrix, and are compared within a matrix only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.optimize
import xgboost
from numpy.typing import NDArray

from cognate.learning.boosted import booster_from, booster_tensor
from cognate.learning.store import Tensors

Array = NDArray[np.float64]


def centred(lists: Sequence[Array]) -> list[Array]:
    """Each list less its mean."""
    return [np.asarray(values - values.mean(axis=0)) for values in lists]


@dataclass(frozen=True)
class Roofline:
    """``log t = log(Σ exp(p (termᵢ + wᵢ + Vᵢ · own))) / p + a · imbalance``.

    ``p`` says how far terms overlap: 1 adds them up, a large one takes the longest (the
    roofline of Williams et al., CACM 2009). ``own`` are the platform's specific parameters,
    which may make each term cheaper or dearer.
    """

    weights: Array
    """Shape (terms,)."""
    own_weights: Array
    """Shape (terms, own)."""
    shape: Array
    """Shape (2,): ``a`` and ``log p``."""

    def __call__(self, terms: Array, imbalance: Array, own: Array) -> Array:
        """terms (n, T) natural logs, imbalance (n,), own (n, P) -> (n,)."""
        power = np.exp(self.shape[1])
        exponents = power * (terms + self.weights + own @ self.own_weights.T)
        sums: Array = np.logaddexp.reduce(exponents, axis=1)
        log_seconds: Array = sums / power + self.shape[0] * imbalance
        return log_seconds


def fit_roofline(
    terms: Sequence[Array],
    imbalance: Sequence[Array],
    own: Sequence[Array],
    log_seconds: Sequence[Array],
    prior: Roofline | None = None,
    tightness: float = 0.01,
    start: Roofline | None = None,
) -> Roofline:
    """The most probable roofline near ``prior`` (weights 0 without one).

    Squared error of centred log times, Huber's beyond 0.3, plus ``tightness`` times the squared
    distance of the weights from the prior, for each term. Lists count alike. The search begins at
    ``start``, or at the prior.
    """
    width, own_width = terms[0].shape[1], own[0].shape[1]
    near = prior or Roofline(np.zeros(width), np.zeros((width, 0)), np.array([0.0, np.log(2)]))
    centre = np.concatenate([near.weights, np.zeros(width * own_width), near.shape])
    spread = np.full(len(centre), tightness / width)
    spread[-2:] = tightness
    stacked = _Lists.of(terms, imbalance, own, log_seconds)

    def cost(flat: Array) -> tuple[float, Array]:
        away = flat - centre
        value, gradient = stacked.cost(_unflatten(flat, width, own_width))
        return value + float(spread @ away**2), gradient + 2 * spread * away

    found = scipy.optimize.minimize(
        cost,
        centre if start is None else _flatten(start),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 200, "ftol": 1e-9, "gtol": 1e-7},
    )
    return _unflatten(found.x, width, own_width)


def _flatten(law: Roofline) -> Array:
    return np.concatenate([law.weights, law.own_weights.ravel(), law.shape])


def _unflatten(flat: Array, width: int, own_width: int) -> Roofline:
    own_weights = flat[width:-2].reshape(width, own_width)
    return Roofline(flat[:width], own_weights, flat[-2:])


HUBER = 0.3


@dataclass(frozen=True)
class _Lists:
    """All lists one below the other."""

    terms: Array
    imbalance: Array
    own: Array
    labels: Array
    """Centred log times."""
    owner: NDArray[np.int64]
    sizes: Array

    @classmethod
    def of(
        cls,
        terms: Sequence[Array],
        imbalance: Sequence[Array],
        own: Sequence[Array],
        log_seconds: Sequence[Array],
    ) -> "_Lists":
        sizes = np.array([len(t) for t in log_seconds])
        return cls(
            np.concatenate(terms),
            np.concatenate(imbalance),
            np.concatenate(own),
            np.concatenate(centred(log_seconds)),
            np.repeat(np.arange(len(sizes)), sizes),
            sizes.astype(np.float64),
        )

    def _centre(self, values: Array) -> Array:
        means = np.bincount(self.owner, values, len(self.sizes)) / self.sizes
        centred_values: Array = values - means[self.owner]
        return centred_values

    def cost(self, law: Roofline) -> tuple[float, Array]:
        """Mean over lists of the mean Huber loss, and its gradient by the flat parameters."""
        power = np.exp(law.shape[1])
        levels = self.terms + law.weights + self.own @ law.own_weights.T
        sums = np.logaddexp.reduce(power * levels, axis=1)
        error = self._centre(sums / power + law.shape[0] * self.imbalance) - self.labels
        weight = 1 / (self.sizes[self.owner] * len(self.sizes))
        clipped = np.clip(error, -HUBER, HUBER)
        value = float(weight @ (clipped * (error - clipped / 2)))
        slope = self._centre(weight * clipped)
        shares = np.exp(power * levels - sums[:, None])
        by_level = slope[:, None] * shares
        by_power = slope @ ((shares * levels).sum(axis=1) - sums / power)
        gradient = np.concatenate(
            [
                by_level.sum(axis=0),
                (by_level.T @ self.own).ravel(),
                [slope @ self.imbalance, by_power],
            ]
        )
        return value, gradient


@dataclass(frozen=True)
class GaussianProcess:
    """A Gaussian process with a squared-exponential and a linear kernel over scaled features."""

    points: Array
    """Shape (m, F): scaled features of the samples."""
    weights: Array
    """Shape (m,)."""
    centre: Array
    scale: Array

    def __call__(self, features: Array) -> Array:
        """features (n, F) -> (n,)."""
        scaled = np.clip((features - self.centre) / self.scale, -CLIP, CLIP)
        return _kernel(scaled, self.points) @ self.weights


CLIP = 4.0
"""Features farther from what was seen than so many deviations count as that far."""

LINEAR = 0.3
"""Weight of the linear kernel against the squared-exponential one."""


def _kernel(left: Array, right: Array) -> Array:
    width = max(1, left.shape[1])
    products = left @ right.T / width
    squares = (left**2).sum(axis=1)[:, None] / width + (right**2).sum(axis=1) / width
    kernel: Array = np.exp(-(squares - 2 * products) / 2) + LINEAR * products
    return kernel


def fit_process(
    features: Sequence[Array], log_seconds: Sequence[Array], noise: float
) -> GaussianProcess:
    """The process given the samples; ``noise`` is the variance of a sample about it."""
    joined = np.concatenate(features)
    centre, scale = joined.mean(axis=0), joined.std(axis=0) + 1e-6
    points = np.clip((joined - centre) / scale, -CLIP, CLIP)
    labels = np.concatenate(centred(log_seconds))
    covariance = _kernel(points, points)
    covariance[np.diag_indices_from(covariance)] += noise
    weights = scipy.linalg.solve(covariance, labels, assume_a="pos")
    return GaussianProcess(points, weights, centre, scale)


@dataclass(frozen=True)
class Trees:
    """Boosted trees; several, whose mean counts."""

    boosters: tuple[xgboost.Booster, ...]

    def __call__(self, features: Array) -> Array:
        """features (n, F) -> (n,)."""
        predictions = [b.inplace_predict(features.astype(np.float32)) for b in self.boosters]
        mean: Array = np.mean(predictions, axis=0, dtype=np.float64)
        return mean


def fit_trees(
    features: Sequence[Array],
    log_seconds: Sequence[Array],
    seed: int,
    members: int,
    trees: int,
    depth: int,
    learning_rate: float,
) -> Trees:
    """``members`` ensembles that differ in which samples and features each tree sees."""
    data = xgboost.DMatrix(
        np.concatenate(features).astype(np.float32), np.concatenate(centred(log_seconds))
    )
    parameters = {
        "objective": "reg:squarederror",
        "max_depth": depth,
        "eta": learning_rate,
        "subsample": 0.8,
        "colsample_bytree": 0.5,
        "min_child_weight": 4,
        "verbosity": 0,
        "nthread": 1,
    }
    return Trees(
        tuple(
            xgboost.train({**parameters, "seed": 1000 * seed + member}, data, trees)
            for member in range(members)
        )
    )


def law_tensors(law: Roofline | GaussianProcess | Trees) -> Tensors:
    """A law as tensors."""
    if isinstance(law, Trees):
        return {f"booster{i}": booster_tensor(b) for i, b in enumerate(law.boosters)}
    return {name: getattr(law, name) for name in law.__dataclass_fields__}


def trees_from(tensors: Tensors) -> Trees:
    """Undo :func:`law_tensors` of trees."""
    return Trees(tuple(booster_from(tensors[f"booster{i}"]) for i in range(len(tensors))))
