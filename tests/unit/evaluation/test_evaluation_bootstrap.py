"""Intervals: known values, pairing, clusters, determinism and coverage."""

import numpy as np
import pandas as pd
import pytest

from cognate.errors import SamplesError
from cognate.evaluation.bootstrap import Resampler, grid


def test_values_without_spread_have_an_interval_of_no_width():
    interval = Resampler(8, 3).mean(np.full((8, 3), 2.5))
    assert (interval.estimate, interval.low, interval.high) == pytest.approx((2.5, 2.5, 2.5))


def test_same_seed_same_draws_other_seed_other_draws():
    values = np.random.default_rng(0).normal(size=(20, 2))
    first, again, other = (Resampler(20, 2, seed=s).mean(values) for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_interval_covers_the_truth_about_as_often_as_it_says():
    random = np.random.default_rng(0)
    covered = 0
    for turn in range(200):
        values = random.normal(1.0, 1.0, size=(40, 1))
        interval = Resampler(40, 1, resamples=400, seed=turn).mean(values)
        covered += interval.low <= 1.0 <= interval.high
    assert 0.88 <= covered / 200 <= 0.99


def test_width_follows_the_standard_error():
    values = np.random.default_rng(3).normal(size=(400, 1))
    interval = Resampler(400, 1, resamples=4000).mean(values)
    half = 1.96 * values.std() / 20
    assert interval.high - interval.estimate == pytest.approx(half, rel=0.1)
    assert interval.estimate - interval.low == pytest.approx(half, rel=0.1)


def test_differences_are_paired():
    """Values that differ by a constant differ by it in every draw."""
    values = np.random.default_rng(0).normal(size=(30, 3))
    draws = Resampler(30, 3)
    difference = draws.mean(values + 0.25 - values)
    assert (difference.low, difference.high) == pytest.approx((0.25, 0.25))
    assert draws.mean(values).high - draws.mean(values).low > 0.1


def test_seeds_add_to_the_spread():
    """All matrices agree, seeds do not: only drawing seeds shows that."""
    values = np.tile([0.0, 1.0, 2.0], (50, 1))
    interval = Resampler(50, 3).mean(values)
    assert interval.low < 0.5
    assert interval.high > 1.5


def test_families_that_repeat_a_matrix_widen_the_interval():
    values = np.repeat(np.random.default_rng(0).normal(size=(10, 1)), 10, axis=0)
    families = [f"family {i}" for i in range(10) for _ in range(10)]
    alone = Resampler(100, 1).mean(values)
    together = Resampler(100, 1, clusters=families).mean(values)
    assert together.estimate == alone.estimate
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_ratio_is_that_of_the_sums():
    numerator, denominator = np.array([[1.0], [2.0]]), np.array([[2.0], [6.0]])
    assert Resampler(2, 1).ratio(numerator, denominator).estimate == pytest.approx(3 / 8)
    same = Resampler(2, 1).ratio(denominator, denominator)
    assert (same.estimate, same.low, same.high) == pytest.approx((1.0, 1.0, 1.0))


def test_ratio_to_nothing_is_undefined():
    interval = Resampler(2, 1).ratio(np.ones((2, 1)), np.zeros((2, 1)))
    assert np.isnan([interval.estimate, interval.low, interval.high]).all()


def test_nothing_to_draw_from_is_an_error():
    with pytest.raises(SamplesError, match="nothing to resample"):
        Resampler(0, 1)


def test_grid_is_sorted_and_complete():
    rows = pd.DataFrame(
        {"matrix": ["b", "a", "b", "a"], "seed": [1, 1, 0, 0], "x": [1.0, 2.0, 3.0, 4.0]}
    )
    assert grid(rows, "x").tolist() == [[4.0, 2.0], [3.0, 1.0]]
    with pytest.raises(SamplesError, match="1 of 4 pairs"):
        grid(rows.iloc[1:], "x")
    with pytest.raises(SamplesError, match="two rows"):
        grid(pd.concat([rows, rows.iloc[:1]]), "x")
