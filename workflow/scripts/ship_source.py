"""Learn the source platform, for 'cognate transfer' to start from."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.ship_model import train_shipped_source

with job(snakemake) as study:
    train_shipped_source(study, snakemake.wildcards.operation, Path(snakemake.output.model))
