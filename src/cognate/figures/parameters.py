"""Which parameters matter, and what the best schedules choose."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from cognate.evaluation import importance
from cognate.evaluation.study_data import StudyData
from cognate.figures.specs import Drawing
from cognate.figures.style import INK, legend_above, new_figure

_SHADES = ("#0072B2", "#56B4E9", "#BFE1F6", "#F7E7B5", "#E69F00", "#D55E00")


def schedule_times(study: StudyData, target: str, operation: str) -> importance.ScheduleTimes:
    """Times of all schedules of a target, with their parameters."""
    return importance.ScheduleTimes(
        study.samples(target, operation),
        study.parameters(target, operation),
        study.default_schedule(target, operation),
    )


def draw_parameters(study: StudyData, target: str, operation: str) -> Drawing:
    """What the oracle chooses for each parameter, beside what each parameter is worth."""
    data = schedule_times(study, target, operation)
    worth, chosen = importance.importance(data), importance.choices(data, study.matrices)
    overall = chosen[chosen["kind"] == "all"]
    with new_figure(0.95 + 0.3 * len(worth), columns=2, sharey=True, width_ratios=[3, 2]) as (
        figure,
        axes,
    ):
        for place, name in enumerate(worth["parameter"]):
            _shares(axes[0], place, overall[overall["parameter"] == name])
        axes[0].set_yticks(range(len(worth)), worth["parameter"])
        axes[0].set_ylim(len(worth) - 0.4, -0.6)
        axes[0].set_xlabel("share of matrices whose best schedule takes the value")
        axes[0].xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        places = np.arange(len(worth))
        for shift, column, colour, hatch, label in (
            (-0.18, "fixed_loss", "#D55E00", "", "lost if kept at its best value"),
            (0.18, "alone_gain", "#56B4E9", "////", "gained if chosen alone"),
        ):
            axes[1].barh(
                places + shift,
                100 * worth[column],
                height=0.34,
                color=colour,
                hatch=hatch,
                edgecolor=INK,
                linewidth=0.5,
                label=label,
            )
        axes[1].set_xlabel("per cent of time, geometric mean")
        legend_above(figure, axes[1])
        for one in axes:
            one.grid(axis="y", visible=False)
            one.tick_params(axis="y", length=0)
    return figure, chosen.merge(worth.drop(columns="matrices"), on="parameter")


def _shares(axes: Axes, place: int, values: pd.DataFrame) -> None:
    """One stacked bar: the shares of a parameter's values, written into it."""
    left = 0.0
    for turn, row in enumerate(values.to_dict("records")):
        colour = _SHADES[turn % len(_SHADES)]
        axes.barh(
            place, row["share"], left=left, height=0.7, color=colour, edgecolor=INK, linewidth=0.5
        )
        if row["share"] > 0.02 * len(str(row["value"])) + 0.015:
            axes.text(
                left + row["share"] / 2,
                place,
                str(row["value"]),
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if colour in ("#0072B2", "#D55E00") else INK,
            )
        left += row["share"]
