"""The evaluation table: known answers, and refusal of anything that is missing."""

import numpy as np
import pandas as pd
import pytest

from cognate.errors import SamplesError
from cognate.evaluation import evaluate

SECONDS = {
    "a": [4.0, 2.0, 1.0, 8.0, 6.0, 7.0],
    "b": [3.0, 9.0, 6.0, 3.0, 5.0, 4.0],
}
DEFAULT = 0


@pytest.fixture
def matrices():
    return pd.DataFrame(
        {
            "matrix": ["a", "b", "t"],
            "kind": ["graph", "circuit", "graph"],
            "family": ["f", "g", "h"],
            "split": ["test", "test", "train"],
            "nnz": [10, 20, 30],
            "rows": [4, 5, 6],
            "cols": [4, 5, 6],
        }
    )


@pytest.fixture
def samples():
    return pd.DataFrame(
        {"matrix": name, "schedule_id": i, "seconds": s, "status": "ok", "reason": ""}
        for name, seconds in SECONDS.items()
        for i, s in enumerate(seconds)
    )


def ranking(matrix, order, method="cognate", **changes):
    row = {
        "method": method,
        "shots": 1,
        "source_matrices": 7,
        "seed": 0,
        "matrix": matrix,
        "order": order,
        "predicted": [float(i) for i in range(len(order))],
        "predict_seconds": 0.5,
        "fit_seconds": 2.0,
        "shot_matrices": ["t"],
    }
    return row | changes


def run(rankings, samples, matrices):
    return evaluate.evaluate(
        pd.DataFrame(rankings),
        samples,
        matrices,
        target="spade",
        operation="spmm",
        default_schedule=DEFAULT,
        samples_per_shot=3,
        source_samples_per_matrix=11,
    )


def test_known_times(samples, matrices):
    rows = run([ranking("a", [4, 5, 3, 0, 1, 2])], samples, matrices)
    row = rows.iloc[0]
    assert (row["default_seconds"], row["best_seconds"]) == (4.0, 1.0)
    assert (row["top1_seconds"], row["top5_seconds"]) == (6.0, 2.0)
    assert (row["top1_schedule"], row["best_schedule"]) == (4, 2)
    assert row["absolute_percentage_error"] == pytest.approx(500.0)
    assert (row["kind"], row["family"], row["nnz"]) == ("graph", "f", 10)
    assert (row["samples_used"], row["source_samples_used"]) == (3, 77)


def test_perfect_ranking(samples, matrices):
    order = list(np.argsort(SECONDS["a"]))
    row = run([ranking("a", order)], samples, matrices).iloc[0]
    assert row["kendall_tau"] == pytest.approx(1.0)
    assert row["ordered_pair_accuracy"] == pytest.approx(1.0)
    assert row["absolute_percentage_error"] == 0


def test_ties_in_truth_are_left_out(samples, matrices):
    """Schedules 0 and 3 take equally long on b: either order of them is right."""
    for order in ([0, 3, 5, 4, 2, 1], [3, 0, 5, 4, 2, 1]):
        row = run([ranking("b", order)], samples, matrices).iloc[0]
        assert row["ordered_pair_accuracy"] == pytest.approx(1.0)


def test_rejected_schedule_counts_as_the_default(samples, matrices):
    rejected = (samples["matrix"] == "a") & samples["schedule_id"].isin([2, 3])
    samples.loc[rejected, ["seconds", "status", "reason"]] = [np.nan, "rejected", "too large"]
    row = run([ranking("a", [2, 3, 4, 5, 0, 1])], samples, matrices).iloc[0]
    assert row["top1_seconds"] == row["default_seconds"] == 4.0
    assert row["best_seconds"] == 2.0
    assert row["best_schedule"] == 1


def test_rows_come_in_one_order_whatever_the_rankings(samples, matrices):
    rankings = [ranking(m, [0, 1, 2, 3, 4, 5], seed=s) for m in "ba" for s in (1, 0)]
    forwards = run(rankings, samples, matrices)
    backwards = run(rankings[::-1], samples.iloc[::-1], matrices.iloc[::-1])
    pd.testing.assert_frame_equal(forwards, backwards)
    assert len(forwards) == 4


