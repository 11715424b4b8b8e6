"""What there is to choose: default, one fixed and the best schedule, from samples alone."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.errors import SamplesError
from cognate.evaluation.metrics import geometric_mean
from cognate.evaluation.summaries import size_decade

AIM = 1.10
"""A study is worth running where the oracle beats the fixed schedule by this (geomean)."""


def times(samples: pd.DataFrame, default_schedule: int) -> pd.DataFrame:
    """Seconds by matrix (rows, ascending) and schedule id (columns).

    A schedule that was rejected, failed or not sampled counts as the default's time.

    Raises :class:`SamplesError` if the default has no time on a matrix.
    """
    wide = samples.pivot(index="matrix", columns="schedule_id", values="seconds").sort_index()
    if default_schedule not in wide or wide[default_schedule].isna().any():
        raise SamplesError(f"the default schedule {default_schedule} has no time on some matrix")
    filled: pd.DataFrame = wide.apply(lambda column: column.fillna(wide[default_schedule]))
    return filled


def best_fixed(seconds: pd.DataFrame) -> int:
    """The schedule with the least geometric-mean time over the rows of :func:`times`."""
    return int(np.log(seconds).mean().idxmin())


def headroom_by_matrix(
    samples: pd.DataFrame, matrices: pd.DataFrame, default_schedule: int
) -> pd.DataFrame:
    """Default, fixed and oracle seconds of every sampled matrix.

    ``fixed_seconds`` is the schedule that is best on the training matrices;
    ``cross_fixed_seconds``, on a training matrix, the one that is best on the training
    matrices of all other families: what a matrix-blind user would have had for it.
    """
    seconds = times(samples, default_schedule)
    about = matrices.set_index("matrix").loc[seconds.index]
    train = (about["split"] == "train").to_numpy()
    if not train.any():
        raise SamplesError("no training matrix was sampled; the headroom is drawn from them")
    fixed = best_fixed(seconds[train])
    table = about[["kind", "family", "split", "rows", "cols", "nnz"]].reset_index()
    table["size"] = size_decade(table["nnz"])
    table["default_seconds"] = seconds[default_schedule].to_numpy()
    table["fixed_seconds"] = seconds[fixed].to_numpy()
    table["cross_fixed_seconds"] = _cross_fixed(seconds, about["family"], train, fixed)
    table["best_seconds"] = seconds.min(axis=1).to_numpy()
    table["fixed_schedule"] = fixed
    table["best_schedule"] = seconds.idxmin(axis=1).to_numpy(dtype=np.int64)
    return table


def headroom(by_matrix: pd.DataFrame) -> pd.DataFrame:
    """Geomeans of the headroom by split, and by kind and size within the training split.

    ``oracle_over_fixed`` is the number that the aim of 1.10 is about;
    ``oracle_over_cross_fixed`` the same against a fixed schedule chosen without the family.
    """
    train = by_matrix[by_matrix["split"] == "train"]
    parts = [("split", str(value), part) for value, part in by_matrix.groupby("split")]
    parts.sort(key=lambda part: ["train", "validation", "test"].index(part[1]))
    parts += [("kind", str(value), part) for value, part in train.groupby("kind")]
    parts += [("size", str(value), part) for value, part in train.groupby("size")]
    return pd.DataFrame([{"by": by, "part": value} | _ratios(p) for by, value, p in parts])


def _ratios(part: pd.DataFrame) -> dict[str, float]:
    best = part["best_seconds"]
    over_fixed = part["fixed_seconds"] / best
    return {
        "matrices": len(part),
        "oracle_over_default": geometric_mean(part["default_seconds"] / best),
        "fixed_over_default": geometric_mean(part["default_seconds"] / part["fixed_seconds"]),
        "oracle_over_fixed": geometric_mean(over_fixed),
        "oracle_over_cross_fixed": geometric_mean(part["cross_fixed_seconds"] / best),
        "oracle_over_fixed_max": float(over_fixed.max()),
        "matrices_above_5_percent": int((over_fixed > 1.05).sum()),
        "winning_schedules": part["best_schedule"].nunique(),
    }


def _cross_fixed(
    seconds: pd.DataFrame, families: pd.Series, train: NDArray[np.bool_], fixed: int
) -> NDArray[np.float64]:
    """Seconds of the fixed schedule chosen on training matrices of other families."""
    logs = np.log(seconds.to_numpy())
    total, count = logs[train].sum(axis=0), int(train.sum())
    chosen = np.full(len(seconds), seconds.columns.get_loc(fixed))
    labels = families.to_numpy()
    for family in np.unique(labels[train]):
        own = train & (labels == family)
        if own.sum() < count:
            rest = (total - logs[own].sum(axis=0)) / (count - own.sum())
            chosen[own] = int(np.argmin(rest))
    result: NDArray[np.float64] = seconds.to_numpy()[np.arange(len(seconds)), chosen]
    return result
