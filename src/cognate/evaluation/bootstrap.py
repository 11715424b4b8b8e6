"""Intervals by paired resampling of matrices and seeds.

Matrices (or whole families of them) and seeds are drawn with replacement, independently of
each other, since one seed's training serves all matrices (two-way bootstrap, Owen 2007). All
statistics of one :class:`Resampler` see the same draws, so differences between methods are
paired.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.errors import SamplesError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval."""

    estimate: float
    low: float
    high: float

    def exp(self) -> "Interval":
        """The interval of the exponential, for means of logarithms."""
        return Interval(*(float(np.exp(x)) for x in (self.estimate, self.low, self.high)))

    def columns(self, name: str) -> dict[str, float]:
        """Three cells of a table: ``name``, ``name_low``, ``name_high``."""
        return {name: self.estimate, f"{name}_low": self.low, f"{name}_high": self.high}


class Resampler:
    """Draws of matrices and seeds, fixed by ``seed``, for values of shape (matrices, seeds)."""

    def __init__(
        self,
        matrices: int,
        seeds: int,
        *,
        resamples: int = 2000,
        confidence: float = 0.95,
        seed: int = 0,
        clusters: Sequence[str] | None = None,
    ):
        """Prepare the draws.

        ``clusters`` names the family of each matrix: then families are drawn whole.
        """
        if matrices < 1 or seeds < 1:
            raise SamplesError(f"nothing to resample: {matrices} matrices, {seeds} seeds")
        random = np.random.default_rng(seed)
        families = np.arange(matrices) if clusters is None else np.asarray(clusters, dtype=np.str_)
        labels = np.unique(families, return_inverse=True)[1]
        groups = int(labels.max()) + 1
        drawn = random.multinomial(groups, np.full(groups, 1 / groups), size=resamples)
        self._matrix_weights: Floats = drawn[:, labels].astype(np.float64)
        self._seed_weights: Floats = random.multinomial(
            seeds, np.full(seeds, 1 / seeds), size=resamples
        ).astype(np.float64)
        self._tails = ((1 - confidence) / 2, (1 + confidence) / 2)

    def mean(self, values: Floats) -> Interval:
        """The mean of values (matrices, seeds), with its interval."""
        totals = self._totals(values)
        weights = self._matrix_weights.sum(axis=1) * self._seed_weights.sum(axis=1)
        return self._interval(float(values.mean()), totals / weights)

    def ratio(self, numerator: Floats, denominator: Floats) -> Interval:
        """The ratio of two sums over matrices and seeds; NaN if the denominator's is nothing."""
        above, below = self._totals(numerator), self._totals(denominator)
        negligible = 1e-9 * denominator.size  # NaN is never above it
        draws = np.divide(above, below, out=np.full_like(above, np.nan), where=below > negligible)
        total = float(denominator.sum())
        estimate = float(numerator.sum()) / total if total > negligible else float("nan")
        return self._interval(estimate, draws)

    def _totals(self, values: Floats) -> Floats:
        by_matrix = self._matrix_weights @ values
        totals: Floats = np.einsum("bs,bs->b", by_matrix, self._seed_weights)
        return totals

    def _interval(self, estimate: float, draws: Floats) -> Interval:
        usable = draws[~np.isnan(draws)]
        if np.isnan(estimate) or not len(usable):
            return Interval(estimate, float("nan"), float("nan"))
        low, high = np.quantile(usable, self._tails)
        return Interval(estimate, float(low), float(high))


def grids(table: pd.DataFrame, columns: Sequence[str]) -> dict[str, Floats]:
    """Values of the columns as (matrices, seeds), both ascending.

    Raises :class:`SamplesError` unless every matrix has exactly one row for every seed.
    """
    ordered = table.sort_values(["matrix", "seed"], kind="stable")
    if ordered.duplicated(["matrix", "seed"]).any():
        raise SamplesError("a matrix has two rows for one seed; evaluate the rankings again")
    shape = (ordered["matrix"].nunique(), ordered["seed"].nunique())
    missing = shape[0] * shape[1] - len(ordered)
    if missing:
        raise SamplesError(
            f"{missing} of {shape[0] * shape[1]} pairs of matrix and seed are missing"
        )
    return {name: ordered[name].to_numpy(dtype=np.float64).reshape(shape) for name in columns}


def grid(table: pd.DataFrame, column: str) -> Floats:
    """Values of one column, see :func:`grids`."""
    return grids(table, [column])[column]
