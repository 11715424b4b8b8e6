"""Measure or simulate a batch of matrices on one platform."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.sample import sample

with job(snakemake) as study:
    sample(
        study,
        snakemake.wildcards.platform,
        snakemake.wildcards.operation,
        [Path(snakemake.input[0]) / f"{name}.npz" for name in snakemake.params.names],
        Path(snakemake.output[0]),
    )
