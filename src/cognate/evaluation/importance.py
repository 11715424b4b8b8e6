"""Which parameters of a schedule matter, and when: from the times of all schedules."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.evaluation.headroom import best_fixed, times
from cognate.evaluation.metrics import geometric_mean
from cognate.evaluation.study_data import IDENTITY
from cognate.evaluation.summaries import TIE

Floats = NDArray[np.float64]
LEAST_MATRICES = 3
"""A rule must leave at least so many training matrices on either side."""


class ScheduleTimes:
    """Seconds of every schedule of every matrix, with the values of the parameters."""

    def __init__(self, samples: pd.DataFrame, parameters: list[str], default_schedule: int):
        self.parameters = parameters
        self.default = default_schedule
        self.seconds = times(samples, default_schedule)
        schedules = samples.drop_duplicates("schedule_id").set_index("schedule_id")
        self.values = schedules.loc[self.seconds.columns, parameters]

    def options(self, parameter: str) -> list[Any]:
        """The values of a parameter, in the order of the schedules' ids."""
        return list(self.values[parameter].drop_duplicates())

    def regret(self, parameter: str) -> Floats:
        """(matrices, options): log of the best time with that value over the best of all."""
        logs = np.log(self.seconds.to_numpy())
        column = self.values[parameter].to_numpy()
        kept = [logs[:, column == value].min(axis=1) for value in self.options(parameter)]
        result: Floats = np.stack(kept, axis=1) - logs.min(axis=1, keepdims=True)
        return result

    def alone(self, parameter: str, start: int) -> Floats:
        """(matrices,): log gain of choosing this parameter only, all others as in ``start``."""
        others = [name for name in self.parameters if name != parameter]
        same = (self.values[others] == self.values.loc[start, others]).all(axis=1).to_numpy()
        logs = np.log(self.seconds.to_numpy())
        result: Floats = np.log(self.seconds[start].to_numpy()) - logs[:, same].min(axis=1)
        return result


def importance(data: ScheduleTimes) -> pd.DataFrame:
    """What each parameter is worth, one row each, the most important first.

    ``fixed_loss`` is how much slower the best schedules become when the parameter keeps its
    one best value and all others are still chosen for each matrix; ``default_loss`` the same
    at the default value; ``alone_gain`` how much faster the best fixed schedule becomes when
    this parameter only is chosen for each matrix. All are geometric means less one.
    """
    start = best_fixed(data.seconds)
    records = []
    for name in data.parameters:
        regret, options = data.regret(name), data.options(name)
        mean = regret.mean(axis=0)
        best = int(mean.argmin())
        default = options.index(data.values.loc[data.default, name])
        records.append(
            {
                "parameter": name,
                "best_value": str(options[best]),
                "default_value": str(options[default]),
                "fixed_loss": float(np.expm1(mean[best])),
                "default_loss": float(np.expm1(mean[default])),
                "alone_gain": float(np.expm1(data.alone(name, start).mean())),
                "matrices": len(regret),
            }
        )
    table = pd.DataFrame(records)
    return table.sort_values("fixed_loss", ascending=False, kind="stable", ignore_index=True)


def choices(data: ScheduleTimes, matrices: pd.DataFrame) -> pd.DataFrame:
    """How often the best schedule takes each value: over all matrices and by their kind.

    Schedules that tie for the best share their matrix equally: what makes no difference is
    chosen as often as there are values.
    """
    seconds = data.seconds.to_numpy()
    best = np.log(seconds) - np.log(seconds).min(axis=1, keepdims=True) < TIE
    weights = best / best.sum(axis=1, keepdims=True)
    kinds = matrices.set_index("matrix").loc[data.seconds.index, "kind"].to_numpy()
    groups = [("all", weights), *((str(k), weights[kinds == k]) for k in np.unique(kinds))]
    records = []
    for kind, part in groups:
        for name in data.parameters:
            column = data.values[name].to_numpy()
            for value in data.options(name):
                share = float(part[:, column == value].sum(axis=1).mean())
                record = {"kind": kind, "parameter": name, "value": str(value), "share": share}
                records.append(record | {"matrices": len(part)})
    return pd.DataFrame(records)


def rules(data: ScheduleTimes, matrices: pd.DataFrame) -> pd.DataFrame:
    """For each parameter the one threshold on a pattern statistic that chooses it best.

    Thresholds are drawn on the training matrices; ``loss_fixed`` (one value for all) and
    ``loss_rule`` are what is lost on the test matrices against a free choice, as geometric
    means less one. A rule that does not help there is shown as it is.
    """
    about = matrices.set_index("matrix").loc[data.seconds.index]
    train, test = ((about["split"] == part).to_numpy() for part in ("train", "test"))
    statistics = about.drop(columns=[c for c in IDENTITY if c in about]).select_dtypes("number")
    records = []
    for name in data.parameters:
        regret, options = data.regret(name), data.options(name)
        fixed = int(regret[train].mean(axis=0).argmin())
        rule = _best_rule(regret[train], statistics[train])
        record: dict[str, Any] = {"parameter": name}
        chosen = np.full(int(test.sum()), fixed)
        text = f"{name} = {options[fixed]} always"
        if rule is not None:
            statistic, threshold, below, above = rule
            chosen = np.where(statistics.loc[test, statistic] <= threshold, below, above)
            text = (
                f"{name} = {options[below]} if {statistic} ≤ {threshold:.3g}, else {options[above]}"
            )
        record["rule"] = text
        record["loss_fixed"] = _mean_loss(regret[test][:, fixed])
        record["loss_rule"] = _mean_loss(regret[test][np.arange(len(chosen)), chosen])
        record["training_matrices"], record["test_matrices"] = int(train.sum()), int(test.sum())
        records.append(record)
    table = pd.DataFrame(records)
    order = (table["loss_fixed"] - table["loss_rule"]).sort_values(ascending=False, kind="stable")
    return table.loc[order.index].reset_index(drop=True)


def _best_rule(regret: Floats, statistics: pd.DataFrame) -> tuple[str, float, int, int] | None:
    """Statistic, threshold and the options on either side with the least total regret."""
    least, found = float(regret.sum(axis=0).min()) - 1e-12, None
    for name in statistics:
        values = statistics[name].to_numpy(dtype=np.float64)
        order = np.argsort(values, kind="stable")
        sorted_values, below = values[order], regret[order].cumsum(axis=0)
        above = below[-1] - below
        places = np.flatnonzero(np.diff(sorted_values) > 0)
        places = places[(places >= LEAST_MATRICES - 1) & (places < len(values) - LEAST_MATRICES)]
        if not len(places) or not np.isfinite(sorted_values).all():
            continue
        total = below[places].min(axis=1) + above[places].min(axis=1)
        best = int(total.argmin())
        if total[best] < least:
            least, place = float(total[best]), places[best]
            threshold = float(sorted_values[place : place + 2].mean())
            found = (str(name), threshold, int(below[place].argmin()), int(above[place].argmin()))
    return found


def _mean_loss(regret: Floats) -> float:
    return geometric_mean(np.exp(regret)) - 1
