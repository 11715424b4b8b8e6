"""Measure graph layers with the schedules that the source's own model recommends."""

from pathlib import Path

from cognate.stages.end_to_end import measure_end_to_end
from cognate.stages.job import job

with job(snakemake) as study:
    measure_end_to_end(
        study,
        {"spmm": Path(snakemake.input.spmm), "sddmm": Path(snakemake.input.sddmm)},
        Path(snakemake.input.matrices[0]).parent,
        Path(snakemake.output[0]),
    )
