"""Importance, choices and rules on times where one parameter decides."""

import numpy as np
import pandas as pd
import pytest

from cognate.evaluation.importance import ScheduleTimes, choices, importance, rules

DEFAULT = 0


def made_up(count=24):
    """Panel 1 is best where skew is above one half, panel 0 elsewhere; barrier does nothing.

    The wrong panel costs a factor of 2, bypass = 1 always a factor of 3.
    """
    random = np.random.default_rng(0)
    skew = (np.arange(count) + 0.5) / count
    matrices = pd.DataFrame(
        {
            "matrix": [f"m{i:02d}" for i in range(count)],
            "kind": np.where(skew > 0.5, "graph", "mesh"),
            "family": [f"f{i}" for i in range(count)],
            "split": np.where(np.arange(count) % 2 == 0, "train", "test"),
            "nnz": random.integers(100, 1000, count),
            "skew": skew,
        }
    )
    records = []
    for name, value in zip(matrices["matrix"], skew, strict=True):
        for schedule in range(8):
            panel, barrier, bypass = schedule >> 2, schedule >> 1 & 1, schedule & 1
            wrong = panel != (value > 0.5)
            records.append(
                {
                    "matrix": name,
                    "schedule_id": schedule,
                    "panel": panel,
                    "barrier": barrier,
                    "bypass": bypass,
                    "seconds": 2.0**wrong * 3.0**bypass,
                    "status": "ok",
                    "reason": "",
                }
            )
    return matrices, pd.DataFrame(records)


@pytest.fixture
def matrices():
    return made_up()[0]


@pytest.fixture
def data():
    return ScheduleTimes(made_up()[1], ["panel", "barrier", "bypass"], DEFAULT)


def test_only_the_deciding_parameter_is_important(data):
    table = importance(data).set_index("parameter")
    assert table.index[0] == "panel"
    assert table.loc["panel", "fixed_loss"] == pytest.approx(np.sqrt(2) - 1)
    assert table.loc["panel", "alone_gain"] == pytest.approx(np.sqrt(2) - 1)
    for idle in ("barrier", "bypass"):
        assert table.loc[idle, ["fixed_loss", "alone_gain"]].tolist() == pytest.approx([0, 0])
    assert table.loc["bypass", "best_value"] == "0"


def test_shares_of_choices_add_up_and_follow_the_kind(data, matrices):
    table = choices(data, matrices).set_index(["kind", "parameter", "value"])["share"]
    assert table["all", "panel", "1"] == pytest.approx(0.5)
    assert table["graph", "panel", "1"] == 1.0
    assert table["mesh", "panel", "0"] == 1.0
    assert table["all", "barrier", "0"] == pytest.approx(0.5)  # a tie, everywhere
    sums = table.groupby(level=["kind", "parameter"]).sum()
    assert sums.tolist() == pytest.approx([1.0] * len(sums))


def test_rule_finds_the_statistic_and_its_threshold(data, matrices):
    table = rules(data, matrices).set_index("parameter")
    assert table.loc["panel", "rule"] == "panel = 0 if skew ≤ 0.479, else 1"
    assert table.loc["panel", "loss_rule"] == pytest.approx(0.0)
    assert table.loc["panel", "loss_fixed"] > 0.3
    assert table.loc["bypass", "rule"] == "bypass = 0 always"


def test_rule_that_does_not_help_on_test_matrices_is_shown_as_it_is(data, matrices):
    """Turn skew around on the test matrices: the rule learnt on the others is always wrong."""
    test = matrices["split"] == "test"
    matrices.loc[test, "skew"] = 1 - matrices.loc[test, "skew"]
    row = rules(data, matrices).set_index("parameter").loc["panel"]
    assert row["loss_rule"] > row["loss_fixed"]
