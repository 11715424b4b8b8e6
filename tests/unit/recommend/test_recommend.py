"""Recommendations: order, gains, reasons and verification against known scores and times."""

import subprocess
import sys

import numpy as np
import pytest

import cognate
from cognate.errors import MatrixError, ModelError, PlatformError, ScheduleError
from cognate.gains import Calibration
from cognate.learning.baselines import FixedRanker
from cognate.models import shipped_model
from cognate.recommendation import model_path, recommend

CALIBRATION = Calibration(slope=0.5, low=-0.2, middle=0.0, high=0.1, matrices=3)


@pytest.fixture(scope="module")
def model(ranker, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "known.safetensors"
    ranker.save(path, calibration=CALIBRATION.as_dict())
    return path


def test_the_lowest_scores_come_first_with_their_gains(model, matrices, spade, spmm):
    found = recommend(matrices["m0"], "spmm", spade, width=32, top=3, model=model)
    default = spade.space(spmm).default.schedule_id
    assert [c.schedule_id for c in found.choices] == [0, 1, 2]
    assert [c.rank for c in found.choices] == [1, 2, 3]
    for choice in found.choices:
        difference = 0.5 * (default - choice.schedule_id) / 100
        assert choice.gain.expected == pytest.approx(np.exp(difference))
        assert choice.gain.low == pytest.approx(np.exp(difference - 0.2))
        assert choice.gain.high == pytest.approx(np.exp(difference + 0.1))
    assert found.default == str(spade.space(spmm).default)
    assert found.seconds > 0


def test_each_reason_is_the_loss_without_it(model, matrices, spade, spmm):
    space = spade.space(spmm)
    best = recommend(matrices["m0"], "spmm", spade, width=32, model=model).best
    chosen = space.parse(best.schedule)
    assert {e.parameter for e in best.why} == {
        p.name for p in space.parameters if chosen[p.name] != p.default
    }
    for effect in best.why:
        back = space.schedule(
            **{**chosen.as_dict(), effect.parameter: space.default[effect.parameter]}
        )
        expected = np.exp(0.5 * (back.schedule_id - chosen.schedule_id) / 100)
        assert effect.factor == pytest.approx(expected)
    factors = [effect.factor for effect in best.why]
    assert factors == sorted(factors, reverse=True)


class Relative(FixedRanker):
    """Scores shift with the company in which schedules are asked, as a ranker's may."""

    def scores(self, matrix, schedules):
        scores = super().scores(matrix, schedules)
        return scores - scores.mean()


def test_reasons_do_not_mix_scores_of_two_calls(spade, spmm, matrices, tmp_path, monkeypatch):
    scores = {s.schedule_id: s.schedule_id / 100 for s in spade.space(spmm)}
    relative = Relative(spade, spmm, scores)
    relative.save(tmp_path / "m.safetensors")
    found = {}
    for name, ranker in (("fixed", FixedRanker(spade, spmm, scores)), ("relative", relative)):
        monkeypatch.setattr("cognate.recommendation.load_ranker", lambda *_, r=ranker: r)
        found[name] = recommend(
            matrices["m0"], "spmm", spade, width=32, model=tmp_path / "m.safetensors"
        )
    for one, other in zip(found["fixed"].choices, found["relative"].choices, strict=True):
        assert one.schedule == other.schedule
        factors = [[effect.factor for effect in choice.why] for choice in (one, other)]
        assert factors[0] == pytest.approx(factors[1])


def test_tiles_are_counted_right(model, matrices, spade, spmm):
    matrix = matrices["m0"]
    found = recommend(matrix, "spmm", spade, width=32, model=model)
    rows = spade.space(spmm).parse(found.best.schedule)["rp"]
    row = np.repeat(np.arange(matrix.rows), np.diff(matrix.row_pointers))
    tiles = len(np.unique(row // rows))
    assert found.tiles["tiles with entries"][0] == tiles
    assert found.tiles["entries of a tile"][0] == pytest.approx(matrix.nnz / tiles)


def test_verification_runs_the_default_and_the_recommended(model, matrices, spade, spmm, samples):
    found = recommend(matrices["m1"], "spmm", spade, width=32, top=2, model=model, verify=True)
    truth = samples[samples["matrix"] == "m1"].set_index("schedule_id")["seconds"]
    default = truth[spade.space(spmm).default.schedule_id]
    assert found.default_seconds == pytest.approx(default)
    for choice in found.choices:
        assert choice.seconds == pytest.approx(truth[choice.schedule_id])
        assert choice.true_gain == pytest.approx(default / truth[choice.schedule_id])


def test_any_scipy_or_dense_matrix_will_do(model, matrices, spade):
    matrix = matrices["m0"]
    first = recommend(matrix, "spmm", spade, width=32, model=model)
    array = matrix.to_scipy()
    for other in (array.tocoo(), array.tocsc(), array.toarray()):
        again = recommend(other, "spmm", spade, width=32, model=model)
        assert [c.schedule for c in again.choices] == [c.schedule for c in first.choices]
        assert again.nnz == matrix.nnz


def test_a_model_without_calibration_promises_nothing(ranker, tmp_path, matrices, spade):
    ranker.save(tmp_path / "bare.safetensors")
    found = recommend(matrices["m0"], "spmm", spade, width=32, model=tmp_path / "bare.safetensors")
    assert found.best.gain is None


def test_what_cannot_be_is_said(model, matrices, spade, tmp_path):
    matrix = matrices["m0"]
    with pytest.raises(ModelError, match="width"):
        recommend(matrix, "spmm", spade, width=64, model=model)
    with pytest.raises(ModelError, match="operation"):
        recommend(matrix, "sddmm", spade, width=32, model=model)
    with pytest.raises(ScheduleError, match="at least 1"):
        recommend(matrix, "spmm", spade, width=32, top=0, model=model)
    with pytest.raises(MatrixError):
        recommend([1, 2, 3], "spmm", spade, width=32, model=model)
    with pytest.raises(ModelError, match="no model 'nowhere-spmm' ships"):
        shipped_model("nowhere-spmm")
    with pytest.raises(ModelError, match="no such model"):
        model_path(str(tmp_path / "none.safetensors"))
    empty = matrix.to_scipy()[:0]
    with pytest.raises(PlatformError, match="default schedule did not run"):
        recommend(empty, "spmm", spade, width=32, model=model, verify=True)


def test_the_package_has_one_function_and_does_not_import_torch():
    code = (
        "import sys, cognate; assert 'torch' not in sys.modules;"
        "assert callable(cognate.recommend); assert 'torch' not in sys.modules;"
        "import cognate.platforms.external, cognate.platforms.conformance, cognate.cli;"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert cognate.recommend is recommend
