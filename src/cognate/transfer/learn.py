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
COLUMNS = ["shots", "draws", "matrices", "top1_speedup", "top1_speedup_low", "top1_speedup_high"]
COLUMNS += ["top5_speedup", "best_fixed_speedup", "oracle_speedup"]
HELD_OUT_SCHEDULES = 512
"""A held-out matrix is sampled under the whole space up to this size, else under so many."""


@dataclass(frozen=True)
class Outcome:
    """What a transfer made."""

    folder: Path
    plan: Plan
    curve: pd.DataFrame
    """One row a number of shots; speed-ups over the default on the held-out matrices, geometric
    means over draws of the shots, with the least and the largest draw for the first choice."""
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
    draws: int = 5,
) -> Outcome:
    """Collect the plan's samples into ``folder``, learn from them, judge on held-out matrices.

    What was collected before, for the same platform, is taken from the folder, so an interrupted
    call goes on where it stopped. Writes ``model.safetensors`` with its card, ``card.md`` and
    ``curve.csv``. ``settings`` are those that the platform was opened with, for the card.

    The model learns from all shots. The curve says what fewer would have given, as a mean over up
    to ``draws`` choices among the shots: the planned order, begun at each of its members in turn.
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
    ranker, curve = _learn(task, method, start, held_out, draws)
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
        "test": judge(ranker, planned.matrices, held_out),
        "description": platform.describe(),
        "environment": environment(),
    }
    ranker.save(model, **json.loads(json.dumps(card, default=_plain_number)))
    with replacing(folder / "curve.csv") as temporary:
        curve.to_csv(temporary, index=False)
    write_text(folder / "card.md", card_text(platform, operation, card, curve))
    return Outcome(folder, planned, curve, model)


def _learn(
    task: Task, method: str, start: SourceModel | None, held_out: pd.DataFrame, draws: int
) -> tuple[Ranker, pd.DataFrame]:
    """The ranker that knows all shots, and the curve beside that of the best fixed schedule."""
    shots = task.shot_matrices
    uses_source = get_method(method).uses_source
    rows = []
    for count in range(0 if uses_source else 1, len(shots) + 1):
        judged = []
        for draw in range(min(draws, len(shots)) if count else 1):
            order = (*shots[draw:], *shots[:draw])
            part = replace(task, shot_matrices=order[:count], seed=task.seed + draw)
            ranker = get_method(method).fit(part, start)
            judged.append(judge(ranker, task.matrices, held_out))
            if count:
                fixed = get_method("best-fixed").fit(part)
                blind = judge(fixed, task.matrices, held_out)
                judged[-1]["best_fixed_speedup"] = blind["top1_speedup"]
            if draw == 0:
                planned = ranker
        rows.append({"shots": count, "draws": len(judged), **_mean_of(pd.DataFrame(judged))})
    return planned, pd.DataFrame(rows, columns=COLUMNS)


def _mean_of(judged: pd.DataFrame) -> dict[str, float]:
    """Geometric means over draws, and the range of the first choice."""
    means = np.exp(np.log(judged.drop(columns="matrices")).mean())
    top1 = judged["top1_speedup"]
    ends = {"top1_speedup_low": top1.min(), "top1_speedup_high": top1.max()}
    return {"matrices": int(judged["matrices"].iloc[0]), **means, **ends}


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
