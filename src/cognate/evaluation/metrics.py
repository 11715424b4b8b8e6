"""Ranking metrics over whole batches of rankings at once."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class PairCounts:
    """How the pairs of each of r rankings agree with the truth; every array has shape (r,)."""

    concordant: Counts
    discordant: Counts
    tied_scores: Counts
    """Pairs with equal scores, whether or not the truth is tied as well."""
    tied_truth: Counts
    """Pairs with equal true values, whether or not the scores are tied as well."""
    total: Counts

    @classmethod
    def of(cls, scores: ArrayLike, truth: ArrayLike) -> "PairCounts":
        """Count the pairs of ``scores`` against ``truth``, both of shape (r, n).

        Items whose truth is NaN take part in no pair.
        """
        score_ranks, true_ranks, known = _ranks(scores, truth)
        counts = np.zeros((5, len(score_ranks)), dtype=np.int64)
        for shift in range(1, score_ranks.shape[1]):
            pair = known[:, shift:] & known[:, :-shift]
            by_score = np.sign(score_ranks[:, shift:] - score_ranks[:, :-shift])
            by_truth = np.sign(true_ranks[:, shift:] - true_ranks[:, :-shift])
            agreement = by_score * by_truth
            for row, kind in enumerate(
                (agreement > 0, agreement < 0, by_score == 0, by_truth == 0, pair)
            ):
                counts[row] += np.count_nonzero(kind & pair, axis=1)
        return cls(*counts)

    def kendall_tau(self) -> Floats:
        """Kendall's τ-b (Kendall 1945); 0 where scores or truth are all tied."""
        product = (self.total - self.tied_scores) * (self.total - self.tied_truth)
        scale = np.sqrt(product.astype(np.float64))
        return _ratio(self.concordant - self.discordant, scale, otherwise=0.0)

    def ordered_pair_accuracy(self) -> Floats:
        """Share of the pairs untied in truth that the scores order alike.

        Equal scores count one half, as a coin would; so does a truth that is all tied.
        """
        untied = self.total - self.tied_truth
        undecided = untied - self.concordant - self.discordant
        return _ratio(self.concordant + 0.5 * undecided, untied, otherwise=0.5)


def kendall_tau(scores: ArrayLike, truth: ArrayLike) -> Floats:
    """Kendall's τ-b of each row of ``scores`` (r, n) against that of ``truth``."""
    return PairCounts.of(scores, truth).kendall_tau()


def ordered_pair_accuracy(scores: ArrayLike, truth: ArrayLike) -> Floats:
    """Ordered-pair accuracy of each row of ``scores`` (r, n) against that of ``truth``."""
    return PairCounts.of(scores, truth).ordered_pair_accuracy()


def absolute_percentage_error(chosen: ArrayLike, best: ArrayLike) -> Floats:
    """``100·|chosen − best| / best``: what the choice lost against the best, in percent."""
    reference = np.asarray(best, dtype=np.float64)
    result: Floats = 100 * np.abs(np.asarray(chosen, dtype=np.float64) - reference) / reference
    return result


def geometric_mean(values: ArrayLike) -> float:
    """Geometric mean of positive values; NaN of none."""
    array = np.asarray(values, dtype=np.float64)
    return float(np.exp(np.log(array).mean())) if array.size else float("nan")


def _ranks(
    scores: ArrayLike, truth: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    score_values = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    true_values = np.atleast_2d(np.asarray(truth, dtype=np.float64))
    if np.isnan(score_values).any():
        raise ValueError("a score is NaN and cannot be ranked")
    known = ~np.isnan(true_values)
    filled = np.where(known, true_values, np.inf)
    return (
        scipy.stats.rankdata(score_values, method="dense", axis=1).astype(np.int32),
        scipy.stats.rankdata(filled, method="dense", axis=1).astype(np.int32),
        known,
    )


def _ratio(numerator: ArrayLike, denominator: ArrayLike, otherwise: float) -> Floats:
    above = np.asarray(numerator, dtype=np.float64)
    below = np.asarray(denominator, dtype=np.float64)
    return np.divide(above, below, out=np.full_like(above, otherwise), where=below > 0)
