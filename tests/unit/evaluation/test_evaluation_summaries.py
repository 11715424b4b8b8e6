"""Tables of speed-ups and accuracy on a made-up study and on hand-made rows."""

import numpy as np
import pandas as pd
import pytest

from cognate.config import Evaluation
from cognate.evaluation import summaries
from cognate.evaluation.metrics import geometric_mean

CHOICE = Evaluation(bootstrap=200)


def rows_of(times, method="cognate", seed=0, **fixed):
    """Rows of one method and seed from {matrix: (default, fixed, best, top1, top5)}."""
    names = ("default", "fixed", "best", "top1", "top5")
    return pd.DataFrame(
        {
            "target": "spade",
            "operation": "spmm",
            "method": method,
            "shots": 5,
            "source_matrices": 9,
            "seed": seed,
            "matrix": matrix,
            "kind": fixed.get("kind", "graph"),
            "family": matrix,
            "nnz": fixed.get("nnz", 1000),
            "rows": 10,
            "cols": 10,
            "kendall_tau": 0.5,
            "ordered_pair_accuracy": 0.75,
            "absolute_percentage_error": 10.0,
        }
        | {f"{n}_seconds": t for n, t in zip(names, values, strict=True)}
        | {"trained_seconds": fixed.get("trained", values[1])}
        for matrix, values in times.items()
    )


@pytest.fixture(scope="module")
def headline(study):
    rows = study.experiment("headline", "spade", "spmm")
    return summaries.headline(rows, study.config.evaluation).set_index("method")


def test_oracle_default_and_best_fixed_are_the_ends_of_the_scales(headline):
    assert headline.loc["oracle", "oracle_share_top1"] == pytest.approx(1.0)
    assert headline.loc["oracle", "headroom_share_top1"] == pytest.approx(1.0)
    assert headline.loc["best-fixed", "headroom_share_top1"] == pytest.approx(0.0)
    assert headline.loc["default", "speedup_top1"] == pytest.approx(1.0)
    assert headline.loc["default", ["wins_default", "losses_default"]].tolist() == [0, 0]
    assert headline.loc["oracle", ["losses_default", "losses_fixed"]].tolist() == [0, 0]


def test_every_estimate_lies_in_its_interval(headline):
    for column in [c for c in headline if c.endswith("_low")]:
        name = column.removesuffix("_low")
        assert (headline[column] <= headline[name] + 1e-12).all()
        assert (headline[name] <= headline[f"{name}_high"] + 1e-12).all()


def test_better_rankings_give_higher_speedups(headline):
    speedup = headline["speedup_top1"]
    assert speedup["cognate-tiles"] > speedup["cognate"] > speedup["zero-shot"]
    assert (headline["speedup_top5"] >= speedup - 1e-12).all()


def test_headline_columns_are_those_that_are_documented(headline):
    wanted = ["target", "operation", "shots", "speedup_max", "wins_fixed", "ties_fixed"]
    for name in ("speedup", "oracle_share", "headroom_share", "strict_share"):
        wanted += [f"{name}_{t}{end}" for t in ("top1", "top5") for end in ("", "_low", "_high")]
    assert set(wanted) <= set(headline.columns)


def test_known_speedups_and_shares():
    rows = rows_of({"a": (8, 4, 1, 2, 1), "b": (2, 2, 1, 2, 2)})
    row = summaries.headline(rows, CHOICE).iloc[0]
    assert row["speedup_top1"] == pytest.approx(2.0)
    assert row["speedup_top5"] == pytest.approx(np.sqrt(8))
    assert row["speedup_max"] == pytest.approx(4.0)
    assert row["speedup_max_top5"] == pytest.approx(8.0)
    assert row["oracle_share_top1"] == pytest.approx(0.5)
    assert row["headroom_share_top1"] == pytest.approx(1 / 3)
    assert row["headroom_share_top5"] == pytest.approx(2 / 3)
    assert row[["wins_default", "losses_default", "ties_default"]].tolist() == [1, 0, 1]


def test_strict_share_is_against_the_schedule_best_on_all_training_matrices():
    rows = rows_of({"a": (8, 4, 1, 2, 1)}, trained=2)
    row = summaries.headline(rows, CHOICE).iloc[0]
    assert row["headroom_share_top1"] == pytest.approx(0.5)
    assert row["strict_share_top1"] == pytest.approx(0.0)
    assert row["strict_share_top5"] == pytest.approx(1.0)
    rows = rows_of({"a": (8, 4, 1, 4, 1)}, trained=2)
    assert summaries.headline(rows, CHOICE).iloc[0]["strict_share_top1"] == pytest.approx(-1.0)


