"""Train the small model that ships with the package."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.ship_model import train_shipped_model

with job(snakemake) as study:
    train_shipped_model(
        study,
        snakemake.wildcards.platform,
        snakemake.wildcards.operation,
        Path(snakemake.output.model),
    )
