"""Samples that nothing can be learnt from are refused, with what to do."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cognate.errors import ModelError
from cognate.learning.baselines import default_ranker
from cognate.learning.checks import check_samples
from cognate.learning.methods import get_method
from cognate.learning.ranker import load_ranker, load_source_model
from cognate.learning.store import card_path
from cognate.learning.task import Task
from cognate.operations import get_operation
from cognate.platforms import Platform
from cognate.schedules import Parameter, ScheduleSpace


def refused(task: Task, table: pd.DataFrame, match: str) -> None:
    with pytest.raises(ModelError, match=match):
        check_samples(table, task.target, task.operation, "samples")
    bad = dataclasses.replace(task, target_train=table, shot_matrices=("train0",))
    for name in ("xgboost", "no-transfer", "best-fixed"):
        with pytest.raises(ModelError):
            get_method(name).fit(bad)


def test_good_samples_pass_and_rejected_rows_are_left_out(task: Task) -> None:
    table = task.target_train.copy()
    table.loc[3, ["seconds", "status", "reason"]] = [np.nan, "rejected", "too large"]
    kept = check_samples(table, task.target, task.operation, "samples")
    assert len(kept) == len(table) - 1


def test_one_schedule_a_matrix(task: Task) -> None:
    refused(task, task.target_train.groupby("matrix").head(1), "one schedule.*at least two")


def test_all_times_equal(task: Task) -> None:
    refused(task, task.target_train.assign(seconds=0.5), "same time.*check the timer")


def test_nan_and_infinite_times(task: Task) -> None:
    for value in (np.nan, np.inf, 0.0, -1.0):
        table = task.target_train[task.target_train["matrix"] == "train0"].copy()
        table.iloc[5, table.columns.get_loc("seconds")] = value
        with pytest.raises(ModelError, match=r"mark it failed or measure it again"):
            check_samples(table, task.target, task.operation, "samples")


def test_no_sample_ran(task: Task) -> None:
    refused(task, task.target_train.assign(status="failed"), "collect samples first")


def test_samples_of_a_changed_space(task: Task) -> None:
    changed = task.target_train.assign(bypass=1 - task.target_train["bypass"])
    refused(task, changed, "collect them again")
    beyond = task.target_train.assign(schedule_id=task.target_train["schedule_id"] + 5000)
    refused(task, beyond, "outside.*collect them again")


def test_shots_without_samples(task: Task) -> None:
    with pytest.raises(ModelError, match=r"nowhere.*collect them or choose other shots"):
        dataclasses.replace(task, shot_matrices=("train0", "nowhere")).shots()


def test_samples_without_their_matrix(task: Task) -> None:
    with pytest.raises(ModelError, match="but not the matrix"):
        get_method("no-transfer").fit(dataclasses.replace(task, matrices={}))


class _Changed:
    """A platform whose space has one more value than when a model was trained."""

    def __init__(self, platform: Platform):
        self._platform = platform
        self.name = platform.name

    def space(self, operation: object) -> ScheduleSpace:
        space = self._platform.space(get_operation("spmm", 64))
        return ScheduleSpace(space.name, [*space.parameters, Parameter("new", (0, 1), 0)])


def test_a_model_of_another_space_operation_or_file_is_refused(task: Task, tmp_path: Path) -> None:
    path = tmp_path / "fixed.safetensors"
    default_ranker(task.target, task.operation).save(path)
    with pytest.raises(ModelError, match="trained for space"):
        load_ranker(path, _Changed(task.target), task.operation)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="trained for width 64, not 32"):
        load_ranker(path, task.target, get_operation("spmm", 32))
    with pytest.raises(ModelError, match="trained for operation"):
        load_ranker(path, task.target, get_operation("sddmm", 64))
    with pytest.raises(ModelError, match="not a source model"):
        load_source_model(path, task.target, task.operation)


@pytest.mark.parametrize("damage", ["cut", "swapped", "no card", "no json", "old"])
def test_damaged_models_are_refused(damage: str, task: Task, tmp_path: Path) -> None:
    path = tmp_path / "fixed.safetensors"
    default_ranker(task.target, task.operation).save(path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-3])
    elif damage == "swapped":
        get_method("random").fit(task).save(tmp_path / "other.safetensors")
        path.write_bytes((tmp_path / "other.safetensors").read_bytes())
    elif damage == "no card":
        card_path(path).unlink()
    elif damage == "no json":
        card_path(path).write_text("{")
    else:
        card_path(path).write_text(card_path(path).read_text().replace('"settings"', '"other"'))
    with pytest.raises(ModelError, match=str(path)):
        load_ranker(path, task.target, task.operation)
