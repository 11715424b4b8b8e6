"""Tables of the study: speed-ups with intervals, comparisons of methods, accuracy.

Functions of the rows of one experiment (``StudyData.experiment``) for one target and
operation; every mean is taken over the same matrices and seeds for every method.
"""

from collections.abc import Hashable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from cognate.config import Evaluation
from cognate.evaluation.bootstrap import Resampler, grid, grids

Floats = NDArray[np.float64]

SETTING = ["target", "operation", "method", "shots", "source_matrices"]
"""Columns that tell the settings that a table compares."""
TIMES = ("default", "best", "top1", "top5", "fixed", "trained")
METRICS = ("kendall_tau", "ordered_pair_accuracy", "absolute_percentage_error")
TIE = 1e-12
"""Log times that differ by less are ties; rounding of means must not make a winner."""


def resampler(rows: pd.DataFrame, choice: Evaluation, seed: int) -> Resampler:
    """The study's draws for the matrices and seeds of one setting's rows."""
    families = rows.drop_duplicates("matrix").sort_values("matrix")["family"]
    clusters = tuple(families) if choice.resample == "family" else None
    return _resampler(
        len(families), rows["seed"].nunique(), choice.bootstrap, choice.confidence, seed, clusters
    )


@lru_cache(maxsize=64)
def _resampler(
    matrices: int,
    seeds: int,
    resamples: int,
    confidence: float,
    seed: int,
    clusters: tuple[str, ...] | None,
) -> Resampler:
    return Resampler(
        matrices, seeds, resamples=resamples, confidence=confidence, seed=seed, clusters=clusters
    )


def log_times(rows: pd.DataFrame) -> dict[str, Floats]:
    """Logarithms of the seconds in :data:`TIMES`, each as (matrices, seeds)."""
    found = grids(rows, [f"{name}_seconds" for name in TIMES])
    return {name: np.log(found[f"{name}_seconds"]) for name in TIMES}


