#!/usr/bin/env bash
# Snakemake runs this inside a new conda environment, from the workflow's folder.
set -euo pipefail
pip install --no-deps --editable .
