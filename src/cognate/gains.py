"""From scores to gains: what a ranking promises over the default, with its uncertainty."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from cognate.errors import ModelError
from cognate.evaluation.metrics import geometric_mean
from cognate.learning.ranker import Ranker
from cognate.matrices.matrix import SparseMatrix

TOP = 5
FEWEST_MATRICES = 3
"""From fewer held-out matrices no interval is claimed."""
INSIDE = 0.8
SLOPES = (0.05, 2.0)


@dataclass(frozen=True)
class Calibration:
    """How score differences became time ratios on matrices that the ranker had not seen.

    ``log(default / chosen) = slope · (score of default − score of chosen) + error``, with
    quantiles of the error over the ``top`` best-ranked schedules of each matrix.
    """

    slope: float
    low: float
    middle: float
    high: float
    """Quantiles of the error that leave ``inside`` between low and high."""
    matrices: int
    inside: float = INSIDE
    top: int = TOP

    def gain(self, score_difference: float) -> tuple[float, float, float]:
        """Expected speed-up over the default, and the interval's ends."""
        middle, low, high = np.exp(
            self.slope * score_difference + np.array([self.middle, self.low, self.high])
        ).tolist()
        return middle, low, high

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> "Calibration | None":
        """The calibration in a model's card, or None if it has none."""
        stored = card.get("calibration")
        if stored is None:
            return None
        try:
            return cls(**stored)
        except TypeError as error:
            raise ModelError(f"the model's card has no calibration of this version: {error}") from (
                error
            )


def calibrate(
    ranker: Ranker, matrices: Mapping[str, SparseMatrix], samples: pd.DataFrame
) -> Calibration | None:
    """Learn the calibration from samples of matrices that the ranker was not fitted to.

    None if fewer than three matrices have times of their default and of another schedule.
    """
    space = ranker.platform.space(ranker.operation)
    default = space.default.schedule_id
    promised, gained = [], []
    for name, rows in samples[samples["status"] == "ok"].groupby("matrix", sort=True):
        seconds = rows.set_index("schedule_id")["seconds"]
        if default not in seconds.index or len(seconds) < 2:
            continue
        schedules = [space.at(int(i)) for i in seconds.index]
        scores = pd.Series(ranker.scores(matrices[str(name)], schedules), seconds.index)
        best = scores.nsmallest(TOP).index
        promised.append((scores[default] - scores[best]).to_numpy())
        gained.append(np.log(seconds[default] / seconds[best].to_numpy()))
    if len(promised) < FEWEST_MATRICES:
        return None
    x, y = np.concatenate(promised), np.concatenate(gained)
    finite = np.isfinite(x)
    x, y = x[finite], y[finite]
    slope = float(np.clip((x @ y) / max(float(x @ x), 1e-12), *SLOPES))
    tail = (1 - INSIDE) / 2
    low, middle, high = np.quantile(y - slope * x, [tail, 0.5, 1 - tail]).tolist()
    return Calibration(slope, low, middle, high, len(promised))


def judge(
    ranker: Ranker, matrices: Mapping[str, SparseMatrix], samples: pd.DataFrame
) -> dict[str, float | int]:
    """Mean speed-ups over the default of the first choice, the best of five, and the oracle.

    Geometric means over the matrices of ``samples`` whose default ran; a choice that did not
    run counts as the default. Ranked are the schedules that were sampled.
    """
    space = ranker.platform.space(ranker.operation)
    gains: dict[str, list[float]] = {"top1": [], "top5": [], "oracle": []}
    for name, rows in samples.groupby("matrix", sort=True):
        seconds = rows.set_index("schedule_id")["seconds"]
        default = float(seconds.get(space.default.schedule_id, np.nan))
        if not np.isfinite(default):
            continue
        schedules = [space.at(int(i)) for i in seconds.index]
        order = np.argsort(ranker.scores(matrices[str(name)], schedules), kind="stable")
        charged = seconds.fillna(default).to_numpy()[order]
        for key, best in (("top1", charged[0]), ("top5", charged[:TOP].min())):
            gains[key].append(default / float(best))
        gains["oracle"].append(default / float(seconds.min()))
    means = {f"{key}_speedup": geometric_mean(values) for key, values in gains.items()}
    return {"matrices": len(gains["top1"]), **means}
