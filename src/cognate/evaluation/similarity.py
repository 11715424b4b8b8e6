"""How alike two platforms rank schedules, seen through the comparable slots."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from cognate.evaluation.summaries import per_matrix
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform

Floats = NDArray[np.float64]

OCTAVES = 1.0
"""Standard deviation, in the slots' log2 units, of the kernel that carries times over."""
TRAVERSAL_OCTAVES = 2.0
"""Walking column panels outside counts as this much distance."""


def similarity(
    matrix: SparseMatrix,
    operation: Operation,
    source: tuple[Platform, pd.DataFrame],
    target: tuple[Platform, pd.DataFrame],
) -> dict[str, float]:
    """Rank correlation of source and target on one matrix, through the slots alone.

    ``source`` and ``target`` are a platform and its samples of this matrix. Target schedules
    of equal slots form a cell with their mean log time; the source's log times are carried to
    the cells by a Gaussian kernel over the slots. ``rank_correlation`` is Spearman's ρ over
    cells; ``slots_explain`` the share of the variance of the target's log times between
    cells, which bounds what any transfer through the slots can give.
    """
    source_slots, source_logs = _slots_and_logs(matrix, operation, *source)
    target_slots, target_logs = _slots_and_logs(matrix, operation, *target)
    cells, cell_of = np.unique(target_slots, axis=0, return_inverse=True)
    cell_of = cell_of.ravel()
    size = np.bincount(cell_of)
    means = np.bincount(cell_of, weights=target_logs) / size
    between = float((size * (means - target_logs.mean()) ** 2).sum())
    total = float(((target_logs - target_logs.mean()) ** 2).sum())
    carried = _carry(source_slots, source_logs, cells)
    return {
        "rank_correlation": rank_correlation(carried, means),
        "slots_explain": between / total if total > 0 else float("nan"),
        "cells": len(cells),
    }


def rank_correlation(first: Floats, second: Floats) -> float:
    """Spearman's ρ; NaN for fewer than three points or where one side is constant."""
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(scipy.stats.spearmanr(first, second).statistic)


def gain_of_transfer(rows: pd.DataFrame, transferred: str, alone: str) -> pd.DataFrame:
    """By matrix, how many times faster ``transferred`` is than ``alone`` (top-1, seeds' mean)."""
    wide = per_matrix(rows).pivot(index="matrix", columns="method", values="top1_seconds")
    return (wide[alone] / wide[transferred]).rename("gain").reset_index()


def by_kind(table: pd.DataFrame) -> pd.DataFrame:
    """One row a kind: mean rank correlation and geometric-mean gain of its matrices.

    For a study whose source is sampled on other matrices than its gain is known of.
    """
    groups = table.assign(log_gain=np.log(table["gain"])).groupby("kind")
    means = groups[["rank_correlation", "log_gain"]].mean()
    return means.assign(gain=np.exp(means["log_gain"])).drop(columns="log_gain").reset_index()


def association(table: pd.DataFrame) -> Mapping[str, float]:
    """Spearman's ρ, with its p-value, between ``rank_correlation`` and log ``gain``."""
    known = table.dropna(subset=["rank_correlation", "gain"])
    if len(known) < 4 or known["rank_correlation"].nunique() < 2 or known["gain"].nunique() < 2:
        return {"rho": float("nan"), "p_value": float("nan"), "points": len(known)}
    result = scipy.stats.spearmanr(known["rank_correlation"], np.log(known["gain"]))
    return {"rho": float(result.statistic), "p_value": float(result.pvalue), "points": len(known)}


def _slots_and_logs(
    matrix: SparseMatrix, operation: Operation, platform: Platform, samples: pd.DataFrame
) -> tuple[Floats, Floats]:
    ran = samples[samples["status"] == "ok"]
    space = platform.space(operation)
    schedules = [space.at(int(schedule_id)) for schedule_id in ran["schedule_id"]]
    features = platform.slots(matrix, operation, schedules).features().astype(np.float64)
    features[:, 3] *= TRAVERSAL_OCTAVES
    return features, np.log(ran["seconds"].to_numpy(dtype=np.float64))


def _carry(known_at: Floats, values: Floats, wanted_at: Floats) -> Floats:
    """Kernel-weighted means of values at other points (Nadaraya 1964, Watson 1964)."""
    distance = ((wanted_at[:, None, :] - known_at[None, :, :]) ** 2).sum(axis=2)
    nearness = -(distance - distance.min(axis=1, keepdims=True)) / (2 * OCTAVES**2)
    weights = np.exp(nearness)
    result: Floats = (weights @ values) / weights.sum(axis=1)
    return result
