"""What samples cost: the study's β and measured seconds, and quality against cost."""

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from cognate.evaluation import cost
from cognate.evaluation.methods import BASELINES
from cognate.evaluation.study_data import StudyData
from cognate.figures.specs import Drawing
from cognate.figures.speedups import references
from cognate.figures.style import (
    EDGE,
    INK,
    apart,
    error_bars,
    legend_above,
    method_styles,
    new_figure,
    reference_lines,
)


def costs_of(study: StudyData, operation: str) -> tuple[dict[str, float], dict[str, float]]:
    """β and measured seconds of one sample, by platform, for one operation.

    β is the configuration's where it gives one, else the platform's own.
    """
    platforms = [study.config.source.name, *study.targets]
    given = study.config.evaluation.sample_cost
    beta = {name: given.get(name, study.platform(name).sample_cost) for name in platforms}
    seconds = {
        name: cost.seconds_a_sample(study.metadata(name, operation), study.samples(name, operation))
        for name in platforms
    }
    return beta, seconds


def collection_table(study: StudyData, target: str, operation: str) -> pd.DataFrame:
    """Samples, cost and quality of every method of the headline experiment that learns."""
    rows = study.experiment("headline", target, operation)
    rows = rows[~rows["method"].isin(set(BASELINES) - {"best-fixed"})]
    beta, seconds = costs_of(study, operation)
    return cost.collection_cost(
        rows, study.config.evaluation, beta, seconds, study.config.source.name, study.config.seed
    )


def draw_collection_cost(study: StudyData, target: str, operation: str) -> Drawing:
    """What each method reaches against what its samples cost, by β and in measured hours."""
    table = collection_table(study, target, operation)
    styles = method_styles(list(table["method"].unique()))
    reference = references(study.experiment("headline", target, operation))
    hours = table.assign(collection_hours=table["collection_seconds"] / 3600)
    with new_figure(2.9, columns=2, sharey=True) as (figure, axes):
        for one, x in zip(axes, ("cost", "collection_hours"), strict=True):
            for place, (method, style) in enumerate(styles.items()):
                part = hours[hours["method"] == method]
                one.errorbar(
                    part[x] * 1.6 ** apart(place, len(styles)),
                    part["speedup_top1"],
                    yerr=error_bars(part, "speedup_top1"),
                    fmt=style.marker,
                    color=style.colour,
                    ecolor=INK,
                    elinewidth=0.6,
                    capsize=0,
                    markersize=6,
                    label=style.label,
                    **EDGE,
                )
            if np.isfinite(part[x]).all():
                one.set_xscale("log")
                one.xaxis.set_minor_formatter(NullFormatter())
            reference_lines(one, *reference)
        axes[0].set_xlabel("data-collection cost  Σ β · samples")
        axes[1].set_xlabel("hours to collect the samples here")
        axes[0].set_ylabel("speed-up over the default, top-1")
        legend_above(figure, axes[0])
    return figure, table
