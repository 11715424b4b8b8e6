"""Train a method in all its runs and rank all schedules on every test matrix."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.rank import rank

models = {
    tuple(int(part) for part in key.split("-")): Path(path)
    for key, path in snakemake.params.models.items()
}
with job(snakemake) as study:
    rank(
        study,
        snakemake.wildcards.target,
        snakemake.wildcards.operation,
        snakemake.params.method,
        models,
        Path(snakemake.output[0]),
    )
