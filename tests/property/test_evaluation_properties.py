"""Properties of metrics and intervals that hold for any times and any rankings."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import kendalltau

from cognate.evaluation import evaluate
from cognate.evaluation.bootstrap import Resampler
from cognate.evaluation.metrics import kendall_tau, ordered_pair_accuracy
from cognate.evaluation.summaries import holm

times = st.lists(st.integers(1, 9), min_size=2, max_size=12).map(lambda t: np.array(t, float))


@given(times, st.data())
def test_tau_is_scipys_and_accuracy_belongs_to_it(truth, data):
    scores = np.array(
        data.draw(st.lists(st.integers(0, 9), min_size=len(truth), max_size=len(truth))), float
    )
    tau, accuracy = kendall_tau(scores, truth)[0], ordered_pair_accuracy(scores, truth)[0]
    expected = kendalltau(scores, truth).statistic
    assert tau == pytest.approx(0.0 if np.isnan(expected) else expected)
    assert ordered_pair_accuracy(-scores, truth)[0] == pytest.approx(1 - accuracy)
    if len(set(truth)) == len(truth) and len(set(scores)) == len(scores):
        assert tau == pytest.approx(2 * accuracy - 1)


@given(times, st.permutations(range(6)))
def test_metrics_do_not_depend_on_how_schedules_are_numbered(truth, order):
    truth = np.resize(truth, 6)
    scores, order = truth[::-1], list(order)
    assert kendall_tau(scores, truth) == pytest.approx(kendall_tau(scores[order], truth[order]))


@settings(deadline=None, max_examples=40)
@given(
    arrays.arrays(float, (3, 7), elements=st.floats(0.5, 4.0)),
    st.permutations(range(7)),
    st.sets(st.integers(1, 6), max_size=4),
)
def test_choices_lie_between_best_and_worst_whatever_is_rejected(seconds, order, rejected):
    samples = pd.DataFrame(
        {
            "matrix": f"m{m}",
            "schedule_id": i,
            "seconds": np.nan if i in rejected else seconds[m, i],
            "status": "rejected" if i in rejected else "ok",
            "reason": "too large" if i in rejected else "",
        }
        for m in range(3)
        for i in range(7)
    )
    matrices = pd.DataFrame({"matrix": [f"m{m}" for m in range(3)], "split": "test"})
    matrices = matrices.assign(kind="", family="", nnz=1, rows=1, cols=1)
    rankings = pd.DataFrame(
        {
            "method": "cognate",
            "shots": 0,
            "source_matrices": 0,
            "seed": 0,
            "matrix": f"m{m}",
            "order": list(order),
            "predicted": [float(i) for i in range(7)],
            "predict_seconds": 0.0,
            "fit_seconds": 0.0,
            "shot_matrices": [],
        }
        for m in range(3)
    )
    rows = evaluate.evaluate(
        rankings,
        samples,
        matrices,
        target="t",
        operation="spmm",
        default_schedule=0,
        samples_per_shot=1,
        source_samples_per_matrix=1,
    )
    ran = [i for i in range(7) if i not in rejected]
    assert rows["best_seconds"].tolist() == pytest.approx(seconds[:, ran].min(axis=1))
    assert (rows["best_seconds"] <= rows["top5_seconds"]).all()
    assert (rows["top5_seconds"] <= rows["top1_seconds"]).all()
    assert (rows["top1_seconds"] <= seconds[:, ran].max(axis=1) + 1e-12).all()


@settings(deadline=None, max_examples=30)
@given(
    arrays.arrays(float, (6, 2), elements=st.floats(-3, 3)),
    st.floats(-2, 2),
    st.floats(0.1, 5),
)
def test_intervals_follow_shift_and_scale(values, shift, scale):
    draws = Resampler(6, 2, resamples=60)
    plain, moved = draws.mean(values), draws.mean(scale * values + shift)
    for name in ("estimate", "low", "high"):
        expected = scale * getattr(plain, name) + shift
        assert getattr(moved, name) == pytest.approx(expected, abs=1e-9)
    assert plain.low <= plain.high


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p_values):
    plain = np.array(p_values)
    adjusted = holm(plain)
    assert (adjusted >= plain - 1e-15).all()
    assert (adjusted <= 1).all()
    order = np.argsort(plain, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
