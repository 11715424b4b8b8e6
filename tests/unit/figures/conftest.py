import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "evaluation"))

import synthetic_study

from cognate.evaluation.study_data import StudyData


@pytest.fixture(autouse=True)
def _toy_platform(monkeypatch):
    points = {"toy": synthetic_study.ToyEntryPoint()}
    monkeypatch.setattr("cognate.platforms.platform._entry_points", lambda: points)


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study") / "results"
    config = synthetic_study.toy_config()
    synthetic_study.write_study(folder, config)
    return StudyData(folder, config)
