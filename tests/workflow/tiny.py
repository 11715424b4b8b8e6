"""A study that takes seconds: ten small matrices from files, methods that learn nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse
import yaml

from .checkouts import Checkout

CONFIG: dict[str, Any] = {
    "name": "tiny",
    "results": "results/smoke",
    "matrices": {"source": "directory", "folder": "files", "batch_nnz": 100_000},
    "operations": ["spmm"],
    "width": 32,
    "source": {"platform": "cpu", "schedules": 4},
    "targets": [{"platform": "spade", "settings": {"threads": 1}}],
    "learning": {
        "seeds": [0],
        "experiments": {"headline": {"methods": ["default", "best-fixed", "oracle"], "shots": [2]}},
    },
    "evaluation": {"bootstrap": 20},
}
MATRICES = [f"m{number}" for number in range(10)]


def tiny_study(checkout: Checkout, **changes: Any) -> Checkout:
    """The checkout with a study of ten matrices ``m0`` … ``m9`` in ``files``."""
    (checkout.folder / "files").mkdir()
    for name in MATRICES:
        write_matrix(checkout, name)
    study = replace(checkout, configfile="config/tiny.yaml")
    configure(study, **changes)
    return study


def write_matrix(checkout: Checkout, name: str) -> None:
    number = MATRICES.index(name)
    generator = np.random.default_rng(number)
    rows = 300 + 40 * number
    matrix = scipy.sparse.random(rows, rows, 1500 / rows**2, rng=generator, format="coo")
    scipy.io.mmwrite(checkout.folder / "files" / f"{name}.mtx", matrix)


def configure(study: Checkout, **changes: Any) -> None:
    """Write the study's configuration with some keys replaced."""
    (study.folder / study.configfile).write_text(yaml.safe_dump(CONFIG | changes))


def tables(study: Checkout, *names: str) -> list[str]:
    """What to ask snakemake for, to get these tables."""
    return ["--", *(f"results/smoke/tables/{name}.csv" for name in names)]


def samples(study: Checkout, platform: str = "spade") -> list[str]:
    """What to ask snakemake for, to get the samples of a platform."""
    batches = ("train000", "validation000", "test000")
    return ["--", *(f"results/smoke/samples/{platform}/spmm/{batch}.parquet" for batch in batches)]
