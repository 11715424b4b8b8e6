"""Reading a results folder, and saying what is not there."""

import shutil

import pandas as pd
import pytest
import synthetic_study

from cognate.errors import ConfigError, SamplesError
from cognate.evaluation.provenance import content_hash, environment
from cognate.evaluation.study_data import StudyData


@pytest.fixture
def copy(study, tmp_path):
    shutil.copytree(study.folder, tmp_path / "results")
    return StudyData(tmp_path / "results", study.config)


def test_tables_are_read_once(study):
    assert study.samples("spade", "spmm") is study.samples("spade", "spmm")
    assert study.matrices is study.matrices


def test_matrices_keep_their_text(copy):
    path = copy.folder / "tables" / "matrices.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    table.loc[0, ["group", "kind", "family"]] = ["NA", "", "null"]
    table.loc[0, "gini"] = ""
    table.to_csv(path, index=False)
    first = copy.matrices.iloc[0]
    assert first[["group", "kind", "family"]].tolist() == ["NA", "", "null"]
    assert pd.isna(first["gini"])
    assert copy.matrices["nnz"].dtype == "int64"


def test_scopes_and_names(study):
    assert study.scopes == [("spade", "spmm"), ("spade", "sddmm")]
    assert set(study.names("test")).isdisjoint(study.names("train"))
    assert study.usual_shots == 5
    assert study.default_schedule("spade", "spmm") == synthetic_study.DEFAULT
    assert study.matrix("matrix_000").name == "matrix_000"


def test_unknown_names_are_told(study):
    with pytest.raises(SamplesError, match="has no experiment 'shts'; it has headline"):
        study.experiment("shts", "spade", "spmm")
    with pytest.raises(ConfigError, match="no platform 'gpu'"):
        study.platform("gpu")
    with pytest.raises(SamplesError, match="matrix nobody is not stored"):
        study.matrix("nobody")


@pytest.mark.parametrize(
    ("gone", "ask"),
    [
        ("tables", lambda s: s.matrices),
        ("samples/spade", lambda s: s.samples("spade", "spmm")),
        ("evaluation", lambda s: s.evaluation("spade", "spmm")),
        ("models", lambda s: s.curves()),
        ("tables", lambda s: s.end_to_end()),
    ],
)
def test_what_is_not_there_is_named(copy, gone, ask):
    shutil.rmtree(copy.folder / gone)
    with pytest.raises(SamplesError, match=gone.split("/")[0] if gone != "tables" else "results"):
        ask(copy)


def test_incomplete_evaluation_is_refused(copy):
    path = copy.folder / "evaluation" / "spade-spmm.parquet"
    table = pd.read_parquet(path)
    table[table["method"] != "cognate"].to_parquet(path, index=False)
    with pytest.raises(SamplesError, match=r"rows are missing.*cognate"):
        copy.experiment("headline", "spade", "spmm")


def test_environment_shows_every_value_that_differs(study):
    files = [
        {"environment": {"processor": "one", "packages": {"numpy": "2"}}, "seconds_spent": {}},
        {"environment": {"processor": "two", "packages": {"numpy": "2"}}, "seconds_spent": {}},
    ]
    table = environment({("cpu", "spmm"): files}, study.matrices, study.config)
    found = table.set_index(["section", "item"])["value"]
    assert found["samples of cpu, spmm", "environment.processor"] == "one | two"
    assert found["samples of cpu, spmm", "environment.packages.numpy"] == "2"
    assert found["study", "config_hash"] == study.config.config_hash
    assert found["corpus", "matrices"] == "24"
    assert not any("seconds_spent" in item for item in table["item"])


def test_content_hash_is_of_values_not_of_order():
    table = pd.DataFrame({"x": [1, 2, 3], "y": [0.1, 0.2, 0.3]})
    assert content_hash(table) == content_hash(table.iloc[::-1])
    assert content_hash(table) != content_hash(table.assign(y=[0.1, 0.2, 0.4]))
    assert content_hash(table) != content_hash(table.rename(columns={"x": "z"}))
