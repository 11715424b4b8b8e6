"""Check that the samples of a platform and operation belong together."""

from pathlib import Path

from cognate.stages.check_samples import check_samples
from cognate.stages.job import job

with job(snakemake) as study:
    check_samples(
        study,
        snakemake.wildcards.platform,
        snakemake.wildcards.operation,
        Path(snakemake.output[0]),
    )
