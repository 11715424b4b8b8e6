"""Compute one table."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.publish import compute_table

with job(snakemake) as study:
    compute_table(
        study,
        snakemake.params.table,
        snakemake.params.place,
        Path(snakemake.output[0]),
    )
