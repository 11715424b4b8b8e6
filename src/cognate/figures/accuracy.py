"""How well methods rank, over all matrices, by kind and by size."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from cognate.evaluation import summaries
from cognate.evaluation.study_data import StudyData
from cognate.figures.bars import dots, height_of, name_rows
from cognate.figures.specs import Drawing
from cognate.figures.speedups import first_setting
from cognate.figures.style import INK, kind_label, method_style, method_styles, new_figure

_PANELS = {
    "kendall_tau": "Kendall τ",
    "ordered_pair_accuracy": "ordered-pair accuracy",
    "absolute_percentage_error": "percentage error of the choice",
}
_CHANCE = {"kendall_tau": 0.0, "ordered_pair_accuracy": 0.5}


def draw_accuracy(study: StudyData, target: str, operation: str) -> Drawing:
    """Kendall τ, ordered-pair accuracy and percentage error of every method."""
    rows = first_setting(study.experiment("headline", target, operation))
    table = summaries.accuracy(rows, study.config.evaluation, seed=study.config.seed)
    styles = method_styles(list(table["method"]))
    with new_figure(height_of(len(table)), columns=3, sharey=True) as (figure, axes):
        for one, (column, label) in zip(axes, _PANELS.items(), strict=True):
            dots(one, table, column, styles)
            one.set_xlabel(label)
            if column in _CHANCE:
                one.axvline(_CHANCE[column], color="#555555", linestyle=":", linewidth=1)
        axes[2].xaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
        name_rows(axes[0], table, styles)
    return figure, table


def draw_accuracy_by_part(study: StudyData, target: str, operation: str) -> Drawing:
    """Kendall τ of every method by the matrices' kind and size."""
    rows = first_setting(study.experiment("headline", target, operation))
    parts = {
        by: summaries.accuracy(rows, study.config.evaluation, by, study.config.seed)
        for by in ("size", "kind")
    }
    methods = list(dict.fromkeys(rows["method"]))
    heights = [part[by].nunique() for by, part in parts.items()]
    with new_figure(1.35 + 0.17 * sum(heights), rows=2, sharex=True, height_ratios=heights) as (
        figure,
        axes,
    ):
        for one, (by, part) in zip(axes, parts.items(), strict=True):
            _heat(one, part, by, methods)
        labels = [method_style(method).label for method in methods]
        axes[1].set_xticks(range(len(methods)), labels, rotation=35, ha="right")
    tables = [part.rename(columns={by: "part"}).assign(by=by) for by, part in parts.items()]
    return figure, pd.concat(tables, ignore_index=True)


def _heat(axes: Axes, table: pd.DataFrame, by: str, methods: list[str]) -> None:
    """Numbers on shades of blue: kinds or sizes down, methods across."""
    wide = table.pivot(index=by, columns="method", values="kendall_tau")[methods]
    count = table.drop_duplicates(by).set_index(by)["matrices"]
    axes.imshow(wide.to_numpy(), cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
    for (row, column), value in np.ndenumerate(wide.to_numpy()):
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5}
        text = f"{value:.2f}".replace("-", "−")
        axes.text(column, row, text, color="white" if value > 0.7 else INK, **look)
    labels = [f"{kind_label(str(name))} ({count[name]})" for name in wide.index]
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
