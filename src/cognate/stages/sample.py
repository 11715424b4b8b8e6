"""Measure or simulate a batch of matrices on one platform."""

import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cognate.errors import PlatformError, SamplesError
from cognate.matrices import SparseMatrix
from cognate.platforms import draw_schedules, samples
from cognate.progress import progress
from cognate.provenance import environment
from cognate.study import Study


def sample(
    study: Study, platform_name: str, operation_name: str, matrices: Sequence[Path], output: Path
) -> None:
    """Evaluate the sampled schedules of every matrix and write one samples table.

    The table's metadata holds the environment, the platform's description, the space's
    fingerprint and the seconds that each matrix took.
    """
    choice = study.config.platform_choice(platform_name)
    platform = study.platform(platform_name)
    reason = platform.skip()
    if reason:
        raise PlatformError(f"platform {platform_name} cannot run here: {reason}")
    operation = study.operation(operation_name)
    space = platform.space(operation)
    tables = []
    seconds_spent: dict[str, float] = {}
    with progress(f"{platform_name} {operation_name}", "matrices") as advance:
        for done, path in enumerate(matrices):
            advance(done, len(matrices))
            matrix = SparseMatrix.load(path)
            draw = f"{study.config.seed}/{operation.name}/{matrix.name}"
            schedules = draw_schedules(platform, operation, choice.schedules, draw)
            started = time.monotonic()
            table = platform.evaluate(matrix, operation, schedules)
            seconds_spent[matrix.name] = time.monotonic() - started
            if list(table["schedule_id"]) != [s.schedule_id for s in schedules]:
                raise SamplesError(
                    f"{platform_name}: {matrix.name}: did not answer for the schedules asked"
                )
            parameters = space.table(schedules).drop(columns="schedule_id")
            extra = [c for c in parameters if c not in table]
            table = pd.concat([table.reset_index(drop=True), parameters[extra]], axis=1)
            table.insert(0, "matrix", matrix.name)
            tables.append(table)
        advance(len(matrices), len(matrices))
    metadata = {
        "platform": platform_name,
        "kind": platform.kind,
        "operation": operation.name,
        "width": operation.width,
        "space": space.name,
        "space_fingerprint": space.fingerprint,
        "description": platform.describe(),
        "environment": environment(),
        "config_hash": study.config.config_hash,
        "seconds_spent": seconds_spent,
    }
    samples.write(pd.concat(tables, ignore_index=True), metadata, output)
