"""Matrices that break careless platforms."""

import numpy as np
import scipy.sparse

from cognate.matrices.matrix import SparseMatrix


def probe_matrices() -> list[SparseMatrix]:
    """Small matrices that break careless code: scattered, one row, one column, dense row, empty."""
    random = np.random.default_rng(0)
    scattered = scipy.sparse.random_array((300, 500), density=0.01, rng=random, format="csr")
    heavy = scipy.sparse.lil_array((64, 200))
    heavy[7, :] = 1.0
    heavy[:, 3] = 1.0
    built = {
        "scattered": scattered,
        "one-row": scipy.sparse.csr_array(np.ones((1, 40))),
        "one-column": scipy.sparse.csr_array(np.ones((40, 1))),
        "dense-row": heavy.tocsr(),
        "empty": scipy.sparse.csr_array((20, 30)),
    }
    return [SparseMatrix.from_scipy(matrix, f"probe-{name}") for name, matrix in built.items()]


def wide_matrix() -> SparseMatrix:
    """A diagonal of 300,000 rows: larger than any tile, cheap to hold."""
    return SparseMatrix.from_scipy(scipy.sparse.eye_array(300_000, format="csr"), "probe-wide")
