"""Data-collection cost, seconds a sample, break-even."""

import numpy as np
import pandas as pd
import pytest

from cognate.evaluation import cost

BETA = {"cpu": 1.0, "spade": 1000.0}


def test_cost_is_beta_times_samples_of_both_platforms(study):
    rows = study.experiment("headline", "spade", "spmm")
    table = cost.collection_cost(
        rows, study.config.evaluation, BETA, {"cpu": 0.1, "spade": 2.0}, "cpu"
    ).set_index("method")
    sources, shots = len(study.names("train")), 5
    assert table.loc["cognate", "cost"] == 8 * sources + 1000 * 10 * shots
    assert table.loc["cognate", "collection_seconds"] == pytest.approx(
        0.1 * 8 * sources + 2.0 * 10 * shots
    )
    assert table.loc["no-transfer", "cost"] == 1000 * 10 * shots
    assert table.loc["zero-shot", "cost"] == 8 * sources
    assert table.loc["default", "cost"] == 0


def test_seconds_a_sample_are_spent_over_taken():
    samples = pd.DataFrame({"matrix": ["a", "a", "a", "b", "c"]})
    metadata = [{"seconds_spent": {"a": 6.0}}, {"seconds_spent": {"b": 2.0}}]
    assert cost.seconds_a_sample(metadata, samples) == pytest.approx(2.0)
    assert np.isnan(cost.seconds_a_sample([{}], samples))


def rows(default, top1, predict):
    return pd.DataFrame(
        {
            "target": "spade",
            "operation": "spmm",
            "method": "cognate",
            "shots": 5,
            "source_matrices": 9,
            "seed": 0,
            "matrix": [f"m{i}" for i in range(len(default))],
            "nnz": 10,
            "default_seconds": default,
            "top1_seconds": top1,
            "predict_seconds": predict,
            "fit_seconds": 3.0,
        }
    )


def test_break_even_is_prediction_over_what_a_run_saves():
    table = cost.break_even(rows([4.0, 4.0, 4.0], [3.0, 4.0, 5.0], [2.0, 2.0, 2.0]))
    assert table["break_even_runs"].tolist() == [2.0, np.inf, np.inf]
    assert table["saved_seconds"].tolist() == [1.0, 0.0, -1.0]


def test_overhead_counts_the_matrices_that_gain():
    table = cost.overhead(rows([4.0, 4.0, 4.0], [3.0, 2.0, 5.0], [2.0, 2.0, 2.0]), 70.0)
    row = table.iloc[0]
    assert (row["matrices_that_gain"], row["matrices"]) == (2, 3)
    assert row["break_even_runs"] == 2.0
    assert (row["fit_seconds"], row["exhaustive_seconds"]) == (3.0, 70.0)
