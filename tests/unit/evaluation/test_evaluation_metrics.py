"""Metrics against scipy and brute force, and on the edges."""

import itertools

import numpy as np
import pytest
from scipy.stats import kendalltau

from cognate.evaluation.metrics import (
    absolute_percentage_error,
    geometric_mean,
    kendall_tau,
    ordered_pair_accuracy,
)


def brute_force_accuracy(scores, truth):
    right = pairs = 0.0
    for i, j in itertools.combinations(range(len(truth)), 2):
        if truth[i] == truth[j] or np.isnan(truth[i]) or np.isnan(truth[j]):
            continue
        pairs += 1
        agreement = (scores[i] - scores[j]) * (truth[i] - truth[j])
        right += 0.5 if scores[i] == scores[j] else float(agreement > 0)
    return right / pairs


def test_perfect_and_reversed_rankings():
    truth = np.array([[3.0, 1.0, 2.0, 5.0]])
    assert kendall_tau(truth, truth) == pytest.approx([1.0])
    assert kendall_tau(-truth, truth) == pytest.approx([-1.0])
    assert ordered_pair_accuracy(truth, truth) == pytest.approx([1.0])
    assert ordered_pair_accuracy(-truth, truth) == pytest.approx([0.0])


def test_scores_matter_by_their_order_only():
    truth = np.array([[3.0, 1.0, 2.0, 5.0]])
    assert kendall_tau(np.exp(truth), truth) == pytest.approx([1.0])
    assert kendall_tau([[3.0, 1.0, 2.0, np.inf]], truth) == pytest.approx([1.0])


def test_constant_scores_know_nothing():
    scores, truth = np.ones((1, 6)), np.arange(6.0)[None]
    assert kendall_tau(scores, truth) == pytest.approx([0.0])
    assert ordered_pair_accuracy(scores, truth) == pytest.approx([0.5])


def test_truth_that_is_all_tied_gives_chance():
    scores, truth = np.arange(5.0)[None], np.ones((1, 5))
    assert kendall_tau(scores, truth) == pytest.approx([0.0])
    assert ordered_pair_accuracy(scores, truth) == pytest.approx([0.5])


def test_rejected_schedules_take_part_in_no_pair():
    truth = np.array([[1.0, np.nan, 2.0, 3.0]])
    scores = np.array([[1.0, 99.0, 2.0, 3.0]])
    assert kendall_tau(scores, truth) == pytest.approx([1.0])
    assert ordered_pair_accuracy(scores, truth) == pytest.approx([1.0])


def test_rows_are_ranked_each_for_itself():
    random = np.random.default_rng(0)
    truth = random.integers(0, 6, (40, 30)).astype(float)
    scores = random.integers(0, 8, (40, 30)).astype(float)
    expected = [kendalltau(s, t).statistic for s, t in zip(scores, truth, strict=True)]
    assert kendall_tau(scores, truth) == pytest.approx(expected)
    expected = [brute_force_accuracy(s, t) for s, t in zip(scores, truth, strict=True)]
    assert ordered_pair_accuracy(scores, truth) == pytest.approx(expected)


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        kendall_tau([[1.0, np.nan]], [[1.0, 2.0]])


def test_percentage_error_is_relative_to_the_best():
    assert absolute_percentage_error([2.0, 3.0], [2.0, 2.0]) == pytest.approx([0.0, 50.0])


def test_geometric_mean_of_a_ratio_and_its_inverse_is_one():
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)
    assert np.isnan(geometric_mean([]))
