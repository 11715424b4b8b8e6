"""Whole graph layers on the CPU, with the schedule's overhead."""

import pandas as pd
from matplotlib.axes import Axes

from cognate.config import Config
from cognate.evaluation.end_to_end import summarise
from cognate.evaluation.metrics import geometric_mean
from cognate.evaluation.study_data import StudyData
from cognate.figures.specs import Drawing
from cognate.figures.style import EDGE, INK, new_figure, ratio_axis

_TITLES = {"gcn": "GCN, two layers", "gat": "attention layer"}
_ROWS = (
    ("torch.sparse", 0, "torch.sparse", "#E69F00", "s"),
    ("recommended", 0, "recommended, running", "#0072B2", "o"),
    ("recommended", 100, "with overhead, 100 runs", "#009E73", "^"),
    ("recommended", 10, "with overhead, 10 runs", "#CC79A7", "v"),
)
"""Variant, number of runs over which what is done once is spread (0: left out), and look."""


def is_measured(config: Config) -> bool:
    """Whether the study measures graph layers."""
    return config.evaluation.end_to_end > 0


def end_to_end_table(study: StudyData) -> pd.DataFrame:
    """Geometric-mean speed-ups of whole layers and the runs to break even."""
    return summarise(study.end_to_end())


def draw_end_to_end(study: StudyData) -> Drawing:
    """Time of both workloads against the default schedule, matrix by matrix."""
    table = study.end_to_end().copy()
    table["run_seconds"] = table["kernel_seconds"] + table["dense_seconds"]
    workloads = list(table["workload"].unique())
    with new_figure(2.5, columns=len(workloads), sharey=True) as (figure, axes):
        for one, workload in zip(axes, workloads, strict=True):
            part = table[table["workload"] == workload]
            _strips(one, part)
            one.set_title(_TITLES.get(workload, workload))
            one.set_xlabel("speed-up over the default schedule")
        axes[0].set_yticks(range(len(_ROWS)), [row[2] for row in _ROWS])
        axes[0].set_ylim(len(_ROWS) - 0.4, -0.6)
    return figure, table


def _strips(axes: Axes, part: pd.DataFrame) -> None:
    """A row of markers for each variant, one a matrix, and a bar at the geometric mean."""
    run = part.pivot(index="matrix", columns="variant", values="run_seconds")
    once = part.pivot(index="matrix", columns="variant", values="once_seconds")
    ends = []
    for place, (variant, runs, _, colour, marker) in enumerate(_ROWS):
        share = 1 / runs if runs else 0.0
        total = run + share * once
        ratio = total["default"] / total[variant]
        axes.plot(ratio, [place] * len(ratio), marker, color=colour, alpha=0.8, **EDGE)
        axes.plot([geometric_mean(ratio)] * 2, [place - 0.3, place + 0.3], color=INK, linewidth=1.8)
        ends += [ratio.min(), ratio.max()]
    axes.axvline(1, color=INK, linewidth=0.8)
    ratio_axis(axes.xaxis, min(1, *ends), max(1, *ends))
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