def settings(rows: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Each setting of an experiment in the order of the rows, with its rows."""
    for values, part in rows.groupby(SETTING, sort=False):
        yield dict(zip(SETTING, _as_tuple(values), strict=True)), part


def headline(rows: pd.DataFrame, choice: Evaluation, seed: int = 0) -> pd.DataFrame:
    """Speed-ups, shares, wins and losses of every setting; see ``docs/results.md``."""
    records = []
    for setting, part in settings(rows):
        draws, logs = resampler(part, choice, seed), log_times(part)
        record = setting | speedups(logs, draws)
        record |= shares(logs, draws)
        record |= _record_against(logs["top1"], logs["default"], "default")
        record |= _record_against(logs["top1"], logs["fixed"], "fixed")
        record["matrices"], record["seeds"] = logs["top1"].shape
        records.append(record)
    return pd.DataFrame(records)


def speedups(logs: dict[str, Floats], draws: Resampler) -> dict[str, float]:
    """Geometric mean of default over chosen time for top-1 and top-5, and the maxima.

    A maximum is over matrices, of the geometric mean over seeds.
    """
    columns: dict[str, float] = {}
    for top in ("top1", "top5"):
        columns |= draws.mean(logs["default"] - logs[top]).exp().columns(f"speedup_{top}")
    for top, name in (("top1", "speedup_max"), ("top5", "speedup_max_top5")):
        columns[name] = float(np.exp((logs["default"] - logs[top]).mean(axis=1).max()))
    return columns


def shares(logs: dict[str, Floats], draws: Resampler) -> dict[str, float]:
    """Share of the oracle's speed, and of the headroom between a fixed schedule and the oracle.

    The first is the geometric mean of best over chosen time. The second is
    ``Σ log(fixed/chosen) / Σ log(fixed/best)``: 0 for the fixed schedule, 1 for the oracle,
    negative for worse than fixed, NaN where the fixed schedule is the oracle everywhere. For
    ``headroom_share`` the fixed schedule is best on the shots, for ``strict_share`` on all
    training matrices.
    """
    columns: dict[str, float] = {}
    for top in ("top1", "top5"):
        columns |= draws.mean(logs["best"] - logs[top]).exp().columns(f"oracle_share_{top}")
    for name, fixed in (("headroom_share", logs["fixed"]), ("strict_share", logs["trained"])):
        for top in ("top1", "top5"):
            columns |= draws.ratio(fixed - logs[top], fixed - logs["best"]).columns(f"{name}_{top}")
    return columns


def comparisons(rows: pd.DataFrame, choice: Evaluation, seed: int = 0) -> pd.DataFrame:
    """Every two methods of the same shots and source size, on the same matrices and seeds.

    ``ratio`` is the geometric mean of the second's top-1 time over the first's (above 1: the
    first is faster) with its paired interval. ``p_value`` is Wilcoxon's signed-rank test of
    the matrices' mean log ratios (zeros by Pratt), ``p_holm`` the same after Holm's
    correction over all pairs of the target and operation.
    """
    records = []
    for values, group in rows.groupby(["target", "operation", "shots", "source_matrices"]):
        logs = {name: np.log(grid(part, "top1_seconds")) for name, part in group.groupby("method")}
        draws = resampler(group, choice, seed)
        order = list(dict.fromkeys(group["method"]))
        for first, second in combinations(order, 2):
            if logs[first].shape != logs[second].shape:
                continue
            gain = logs[second] - logs[first]
            target, operation, shots, sources = _as_tuple(values)
            record = {"target": target, "operation": operation, "shots": shots}
            record |= {"source_matrices": sources, "method": first, "other": second}
            record |= draws.mean(gain).exp().columns("ratio")
            record |= _counts(gain) | {"p_value": _signed_rank(gain.mean(axis=1))}
            records.append(record)
    names = ["target", "operation", "shots", "source_matrices", "method", "other", "ratio"]
    names += ["ratio_low", "ratio_high", "wins", "losses", "ties", "p_value"]
    table = pd.DataFrame(records, columns=names)
    table["p_holm"] = np.nan
    for _, group in table.groupby(["target", "operation"]):
        table.loc[group.index, "p_holm"] = holm(group["p_value"].to_numpy())
    return table


def accuracy(
    rows: pd.DataFrame, choice: Evaluation, by: str | None = None, seed: int = 0
) -> pd.DataFrame:
    """Mean τ, ordered-pair accuracy and percentage error of every setting, with intervals.

    ``by`` names a column whose values are told apart: ``kind``, ``family``, or ``size`` (the
    decade of nnz); then the speed-ups of each part are given as well.
    """
    records = []
    for setting, part in settings(rows.assign(size=size_decade(rows["nnz"]))):
        groups = [(None, part)] if by is None else part.groupby(by, sort=True)
        for value, group in groups:
            draws = resampler(group, choice, seed)
            record = setting | ({} if by is None else {by: value})
            for column, values in grids(group, METRICS).items():
                record |= draws.mean(values).columns(column)
            record["median_percentage_error"] = float(group["absolute_percentage_error"].median())
            if by is not None:
                logs = log_times(group)
                record |= speedups(logs, draws) | shares(logs, draws)
            record["matrices"] = group["matrix"].nunique()
            records.append(record)
    return pd.DataFrame(records)


def per_matrix(rows: pd.DataFrame) -> pd.DataFrame:
    """Geometric means over seeds of each setting's times on each matrix, and its speed-ups."""
    identity = [*SETTING, "matrix", "kind", "family", "nnz", "rows", "cols"]
    seconds = [f"{name}_seconds" for name in TIMES]
    logs = rows[[*identity, *seconds]].copy()
    logs[seconds] = np.log(rows[seconds].to_numpy())
    table = logs.groupby(identity, sort=False)[seconds].mean().reset_index()
    table[seconds] = np.exp(table[seconds].to_numpy())
    for name in ("top1", "top5", "fixed", "trained", "best"):
        table[f"speedup_{name}"] = table["default_seconds"] / table[f"{name}_seconds"]
    return table


def size_decade(nnz: pd.Series) -> pd.Series:
    """The decade of each number of nonzeros as text: ``1e4-1e5`` holds 10,000 and 99,999."""
    exponents = np.floor(np.log10(np.maximum(nnz.to_numpy(), 1))).astype(int)
    return pd.Series([f"1e{e}-1e{e + 1}" for e in exponents], index=nnz.index, dtype=str)


def holm(p_values: Floats) -> Floats:
    """Holm's step-down adjustment of a family of p-values (Holm 1979)."""
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(scaled)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return adjusted


def _signed_rank(differences: Floats) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test; 1 if nothing differs."""
    clean = np.where(np.abs(differences) < TIE, 0.0, differences)
    if not clean.any():
        return 1.0
    return float(scipy.stats.wilcoxon(clean, zero_method="pratt", method="auto").pvalue)


def _counts(gain: Floats) -> dict[str, int]:
    """On how many matrices the mean gain over seeds is positive, negative or a tie."""
    mean = gain.mean(axis=1)
    ties = int((np.abs(mean) < TIE).sum())
    wins = int((mean >= TIE).sum())
    return {"wins": wins, "losses": len(mean) - wins - ties, "ties": ties}


def _record_against(chosen: Floats, reference: Floats, name: str) -> dict[str, float]:
    if np.isnan(reference).any():
        return {f"{key}_{name}": float("nan") for key in ("wins", "losses", "ties", "p_value")}
    gain = reference - chosen
    record: dict[str, float] = {f"{key}_{name}": value for key, value in _counts(gain).items()}
    return record | {f"p_value_{name}": _signed_rank(gain.mean(axis=1))}


def _as_tuple(values: Hashable) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)
