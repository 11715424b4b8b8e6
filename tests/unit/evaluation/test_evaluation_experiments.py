"""Which rows belong to an experiment, and that none is missing."""

import pandas as pd
import pytest

from cognate.config import Experiment
from cognate.errors import SamplesError
from cognate.evaluation.experiments import (
    expected_runs,
    missing_rows,
    require_complete,
    select,
    with_fixed,
)
from cognate.evaluation.methods import dependence
from cognate.learning.methods import METHODS


def table(*runs):
    names = ["method", "shots", "source_matrices", "seed", "matrix", "top1_seconds"]
    return pd.DataFrame(list(runs), columns=names)


def test_runs_are_the_product_with_all_resolved():
    experiment = Experiment(methods=("cognate",), shots=(0, 5), source_matrices=(10, "all"))
    runs = expected_runs(experiment, [0, 1], all_sources=40)
    assert len(runs) == 8
    assert set(runs["source_matrices"]) == {10, 40}


def test_equal_sizes_are_listed_once():
    experiment = Experiment(methods=("cognate",), source_matrices=(40, "all"))
    assert len(expected_runs(experiment, [0], all_sources=40)) == 1


def test_methods_that_need_shots_have_no_run_without():
    experiment = Experiment(methods=("best-fixed", "cognate"), shots=(0, 1), seeds=1)
    runs = expected_runs(experiment, [0, 1], all_sources=4)
    assert sorted(zip(runs["method"], runs["shots"], strict=True)) == [
        ("best-fixed", 1),
        ("cognate", 0),
        ("cognate", 1),
    ]


def test_rows_of_other_runs_are_left_out():
    stored = table(
        ("cognate", 5, 40, 0, "a", 1.0),
        ("cognate", 3, 40, 0, "a", 2.0),
        ("cognate", 5, 10, 0, "a", 3.0),
        ("cognate", 5, 40, 9, "a", 4.0),
        ("waco-fa", 5, 40, 0, "a", 5.0),
    )
    runs = expected_runs(Experiment(methods=("cognate",)), [0], all_sources=40)
    assert select(stored, runs)["top1_seconds"].tolist() == [1.0]


def test_a_row_serves_every_run_that_its_method_cannot_tell_apart():
    stored = table(("zero-shot", 5, 40, 0, "a", 1.0), ("default", 5, 40, 0, "a", 2.0))
    experiment = Experiment(methods=("zero-shot", "default"), shots=(0, 5, 9))
    rows = select(stored, expected_runs(experiment, [0], all_sources=40))
    assert rows.groupby("method")["shots"].apply(list).to_dict() == {
        "zero-shot": [0, 5, 9],
        "default": [0, 5, 9],
    }


def test_missing_rows_are_counted_and_refused():
    runs = expected_runs(Experiment(methods=("cognate",)), [0, 1], all_sources=40)
    stored = table(("cognate", 5, 40, 0, "a", 1.0), ("cognate", 5, 40, 0, "b", 1.0))
    rows = select(stored, runs)
    assert missing_rows(rows, runs, ["a", "b"]) == 2
    with pytest.raises(SamplesError, match="2 rows are missing"):
        require_complete(rows, runs, ["a", "b"])
    require_complete(rows, runs[runs["seed"] == 0], ["a", "b"])


def test_fixed_is_that_of_the_same_shots_and_seed_else_of_the_usual():
    stored = table(
        ("best-fixed", 5, 40, 0, "a", 5.0),
        ("best-fixed", 5, 40, 1, "a", 6.0),
        ("best-fixed", 2, 40, 0, "a", 2.0),
        ("cognate", 0, 40, 0, "a", 1.0),
        ("cognate", 2, 10, 0, "a", 1.0),
        ("cognate", 5, 40, 1, "a", 1.0),
        ("cognate", 5, 40, 2, "a", 1.0),
    )
    rows = with_fixed(stored, stored, usual_shots=5)
    found = rows[rows["method"] == "cognate"]["fixed_seconds"]
    assert found.iloc[:3].tolist() == [5.0, 2.0, 6.0]
    assert pd.isna(found.iloc[3])


@pytest.mark.parametrize("name", METHODS)
def test_dependence_agrees_with_the_methods_themselves(name):
    method, depends = METHODS[name], dependence(name)
    assert depends.source == method.uses_source
    assert depends.needs_shots == (method.uses_shots and not method.uses_source)
    assert depends.shots == (method.uses_shots or name == "full-target")
    assert depends.seed or not (method.trains or method.uses_shots)
