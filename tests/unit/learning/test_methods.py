"""What methods promise, on synthetic platforms whose law is known."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cognate.errors import ModelError
from cognate.learning import tiled
from cognate.learning.baselines import default_ranker
from cognate.learning.methods import METHODS, Method, get_method, oracle_ranker, pretrain
from cognate.learning.ranker import Ranker, SourceModel, load_ranker, load_source_model
from cognate.learning.shots import choose_shots
from cognate.learning.task import Task
from cognate.learning.view import TileView
from cognate.matrices.matrix import SparseMatrix

STORABLE = [name for name in METHODS if name != "oracle"]


def fitted(name: str, task: Task, sources: dict[str, SourceModel]) -> Ranker:
    method = get_method(name)
    brief = dataclasses.replace(task, effort=0.1)
    return method.fit(brief, sources.get(method.source_configuration or ""))


@pytest.fixture(scope="module")
def rankers(task: Task, sources: dict[str, SourceModel]) -> dict[str, Ranker]:
    return {name: fitted(name, task, sources) for name in METHODS}


def mean_tau(
    ranker: Ranker, matrices: dict[str, SparseMatrix], truth: dict[str, np.ndarray]
) -> float:
    schedules = list(ranker.platform.space(ranker.operation))
    taus = [ordered_pairs(ranker.scores(m, schedules), truth[n]) for n, m in matrices.items()]
    return float(np.mean(taus))


def ordered_pairs(scores: np.ndarray, seconds: np.ndarray) -> float:
    """Kendall's τ over the pairs whose times differ by more than 2 %."""
    apart = np.subtract.outer(np.log(seconds), np.log(seconds))
    truth = np.sign(apart) * (np.abs(apart) > 0.02)
    return float((truth * np.sign(np.subtract.outer(scores, scores))).sum() / np.abs(truth).sum())


