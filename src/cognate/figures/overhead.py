"""What a prediction costs against the kernel, and after how many runs it has paid."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from cognate.config import Config
from cognate.evaluation import cost
from cognate.evaluation.methods import BASELINES, base_name
from cognate.evaluation.study_data import StudyData
from cognate.figures.bars import height_of, name_rows
from cognate.figures.collection import costs_of
from cognate.figures.specs import Drawing
from cognate.figures.speedups import first_setting
from cognate.figures.style import INK, legend_above, method_styles, new_figure


def predicts(config: Config) -> bool:
    """Whether the headline has a method that predicts."""
    methods = config.learning.experiments["headline"].methods
    return any(base_name(method) not in BASELINES for method in methods)


def _learned(study: StudyData, target: str, operation: str) -> pd.DataFrame:
    rows = first_setting(study.experiment("headline", target, operation))
    return rows[~rows["method"].map(base_name).isin(BASELINES)]


def exhaustive_seconds(study: StudyData, target: str, operation: str) -> float:
    """Measured seconds to sample every schedule of one matrix on the target, on average."""
    samples = study.samples(target, operation)
    _, seconds = costs_of(study, operation)
    return seconds[target] * len(samples) / samples["matrix"].nunique()


def overhead_table(study: StudyData, target: str, operation: str) -> pd.DataFrame:
    """Prediction, kernel and exhaustive seconds, and the runs to break even, by method."""
    rows = _learned(study, target, operation)
    return cost.overhead(rows, exhaustive_seconds(study, target, operation))


def draw_overhead(study: StudyData, target: str, operation: str) -> Drawing:
    """Seconds of prediction beside kernel and exhaustive sampling; share paid back by runs."""
    rows = _learned(study, target, operation)
    by_matrix, table = cost.break_even(rows), overhead_table(study, target, operation)
    styles = method_styles(list(table["method"]))
    with new_figure(max(2.7, height_of(len(table))), columns=2) as (figure, axes):
        for place, (method, value) in enumerate(
            zip(table["method"], table["predict_seconds"], strict=True)
        ):
            style = styles[method]
            axes[0].barh(
                place, value, color=style.colour, hatch=style.hatch, edgecolor=INK, linewidth=0.5
            )
        name_rows(axes[0], table, styles)
        _mark(axes[0], float(table["default_seconds"].iloc[0]), "kernel, default schedule", "-")
        _mark(axes[0], float(table["exhaustive_seconds"].iloc[0]), "sampling every schedule", ":")
        axes[0].set_xscale("log")
        axes[0].grid(axis="y", visible=False)
        axes[0].set_xlabel("seconds a matrix (median)")
        for method, style in styles.items():
            runs = np.sort(by_matrix.loc[by_matrix["method"] == method, "break_even_runs"])
            share = np.arange(1, len(runs) + 1) / len(runs)
            paid = np.isfinite(runs)
            axes[1].step(
                runs[paid],
                share[paid],
                where="post",
                color=style.colour,
                linestyle=style.line,
                marker=style.marker,
                markevery=max(1, int(paid.sum()) // 6),
                label=style.label,
            )
        axes[1].set_xscale("log")
        axes[1].set_ylim(0, 1)
        axes[1].yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        axes[1].set_xlabel("runs of the kernel")
        axes[1].set_ylabel("predictions paid back")
        for line in axes[0].get_lines():
            axes[1].plot([], [], color=INK, linestyle=line.get_linestyle(), label=line.get_label())
        legend_above(figure, axes[1], columns=5)
    return figure, by_matrix


def _mark(axes: Axes, seconds: float, label: str, line: str) -> None:
    if np.isfinite(seconds):
        axes.axvline(seconds, color=INK, linestyle=line, linewidth=1, label=label)
