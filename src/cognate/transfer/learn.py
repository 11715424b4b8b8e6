"""Fine-tune on the shots, judge on what was held out, write the model and its card."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cognate.errors import ModelError, PlatformError
from cognate.files import replacing, write_text
from cognate.gains import calibrate, judge
from cognate.learning.methods import get_method
from cognate.learning.ranker import Ranker, SourceModel, load_source_model
from cognate.learning.store import load_model
from cognate.learning.task import Task
from cognate.models import shipped_model
from cognate.operations import Operation
from cognate.platforms import Platform, get_platform
from cognate.provenance import environment
from cognate.transfer.card import card_text
from cognate.transfer.collect import collect
from cognate.transfer.plan import Plan

METHOD = "cognate-tiles"
HELD_OUT_SCHEDULES = 512
"""A held-out matrix is sampled under the whole space up to this size, else under so many."""


@dataclass(frozen=True)
class Outcome:
    """What a transfer made."""

    folder: Path
    plan: Plan
    curve: pd.DataFrame
    """One row a number of shots; speed-ups over the default on the held-out matrices."""
    model: Path


def transfer(
    platform: Platform,
    operation: Operation,
    planned: Plan,
    folder: Path,
    samples_per_shot: int = 100,
    method: str = METHOD,
    source_model: Path | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Outcome:
    """Collect the plan's samples into ``folder``, learn from them, judge on held-out matrices.

    What was collected before, for the same platform, is taken from the folder, so an interrupted
    call goes on where it stopped. Writes ``model.safetensors`` with its card, ``card.md`` and
    ``curve.csv``. ``settings`` are those that the platform was opened with, for the card.
    """
    source, start = _source(method, operation, source_model)
    shots = collect(platform, operation, planned, planned.shots, samples_per_shot, folder)
    size = platform.space(operation).product_size
    count = min(size, HELD_OUT_SCHEDULES)
    held_out = collect(platform, operation, planned, planned.held_out, count, folder)
    task = Task(
        operation=operation,
        source=source or platform,
        target=platform,
        matrices=planned.matrices,
        source_train=shots.iloc[:0],
        source_validation=shots.iloc[:0],
        target_train=shots,
        shot_matrices=planned.shots,
        samples_per_shot=samples_per_shot,
        seed=seed,
    )
    rankers, curve = _learn(task, method, start, held_out)
    ranker = rankers[len(planned.shots)]
    calibration = calibrate(ranker, planned.matrices, held_out)
    model = folder / "model.safetensors"
    card = {
        "method": method,
        "platform_settings": dict(settings or {}),
        "seed": seed,
        "shots": list(planned.shots),
        "held_out": list(planned.held_out),
        "samples": len(shots),
        "calibration": calibration.as_dict() if calibration else None,
        "test": curve.iloc[-1].to_dict(),
        "description": platform.describe(),
        "environment": environment(),
    }
    ranker.save(model, **json.loads(json.dumps(card, default=_plain_number)))
    with replacing(folder / "curve.csv") as temporary:
        curve.to_csv(temporary, index=False)
    write_text(folder / "card.md", card_text(platform, operation, card, curve))
    return Outcome(folder, planned, curve, model)


def _learn(
    task: Task, method_name: str, start: SourceModel | None, held_out: pd.DataFrame
) -> tuple[dict[int, Ranker], pd.DataFrame]:
    """A ranker for every number of shots, and how good each is beside the best fixed schedule."""
    rankers: dict[int, Ranker] = {}
    rows = []
    fixed = get_method("best-fixed")
    method = get_method(method_name)
    for count in range(len(task.shot_matrices) + 1):
        if count == 0 and not method.uses_source:
            continue
        part = replace(task, shot_matrices=task.shot_matrices[:count])
        rankers[count] = method.fit(part, start)
        judged = judge(rankers[count], task.matrices, held_out)
        row = {"shots": count, **judged}
        if count:
            blind = judge(fixed.fit(part), task.matrices, held_out)
            row["best_fixed_speedup"] = blind["top1_speedup"]
        rows.append(row)
    order = ["shots", "matrices", "top1_speedup", "top5_speedup", "best_fixed_speedup"]
    return rankers, pd.DataFrame(rows, columns=[*order, "oracle_speedup"])


def _source(
    method: str, operation: Operation, path: Path | None
) -> tuple[Platform | None, SourceModel | None]:
    """The source platform and what was learnt from it, if the method starts from that."""
    if get_method(method).source_configuration is None:
        return None, None
    found = path or shipped_model(f"source-{operation.name}")
    card = load_model(found)[1]
    try:
        source = get_platform(str(card["platform"]), **card.get("platform_settings", {}))
    except PlatformError as error:
        raise ModelError(f"{found}: its source platform is not here: {error}") from error
    return source, load_source_model(found, source, operation)


def _plain_number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
