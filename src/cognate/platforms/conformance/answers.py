"""Conformance of what a platform answers when it is asked to evaluate schedules."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cognate.errors import SamplesError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import samples
from cognate.platforms.draw import draw_schedules
from cognate.platforms.platform import Platform
from cognate.schedules import Schedule

SAME_TIME = 1e-6
"""A simulation that is run again may differ by this share."""


def check_answers(
    platform: Platform, operation: Operation, matrices: Sequence[SparseMatrix], count: int
) -> Iterator[str]:
    """A row a schedule, valid, repeatable, in the order asked; no matrix is too odd."""
    space = platform.space(operation)
    ran = False
    for matrix in matrices:
        schedules = draw_schedules(platform, operation, count, f"conformance/{matrix.name}")
        before = matrix.values.tobytes()
        calls: list[tuple[int, int]] = []
        table = platform.evaluate(
            matrix,
            operation,
            schedules,
            lambda done, total: calls.append((done, total)),  # noqa: B023
        )
        problems = [
            *_table_problems(table, schedules, matrix.name),
            *(f"progress({d}, {t}): done exceeds total" for d, t in calls if not 0 <= d <= t),
        ]
        if matrix.values.tobytes() != before:
            problems.append("evaluate changed the matrix")
        if not problems:
            problems += _again(platform, operation, matrix, schedules, table)
        yield from (f"on {matrix.name}: {problem}" for problem in problems)
        if problems:
            return
        ran = ran or bool((table["status"] == "ok").any())
        default = table[table["schedule_id"] == space.default.schedule_id].iloc[0]
        if (table["status"] == "ok").any() and default["status"] != "ok":
            yield (
                f"on {matrix.name} the default schedule is {default['status']} "
                f"({default['reason']}), though others ran; speed-ups need its time"
            )
    if not ran:
        reasons = " / ".join(dict.fromkeys(table["reason"]))
        yield f"no schedule ran on any matrix that was tried: {reasons[:500]}"


def _table_problems(table: Any, schedules: Sequence[Schedule], name: str) -> Iterator[str]:
    if not isinstance(table, pd.DataFrame):
        yield f"evaluate must give a data frame, not {type(table).__name__}"
        return
    missing = [c for c in ("schedule_id", "seconds", "status", "reason") if c not in table]
    if missing:
        yield f"the table lacks the columns {', '.join(missing)}"
        return
    asked, given = [s.schedule_id for s in schedules], list(table["schedule_id"])
    if given != asked:
        dropped = sorted(set(asked) - set(given))
        yield (
            f"{len(dropped)} schedules have no row ({dropped[:3]} …); a schedule that cannot run "
            "is a row with status 'rejected' or 'failed' and a reason"
            if dropped
            else "rows must be in the order in which schedules were given, one each"
        )
        return
    infinite = ~np.isfinite(table.loc[table["status"] == "ok", "seconds"].astype(float))
    if infinite.any():
        yield "seconds of a schedule that is ok must be a finite number"
        return
    try:
        samples.validate(table.assign(matrix=name), "evaluate")
    except SamplesError as error:
        yield str(error)


def _again(
    platform: Platform,
    operation: Operation,
    matrix: SparseMatrix,
    schedules: Sequence[Schedule],
    table: pd.DataFrame,
) -> Iterator[str]:
    """Asked again, alone and in reverse order, the answers are the same."""
    reverse = platform.evaluate(matrix, operation, schedules[::-1])
    yield from _table_problems(reverse, schedules[::-1], matrix.name)
    alone = platform.evaluate(matrix, operation, schedules[-1:])
    yield from _table_problems(alone, schedules[-1:], matrix.name)
    if len(reverse) != len(table) or len(alone) != 1:
        return
    again = reverse.iloc[::-1].reset_index(drop=True)
    for other, first in ((again, table), (alone, table.iloc[-1:])):
        rejected = (first["status"] == "rejected").to_numpy()
        if (rejected != (other["status"] == "rejected").to_numpy()).any():
            yield "a schedule is rejected once and not the other time, on the same matrix"
            return
        if platform.kind == "simulated" and not _same(first, other):
            yield (
                "the same schedule takes another simulated time when asked in another order or "
                "alone; a simulation must be repeatable"
            )
            return


def _same(first: pd.DataFrame, other: pd.DataFrame) -> bool:
    one, two = (t["seconds"].to_numpy(dtype=np.float64) for t in (first, other))
    both = np.isfinite(one) & np.isfinite(two)
    return bool(np.allclose(one[both], two[both], rtol=SAME_TIME, atol=0))
