"""Rankings against samples: the evaluation table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pyarrow
from numpy.typing import NDArray

from cognate.errors import SamplesError
from cognate.evaluation.methods import dependence
from cognate.evaluation.metrics import PairCounts, absolute_percentage_error
from cognate.files import replacing

KEY = ["method", "shots", "source_matrices", "seed", "matrix"]
"""Columns that identify a ranking of one target and operation."""
TOP = 5
"""How many of the best-ranked schedules a top-5 user runs."""
_PAIR_BLOCK = 4096

_SECONDS = pa.Column("float64", [pa.Check.gt(0), pa.Check.lt(float("inf"))])
_COUNT = pa.Column("int64", pa.Check.ge(0))

SCHEMA = pa.DataFrameSchema(
    {
        "target": pa.Column(str),
        "operation": pa.Column(str),
        "method": pa.Column(str),
        "shots": _COUNT,
        "source_matrices": _COUNT,
        "seed": _COUNT,
        "matrix": pa.Column(str),
        "kind": pa.Column(str),
        "family": pa.Column(str),
        "nnz": _COUNT,
        "rows": _COUNT,
        "cols": _COUNT,
        "default_seconds": _SECONDS,
        "best_seconds": _SECONDS,
        "top1_seconds": _SECONDS,
        "top5_seconds": _SECONDS,
        "kendall_tau": pa.Column("float64", pa.Check.in_range(-1, 1)),
        "ordered_pair_accuracy": pa.Column("float64", pa.Check.in_range(0, 1)),
        "absolute_percentage_error": pa.Column("float64", pa.Check.ge(0)),
        "predict_seconds": pa.Column("float64", pa.Check.ge(0)),
        "fit_seconds": pa.Column("float64", pa.Check.ge(0)),
        "top1_schedule": _COUNT,
        "best_schedule": _COUNT,
        "samples_used": _COUNT,
        "source_samples_used": _COUNT,
    },
    checks=[
        pa.Check(
            lambda t: (
                (t["best_seconds"] <= t["top5_seconds"]) & (t["top5_seconds"] <= t["top1_seconds"])
            ),
            error="best, top-5 and top-1 times must not decrease in this order",
        )
    ],
    unique=["target", "operation", *KEY],
    strict=True,
    ordered=True,
)


def validate(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """The table itself if it keeps the contract, else :class:`SamplesError` naming ``source``."""
    try:
        return SCHEMA.validate(table)
    except pa.errors.SchemaError as error:
        raise SamplesError(f"{source}: evaluation breaks its contract: {error}") from error


def write(table: pd.DataFrame, path: Path | str) -> None:
    """Write a valid evaluation table to parquet, atomically."""
    validate(table, str(path))
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False)


def read(path: Path | str) -> pd.DataFrame:
    """The evaluation table at ``path``; :class:`SamplesError` if it is not one."""
    try:
        table = pd.read_parquet(path)
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise SamplesError(f"{path}: cannot be read as an evaluation table: {error}") from error
    return validate(table, str(path))


def evaluate(
    rankings: pd.DataFrame,
    samples: pd.DataFrame,
    matrices: pd.DataFrame,
    *,
    target: str,
    operation: str,
    default_schedule: int,
    samples_per_shot: int,
    source_samples_per_matrix: int,
) -> pd.DataFrame:
    """The evaluation table of one target and operation, one row a row of ``rankings``.

    A chosen schedule that was rejected or failed counts as the default's time; accuracy is
    taken over the schedules that ran. ``samples`` must hold every ranked schedule of every
    ranked matrix. Columns ``samples_used`` and ``source_samples_used`` of ``rankings`` are
    taken over if present, else counted from the shots and the source matrices.

    Raises :class:`SamplesError` for a ranked matrix or schedule that has no sample, for a
    ranking that names a schedule twice, and for a ranked matrix that was trained on.
    """
    source = f"rankings of {target} {operation}"
    if rankings.empty:
        raise SamplesError(f"{source}: there are none")
    _check_rankings(rankings, matrices, source)
    truth = _Truth(samples, sorted(set(rankings["matrix"])), default_schedule, source)
    order = np.stack([np.asarray(ids, dtype=np.int64) for ids in rankings["order"]])
    scores = np.stack([np.asarray(row, dtype=np.float64) for row in rankings["predicted"]])
    row_of_matrix = truth.rows(rankings["matrix"])
    columns = truth.columns(order, source)
    seconds = truth.seconds[row_of_matrix[:, None], columns]
    default_seconds = truth.default_seconds[row_of_matrix]
    charged = np.where(np.isnan(seconds), default_seconds[:, None], seconds)[:, :TOP]
    best_seconds = truth.best_seconds[row_of_matrix]
    tau, accuracy = _accuracy(scores, seconds, source)
    about = matrices.set_index("matrix").loc[rankings["matrix"]].reset_index()
    table = rankings[KEY].reset_index(drop=True)
    table.insert(0, "target", target)
    table.insert(1, "operation", operation)
    for name in ("kind", "family", "nnz", "rows", "cols"):
        table[name] = about[name]
    table["default_seconds"] = default_seconds
    table["best_seconds"] = best_seconds
    table["top1_seconds"] = charged[:, 0]
    table["top5_seconds"] = charged.min(axis=1)
    table["kendall_tau"] = tau
    table["ordered_pair_accuracy"] = accuracy
    table["absolute_percentage_error"] = absolute_percentage_error(charged[:, 0], best_seconds)
    for name in ("predict_seconds", "fit_seconds"):
        table[name] = rankings[name].to_numpy(dtype=np.float64)
    table["top1_schedule"] = order[:, 0]
    table["best_schedule"] = truth.best_schedule[row_of_matrix]
    training = int((matrices["split"] == "train").sum())
    table["samples_used"] = _samples_used(
        rankings, min(samples_per_shot, order.shape[1]), training * order.shape[1]
    )
    table["source_samples_used"] = _source_samples_used(rankings, source_samples_per_matrix)
    table = table.sort_values(KEY, kind="stable", ignore_index=True)
    return validate(table, f"evaluation of {target} {operation}")


class _Truth:
    """Sampled seconds of some matrices as one array (matrix, schedule), NaN if not ok."""

    def __init__(self, samples: pd.DataFrame, names: list[str], default: int, source: str):
        absent = sorted(set(names) - set(samples["matrix"]))
        if absent:
            raise SamplesError(f"{source}: no samples of {_first(absent)}; sample them first")
        chosen = samples[samples["matrix"].isin(names)]
        self._names = pd.Index(names)
        self._schedules, column = np.unique(chosen["schedule_id"], return_inverse=True)
        row = self.rows(chosen["matrix"])
        shape = (len(names), len(self._schedules))
        self.seconds = np.full(shape, np.nan)
        self.seconds[row, column] = chosen["seconds"].where(chosen["status"] == "ok")
        self.sampled = np.zeros(shape, dtype=bool)
        self.sampled[row, column] = True
        where = int(np.searchsorted(self._schedules, default))
        has_default = where < shape[1] and self._schedules[where] == default
        self.default_seconds = self.seconds[:, where] if has_default else np.full(shape[0], np.nan)
        without = self._names[np.isnan(self.default_seconds)]
        if len(without):
            raise SamplesError(
                f"{source}: the default schedule {default} has no time on {_first(list(without))}; "
                "speed-ups need it, so sample it or leave the matrix out of the study"
            )
        self.best_seconds = np.nanmin(self.seconds, axis=1)
        self.best_schedule = self._schedules[np.nanargmin(self.seconds, axis=1)]

    def rows(self, names: pd.Series) -> NDArray[np.intp]:
        return self._names.get_indexer(pd.Index(names))

    def columns(self, order: NDArray[np.int64], source: str) -> NDArray[np.intp]:
        """Columns of ranked schedule ids, each sampled on every matrix that is ranked."""
        found = np.minimum(np.searchsorted(self._schedules, order), len(self._schedules) - 1)
        unknown = order[self._schedules[found] != order]
        if len(unknown):
            raise SamplesError(
                f"{source}: schedule {unknown[0]} was not sampled; sample all that are ranked"
            )
        needed = np.zeros(len(self._schedules), dtype=bool)
        needed[found] = True
        gap = np.argwhere(~self.sampled & needed)
        if len(gap):
            matrix, schedule = self._names[gap[0][0]], self._schedules[gap[0][1]]
            raise SamplesError(
                f"{source}: {matrix} has no sample of schedule {schedule} "
                f"({len(gap)} missing in all); sample all schedules that are ranked"
            )
        return found


def _accuracy(
    scores: NDArray[np.float64], seconds: NDArray[np.float64], source: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if np.isnan(scores).any():
        raise SamplesError(f"{source}: a predicted score is not a number")
    parts = [
        PairCounts.of(scores[i : i + _PAIR_BLOCK], seconds[i : i + _PAIR_BLOCK])
        for i in range(0, len(scores), _PAIR_BLOCK)
    ]
    tau = np.concatenate([part.kendall_tau() for part in parts])
    return np.clip(tau, -1, 1), np.concatenate([part.ordered_pair_accuracy() for part in parts])


def _check_rankings(rankings: pd.DataFrame, matrices: pd.DataFrame, source: str) -> None:
    if rankings.duplicated(KEY).any():
        raise SamplesError(f"{source}: two rankings have the same {', '.join(KEY)}")
    absent = sorted(set(rankings["matrix"]) - set(matrices["matrix"]))
    if absent:
        raise SamplesError(f"{source}: {_first(absent)} not in the table of matrices")
    lengths = {len(ids) for ids in rankings["order"]} | {len(row) for row in rankings["predicted"]}
    if len(lengths) != 1:
        raise SamplesError(f"{source}: rankings differ in length: {sorted(lengths)}")
    if any(len(np.unique(ids)) != len(ids) for ids in rankings["order"]):
        raise SamplesError(f"{source}: a ranking names a schedule twice")
    split = matrices.set_index("matrix")["split"]
    ranked = split.loc[sorted(set(rankings["matrix"]))]
    if (ranked != "test").any():
        raise SamplesError(
            f"{source}: {_first(list(ranked.index[ranked != 'test']))} not in the test split"
        )
    shots = {name for names in rankings["shot_matrices"] for name in names}
    leaked = [name for name in sorted(shots) if split.get(name) == "test"]
    if leaked:
        raise SamplesError(f"{source}: trained on test matrices: {_first(leaked)}")


def _samples_used(rankings: pd.DataFrame, per_shot: int, available: int) -> NDArray[np.int64]:
    """Target samples seen: those of the shots, times the method's factor, at most all there are."""
    if "samples_used" in rankings:
        return rankings["samples_used"].to_numpy(dtype=np.int64)
    used = []
    for method, names in zip(rankings["method"], rankings["shot_matrices"], strict=True):
        depends = dependence(method)
        shots = max(1, len(names)) if depends.samples > 1 else len(names)
        used.append(min(shots * per_shot * depends.samples, available) if depends.shots else 0)
    return np.asarray(used, dtype=np.int64)


def _source_samples_used(rankings: pd.DataFrame, per_matrix: int) -> NDArray[np.int64]:
    if "source_samples_used" in rankings:
        return rankings["source_samples_used"].to_numpy(dtype=np.int64)
    uses = rankings["method"].map(lambda method: dependence(method).source).to_numpy(dtype=bool)
    return np.where(uses, rankings["source_matrices"] * per_matrix, 0).astype(np.int64)


def _first(names: list[str], count: int = 3) -> str:
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + more
