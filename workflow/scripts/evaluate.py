"""Join the rankings of all methods with the samples into the evaluation table."""

from pathlib import Path

from cognate.stages.evaluate import evaluate
from cognate.stages.job import job

with job(snakemake) as study:
    evaluate(
        study,
        snakemake.wildcards.target,
        snakemake.wildcards.operation,
        [Path(path) for path in snakemake.input.rankings],
        Path(snakemake.output[0]),
    )