@pytest.mark.parametrize("name", METHODS)
def test_order_of_schedules_does_not_change_their_scores(
    name: str, rankers: dict[str, Ranker], task: Task
) -> None:
    matrix = task.matrices["train0"]
    schedules = list(task.target.space(task.operation))
    order = np.random.default_rng(0).permutation(len(schedules))
    scores = rankers[name].scores(matrix, schedules)
    permuted = rankers[name].scores(matrix, [schedules[i] for i in order])
    assert scores.shape == (len(schedules),)
    np.testing.assert_allclose(permuted, scores[order], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", STORABLE)
def test_a_stored_ranker_gives_the_same_scores(
    name: str, rankers: dict[str, Ranker], task: Task, tmp_path: Path
) -> None:
    path = tmp_path / "ranker.safetensors"
    rankers[name].save(path, seed=3)
    again = load_ranker(path, task.target, task.operation)
    matrix = task.matrices["valid0"]
    schedules = task.target.space(task.operation).sample(10, seed=1)
    expected = rankers[name].scores(matrix, schedules)
    np.testing.assert_array_equal(again.scores(matrix, schedules), expected)


@pytest.mark.parametrize("name", ["cognate", "cognate-tiles", "waco-fm"])
def test_a_stored_source_model_fine_tunes_alike(
    name: str, sources: dict[str, SourceModel], task: Task, tmp_path: Path
) -> None:
    method = get_method(name)
    source = sources[method.source_configuration or ""]
    source.save(tmp_path / "source.safetensors")
    again = load_source_model(tmp_path / "source.safetensors", task.source, task.operation)
    brief = dataclasses.replace(task, effort=0.1)
    schedules = task.target.space(task.operation).sample(10, seed=1)
    scores = [
        method.fit(brief, model).scores(task.matrices["valid1"], schedules)
        for model in (source, again)
    ]
    np.testing.assert_array_equal(*scores)
    assert list(again.curves.columns) == list(source.curves.columns)
    assert len(again.curves) == len(source.curves)


@pytest.mark.parametrize("name", ["cognate", "no-transfer", "cognate-tiles", "xgboost"])
def test_the_same_seed_gives_the_same_model(
    name: str, rankers: dict[str, Ranker], task: Task, sources: dict[str, SourceModel]
) -> None:
    schedules = task.target.space(task.operation).sample(10, seed=1)
    matrix = task.matrices["valid2"]
    expected = rankers[name].scores(matrix, schedules)
    again = fitted(name, task, sources).scores(matrix, schedules)
    np.testing.assert_array_equal(again, expected)


def test_zero_shot_is_fine_tuning_with_zero_shots(
    rankers: dict[str, Ranker], task: Task, sources: dict[str, SourceModel]
) -> None:
    without = dataclasses.replace(task, shot_matrices=())
    schedules = list(task.target.space(task.operation))
    matrix = task.matrices["valid0"]
    tuned = get_method("cognate").fit(without, sources["cognate"])
    zero = rankers["zero-shot"]
    np.testing.assert_array_equal(tuned.scores(matrix, schedules), zero.scores(matrix, schedules))


def test_the_oracle_orders_by_time_and_refuses_what_it_does_not_know(task: Task) -> None:
    oracle = oracle_ranker(task.target, task.operation, task.target_train)
    schedules = list(task.target.space(task.operation))
    rows = task.target_train[task.target_train["matrix"] == "train3"]
    scores = oracle.scores(task.matrices["train3"], schedules)
    np.testing.assert_array_equal(scores, rows.sort_values("schedule_id")["seconds"])
    with pytest.raises(ModelError, match="no samples of valid0"):
        oracle.scores(task.matrices["valid0"], schedules)


def test_default_puts_the_default_schedule_first(task: Task) -> None:
    schedules = list(task.target.space(task.operation))
    scores = default_ranker(task.target, task.operation).scores(task.matrices["train0"], schedules)
    assert schedules[int(np.argmin(scores))] == task.target.space(task.operation).default
    assert np.count_nonzero(scores == 0) == 1


def test_best_fixed_finds_the_schedule_that_is_best_on_average(task: Task) -> None:
    everything = dataclasses.replace(
        task, samples_per_shot=1000, shot_matrices=tuple(f"train{i}" for i in range(12))
    )
    ranker = get_method("best-fixed").fit(everything)
    schedules = list(task.target.space(task.operation))
    scores = ranker.scores(task.matrices["train0"], schedules)
    log_seconds = np.log(task.target_train["seconds"])
    relative = log_seconds - log_seconds.groupby(task.target_train["matrix"]).transform("mean")
    expected = relative.groupby(task.target_train["schedule_id"]).mean().sort_index()
    np.testing.assert_allclose(scores, expected, atol=1e-9)


def test_random_differs_between_matrices_and_seeds(task: Task) -> None:
    schedules = list(task.target.space(task.operation))
    first, second = (
        get_method("random").fit(dataclasses.replace(task, seed=seed)) for seed in (0, 1)
    )
    one, other = task.matrices["train0"], task.matrices["train1"]
    assert not np.array_equal(first.scores(one, schedules), first.scores(other, schedules))
    assert not np.array_equal(first.scores(one, schedules), second.scores(one, schedules))


@pytest.mark.slow
def test_transfer_beats_no_transfer_on_a_known_law(
    task: Task, test_matrices: dict[str, SparseMatrix], truth: dict[str, np.ndarray]
) -> None:
    loss = "loss=pairwise"
    source = pretrain(dataclasses.replace(task, effort=0.5), f"cognate:{loss}", seed=0)
    tuned = get_method(f"cognate:{loss}").fit(task, source)
    scratch = get_method(f"no-transfer:{loss}").fit(task)
    assert mean_tau(tuned, test_matrices, truth) > mean_tau(scratch, test_matrices, truth) + 0.05


def test_transfer_beats_no_transfer_by_lists_over_draws_of_shots(
    task: Task,
    sources: dict[str, SourceModel],
    test_matrices: dict[str, SparseMatrix],
    truth: dict[str, np.ndarray],
) -> None:
    gains = []
    names = sorted(task.target_train["matrix"].unique())
    for seed in range(5):
        shots = choose_shots("random", names, task.matrices, 5, seed)
        drawn = dataclasses.replace(task, seed=seed, shot_matrices=shots)
        tuned = get_method("cognate").fit(drawn, sources["cognate"])
        scratch = get_method("no-transfer").fit(drawn)
        gains.append(
            mean_tau(tuned, test_matrices, truth) - mean_tau(scratch, test_matrices, truth)
        )
    assert np.mean(gains) > 0.02


def test_tiles_learn_a_known_law(
    task: Task,
    sources: dict[str, SourceModel],
    test_matrices: dict[str, SparseMatrix],
    truth: dict[str, np.ndarray],
) -> None:
    plenty = dataclasses.replace(
        task, samples_per_shot=1000, shot_matrices=tuple(f"train{i}" for i in range(12))
    )
    learnt = get_method("cognate-tiles:tightness=0.001,prior=0").fit(plenty, sources["tiles"])
    assert mean_tau(learnt, test_matrices, truth) > 0.9


def test_tiles_with_few_shots_beat_a_fixed_schedule(
    task: Task,
    sources: dict[str, SourceModel],
    test_matrices: dict[str, SparseMatrix],
    truth: dict[str, np.ndarray],
) -> None:
    tuned = get_method("cognate-tiles").fit(task, sources["tiles"])
    fixed = get_method("best-fixed").fit(task)
    expected = mean_tau(fixed, test_matrices, truth) + 0.15
    assert mean_tau(tuned, test_matrices, truth) > expected


def test_a_network_can_learn_the_law_of_the_matrices_it_sees(task: Task) -> None:
    everything = dataclasses.replace(
        task, shot_matrices=tuple(f"train{i}" for i in range(6)), samples_per_shot=1000
    )
    ranker = get_method("no-transfer:epochs=150").fit(everything)
    seen = {name: task.matrices[name] for name in everything.shot_matrices}
    rows = task.target_train.sort_values("schedule_id").groupby("matrix")["seconds"]
    truth = {name: seconds.to_numpy() for name, seconds in rows}
    assert mean_tau(ranker, seen, truth) > 0.9


@pytest.mark.parametrize("name", METHODS)
def test_methods_say_what_they_use(name: str) -> None:
    method: Method = get_method(name)
    assert method.name == name
    assert (method.source_configuration is not None) == method.uses_source


@pytest.mark.parametrize("name", ["best-fixed", "no-transfer", "xgboost"])
def test_methods_that_need_shots_refuse_none(name: str, task: Task) -> None:
    with pytest.raises(ModelError, match="at least one shot"):
        get_method(name).fit(dataclasses.replace(task, shot_matrices=()))


@pytest.mark.parametrize("name", ["cognate", "zero-shot", "cognate-tiles"])
def test_methods_that_need_a_source_model_say_how_to_get_one(name: str, task: Task) -> None:
    with pytest.raises(ModelError, match="pretrain"):
        get_method(name).fit(task, None)


def test_unknown_methods_and_settings_are_named() -> None:
    for text in ("cogniate", "default:x=1", "cognate:latent=umap", "cognate:depth=3"):
        with pytest.raises(ModelError):
            get_method(text)


def test_a_method_may_choose_its_own_shots() -> None:
    method = get_method("cognate:latent=pca,shots=diverse")
    assert method.shot_selection == "diverse"
    assert method.source_configuration == get_method("cognate:latent=pca").source_configuration
    assert get_method("cognate").shot_selection is None
    for text, told in (
        ("cognate:shots=best", "choose from random, diverse"),
        ("zero-shot:shots=diverse", "learns from no shots"),
    ):
        with pytest.raises(ModelError, match=told):
            get_method(text)


@pytest.mark.parametrize("kind", ["ranker", "source"])
def test_a_model_that_sees_other_features_is_refused(
    kind: str,
    rankers: dict[str, Ranker],
    sources: dict[str, SourceModel],
    task: Task,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = rankers["cognate-tiles"] if kind == "ranker" else sources["tiles"]
    stored.save(tmp_path / "model.safetensors")
    monkeypatch.setattr(
        tiled, "tile_view", lambda *_: dataclasses.replace(VIEW, features=np.zeros((1, 3)))
    )
    with pytest.raises(ModelError, match=r"model.safetensors.*other terms and features"):
        load = load_ranker if kind == "ranker" else load_source_model
        load(tmp_path / "model.safetensors", stored.platform, task.operation)


VIEW = TileView(np.zeros((1, 16)), np.zeros(1), np.zeros((1, 60)), np.zeros((1, 4)))


def test_full_target_has_twenty_times_the_samples(
    task: Task, task_maker: Callable[..., Task]
) -> None:
    two = dataclasses.replace(task, shot_matrices=("train1", "train2"), samples_per_shot=6)
    assert len(two.shots()) == 12
    assert len(two.full_target()) == 240
    assert two.full_target()["matrix"].nunique() == 12
    more = dataclasses.replace(two, shot_matrices=("train1", "train2", "train5"))
    assert two.shots().equals(more.shots().iloc[:12])
