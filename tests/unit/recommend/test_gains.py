"""Promised gains against times that are known."""

import numpy as np
import pandas as pd
import pytest

from cognate.errors import ModelError
from cognate.gains import Calibration, calibrate, judge
from cognate.learning.baselines import FixedRanker


def table_of(space, seconds_of):
    """Samples of the whole space on three matrices, with times by a function of the id."""
    ids = [s.schedule_id for s in space]
    rows = [(m, i, seconds_of(i, m)) for m in ("m0", "m1", "m2") for i in ids]
    table = pd.DataFrame(rows, columns=["matrix", "schedule_id", "seconds"])
    return table.assign(status="ok", reason="")


def test_an_exact_law_is_found_without_error(spade, spmm, ranker, matrices):
    slope = 0.7
    table = table_of(spade.space(spmm), lambda i, m: np.exp(slope * i / 100) * len(m))
    found = calibrate(ranker, matrices, table)
    assert found.slope == pytest.approx(slope)
    assert (found.low, found.middle, found.high) == pytest.approx((0, 0, 0), abs=1e-9)
    assert found.matrices == 3
    assert found.gain(1.0) == pytest.approx((np.exp(slope),) * 3)


def test_the_interval_holds_the_share_it_says(spade, spmm, matrices):
    random = np.random.default_rng(0)
    space = spade.space(spmm)
    noise = {m: random.normal(0, 0.3) for m in matrices}
    default = space.default.schedule_id
    rows = [
        (m, s.schedule_id, np.exp(s.schedule_id / 100 + (0 if s == space.default else noise[m])))
        for m in matrices
        for s in space
    ]
    table = pd.DataFrame(rows, columns=["matrix", "schedule_id", "seconds"])
    ranker = FixedRanker(spade, spmm, {s.schedule_id: s.schedule_id / 100 for s in space})
    found = calibrate(ranker, matrices, table.assign(status="ok"))
    assert found.low < found.middle < found.high
    first = {m: table[table["matrix"] == m].set_index("schedule_id")["seconds"] for m in matrices}
    inside = 0
    for seconds in first.values():
        for i in range(5):
            _, low, high = found.gain((default - i) / 100)
            inside += low - 1e-9 <= seconds[default] / seconds[i] <= high + 1e-9
    assert inside / (5 * len(matrices)) >= 0.6


def test_two_matrices_are_too_few_for_an_interval(spade, spmm, ranker, matrices):
    table = table_of(spade.space(spmm), lambda i, m: 1.0 + i)
    assert calibrate(ranker, matrices, table) is not None
    assert calibrate(ranker, matrices, table[table["matrix"] != "m2"]) is None


def test_no_calibration_without_a_default_or_with_one_schedule(spade, spmm, ranker, matrices):
    table = table_of(spade.space(spmm), lambda i, m: 1.0 + i)
    default = spade.space(spmm).default.schedule_id
    assert calibrate(ranker, matrices, table[table["schedule_id"] != default]) is None
    assert calibrate(ranker, matrices, table[table["schedule_id"] == default]) is None


def test_a_card_of_another_version_is_refused():
    stored = Calibration(1, 0, 0, 0, 3).as_dict()
    assert Calibration.from_card({"calibration": stored}) == Calibration(1, 0, 0, 0, 3)
    assert Calibration.from_card({}) is None
    with pytest.raises(ModelError, match="version"):
        Calibration.from_card({"calibration": {"slope": 1}})


def test_judging_is_the_geometric_mean_of_true_ratios(spade, spmm, ranker, matrices, samples):
    found = judge(ranker, matrices, samples)
    by_matrix = samples.pivot(index="matrix", columns="schedule_id", values="seconds")
    default = by_matrix[spade.space(spmm).default.schedule_id]
    geometric = lambda ratios: np.exp(np.log(ratios).mean())  # noqa: E731
    assert found["matrices"] == len(matrices)
    assert found["top1_speedup"] == pytest.approx(geometric(default / by_matrix[0]))
    best = by_matrix[[0, 1, 2, 3, 4]].min(axis=1)
    assert found["top5_speedup"] == pytest.approx(geometric(default / best))
    assert found["oracle_speedup"] == pytest.approx(geometric(default / by_matrix.min(axis=1)))


def test_a_choice_that_failed_counts_as_the_default(spade, spmm, ranker, matrices, samples):
    failed = samples.copy()
    first = failed["schedule_id"] == 0
    failed.loc[first, ["status", "seconds"]] = ["failed", np.nan]
    assert judge(ranker, matrices, failed)["top1_speedup"] == pytest.approx(1)
