"""Measure graph layers with the schedules that the source's own model recommends."""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from cognate.errors import PlatformError
from cognate.evaluation.end_to_end import Recommendation, measure, suitable
from cognate.files import replacing
from cognate.learning.ranker import load_ranker
from cognate.matrices import SparseMatrix
from cognate.operations import Operation
from cognate.progress import progress
from cognate.study import Study


def measure_end_to_end(
    study: Study, models: Mapping[str, Path], matrices: Path, output: Path
) -> None:
    """Write times of graph layers on some test matrices, one row a workload and variant.

    ``models`` are rankers of the source platform by operation; the time to featurise and rank
    is part of what is measured.
    """
    name = study.config.source.name
    platform = study.platform(name)
    reason = platform.skip()
    if reason:
        raise PlatformError(f"platform {name} cannot run here: {reason}")
    rankers = {
        operation: load_ranker(path, platform, study.operation(operation))
        for operation, path in models.items()
    }

    def recommend(matrix: SparseMatrix, operation: Operation) -> Recommendation:
        schedules = list(platform.space(operation))
        started = time.perf_counter()
        scores = rankers[operation.name].scores(matrix, schedules)
        seconds = time.perf_counter() - started
        return Recommendation(schedules[int(np.argmin(scores))], seconds)

    table = study.matrices.reset_index(names="matrix")
    chosen = suitable(table, study.config.evaluation.end_to_end)
    measured = []
    with progress("end to end", "matrices") as advance:
        for done, matrix in enumerate(chosen):
            advance(done, len(chosen))
            path = matrices / str(study.matrices.loc[matrix, "batch"]) / f"{matrix}.npz"
            measured.append(measure(platform, path, study.config.width, recommend))
        advance(len(chosen), len(chosen))
    with replacing(output) as temporary:
        pd.concat(measured, ignore_index=True).to_parquet(temporary, index=False)
