"""Variants of a method side by side: one figure an experiment."""

from collections.abc import Callable

from cognate.evaluation import summaries
from cognate.evaluation.study_data import StudyData
from cognate.figures.bars import (
    dots,
    headroom_bars,
    height_of,
    name_rows,
    speedup_bars,
    top_legend,
)
from cognate.figures.specs import Drawing
from cognate.figures.speedups import first_setting, references
from cognate.figures.style import method_styles, new_figure, reference_lines

ABLATIONS = {
    "components": "Parts of the model left out",
    "latent": "Latent encoder of platform-specific parameters",
    "latent-size": "Size of the latent code",
    "predictor": "Predictor",
    "loss": "Ranking loss",
    "frozen": "Parts frozen while fine-tuning",
    "shot-selection": "How shot matrices are selected",
}
"""Experiments that compare variants, and what they vary."""


def ablation(experiment: str) -> Callable[[StudyData, str, str], Drawing]:
    """The drawing function of one ablation experiment."""

    def draw(study: StudyData, target: str, operation: str) -> Drawing:
        rows = first_setting(study.experiment(experiment, target, operation))
        choice, seed = study.config.evaluation, study.config.seed
        accuracy = summaries.accuracy(rows, choice, seed=seed).drop(columns="matrices")
        table = summaries.headline(rows, choice, seed).merge(accuracy, on=summaries.SETTING)
        styles = method_styles(list(table["method"]))
        with new_figure(height_of(len(table)) + 0.1, columns=3, sharey=True) as (figure, axes):
            speedup_bars(axes[0], table, styles)
            name_rows(axes[0], table, styles)
            reference_lines(axes[0], *references(rows), vertical=True)
            axes[0].set_xlabel("speed-up over default")
            headroom_bars(axes[1], table, styles)
            axes[1].set_xlabel("share of headroom")
            dots(axes[2], table, "kendall_tau", styles)
            axes[2].set_xlabel("Kendall τ")
            top_legend(axes[0])
        return figure, table

    return draw
