"""The models that ship: small, loadable, calibrated on matrices they have not seen."""

import json
from pathlib import Path

import pytest
import yaml

from cognate.config import parse_config
from cognate.errors import ModelError
from cognate.learning.ranker import load_ranker, load_source_model
from cognate.matrices import SparseMatrix
from cognate.models import shipped_model, shipped_names
from cognate.platforms import get_platform
from cognate.recommendation import recommend
from cognate.stages import ship_model
from cognate.stages.build_matrices import build_matrices
from cognate.stages.sample import sample
from cognate.study import Study

CONFIG = """
matrices: {source: embedded, nnz: [3000, 9000], split: {by: family, train: 0.4, validation: 0.3}}
operations: [spmm]
width: 32
source: {platform: spade, label: source, settings: {threads: 1}}
targets: [{platform: spade, schedules: all, settings: {threads: 1, machine: hottiles-4}}]
learning: {experiments: {headline: {methods: [default]}}}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A tiny study, simulated: from one SPADE machine to another."""
    results = tmp_path_factory.mktemp("study") / "results"
    found = Study(parse_config({**yaml.safe_load(CONFIG), "results": str(results)}))
    for batch, names in found.batches.items():
        folder = results / "matrices" / batch
        build_matrices(found, names, folder)
        for platform in found.platform_names:
            output = results / "samples" / platform / "spmm" / f"{batch}.parquet"
            sample(found, platform, "spmm", names, folder, output)
    return found


def test_a_shipped_model_recommends_with_its_own_machine(study, tmp_path):
    path = tmp_path / "spade-spmm.safetensors"
    ship_model.train_shipped_model(study, "spade", "spmm", path)
    card = json.loads(path.with_suffix(".json").read_text())
    assert card["trained_on"] == study.names("train")
    assert card["judged_on"] == "test"
    assert card["test"]["matrices"] == len(study.names("test"))
    assert card["calibration"]["matrices"] == len(study.names("validation"))
    assert card["test"]["top1_speedup"] <= card["test"]["oracle_speedup"] + 1e-9
    name = study.names("test")[0]
    batch = study.matrices.at[name, "batch"]
    matrix = SparseMatrix.load(Path(study.config.results) / "matrices" / batch / f"{name}.npz")
    found = recommend(matrix, "spmm", "spade", width=32, model=path, verify=True)
    small = get_platform("spade", machine="hottiles-4", threads=1)
    operation = study.operation("spmm")
    truth = small.evaluate(matrix, operation, [small.space(operation).default])["seconds"][0]
    assert found.default_seconds == pytest.approx(truth)
    assert load_ranker(path, small, operation).kind == "tiles"


def test_the_source_is_stored_for_transfers(study, tmp_path):
    path = tmp_path / "source-spmm.safetensors"
    ship_model.train_shipped_source(study, "spmm", path)
    assert load_source_model(path, study.platform("source"), study.operation("spmm"))
    assert json.loads(path.with_suffix(".json").read_text())["platform_settings"] == {"threads": 1}


def test_a_model_too_large_to_ship_is_refused(study, tmp_path, monkeypatch):
    monkeypatch.setattr(ship_model, "LARGEST_BYTES", 1000)
    with pytest.raises(ModelError, match="too many to ship"):
        ship_model.train_shipped_source(study, "spmm", tmp_path / "source-spmm.safetensors")
    assert not (tmp_path / "source-spmm.safetensors").exists()


def test_what_ships_is_small_and_names_its_data():
    for name in shipped_names():
        path = shipped_model(name)
        assert path.stat().st_size < 1_000_000
        card = json.loads(path.with_suffix(".json").read_text())
        assert card["trained_on"]
        assert card["operation"] in name
