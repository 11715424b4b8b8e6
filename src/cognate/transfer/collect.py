"""Collect a plan's samples, going on where an earlier call stopped."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cognate.errors import PlatformError, SamplesError
from cognate.operations import Operation
from cognate.platforms import Platform, draw_schedules, samples
from cognate.progress import progress
from cognate.provenance import environment
from cognate.transfer.plan import Plan


def collect(
    platform: Platform,
    operation: Operation,
    planned: Plan,
    names: Sequence[str],
    count: int,
    folder: Path,
) -> pd.DataFrame:
    """Samples of these matrices, from the folder or, where it has none, from the platform.

    ``count`` schedules of each matrix, or the whole space if it has no more. Raises
    :class:`SamplesError` if no schedule ran.
    """
    reason = platform.skip()
    if reason:
        raise PlatformError(f"platform {platform.name} cannot run here: {reason}")
    space = platform.space(operation)
    description = json.loads(json.dumps(platform.describe()))
    tables = []
    with progress(f"sample {platform.name}", "matrices") as advance:
        for done, name in enumerate(names):
            advance(done, len(names))
            whole = platform.answers_for(operation) is not None or count >= space.product_size
            draw = f"transfer/{operation.name}/{name}"
            schedules = draw_schedules(platform, operation, "all" if whole else count, draw)
            path = folder / "samples" / f"{operation.name}-{operation.width}" / f"{name}.parquet"
            ids = [s.schedule_id for s in schedules]
            table = _stored(path, space.fingerprint, description, ids)
            if table is None:
                table = platform.evaluate(planned.matrices[name], operation, schedules)
                parameters = space.table(schedules).drop(columns="schedule_id")
                extra = [c for c in parameters if c not in table]
                table = pd.concat([table.reset_index(drop=True), parameters[extra]], axis=1)
                table.insert(0, "matrix", name)
                metadata = {
                    "platform": platform.name,
                    "kind": platform.kind,
                    "operation": operation.name,
                    "width": operation.width,
                    "space_fingerprint": space.fingerprint,
                    "description": description,
                    "environment": environment(),
                }
                samples.write(table, metadata, path)
            tables.append(table)
        advance(len(names), len(names))
    joined = pd.concat(tables, ignore_index=True)
    if not (joined["status"] == "ok").any():
        reasons = " / ".join(dict.fromkeys(joined["reason"]))[:500]
        raise SamplesError(f"{platform.name}: no schedule ran on {', '.join(names)}: {reasons}")
    return joined


def _stored(
    path: Path, fingerprint: str, description: Mapping[str, Any], ids: list[int]
) -> pd.DataFrame | None:
    """A table collected before, if it answers the same question and nothing in it failed."""
    if not path.is_file():
        return None
    table, metadata = samples.read(path)
    same = metadata["space_fingerprint"] == fingerprint and metadata["description"] == description
    sound = list(table["schedule_id"]) == ids and not (table["status"] == "failed").any()
    return table if same and sound else None
