"""Speed-ups over the default schedule: by method, and matrix by matrix."""

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from cognate.evaluation import summaries
from cognate.evaluation.study_data import StudyData
from cognate.figures.bars import (
    headroom_bars,
    height_of,
    name_rows,
    speedup_bars,
    top_legend,
)
from cognate.figures.specs import Drawing
from cognate.figures.style import (
    INK,
    is_known,
    legend_above,
    method_styles,
    new_figure,
    ratio_axis,
    reference_lines,
)

CURVES = ("best-fixed", "no-transfer", "cognate", "cognate-tiles", "oracle")
"""Methods of the study's own that the per-matrix curves show; a user's are shown as well."""


def draw_speedup(study: StudyData, target: str, operation: str) -> Drawing:
    """Geometric-mean speed-up of every method, beside its share of the headroom."""
    return speedup_figure(study, "headline", target, operation)


def speedup_figure(study: StudyData, experiment: str, target: str, operation: str) -> Drawing:
    """Speed-up and share of the headroom of every method of an experiment."""
    rows = first_setting(study.experiment(experiment, target, operation))
    table = summaries.headline(rows, study.config.evaluation, study.config.seed)
    styles = method_styles(list(table["method"]))
    with new_figure(height_of(len(table)), columns=2, sharey=True) as (figure, axes):
        speedup_bars(axes[0], table, styles)
        name_rows(axes[0], table, styles)
        reference_lines(axes[0], *references(rows), vertical=True)
        axes[0].set_xlabel("speed-up over the default schedule")
        headroom_bars(axes[1], table, styles)
        axes[1].set_xlabel("share of the headroom above best fixed")
        top_legend(axes[0])
    return figure, table


def draw_per_matrix(study: StudyData, target: str, operation: str) -> Drawing:
    """Speed-ups of the main methods, each sorted over the matrices; extremes are named."""
    table = summaries.per_matrix(first_setting(study.experiment("headline", target, operation)))
    shown = [m for m in table["method"].unique() if m in CURVES or not is_known(m)]
    styles = method_styles(shown)
    with new_figure(2.5 + 0.14 * len(shown)) as (figure, axes):
        for method in shown:
            part = table[table["method"] == method].sort_values("speedup_top1", kind="stable")
            style = styles[method]
            axes[0].plot(
                np.arange(1, len(part) + 1),
                part["speedup_top1"],
                color=style.colour,
                linestyle=style.line,
                marker=style.marker,
                markevery=max(1, len(part) // 12),
                label=f"{style.label}: {_extremes(part)}",
            )
        axes[0].axhline(1, color=INK, linewidth=0.8)
        values = table.loc[table["method"].isin(shown), "speedup_top1"]
        ratio_axis(axes[0].yaxis, min(1, values.min()), max(1, values.max()))
        axes[0].xaxis.set_major_locator(MaxNLocator(integer=True))
        axes[0].set_xlabel("test matrices, sorted for each method on its own")
        axes[0].set_ylabel("speed-up over the default, top-1")
        legend_above(figure, axes[0], columns=1)
    columns = ["method", "matrix", "kind", "nnz", "default_seconds", "top1_seconds"]
    columns += ["best_seconds", "speedup_top1", "speedup_top5", "speedup_best"]
    columns += ["speedup_fixed", "speedup_trained"]
    return figure, table[columns].sort_values(["method", "speedup_top1"], ignore_index=True)


def first_setting(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the first listed number of shots and of source matrices."""
    first = rows.iloc[0]
    same = (rows[["shots", "source_matrices"]] == first[["shots", "source_matrices"]]).all(axis=1)
    return rows.loc[same]


def references(rows: pd.DataFrame) -> tuple[float, float]:
    """Geometric-mean speed-ups of the schedule best on all training matrices, of the oracle."""
    one = rows[rows["method"] == rows["method"].iloc[0]]
    logs = np.log(one[["default_seconds", "trained_seconds", "best_seconds"]].to_numpy())
    default, fixed, best = logs.mean(axis=0)
    return float(np.exp(default - fixed)), float(np.exp(default - best))


def _extremes(part: pd.DataFrame) -> str:
    """The two ends of a sorted curve in words."""
    ends = (part.iloc[0], part.iloc[-1])
    return " … ".join(f"{row['speedup_top1']:.2f} × {row['matrix']}" for row in ends)
