"""Whether source and target rank schedules alike, and whether that predicts transfer's gain."""

from collections.abc import Mapping

import pandas as pd

from cognate.config import Config
from cognate.errors import SamplesError
from cognate.evaluation import similarity
from cognate.evaluation.study_data import StudyData
from cognate.figures.specs import Drawing
from cognate.figures.speedups import first_setting
from cognate.figures.style import EDGE, INK, kind_label, new_figure, ratio_axis

TRANSFERRED, ALONE = "cognate", "no-transfer"
"""The gain of transfer is that of the same network with and without the source."""
LEAST_POINTS = 4
"""Fewer matrices than this show nothing; kinds are shown instead."""
_COLOURS = {"train": "#56B4E9", "validation": "#E69F00", "test": "#0072B2"}
_MARKERS = {"train": "^", "validation": "s", "test": "o"}


def has_both(config: Config) -> bool:
    """Whether the headline experiment has the network with and without transfer."""
    return {TRANSFERRED, ALONE} <= set(config.learning.experiments["headline"].methods)


def similarity_table(study: StudyData, target: str, operation: str) -> pd.DataFrame:
    """Rank correlation by matrix sampled on both, and the gain of transfer by test matrix."""
    source = study.config.source.name
    sampled = {
        name: dict(iter(study.samples(name, operation).groupby("matrix")))
        for name in (source, target)
    }
    both = sorted(map(str, sampled[source].keys() & sampled[target].keys()))
    if not both:
        raise SamplesError(f"{operation}: no matrix was sampled on both {source} and {target}")
    records = []
    for name in both:
        found = similarity.similarity(
            study.matrix(name),
            study.operation(operation),
            (study.platform(source), sampled[source][name]),
            (study.platform(target), sampled[target][name]),
        )
        records.append({"matrix": name} | found)
    about = study.matrices[["matrix", "kind", "split", "nnz"]]
    rows = first_setting(study.experiment("headline", target, operation))
    gain = similarity.gain_of_transfer(rows, TRANSFERRED, ALONE)
    joined = pd.DataFrame(records).merge(gain, on="matrix", how="outer")
    return about.merge(joined, on="matrix").sort_values("matrix", ignore_index=True)


def draw_similarity(study: StudyData, target: str, operation: str) -> Drawing:
    """Rank correlation by matrix, and the gain of transfer against it."""
    table = similarity_table(study, target, operation)
    sampled = table.dropna(subset=["rank_correlation"])
    points, what = _points(table)
    kinds = sorted(sampled["kind"].unique())
    with new_figure(max(2.6, 0.9 + 0.2 * len(kinds)), columns=2) as (figure, axes):
        for split, colour in _COLOURS.items():
            part = sampled[sampled["split"] == split]
            places = [kinds.index(kind) for kind in part["kind"]]
            axes[0].plot(
                part["rank_correlation"],
                places,
                _MARKERS[split],
                color=colour,
                label=f"{split} matrices",
                **EDGE,
            )
        axes[0].axvline(0, color=INK, linewidth=0.8)
        axes[0].set_xlim(-1.05, 1.05)
        axes[0].set_yticks(range(len(kinds)), [kind_label(kind) for kind in kinds])
        axes[0].set_ylim(len(kinds) - 0.4, -0.6)
        axes[0].set_xlabel("rank correlation of source and target")
        axes[1].plot(points["rank_correlation"], points["gain"], "o", color="#0072B2", **EDGE)
        axes[1].axhline(1, color=INK, linewidth=0.8)
        if len(points):
            ratio_axis(axes[1].yaxis, min(1, points["gain"].min()), max(1, points["gain"].max()))
        axes[1].set_xlabel("rank correlation of source and target")
        axes[1].set_ylabel(f"speed-up by transfer, by {what}")
        axes[1].set_title(_in_words(similarity.association(points)), loc="left")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure, table


def _points(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """What has both likeness and gain: matrices or, where too few do, kinds."""
    known = table.dropna(subset=["rank_correlation", "gain"])
    if len(known) >= LEAST_POINTS:
        return known, "matrix"
    return similarity.by_kind(table).dropna(), "kind"


def _in_words(found: Mapping[str, float]) -> str:
    if found["rho"] != found["rho"]:
        return f"too few points ({found['points']:.0f}) to tell"
    number = f"{found['rho']:.2f}".replace("-", "−")
    return f"Spearman ρ = {number}, p = {found['p_value']:.2g}, n = {found['points']:.0f}"
