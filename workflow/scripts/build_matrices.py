"""Build, read or fetch a batch of matrices."""

from pathlib import Path

from cognate.stages.build_matrices import build_matrices
from cognate.stages.job import job

with job(snakemake) as study:
    build_matrices(study, snakemake.params.names, Path(snakemake.output[0]))
