"""The paper's preset has the paper's numbers."""

from pathlib import Path

from cognate.config import load_config
from cognate.study import Study

ROOT = Path(__file__).parents[2]


def test_paper_has_the_papers_numbers() -> None:
    study = Study(load_config(ROOT / "config" / "paper.yaml"))
    assert (len(study.names("train")), len(study.names("test"))) == (100, 715)
    assert study.config.source.schedules == study.config.learning.samples_per_shot == 100
    assert study.config.learning.experiments["headline"].shots == (5,)
    assert study.config.width == 256


def test_paper_scale_is_hundreds_of_batches_and_no_family_is_split() -> None:
    study = Study(load_config(ROOT / "config" / "paper.yaml"))
    assert len(study.batches) < 150
    parts = study.matrices.groupby("family")["split"].nunique()
    assert (parts == 1).all()
