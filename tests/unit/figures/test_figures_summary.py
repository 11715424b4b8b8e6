"""The one-page summary tells what the numbers say, also where they are bad."""

import re

import pytest
import synthetic_study

from cognate.evaluation import summaries
from cognate.evaluation.study_data import StudyData
from cognate.figures.summary import summary


@pytest.fixture
def text(study):
    return summary(study)


def changed(study, monkeypatch, change):
    """The summary of the study with its evaluation rows changed."""
    other = StudyData(study.folder, study.config)
    rows = {scope: change(study.evaluation(*scope).copy()) for scope in study.scopes}
    monkeypatch.setattr(other, "evaluation", lambda *scope: rows[scope])
    return summary(other)


def test_numbers_are_those_of_the_headline_table(study, text):
    rows = study.experiment("headline", "spade", "spmm")
    table = summaries.headline(rows, study.config.evaluation).set_index("method")
    row = table.loc["cognate-tiles"]
    interval = f"[{row['speedup_top1_low']:.2f}, {row['speedup_top1_high']:.2f}]"
    assert f"| COGNATE-tiles | {row['speedup_top1']:.2f} × {interval}" in text
    assert re.search(r"15 test matrices", text)


def test_every_scope_and_method_is_there(text):
    assert "## SpMM on spade" in text
    assert "## SDDMM on spade" in text
    assert text.count("| oracle | ") == 2
    assert text.count("**Best few-shot method.** COGNATE-tiles") == 2


def test_success_is_told_with_its_test(text):
    assert "is faster than one fixed schedule" in text
    assert "corrected for the choice among" in text
    assert "no row is missing" in text


def test_headroom_verdict_follows_the_samples(study, monkeypatch):
    samples = study.samples("spade", "spmm")
    other = StudyData(study.folder, study.config)
    best = samples.groupby("matrix")["seconds"].transform("min")
    flat = samples.assign(seconds=best * (1 + 0.001 * samples["schedule_id"]))
    monkeypatch.setattr(other, "samples", lambda *scope: flat)
    assert "**misses the aim of 1.10 ×**" in summary(other)


def test_methods_below_the_training_set_s_fixed_schedule_are_called_so(study, monkeypatch):
    other = StudyData(study.folder, study.config)
    best = {scope: study.headroom(*scope) for scope in study.scopes}
    better = {s: t.assign(fixed_seconds=t["best_seconds"] * 1.0001) for s, t in best.items()}
    monkeypatch.setattr(other, "headroom", lambda *scope: better[scope])
    assert "**not faster than the one schedule that is best on all training matrices**" in summary(
        other
    )


def test_study_without_best_fixed_leaves_out_what_needs_it(tmp_path):
    config = synthetic_study.toy_config(
        experiments={"headline": {"methods": ["default", "cognate", "oracle"], "shots": [0, 5]}}
    )
    synthetic_study.write_study(tmp_path / "results", config)
    text = summary(StudyData(tmp_path / "results", config))
    assert "the share of the headroom is undefined" in text
    assert re.search(r"\| undefined \| .* \| — \|", text)


def test_methods_below_best_fixed_are_called_so(study, monkeypatch):
    learned = ["zero-shot", "no-transfer", "waco-fa", "waco-fm", "xgboost", "cognate"]

    def worsen(rows):
        bad = rows["method"].isin([*learned, "cognate-tiles"])
        rows.loc[bad, "top1_seconds"] = rows["default_seconds"] * 1.5
        return rows

    text = changed(study, monkeypatch, worsen)
    assert "**not faster than one fixed schedule**" in text
    assert "is faster than one fixed schedule" not in text


def test_gain_within_chance_is_called_so(study, monkeypatch):
    """The best method equals best-fixed but for one matrix on which it is a little faster."""

    def nearly_fixed(rows):
        fixed = rows[rows["method"] == "best-fixed"].set_index(["matrix", "seed"])["top1_seconds"]
        few_shot = ~rows["method"].isin(["default", "random", "best-fixed", "oracle"])
        keys = list(zip(rows["matrix"], rows["seed"], strict=True))
        same = few_shot & (rows["matrix"] != rows["matrix"].iloc[0])
        rows.loc[same, "top1_seconds"] = [
            fixed[key] for key, use in zip(keys, same, strict=True) if use
        ]
        first = few_shot & ~same
        rows.loc[first, "top1_seconds"] = rows["best_seconds"]
        return rows

    assert "**but not by more than chance would explain**" in changed(
        study, monkeypatch, nearly_fixed
    )