@pytest.mark.parametrize(
    ("method", "shots", "target_samples", "source_samples"),
    [
        ("default", ["t"], 0, 0),
        ("zero-shot", ["t"], 0, 77),
        ("no-transfer", ["t"], 3, 0),
        ("full-target", ["t"], 6, 0),
        ("full-target:loss=listwise", [], 6, 0),
        ("cognate:latent=pca", ["t"], 3, 77),
        ("somebody's", ["t"], 3, 77),
    ],
)
def test_samples_that_each_method_saw(
    samples, matrices, method, shots, target_samples, source_samples
):
    """The full target has 20 times the shots' samples, but one matrix of six schedules is all."""
    order = [0, 1, 2, 3, 4, 5]
    row = run([ranking("a", order, method, shot_matrices=shots)], samples, matrices).iloc[0]
    assert row["samples_used"] == target_samples
    assert row["source_samples_used"] == source_samples


def drop_matrix(rankings, samples, matrices):
    return rankings, samples[samples["matrix"] != "b"], matrices


def drop_schedule(rankings, samples, matrices):
    return rankings, samples[(samples["matrix"] != "b") | (samples["schedule_id"] != 4)], matrices


def drop_schedule_everywhere(rankings, samples, matrices):
    return rankings, samples[samples["schedule_id"] != 4], matrices


def lose_default(rankings, samples, matrices):
    gone = (samples["matrix"] == "b") & (samples["schedule_id"] == DEFAULT)
    samples.loc[gone, ["seconds", "status", "reason"]] = [np.nan, "rejected", "too large"]
    return rankings, samples, matrices


def name_twice(rankings, samples, matrices):
    rankings[0]["order"] = [0, 0, 1, 2, 3, 4]
    return rankings, samples, matrices


def shorten(rankings, samples, matrices):
    rankings[0]["order"] = [0, 1]
    return rankings, samples, matrices


def forget_identity(rankings, samples, matrices):
    return rankings, samples, matrices[matrices["matrix"] != "b"]


def rank_training(rankings, samples, matrices):
    matrices.loc[matrices["matrix"] == "b", "split"] = "train"
    return rankings, samples, matrices


def leak(rankings, samples, matrices):
    rankings[0]["shot_matrices"] = ["b"]
    return rankings, samples, matrices


def repeat(rankings, samples, matrices):
    return [*rankings, rankings[0]], samples, matrices


def break_scores(rankings, samples, matrices):
    rankings[0]["predicted"] = [0.0, 1.0, np.nan, 3.0, 4.0, 5.0]
    return rankings, samples, matrices


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (drop_matrix, "no samples of b"),
        (drop_schedule, "b has no sample of schedule 4"),
        (drop_schedule_everywhere, "schedule 4 was not sampled"),
        (lose_default, "default schedule 0 has no time on b"),
        (name_twice, "names a schedule twice"),
        (shorten, "differ in length"),
        (forget_identity, "b not in the table of matrices"),
        (rank_training, "b not in the test split"),
        (leak, "trained on test matrices: b"),
        (repeat, "two rankings have the same"),
        (break_scores, "not a number"),
    ],
)
def test_what_is_missing_or_wrong_is_refused(spoil, message, samples, matrices):
    rankings = [ranking(m, [0, 1, 2, 3, 4, 5]) for m in "ab"]
    run(rankings, samples, matrices)
    with pytest.raises(SamplesError, match=message):
        run(*spoil(rankings, samples, matrices))


def test_no_rankings_at_all_is_an_error(samples, matrices):
    with pytest.raises(SamplesError, match="there are none"):
        run([ranking("a", [0, 1, 2, 3, 4, 5])][:0], samples, matrices)


def test_table_is_stored_and_read_back(samples, matrices, tmp_path):
    table = run([ranking("a", [0, 1, 2, 3, 4, 5])], samples, matrices)
    evaluate.write(table, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(evaluate.read(tmp_path / "table.parquet"), table)


def test_impossible_table_is_refused(samples, matrices, tmp_path):
    table = run([ranking("a", [0, 1, 2, 3, 4, 5])], samples, matrices)
    with pytest.raises(SamplesError, match="must not decrease"):
        evaluate.write(table.assign(best_seconds=9.0), tmp_path / "table.parquet")
    (tmp_path / "other.parquet").write_text("no table")
    with pytest.raises(SamplesError, match="cannot be read"):
        evaluate.read(tmp_path / "other.parquet")
