"""Headroom from samples with a known answer."""

import numpy as np
import pandas as pd
import pytest

from cognate.errors import SamplesError
from cognate.evaluation import headroom

SECONDS = {
    "a1": [8.0, 2.0, 4.0],
    "a2": [8.0, 2.0, 4.0],
    "b": [8.0, 8.0, 1.0],
    "v": [4.0, 1.0, 2.0],
    "t": [9.0, 3.0, 6.0],
}


@pytest.fixture
def matrices():
    return pd.DataFrame(
        {
            "matrix": list(SECONDS),
            "kind": ["graph", "graph", "circuit", "graph", "circuit"],
            "family": ["a", "a", "b", "v", "t"],
            "split": ["train", "train", "train", "validation", "test"],
            "rows": 5,
            "cols": 5,
            "nnz": [100, 100, 2000, 100, 100],
        }
    )


@pytest.fixture
def samples():
    return pd.DataFrame(
        {"matrix": name, "schedule_id": i, "seconds": s, "status": "ok", "reason": ""}
        for name, seconds in SECONDS.items()
        for i, s in enumerate(seconds)
    )


def test_fixed_schedule_is_chosen_on_the_training_matrices(samples, matrices):
    table = headroom.headroom_by_matrix(samples, matrices, 0).set_index("matrix")
    assert set(table["fixed_schedule"]) == {2}  # 4·4·1 = 16 < 2·2·8 = 32
    assert table.loc["a1", ["default_seconds", "fixed_seconds", "best_seconds"]].tolist() == [
        8,
        4,
        2,
    ]
    assert table.loc["b", "best_schedule"] == 2


def test_cross_fixed_is_chosen_without_the_own_family(samples, matrices):
    table = headroom.headroom_by_matrix(samples, matrices, 0).set_index("matrix")
    assert table.loc["b", "cross_fixed_seconds"] == 8.0  # the other family prefers schedule 1
    assert table.loc["a1", "cross_fixed_seconds"] == 4.0  # the other family prefers schedule 2
    assert table.loc["t", "cross_fixed_seconds"] == 6.0  # not a training matrix: the fixed one


def test_ratios_by_split_kind_and_size(samples, matrices):
    table = headroom.headroom(headroom.headroom_by_matrix(samples, matrices, 0))
    found = table.set_index(["by", "part"])
    train = found.loc[("split", "train")]
    assert train["oracle_over_fixed"] == pytest.approx(4 ** (1 / 3))
    assert train["oracle_over_default"] == pytest.approx((4 * 4 * 8) ** (1 / 3))
    assert train["matrices_above_5_percent"] == 2
    assert list(table["part"][:3]) == ["train", "validation", "test"]
    assert found.loc[("kind", "circuit"), "matrices"] == 1
    assert found.loc[("size", "1e3-1e4"), "oracle_over_fixed"] == pytest.approx(1.0)


def test_rejected_schedule_counts_as_the_default(samples, matrices):
    gone = (samples["matrix"] == "b") & (samples["schedule_id"] == 2)
    samples.loc[gone, ["seconds", "status", "reason"]] = [np.nan, "rejected", "too large"]
    table = headroom.headroom_by_matrix(samples, matrices, 0).set_index("matrix")
    assert table.loc["b", "best_seconds"] == 8.0


def test_default_without_a_time_is_an_error(samples, matrices):
    with pytest.raises(SamplesError, match="default schedule 7"):
        headroom.headroom_by_matrix(samples, matrices, 7)


def test_headroom_needs_training_matrices(samples, matrices):
    with pytest.raises(SamplesError, match="no training matrix"):
        headroom.headroom_by_matrix(samples[samples["matrix"] == "t"], matrices, 0)
