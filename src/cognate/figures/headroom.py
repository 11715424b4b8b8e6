"""What there is to choose, drawn from samples alone."""

from typing import Any

import numpy as np

from cognate.evaluation.headroom import AIM
from cognate.evaluation.metrics import geometric_mean
from cognate.evaluation.study_data import StudyData
from cognate.figures.specs import Drawing
from cognate.figures.style import INK, kind_label, new_figure, ratio_axis

_FIXED, _DEFAULT = "#D55E00", "#56B4E9"


def draw_headroom(study: StudyData, target: str, operation: str) -> Drawing:
    """The oracle against default and fixed schedule on the training matrices, by size and kind."""
    table = study.headroom(target, operation).copy()
    table["oracle_over_default"] = table["default_seconds"] / table["best_seconds"]
    table["oracle_over_fixed"] = table["fixed_seconds"] / table["best_seconds"]
    train = table[table["split"] == "train"]
    kinds = sorted(train["kind"].unique())
    with new_figure(max(2.6, 1.0 + 0.2 * len(kinds)), columns=2) as (figure, axes):
        look: dict[str, Any] = {"linestyle": "none", "markeredgecolor": INK, "markeredgewidth": 0.4}
        for column, marker, colour, label in (
            ("oracle_over_default", "^", _DEFAULT, "over the default"),
            ("oracle_over_fixed", "o", _FIXED, "over the best fixed schedule"),
        ):
            mean = geometric_mean(train[column])
            text = f"oracle {label}: {mean:.2f} ×"
            axes[0].plot(train["nnz"], train[column], marker, color=colour, label=text, **look)
            for place, kind in enumerate(kinds):
                values = train.loc[train["kind"] == kind, column]
                shift = -0.13 if marker == "^" else 0.13
                axes[1].plot(
                    values, np.full(len(values), place + shift), marker, color=colour, **look
                )
                axes[1].plot(
                    [geometric_mean(values)] * 2,
                    place + shift + np.array([-0.22, 0.22]),
                    color=INK,
                    linewidth=1.6,
                )
        axes[0].axhline(
            AIM, color=_FIXED, linestyle="--", linewidth=0.9, label=f"aim over fixed: {AIM:.2f} ×"
        )
        axes[0].set_xscale("log")
        ratio_axis(axes[0].yaxis, 1, train["oracle_over_default"].max())
        axes[0].set_xlabel("stored entries of the training matrix")
        axes[0].set_ylabel("time over the oracle's")
        axes[1].axvline(AIM, color=_FIXED, linestyle="--", linewidth=0.9)
        ratio_axis(axes[1].xaxis, 1, train["oracle_over_default"].max())
        axes[1].set_yticks(range(len(kinds)), [kind_label(kind) for kind in kinds])
        axes[1].invert_yaxis()
        axes[1].grid(axis="y", visible=False)
        axes[1].set_xlabel("time over the oracle's")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure, table
