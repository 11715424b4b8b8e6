"""Refuse samples that nothing can be learnt from, saying what to do about it."""

import numpy as np
import pandas as pd

from cognate.errors import ModelError, ScheduleError
from cognate.operations import Operation
from cognate.platforms import Platform


def check_samples(
    table: pd.DataFrame, platform: Platform, operation: Operation, what: str
) -> pd.DataFrame:
    """The rows that ran, if a ranking can be learnt from them; else :class:`ModelError`.

    Refused: no rows, times that are not finite and positive, matrices with fewer than two
    schedules, the same time everywhere, schedule ids or parameter values that the platform's
    space of today does not have.
    """
    ran = table[table["status"] == "ok"]
    where = f"{what} of {platform.name} {operation.name}"
    if ran.empty:
        raise ModelError(f"{where}: no schedule ran; collect samples first")
    seconds = ran["seconds"].to_numpy(dtype=np.float64)
    bad = ~(np.isfinite(seconds) & (seconds > 0))
    if bad.any():
        row = ran[bad].iloc[0]
        raise ModelError(
            f"{where}: schedule {row['schedule_id']} on {row['matrix']} took "
            f"{row['seconds']} seconds; mark it failed or measure it again"
        )
    counts = ran.groupby("matrix")["schedule_id"].nunique()
    lonely = counts[counts < 2]
    if len(lonely):
        raise ModelError(
            f"{where}: {lonely.index[0]} has one schedule, which ranks nothing; "
            "sample at least two schedules of each matrix"
        )
    spread = ran.groupby("matrix")["seconds"].agg(np.ptp)
    if (spread == 0).all():
        raise ModelError(
            f"{where}: all schedules of a matrix take the same time; "
            "check the timer, or use matrices on which schedules differ"
        )
    _check_space(ran, platform, operation, where)
    return ran


def _check_space(ran: pd.DataFrame, platform: Platform, operation: Operation, where: str) -> None:
    space = platform.space(operation)
    ids = np.unique(ran["schedule_id"].to_numpy())
    advice = "the samples are of another version of the platform; collect them again"
    try:
        today = space.table([space.at(int(i)) for i in ids]).set_index("schedule_id")
    except ScheduleError as error:
        raise ModelError(f"{where}: {error}; {advice}") from error
    for name in today.columns.intersection(ran.columns):
        expected = today[name].astype(str).reindex(ran["schedule_id"]).to_numpy()
        differs = expected != ran[name].astype(str).to_numpy()
        if differs.any():
            row = ran[differs].iloc[0]
            raise ModelError(
                f"{where}: schedule {row['schedule_id']} has {name}={row[name]}, but "
                f"{name}={expected[differs][0]} in {space.name}; {advice}"
            )
