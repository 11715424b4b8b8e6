"""What the study had to leave out, and why."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.missing import tabulate_missing

with job(snakemake) as study:
    tabulate_missing(
        study,
        [Path(path) for path in snakemake.input.matrices],
        Path(snakemake.output[0]),
    )
