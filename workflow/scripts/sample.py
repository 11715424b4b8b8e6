"""Measure or simulate a batch of matrices on one platform."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.sample import sample

with job(snakemake) as study:
    sample(
        study,
        snakemake.wildcards.platform,
        snakemake.wildcards.operation,
        snakemake.params.names,
        Path(snakemake.input[0]),
        Path(snakemake.output[0]),
    )
