"""All figures and tables by name. The workflow makes one job of each place of each spec."""

from cognate.config import Config
from cognate.evaluation.methods import BASELINES, base_name
from cognate.figures import accuracy, curves, tables
from cognate.figures.ablations import ABLATIONS, ablation
from cognate.figures.checks import checks
from cognate.figures.collection import draw_collection_cost
from cognate.figures.end_to_end import draw_end_to_end, end_to_end_table, is_measured
from cognate.figures.headroom import draw_headroom
from cognate.figures.overhead import draw_overhead, predicts
from cognate.figures.parameters import draw_parameters
from cognate.figures.similarity import draw_similarity, has_both
from cognate.figures.specs import FigureSpec, Place, TableSpec
from cognate.figures.speedups import draw_per_matrix, draw_speedup

_NOT_NEURAL = (*BASELINES, "xgboost", "cognate-tiles", "no-transfer", "full-target")


def _trains_source_models(config: Config) -> bool:
    methods = {m for e in config.learning.experiments.values() for m in e.methods}
    return any(base_name(method) not in _NOT_NEURAL for method in methods)


_FIGURES = (
    FigureSpec(
        "speedup",
        "Speed-up over the default schedule",
        "Speed-up",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "headline",
        draw=draw_speedup,
    ),
    FigureSpec(
        "per_matrix",
        "Speed-up matrix by matrix",
        "Speed-up",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "headline",
        draw=draw_per_matrix,
    ),
    FigureSpec(
        "shots",
        "Speed-up by number of shots",
        "Data",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "shots",
        draw=curves.draw_shots,
    ),
    FigureSpec(
        "source_size",
        "Speed-up by number of source matrices",
        "Data",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "source-size",
        draw=curves.draw_source_size,
    ),
    FigureSpec(
        "collection_cost",
        "Quality against the cost of collecting samples",
        "Data",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "headline",
        draw=draw_collection_cost,
    ),
    *(
        FigureSpec(
            experiment.replace("-", "_"),
            title,
            "Ablations",
            ("matrices", "samples", "evaluation"),
            "target-operation",
            experiment,
            draw=ablation(experiment),
        )
        for experiment, title in ABLATIONS.items()
    ),
    FigureSpec(
        "accuracy",
        "Ranking accuracy",
        "Accuracy",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "headline",
        draw=accuracy.draw_accuracy,
    ),
    FigureSpec(
        "accuracy_by_part",
        "Ranking accuracy by kind and size",
        "Accuracy",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "headline",
        draw=accuracy.draw_accuracy_by_part,
    ),
    FigureSpec(
        "similarity",
        "Likeness of source and target",
        "Transfer",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "headline",
        has_both,
        draw=draw_similarity,
    ),
    FigureSpec(
        "overhead",
        "Prediction against kernel time",
        "Overhead",
        ("matrices", "samples", "evaluation"),
        "target-operation",
        "headline",
        predicts,
        draw=draw_overhead,
    ),
    FigureSpec(
        "end_to_end",
        "Graph layers with the recommended schedule",
        "Overhead",
        ("end_to_end",),
        applies=is_measured,
        draw=draw_end_to_end,
    ),
    FigureSpec(
        "parameters",
        "Which parameters matter",
        "Headroom",
        ("matrices", "samples"),
        "target-operation",
        draw=draw_parameters,
    ),
    FigureSpec(
        "training",
        "Training curves of the source models",
        "Learning",
        ("curves",),
        applies=_trains_source_models,
        draw=curves.draw_training,
    ),
    FigureSpec(
        "headroom",
        "What there is to choose",
        "Headroom",
        ("matrices", "samples"),
        "target-operation",
        draw=draw_headroom,
    ),
)

_TABLES = (
    TableSpec(
        "headline",
        "Speed-up, shares, wins and losses of every method",
        "Speed-up",
        ("matrices", "samples", "evaluation"),
        experiment="headline",
        compute=tables.headline,
    ),
    TableSpec(
        "comparisons",
        "Paired tests between methods",
        "Speed-up",
        ("matrices", "samples", "evaluation"),
        experiment="headline",
        compute=tables.comparisons,
    ),
    TableSpec(
        "accuracy",
        "Ranking accuracy of every method",
        "Accuracy",
        ("matrices", "samples", "evaluation"),
        experiment="headline",
        compute=tables.accuracy,
    ),
    TableSpec(
        "accuracy_by_kind",
        "Accuracy and speed-up by kind of matrix",
        "Accuracy",
        ("matrices", "samples", "evaluation"),
        experiment="headline",
        compute=tables.accuracy_by_kind,
    ),
    TableSpec(
        "accuracy_by_size",
        "Accuracy and speed-up by size of matrix",
        "Accuracy",
        ("matrices", "samples", "evaluation"),
        experiment="headline",
        compute=tables.accuracy_by_size,
    ),
    TableSpec(
        "collection_cost",
        "Samples, their cost and what they bring",
        "Data",
        ("matrices", "samples", "evaluation"),
        experiment="headline",
        compute=tables.collection_cost,
    ),
    TableSpec(
        "headroom",
        "Headroom by split, kind and size",
        "Headroom",
        ("matrices", "samples"),
        compute=tables.headroom_table,
    ),
    TableSpec(
        "headroom_matrices",
        "Default, fixed and oracle times of every matrix",
        "Headroom",
        ("matrices", "samples"),
        compute=tables.headroom_matrices,
    ),
    TableSpec(
        "parameters",
        "What each parameter is worth",
        "Headroom",
        ("matrices", "samples"),
        compute=tables.parameters,
    ),
    TableSpec(
        "choices",
        "What the best schedules choose, by kind",
        "Headroom",
        ("matrices", "samples"),
        compute=tables.choices,
    ),
    TableSpec(
        "rules",
        "One readable rule for each parameter",
        "Headroom",
        ("matrices", "samples"),
        compute=tables.rules,
    ),
    TableSpec(
        "similarity",
        "Likeness of source and target by matrix",
        "Transfer",
        ("matrices", "samples", "evaluation"),
        experiment="headline",
        applies=has_both,
        compute=tables.similarity,
    ),
    TableSpec(
        "overhead",
        "Seconds to predict and runs to break even",
        "Overhead",
        ("matrices", "samples", "evaluation"),
        experiment="headline",
        applies=predicts,
        compute=tables.overhead,
    ),
    TableSpec(
        "end_to_end",
        "Graph layers with the recommended schedule",
        "Overhead",
        ("end_to_end",),
        applies=is_measured,
        compute=end_to_end_table,
    ),
    TableSpec(
        "environment",
        "Hardware, versions, settings and corpus",
        "Provenance",
        ("matrices", "samples"),
        compute=tables.environment,
    ),
    TableSpec(
        "checks",
        "Completeness of every figure",
        "Provenance",
        ("matrices", "samples", "evaluation", "curves", "end_to_end"),
        compute=lambda study: checks(study, list(FIGURES.values())),
    ),
)

FIGURES: dict[str, FigureSpec] = {spec.name: spec for spec in _FIGURES}
TABLES: dict[str, TableSpec] = {spec.name: spec for spec in _TABLES}


def offered_figures(config: Config) -> list[tuple[FigureSpec, Place]]:
    """Every figure of this study with its place; draw it by ``spec.draw(study, **place)``."""
    return [(spec, place) for spec in FIGURES.values() for place in spec.places(config)]


def offered_tables(config: Config) -> list[tuple[TableSpec, Place]]:
    """Every table of this study with its place; make it by ``spec.compute(study, **place)``."""
    return [(spec, place) for spec in TABLES.values() for place in spec.places(config)]
