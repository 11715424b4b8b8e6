"""Train a method in all its runs and rank the target's schedules on every test matrix."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cognate.files import replacing
from cognate.learning.methods import Method, get_method, oracle_ranker
from cognate.learning.ranker import Ranker, load_source_model
from cognate.learning.shots import choose_shots
from cognate.learning.task import Task
from cognate.progress import progress
from cognate.schedules import Schedule
from cognate.stages.inputs import StoredMatrices, read_samples
from cognate.study import Run, Study


def rank(
    study: Study,
    target_name: str,
    operation_name: str,
    method_name: str,
    models: Mapping[tuple[int, int], Path],
    output: Path,
) -> None:
    """Write the rankings table of a method: one row a run and test matrix.

    ``models`` are the source models by (number of source matrices, seed); empty for methods
    that need none.
    """
    method = get_method(method_name)
    train, validation, test = (study.names(s) for s in ("train", "validation", "test"))
    source_name = study.config.source.name
    source = read_samples(study, source_name, operation_name, "train", "validation")
    target = read_samples(study, target_name, operation_name, "train", "test")
    task = Task(
        operation=study.operation(operation_name),
        source=study.platform(source_name),
        target=study.platform(target_name),
        matrices=StoredMatrices(study),
        source_train=source[source["matrix"].isin(train)],
        source_validation=source[source["matrix"].isin(validation)],
        target_train=target[target["matrix"].isin(train)],
        shot_matrices=(),
        samples_per_shot=study.config.learning.samples_per_shot,
        seed=0,
        effort=study.config.learning.effort,
    )
    truth = target[target["matrix"].isin(test)]
    ranked = sorted(truth["matrix"].unique())
    schedules = list(task.target.space(task.operation))
    rows: list[dict[str, Any]] = []
    runs = study.runs(method_name)
    with progress(f"{method_name} on {target_name} {operation_name}", "runs") as advance:
        for done, run in enumerate(runs):
            advance(done, len(runs))
            started = time.monotonic()
            prepared = _prepare(study, task, run, method.shot_selection)
            ranker = _fit(method, prepared, models.get((run.source_matrices, run.seed)), truth)
            fit_seconds = time.monotonic() - started
            for name in ranked:
                rows.append(
                    {
                        "method": method_name,
                        "shots": run.shots,
                        "source_matrices": run.source_matrices,
                        "seed": run.seed,
                        "matrix": name,
                        **_ranking(ranker, prepared, name, schedules),
                        "fit_seconds": fit_seconds,
                        "shot_matrices": list(prepared.shot_matrices),
                    }
                )
        advance(len(runs), len(runs))
    with replacing(output) as temporary:
        pd.DataFrame(rows).to_parquet(temporary, index=False)


def _prepare(study: Study, task: Task, run: Run, shot_selection: str | None) -> Task:
    """The task of one run: its source matrices, its shots, its seed."""
    chosen = study.source_matrices(run.source_matrices, run.seed)
    shots = choose_shots(
        shot_selection or study.config.learning.shot_selection,
        sorted(task.target_train["matrix"].unique()),
        task.matrices,
        run.shots,
        run.seed,
    )
    return replace(
        task,
        source_train=task.source_train[task.source_train["matrix"].isin(chosen)],
        shot_matrices=shots,
        seed=run.seed,
    )


def _fit(method: Method, task: Task, model: Path | None, truth: pd.DataFrame) -> Ranker:
    if method.name == "oracle":
        return oracle_ranker(task.target, task.operation, truth)
    source = load_source_model(model, task.source, task.operation) if model else None
    return method.fit(task, source)


def _ranking(
    ranker: Ranker, task: Task, name: str, schedules: Sequence[Schedule]
) -> dict[str, Any]:
    matrix = task.matrices[name]
    started = time.perf_counter()
    scores = ranker.scores(matrix, schedules)
    order = np.argsort(scores, kind="stable")
    predict_seconds = time.perf_counter() - started
    return {
        "order": [schedules[i].schedule_id for i in order],
        "predicted": scores[order].tolist(),
        "predict_seconds": predict_seconds,
    }
