"""Likeness of platforms through the slots."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import synthetic_study

from cognate.evaluation.similarity import (
    association,
    by_kind,
    gain_of_transfer,
    rank_correlation,
    similarity,
)
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation

OPERATION = get_operation("spmm", 64)
MATRIX = SparseMatrix.from_scipy(scipy.sparse.coo_array((5000, 5000)), "m")
PLATFORM = synthetic_study.ToyPlatform()


def samples(seconds):
    ids = [s.schedule_id for s in synthetic_study.SPACE]
    return pd.DataFrame({"schedule_id": ids, "seconds": seconds, "status": "ok"})


def by_panel(sign):
    """Seconds that depend on the row panel alone, rising or falling with it."""
    panels = np.array([np.log2(s["row_panel"]) for s in synthetic_study.SPACE])
    return samples(np.exp(sign * panels))


def test_a_platform_is_like_itself():
    found = similarity(MATRIX, OPERATION, (PLATFORM, by_panel(1)), (PLATFORM, by_panel(1)))
    assert found["rank_correlation"] > 0.9
    assert found["slots_explain"] == pytest.approx(1.0)


def test_opposite_platforms_are_unlike():
    found = similarity(MATRIX, OPERATION, (PLATFORM, by_panel(1)), (PLATFORM, by_panel(-1)))
    assert found["rank_correlation"] < -0.9


def test_what_slots_cannot_see_is_not_explained():
    """All schedules have equal slots on a matrix of one row and one column."""
    dot = SparseMatrix.from_scipy(scipy.sparse.coo_array((1, 1)), "dot")
    found = similarity(dot, OPERATION, (PLATFORM, by_panel(1)), (PLATFORM, by_panel(1)))
    assert found["cells"] == 1
    assert found["slots_explain"] == pytest.approx(0.0)
    assert np.isnan(found["rank_correlation"])


def test_rejected_samples_are_left_out():
    spoilt = by_panel(1)
    spoilt.loc[0, ["seconds", "status"]] = [np.nan, "rejected"]
    found = similarity(MATRIX, OPERATION, (PLATFORM, spoilt), (PLATFORM, by_panel(1)))
    assert found["rank_correlation"] > 0.9


def test_rank_correlation_of_too_little_is_undefined():
    assert np.isnan(rank_correlation(np.array([1.0, 2.0]), np.array([1.0, 2.0])))
    assert np.isnan(rank_correlation(np.ones(5), np.arange(5.0)))
    assert rank_correlation(np.arange(5.0), np.arange(5.0) ** 3) == pytest.approx(1.0)


def test_gain_is_how_many_times_faster_transfer_makes_the_choice(study):
    rows = study.experiment("headline", "spade", "spmm")
    gain = gain_of_transfer(rows, "cognate", "no-transfer").set_index("matrix")["gain"]
    one = rows[rows["matrix"] == gain.index[0]].set_index(["method", "seed"])["top1_seconds"]
    ratios = [one["no-transfer", seed] / one["cognate", seed] for seed in (0, 1)]
    assert gain.iloc[0] == pytest.approx(np.sqrt(np.prod(ratios)))


def test_kinds_join_what_is_known_of_different_matrices():
    table = pd.DataFrame(
        {
            "kind": ["a", "a", "b", "b", "c"],
            "rank_correlation": [0.2, np.nan, 0.9, np.nan, 0.5],
            "gain": [np.nan, 2.0, np.nan, 3.0, np.nan],
        }
    )
    found = by_kind(table).set_index("kind")
    assert found.loc["a"].tolist() == pytest.approx([0.2, 2.0])
    assert found.loc["b"].tolist() == pytest.approx([0.9, 3.0])
    assert np.isnan(found.loc["c", "gain"])


def test_association_ignores_matrices_without_a_gain():
    table = pd.DataFrame(
        {
            "rank_correlation": [0.1, 0.2, 0.3, 0.4, 0.9],
            "gain": [1.0, 1.1, 1.2, 1.3, np.nan],
        }
    )
    found = association(table)
    assert found["rho"] == pytest.approx(1.0)
    assert found["points"] == 4
    assert np.isnan(association(table.iloc[:2])["rho"])
