"""Join the rankings of all methods with the samples into the evaluation table."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cognate.evaluation.evaluate import evaluate as evaluate_rankings
from cognate.evaluation.evaluate import write
from cognate.evaluation.study_data import StudyData
from cognate.stages.inputs import read_samples
from cognate.study import Study


def evaluate(
    study: Study,
    target: str,
    operation: str,
    rankings: Sequence[Path],
    target_samples: Sequence[Path],
    source_samples: Sequence[Path],
    output: Path,
) -> None:
    """Write the evaluation table of one target and operation."""
    data = StudyData(study.config.results, study.config)
    ranked = pd.concat([pd.read_parquet(path) for path in rankings], ignore_index=True)
    source = read_samples(source_samples, study.names("train"))
    table = evaluate_rankings(
        ranked,
        read_samples(target_samples, study.names("test")),
        data.matrices,
        target=target,
        operation=operation,
        default_schedule=data.default_schedule(target, operation),
        samples_per_shot=study.config.learning.samples_per_shot,
        source_samples_per_matrix=round(len(source) / source["matrix"].nunique()),
    )
    write(table, output)
