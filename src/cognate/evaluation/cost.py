"""What a method's samples and its predictions cost, beside what they bring."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cognate.config import Evaluation
from cognate.evaluation.bootstrap import grid
from cognate.evaluation.summaries import (
    SETTING,
    log_times,
    resampler,
    settings,
    shares,
    speedups,
)


def collection_cost(
    rows: pd.DataFrame,
    choice: Evaluation,
    beta: Mapping[str, float],
    seconds: Mapping[str, float],
    source: str,
    seed: int = 0,
) -> pd.DataFrame:
    """Samples, data-collection cost and quality of every setting of an experiment.

    ``cost`` is ``Σ β·samples`` over source and target (the paper's convention),
    ``collection_seconds`` the same with this study's measured seconds a sample. Samples are
    means over seeds. ``beta`` and ``seconds`` are by platform; ``source`` names the source.
    """
    records = []
    for setting, part in settings(rows):
        draws = resampler(part, choice, seed)
        target = setting["target"]
        here, there = (float(part[name].mean()) for name in ("samples_used", "source_samples_used"))
        record: dict[str, Any] = setting | {
            "target_samples": here,
            "source_samples": there,
            "cost": beta[target] * here + beta[source] * there,
            "collection_seconds": seconds[target] * here + seconds[source] * there,
        }
        logs = log_times(part)
        records.append(record | speedups(logs, draws) | shares(logs, draws))
    return pd.DataFrame(records)


def seconds_a_sample(metadata: list[dict[str, Any]], samples: pd.DataFrame) -> float:
    """Mean seconds that taking one sample took, over all matrices of a platform; NaN if unknown.

    Time spent is what the stage that samples recorded, repeats and checks included.
    """
    spent = {name: s for part in metadata for name, s in part.get("seconds_spent", {}).items()}
    counted = samples["matrix"].isin(list(spent)).sum()
    return float(sum(spent.values()) / counted) if counted else float("nan")


def overhead(rows: pd.DataFrame, exhaustive_seconds: float) -> pd.DataFrame:
    """Time to predict against time saved, for each setting.

    ``break_even_runs`` is the number of kernel runs after which the top-1 choice has paid for
    its prediction, ``predict / (default − top1)``, infinite where nothing is saved; its median
    is over matrices, of means over seeds. ``exhaustive_seconds`` is the cost of sampling every
    schedule of one matrix.
    """
    records = []
    for setting, part in settings(rows):
        by_matrix = break_even(part)
        paid = by_matrix["break_even_runs"]
        predict = by_matrix["predict_seconds"]
        records.append(
            setting
            | {
                "fit_seconds": float(grid(part, "fit_seconds")[0].mean()),
                "predict_seconds": float(predict.median()),
                "predict_seconds_max": float(predict.max()),
                "default_seconds": float(by_matrix["default_seconds"].median()),
                "saved_seconds": float(by_matrix["saved_seconds"].median()),
                "exhaustive_seconds": exhaustive_seconds,
                "break_even_runs": float(paid.median()),
                "matrices_that_gain": int(np.isfinite(paid).sum()),
                "matrices": len(by_matrix),
            }
        )
    return pd.DataFrame(records)


def break_even(rows: pd.DataFrame) -> pd.DataFrame:
    """Seconds to predict and saved a run, and their ratio, of each setting and matrix."""
    table = (
        rows.groupby([*SETTING, "matrix", "nnz"], sort=False)[
            ["predict_seconds", "default_seconds", "top1_seconds"]
        ]
        .mean()
        .reset_index()
    )
    table["saved_seconds"] = table["default_seconds"] - table["top1_seconds"]
    pays = table["saved_seconds"] > 1e-12 * table["default_seconds"]
    saved = table["saved_seconds"].where(pays)
    table["break_even_runs"] = (table["predict_seconds"] / saved).fillna(np.inf)
    return table