def test_no_headroom_leaves_its_share_undefined():
    row = summaries.headline(rows_of({"a": (2, 1, 1, 1, 1)}), CHOICE).iloc[0]
    assert np.isnan(row["headroom_share_top1"])
    assert row["oracle_share_top1"] == pytest.approx(1.0)


def test_unknown_fixed_schedule_leaves_its_columns_empty():
    row = summaries.headline(rows_of({"a": (2, np.nan, 1, 1, 1)}), CHOICE).iloc[0]
    assert np.isnan(row["headroom_share_top1"])
    assert np.isnan(row["wins_fixed"])
    assert row["speedup_top1"] == pytest.approx(2.0)


def test_wins_and_ties_are_of_means_over_seeds():
    """Twice as fast in one seed and half as fast in the other is a tie."""
    one, two = rows_of({"a": (2, 2, 1, 1, 1)}), rows_of({"a": (2, 2, 1, 4, 4)}, seed=1)
    row = summaries.headline(pd.concat([one, two]), CHOICE).iloc[0]
    assert row[["wins_default", "losses_default", "ties_default"]].tolist() == [0, 0, 1]
    assert row["p_value_default"] == 1.0


def test_comparison_of_a_method_that_is_always_twice_as_fast():
    times = {f"m{i}": (8, 8, 1, 2, 1) for i in range(12)}
    slow = dict.fromkeys(times, (8, 8, 1, 4, 1))
    table = summaries.comparisons(
        pd.concat([rows_of(times, "fast"), rows_of(slow, "slow")]), CHOICE
    )
    row = table.iloc[0]
    assert (row["method"], row["other"]) == ("fast", "slow")
    assert [row["ratio"], row["ratio_low"], row["ratio_high"]] == pytest.approx([2, 2, 2])
    assert row[["wins", "losses", "ties"]].tolist() == [12, 0, 0]
    assert row["p_value"] < 0.01


def test_equal_methods_tie():
    times = {"a": (8, 8, 1, 2, 1), "b": (8, 8, 1, 3, 1)}
    table = summaries.comparisons(pd.concat([rows_of(times, "x"), rows_of(times, "y")]), CHOICE)
    assert table.loc[0, "ratio"] == pytest.approx(1.0)
    assert table.loc[0, ["wins", "losses", "ties"]].tolist() == [0, 0, 2]
    assert table.loc[0, "p_value"] == 1.0


def test_all_pairs_are_compared_once(study):
    rows = study.experiment("headline", "spade", "spmm")
    table = summaries.comparisons(rows, CHOICE)
    methods = rows["method"].nunique()
    assert len(table) == methods * (methods - 1) / 2
    assert (table["p_holm"] >= table["p_value"]).all()


def test_holm_is_that_of_the_textbook():
    p_values = np.array([0.01, 0.04, 0.03, 0.005])
    assert summaries.holm(p_values) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert summaries.holm(np.array([0.9, 0.8])) == pytest.approx([1.0, 1.0])


def test_accuracy_by_part_covers_every_matrix_once(study):
    rows = study.experiment("headline", "spade", "spmm")
    for by in ("kind", "size"):
        table = summaries.accuracy(rows, CHOICE, by)
        parts = table.groupby("method")["matrices"].sum()
        assert (parts == rows["matrix"].nunique()).all()
    assert summaries.accuracy(rows, CHOICE)["kendall_tau"].max() == pytest.approx(1.0)


def test_size_decades():
    sizes = summaries.size_decade(pd.Series([0, 1, 9999, 10000, 99999, 1000000]))
    assert sizes.tolist() == [
        "1e0-1e1",
        "1e0-1e1",
        "1e3-1e4",
        "1e4-1e5",
        "1e4-1e5",
        "1e6-1e7",
    ]


def test_per_matrix_speedups_average_to_the_headline(study, headline):
    table = summaries.per_matrix(study.experiment("headline", "spade", "spmm"))
    means = table.groupby("method")["speedup_top1"].apply(geometric_mean)
    assert means[headline.index].tolist() == pytest.approx(headline["speedup_top1"].tolist())


def test_family_resampling_is_a_choice(study):
    rows = study.experiment("headline", "spade", "spmm")
    by_matrix = summaries.headline(rows, CHOICE)
    by_family = summaries.headline(rows, CHOICE.model_copy(update={"resample": "family"}))
    assert by_matrix["speedup_top1"].tolist() == by_family["speedup_top1"].tolist()
    assert by_matrix["speedup_top1_low"].tolist() != by_family["speedup_top1_low"].tolist()
