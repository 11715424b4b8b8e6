"""The rows of an evaluation table that belong to one experiment of the study."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.config import Experiment
from cognate.errors import SamplesError
from cognate.evaluation.methods import dependence

RUN = ["method", "shots", "source_matrices", "seed"]
FIXED = "best-fixed"


def expected_runs(experiment: Experiment, seeds: Sequence[int], all_sources: int) -> pd.DataFrame:
    """Every run that the experiment lists: method, shots, source_matrices, seed.

    A method that cannot do without shots has no run at 0 shots.
    """
    sizes = dict.fromkeys(all_sources if s == "all" else s for s in experiment.source_matrices)
    runs = product(experiment.methods, experiment.shots, sizes, seeds[: experiment.seeds])
    listed = [run for run in runs if run[1] > 0 or not dependence(run[0]).needs_shots]
    return pd.DataFrame(listed, columns=RUN)


def select(table: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Rows of an evaluation table for these runs, in their order.

    What a method does not depend on need not agree: a zero-shot row serves any number of
    shots, and comes back with the number that the run lists.
    """
    wanted, stored = _with_key(runs), _with_key(table)
    stored = stored.drop_duplicates([*_KEY, "matrix"]).drop(columns=RUN[1:])
    rows = wanted.merge(stored, on=_KEY, how="inner", sort=False)
    return rows[list(table.columns)]


def missing_rows(rows: pd.DataFrame, runs: pd.DataFrame, matrices: Sequence[str]) -> int:
    """How many pairs of listed run and test matrix have no row."""
    present = rows.loc[rows["matrix"].isin(matrices), [*RUN, "matrix"]]
    return len(runs) * len(matrices) - len(present.drop_duplicates())


def with_fixed(rows: pd.DataFrame, table: pd.DataFrame, usual_shots: int) -> pd.DataFrame:
    """The rows with ``fixed_seconds``: what ``best-fixed`` reaches from the same shots.

    That is its top-1 time on the same matrix, seed and number of shots; where the study has
    no such run (as with 0 shots), with ``usual_shots`` shots. NaN without any.
    """
    fixed = table[table["method"] == FIXED].drop_duplicates(_SAME)
    usual = fixed[fixed["shots"] == usual_shots]
    result = rows.copy()
    same = _look_up(fixed, rows, _SAME)
    result["fixed_seconds"] = np.where(np.isnan(same), _look_up(usual, rows, _SAME[1:]), same)
    return result


def require_complete(rows: pd.DataFrame, runs: pd.DataFrame, matrices: Sequence[str]) -> None:
    """Raise :class:`SamplesError` if a listed run has no row for a test matrix."""
    missing = missing_rows(rows, runs, matrices)
    if missing:
        present = set(map(tuple, rows[RUN].drop_duplicates().to_numpy().tolist()))
        absent = [run for run in map(tuple, runs.to_numpy().tolist()) if run not in present]
        example = f"; the first run without any row is {absent[0]}" if absent else ""
        raise SamplesError(
            f"{missing} rows are missing from the evaluation{example}; evaluate all rankings again"
        )


_SAME = ["shots", "seed", "matrix"]
_KEY = ["method", "shots_key", "source_key", "seed_key"]


def _look_up(table: pd.DataFrame, rows: pd.DataFrame, keys: list[str]) -> NDArray[np.float64]:
    """``top1_seconds`` of the table at the keys of each row, NaN where there is none."""
    found = rows[keys].merge(table[[*keys, "top1_seconds"]], on=keys, how="left")
    return found["top1_seconds"].to_numpy(dtype=np.float64)


def _with_key(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the columns of a run that its method depends on, 0 elsewhere."""
    depends = {method: dependence(method) for method in table["method"].unique()}
    keyed = table.copy()
    for column, key, field in (
        ("shots", "shots_key", "shots"),
        ("source_matrices", "source_key", "source"),
        ("seed", "seed_key", "seed"),
    ):
        matters = table["method"].map({m: getattr(d, field) for m, d in depends.items()})
        keyed[key] = table[column].where(matters.astype(bool), 0)
    return keyed
