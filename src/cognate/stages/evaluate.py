"""Join the rankings of all methods with the samples into the evaluation table."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cognate.errors import SamplesError
from cognate.evaluation.evaluate import evaluate as evaluate_rankings
from cognate.evaluation.evaluate import write
from cognate.evaluation.study_data import StudyData
from cognate.stages.inputs import read_samples
from cognate.study import Run, Study


def evaluate(
    study: Study,
    target: str,
    operation: str,
    rankings: Sequence[Path],
    output: Path,
) -> None:
    """Write the evaluation table of one target and operation."""
    data = StudyData(study.config.results, study.config, study.plan)
    ranked = pd.concat([pd.read_parquet(path) for path in rankings], ignore_index=True)
    _require_runs(study, ranked)
    source = read_samples(study, study.config.source.name, operation, "train")
    table = evaluate_rankings(
        ranked,
        read_samples(study, target, operation, "test"),
        data.matrices,
        target=target,
        operation=operation,
        default_schedule=data.default_schedule(target, operation),
        samples_per_shot=study.config.learning.samples_per_shot,
        source_samples_per_matrix=round(len(source) / source["matrix"].nunique()),
    )
    write(table, output)


def _require_runs(study: Study, ranked: pd.DataFrame) -> None:
    """Refuse rankings of other runs than the study asks for, left by another configuration."""
    for method in study.methods:
        rows = ranked.loc[ranked["method"] == method, ["shots", "source_matrices", "seed"]]
        found = {Run(*map(int, row)) for row in rows.drop_duplicates().to_numpy()}
        if found != set(study.runs(method)):
            raise SamplesError(
                f"the rankings of {method} were made under another configuration; delete "
                f"{study.config.results}/rankings and run again"
            )
