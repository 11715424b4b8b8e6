"""Learning a platform: the plan, the collection, the judgement, what is written."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cognate.errors import ModelError, PlatformError
from cognate.learning.methods import pretrain
from cognate.learning.task import Task
from cognate.matrices.splits import embedded_split
from cognate.operations import get_operation
from cognate.platforms import get_platform
from cognate.recommendation import recommend
from cognate.transfer import make_plan, transfer
from cognate.transfer.plan import spread

BOARD = Path(__file__).parents[3] / "examples" / "table" / "board.yaml"
SPMM = get_operation("spmm", 64)


@pytest.fixture(scope="module")
def source_model(tmp_path_factory, matrices):
    """Laws of SPADE, as the source that another machine starts from."""
    spade = get_platform("spade", threads=1)
    space = spade.space(SPMM)
    tables = []
    for name, matrix in matrices.items():
        schedules = space.sample(40, seed=3)
        table = spade.evaluate(matrix, SPMM, schedules)
        parameters = space.table(schedules).drop(columns="schedule_id")
        tables.append(pd.concat([table, parameters], axis=1).assign(matrix=name))
    table = pd.concat(tables, ignore_index=True)
    task = Task(SPMM, spade, spade, matrices, table, table.iloc[:0], table.iloc[:0], (), 40, 0)
    path = tmp_path_factory.mktemp("source") / "source.safetensors"
    pretrain(task, "tiles", 0).save(path, platform_settings={"threads": 1})
    return path


def board_plan(shots=3, held_out=3):
    board = get_platform(str(BOARD))
    return board, make_plan(board, SPMM, shots, held_out, nnz=(15_000, 250_000))


def test_a_plan_keeps_families_apart_and_knows_what_there_is():
    board, plan = board_plan()
    parts = embedded_split()
    assert set(parts[list(plan.shots)]) == {"train"}
    assert set(parts[list(plan.held_out)]) == {"test"}
    assert set(plan.matrices) == {*plan.shots, *plan.held_out} <= set(board.answers_for(SPMM))
    assert make_plan(board, SPMM, 2, 2, nnz=(15_000, 250_000)).shots == plan.shots[:2]
    with pytest.raises(PlatformError, match="99 matrices to train are wanted"):
        make_plan(board, SPMM, 99, 2)


def test_spread_starts_typical_and_goes_far(matrices):
    chosen = spread(matrices, len(matrices))
    assert sorted(chosen) == sorted(matrices)
    assert chosen[:2] == spread(matrices, 2)
    twins = dict.fromkeys(("a", "b", "c"), matrices["m0"]) | {"far": matrices["m4"]}
    assert "far" in spread(twins, 2)


def test_a_transfer_learns_and_writes_everything_down(tmp_path, source_model):
    board, plan = board_plan()
    outcome = transfer(board, SPMM, plan, tmp_path, source_model=source_model)
    curve = outcome.curve
    assert curve["shots"].tolist() == [0, 1, 2, 3]
    assert curve["draws"].tolist() == [1, 3, 3, 3]
    assert (curve["top1_speedup_low"] <= curve["top1_speedup"] + 1e-12).all()
    assert (curve["top1_speedup"] <= curve["top1_speedup_high"] + 1e-12).all()
    assert (curve["top1_speedup"] <= curve["oracle_speedup"] + 1e-12).all()
    assert (curve["top1_speedup"] <= curve["top5_speedup"] + 1e-12).all()
    written = pd.read_csv(tmp_path / "curve.csv")
    assert np.allclose(written["oracle_speedup"], curve["oracle_speedup"])
    card = json.loads((tmp_path / "model.json").read_text())
    assert card["shots"] == list(plan.shots)
    assert card["test"]["matrices"] == 3
    assert card["description"]["content_hash"] == board.content_hash
    text = (tmp_path / "card.md").read_text()
    assert all(name in text for name in (*plan.shots, *plan.held_out))
    matrix = plan.matrices[plan.held_out[0]]
    found = recommend(matrix, "spmm", board, width=64, model=outcome.model, verify=True)
    assert found.best.gain is not None
    assert found.best.true_gain > 0


def test_samples_of_an_earlier_call_are_used_again(tmp_path, source_model, monkeypatch):
    board = get_platform("spade", threads=1)
    plan = make_plan(board, SPMM, 1, 1, nnz=(2_000, 4_000))
    first = transfer(board, SPMM, plan, tmp_path, 20, "best-fixed")

    def refuse(*arguments, **options):
        raise AssertionError("asked again")

    monkeypatch.setattr(type(board), "evaluate", refuse)
    again = transfer(board, SPMM, plan, tmp_path, 20, "best-fixed")
    assert again.curve.equals(first.curve)
    with pytest.raises(AssertionError, match="asked again"):
        transfer(board, SPMM, plan, tmp_path, 21, "best-fixed")


def test_a_source_model_of_another_width_is_refused(tmp_path, source_model):
    board, plan = board_plan()
    with pytest.raises(ModelError, match="width"):
        transfer(board, get_operation("spmm", 32), plan, tmp_path, source_model=source_model)
