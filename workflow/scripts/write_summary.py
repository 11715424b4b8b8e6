"""Write the study's one-page abstract."""

from pathlib import Path

from cognate.stages.job import job
from cognate.stages.publish import write_summary

with job(snakemake) as study:
    write_summary(study, Path(snakemake.output[0]))
