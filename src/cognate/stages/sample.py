"""Measure or simulate a batch of matrices on one platform."""

import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cognate.config import PlatformChoice
from cognate.errors import PlatformError, SamplesError
from cognate.matrices import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform, draw_schedules, samples
from cognate.provenance import environment
from cognate.stages.isolation import attempt_each
from cognate.stages.missing import read_missing
from cognate.study import Study


def sample(
    study: Study,
    platform_name: str,
    operation_name: str,
    names: Sequence[str],
    folder: Path,
    output: Path,
) -> None:
    """Evaluate the sampled schedules of a batch's matrices and write one samples table.

    ``folder`` holds the matrices. The table's metadata holds the environment, the platform's
    description and settings, the space's fingerprint, the seconds that each matrix took, and
    by name why a matrix is missing here that could be built.
    """
    choice = study.config.platform_choice(platform_name)
    platform = study.platform(platform_name)
    reason = platform.skip()
    if reason:
        raise PlatformError(f"platform {platform_name} cannot run here: {reason}")
    operation = study.operation(operation_name)
    unbuilt = read_missing(folder)

    def answer(name: str) -> tuple[pd.DataFrame, float]:
        matrix = SparseMatrix.load(folder / f"{name}.npz")
        draw = f"{study.config.seed}/{operation.name}/{name}"
        return _evaluate(platform, choice, operation, matrix, draw)

    built = [name for name in names if name not in unbuilt]
    answers, missing = attempt_each(f"{platform_name} {operation_name}", built, answer)
    space = platform.space(operation)
    metadata = {
        "platform": platform_name,
        "kind": platform.kind,
        "operation": operation.name,
        "width": operation.width,
        "settings": study.sampling(platform_name),
        "space": space.name,
        "space_fingerprint": space.fingerprint,
        "description": platform.describe(),
        "environment": environment(),
        "config_hash": study.config.config_hash,
        "seconds_spent": {name: seconds for name, (_, seconds) in answers.items()},
        "missing": missing,
        "unbuilt": sorted(unbuilt),
    }
    tables = [table for table, _ in answers.values()] or [samples.empty()]
    samples.write(pd.concat(tables, ignore_index=True), metadata, output)


def _evaluate(
    platform: Platform,
    choice: PlatformChoice,
    operation: Operation,
    matrix: SparseMatrix,
    draw: str,
) -> tuple[pd.DataFrame, float]:
    """The samples of one matrix and the seconds that they took."""
    schedules = draw_schedules(platform, operation, choice.schedules, draw)
    started = time.monotonic()
    table = platform.evaluate(matrix, operation, schedules)
    seconds = time.monotonic() - started
    if list(table["schedule_id"]) != [s.schedule_id for s in schedules]:
        raise SamplesError(f"{matrix.name}: {choice.name} did not answer for what was asked")
    space = platform.space(operation)
    default = table.loc[table["schedule_id"] == space.default.schedule_id]
    if not (default["status"] == "ok").all():
        raise SamplesError(
            f"{matrix.name}: {choice.name} cannot run the default schedule: "
            f"{default['reason'].iloc[0]}"
        )
    parameters = space.table(schedules)
    extra = parameters[[c for c in parameters if c not in table]]
    table = pd.concat([table.drop(columns="matrix", errors="ignore"), extra], axis=1)
    table.insert(0, "matrix", matrix.name)
    return table, seconds
