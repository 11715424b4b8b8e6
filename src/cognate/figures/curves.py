"""Curves over an experiment's axis: shots, source matrices, training epochs."""

import pandas as pd
from matplotlib.axes import Axes

from cognate.evaluation import cost
from cognate.evaluation.study_data import StudyData
from cognate.figures.collection import costs_of
from cognate.figures.specs import Drawing
from cognate.figures.speedups import references
from cognate.figures.style import (
    EDGE,
    MethodStyle,
    apart,
    error_bars,
    legend_above,
    method_styles,
    new_figure,
    reference_lines,
)


def draw_shots(study: StudyData, target: str, operation: str) -> Drawing:
    """Speed-up against the number of shots, and against what their samples cost."""
    rows = study.experiment("shots", target, operation)
    table = _with_cost(study, rows, operation)
    styles = method_styles(list(table["method"].unique()))
    with new_figure(2.7, columns=2, sharey=True) as (figure, axes):
        _curves(axes[0], table, "shots", styles)
        axes[0].set_xlabel("shots: matrices sampled on the target")
        axes[0].set_ylabel("speed-up over the default, top-1")
        _curves(axes[1], table, "cost", styles)
        axes[1].set_xscale("log")
        axes[1].set_xlabel("data-collection cost  Σ β · samples")
        for one in axes:
            reference_lines(one, *references(rows))
        legend_above(figure, axes[0])
    return figure, table


def draw_source_size(study: StudyData, target: str, operation: str) -> Drawing:
    """Speed-up and accuracy against the number of source matrices."""
    rows = study.experiment("source-size", target, operation)
    table = _with_cost(study, rows, operation)
    styles = method_styles(list(table["method"].unique()))
    with new_figure(2.7, columns=2) as (figure, axes):
        for one, column in zip(axes, ("speedup_top1", "headroom_share_top1"), strict=True):
            _curves(one, table, "source_matrices", styles, column)
            one.set_xlabel("source matrices to pre-train on")
        axes[0].set_ylabel("speed-up over the default, top-1")
        axes[1].set_ylabel("share of the headroom")
        axes[1].yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        reference_lines(axes[0], *references(rows))
        legend_above(figure, axes[0])
    return figure, table


def draw_training(study: StudyData) -> Drawing:
    """Loss and validation τ of the source models over epochs, mean and range over seeds."""
    curves = study.curves()
    largest = curves.groupby("operation")["source_matrices"].transform("max")
    table = _training_table(curves[curves["source_matrices"] == largest])
    operations = [name for name in study.operations if name in set(table["operation"])]
    shown = [c for c in table["configuration"].unique() if ":" not in c]
    styles = method_styles(shown)
    with new_figure(3.9, columns=len(operations), rows=2, sharex="col") as (figure, axes):
        for column, operation in enumerate(operations):
            upper, lower = axes[column], axes[len(operations) + column]
            upper.set_title(operation.upper().replace("SPMM", "SpMM"))
            part = table[table["operation"] == operation]
            for configuration in shown:
                own = part[part["configuration"] == configuration]
                _band(upper, own, "loss", styles[configuration])
                _band(lower, own, "validation_tau", styles[configuration])
            lower.set_xlabel("epoch")
        axes[0].set_ylabel("loss on training matrices")
        axes[len(operations)].set_ylabel("τ on validation matrices")
        legend_above(figure, axes[len(operations)])
    return figure, table


def _with_cost(study: StudyData, rows: pd.DataFrame, operation: str) -> pd.DataFrame:
    beta, seconds = costs_of(study, operation)
    return cost.collection_cost(
        rows, study.config.evaluation, beta, seconds, study.config.source.name, study.config.seed
    )


def _curves(
    axes: Axes,
    table: pd.DataFrame,
    x: str,
    styles: dict[str, MethodStyle],
    y: str = "speedup_top1",
) -> None:
    """A line with intervals for every method; points of equal x stand slightly apart."""
    for place, (method, style) in enumerate(styles.items()):
        part = table[table["method"] == method].sort_values(x, kind="stable")
        part = part[part[x] > 0] if x == "cost" else part
        shift = apart(place, len(styles))
        if x == "cost":
            at = part[x] * 1.12**shift
        else:
            at = part[x] + 0.02 * (table[x].max() - table[x].min()) * shift
        axes.errorbar(
            at,
            part[y],
            yerr=error_bars(part, y),
            fmt=style.marker,
            linestyle=style.line,
            color=style.colour,
            elinewidth=0.7,
            capsize=0,
            label=style.label,
            **EDGE,
        )


def _training_table(curves: pd.DataFrame) -> pd.DataFrame:
    keys = ["operation", "configuration", "source_matrices", "phase", "epoch"]
    groups = curves.groupby(keys, sort=False)[["loss", "validation_tau"]]
    parts = {"": groups.mean(), "_low": groups.min(), "_high": groups.max()}
    joined = pd.concat([part.add_suffix(end) for end, part in parts.items()], axis=1)
    return joined.assign(seeds=groups.size()).sort_index().reset_index()


def _band(axes: Axes, part: pd.DataFrame, column: str, style: MethodStyle) -> None:
    axes.plot(
        part["epoch"],
        part[column],
        color=style.colour,
        marker=style.marker,
        markevery=max(1, len(part) // 8),
        label=style.label,
    )
    low, high = part[f"{column}_low"], part[f"{column}_high"]
    axes.fill_between(part["epoch"], low, high, color=style.colour, alpha=0.2, linewidth=0)
