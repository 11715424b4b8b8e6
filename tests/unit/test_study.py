from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from cognate.config import Config, parse_config
from cognate.errors import ConfigError, MatrixError
from cognate.study import Run, Study


def config(**changes: Any) -> Config:
    content: dict[str, Any] = {
        "matrices": {"source": "embedded", "nnz": [2000, 20000]},
        "source": {"platform": "cpu"},
        "targets": [{"platform": "spade"}],
        "learning": {
            "seeds": [3, 4],
            "experiments": {"headline": {"methods": ["default", "cognate"], "shots": [2]}},
        },
    }
    return parse_config({**content, **changes})


def with_experiments(**experiments: Any) -> Config:
    return config(learning={"seeds": [3, 4], "experiments": experiments})


def test_every_matrix_is_in_one_batch_and_one_part_of_the_split() -> None:
    study = Study(config())
    in_batches = [name for names in study.batches.values() for name in names]
    in_split = study.names("train") + study.names("validation") + study.names("test")
    assert sorted(in_batches) == sorted(in_split) == sorted(study.matrices.index)
    families = study.matrices.groupby("family")["split"].nunique()
    assert (families == 1).all()


def test_the_source_is_sampled_where_models_learn_and_elsewhere_only_if_asked() -> None:
    usual, everywhere = Study(config()), Study(config(evaluation={"source_on_test": True}))
    tested = set(usual.batches_of("test"))
    assert tested
    assert tested.isdisjoint(usual.sampled_batches("cpu"))
    assert tested <= set(everywhere.sampled_batches("cpu")) == set(everywhere.batches)
    assert usual.sampled_batches("spade") == everywhere.sampled_batches("spade")
    assert everywhere.source_matrices(everywhere.source_size, 0) == everywhere.names("train")


def test_a_batch_is_left_alone_when_another_matrix_comes() -> None:
    names = list(Study(config()).matrices.index)
    one = Study(config(matrices={"names": names[:-1], "batch_nnz": 5000})).matrices["batch"]
    other = Study(config(matrices={"names": names, "batch_nnz": 5000})).matrices["batch"]
    assert (one == other[one.index]).mean() > 0.9


def test_large_matrices_have_a_batch_of_their_own() -> None:
    study = Study(config(matrices={"nnz": [2000, 20000], "batch_nnz": 10000}))
    for batch, names in study.batches.items():
        if study.matrices.loc[names, "nnz"].max() >= 10000:
            assert names == [batch]


def test_runs_leave_out_what_a_method_does_not_depend_on() -> None:
    study = Study(
        with_experiments(
            headline={"methods": ["default", "best-fixed", "cognate"], "shots": [0, 2]},
            sizes={"methods": ["cognate"], "shots": [2], "source_matrices": [3, "all"], "seeds": 1},
        )
    )
    n = study.source_size
    assert study.runs("default") == [Run(0, n, 0)]
    assert study.runs("best-fixed") == [Run(2, n, 3), Run(2, n, 4)]
    assert study.runs("cognate") == sorted(
        [Run(0, n, 3), Run(0, n, 4), Run(2, 3, 3), Run(2, n, 3), Run(2, n, 4)]
    )
    assert set(study.source_models) == {("cognate", 3, 3), ("cognate", n, 3), ("cognate", n, 4)}


def test_smaller_source_sets_are_parts_of_larger_ones() -> None:
    study = Study(config())
    everything = study.source_matrices(study.source_size, 1)
    assert everything == study.names("train")
    assert set(study.source_matrices(3, 1)) <= set(study.source_matrices(5, 1))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"shots": [99]}, ConfigError, "asks for up to 99 shots"),
        ({"source_matrices": [99]}, ConfigError, "asks for up to 99 shots or source matrices"),
    ],
)
def test_impossible_experiments_are_refused(
    wrong: dict[str, Any], error: type[Exception], message: str
) -> None:
    study = Study(with_experiments(headline={"methods": ["cognate"], **wrong}))
    with pytest.raises(error, match=message):
        study.runs("cognate")


def test_too_few_matrices_are_refused(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.eye_array(3))
    study = Study(config(matrices={"source": "directory", "folder": str(tmp_path)}))
    with pytest.raises(MatrixError, match="at least three"):
        study.matrices  # noqa: B018


def test_a_folder_of_files_is_a_study(tmp_path: Path) -> None:
    for i in range(9):
        matrix = sp.random_array((20 + i, 30), density=0.1, rng=np.random.default_rng(i))
        scipy.io.mmwrite(tmp_path / f"m{i}.mtx", matrix)
    study = Study(config(matrices={"source": "directory", "folder": str(tmp_path)}))
    assert sorted(study.matrices.index) == [f"m{i}" for i in range(9)]
    assert study.load("m4").shape == (24, 30)
