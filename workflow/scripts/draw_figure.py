"""Draw one figure with its numbers."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.publish import draw_figure

with job(snakemake) as study:
    draw_figure(
        study,
        snakemake.params.figure,
        snakemake.params.place,
        Path(snakemake.output.svg).with_suffix(""),
    )
