"""Identity, split and statistics of every matrix, in one table."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.tabulate_matrices import tabulate_matrices

with job(snakemake) as study:
    tabulate_matrices(study, [Path(f) for f in snakemake.input], Path(snakemake.output[0]))
