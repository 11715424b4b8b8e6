"""Train a source model."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.pretrain import pretrain

with job(snakemake) as study:
    pretrain(
        study,
        snakemake.wildcards.operation,
        snakemake.params.configuration,
        int(snakemake.wildcards.size),
        int(snakemake.wildcards.seed),
        Path(snakemake.output.model),
        Path(snakemake.output.curve),
    )
