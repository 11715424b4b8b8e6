"""The matrices that the CPU benchmark runs: each has another reason to be fast or slow."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from cognate.matrices.matrix import SparseMatrix

Indices = NDArray[np.int64]
SEED = 20261201


def _random() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _from_pairs(rows: int, cols: int, row: Indices, col: Indices) -> sparse.csr_array:
    pairs = np.unique(row * np.int64(cols) + col)
    values = _random().uniform(0.5, 1.5, len(pairs)).astype(np.float32)
    return sparse.csr_array((values, (pairs // cols, pairs % cols)), shape=(rows, cols))


def uniform(rows: int, cols: int, entries: int) -> sparse.csr_array:
    """Entries anywhere: every dense row is fetched from far away."""
    random = _random()
    return _from_pairs(
        rows, cols, random.integers(rows, size=entries), random.integers(cols, size=entries)
    )


def finite_elements(side: int, unknowns: int = 4) -> sparse.csr_array:
    """A five-point grid with a dense block of unknowns at each pair of neighbours."""
    line = sparse.diags_array(
        [np.ones(side - 1), np.ones(side), np.ones(side - 1)], offsets=[-1, 0, 1]
    )
    eye = sparse.eye_array(side)
    grid = ((sparse.kron(line, eye) + sparse.kron(eye, line)) != 0).astype(np.float32)
    return sparse.csr_array(sparse.kron(grid, np.ones((unknowns, unknowns), dtype=np.float32)))


def permuted(matrix: sparse.csr_array) -> sparse.csr_array:
    """Rows and columns in one random order: locality destroyed, structure kept."""
    order = _random().permutation(matrix.shape[0])
    return sparse.csr_array(matrix[order][:, order])


def band(size: int, half: int, each: int) -> sparse.csr_array:
    """A few entries a row, all near the diagonal."""
    random = _random()
    row = np.repeat(np.arange(size, dtype=np.int64), each)
    col = np.clip(row + random.integers(-half, half + 1, size=len(row)), 0, size - 1)
    return _from_pairs(size, size, row, col)


def rmat(scale: int, edges: int) -> sparse.csr_array:
    """A power-law graph (Chakrabarti et al. 2004; .57 .19 .19 .05), vertices shuffled."""
    random, size = _random(), 1 << scale
    row = np.zeros(edges, dtype=np.int64)
    col = np.zeros(edges, dtype=np.int64)
    for _ in range(scale):
        draw = random.random(edges)
        row = 2 * row + (draw >= 0.76)
        col = 2 * col + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    order = random.permutation(size)
    return _from_pairs(size, size, order[row], order[col])


def diagonal_blocks(count: int, size: int, filled: float) -> sparse.csr_array:
    """Dense communities along the diagonal."""
    random = _random()
    row, col = np.nonzero(random.random((count * size, size)) < filled)
    return _from_pairs(count * size, count * size, row, row // size * size + col)


def hot_columns(size: int, entries: int, hot: int) -> sparse.csr_array:
    """Half of the entries in a few columns."""
    random = _random()
    col = random.integers(size, size=entries)
    chosen = random.random(entries) < 0.5
    col[chosen] = random.integers(hot, size=int(chosen.sum())) * (size // hot)
    return _from_pairs(size, size, random.integers(size, size=entries), col)


FULL: dict[str, Callable[[], sparse.csr_array]] = {
    "uniform": lambda: uniform(100_000, 100_000, 2_000_000),
    "fem": lambda: finite_elements(157),
    "fem-permuted": lambda: permuted(finite_elements(157)),
    "band": lambda: band(100_000, 60, 20),
    "rmat": lambda: rmat(17, 2_100_000),
    "blocks": lambda: diagonal_blocks(2_000, 50, 0.4),
    "hypersparse": lambda: uniform(400_000, 400_000, 300_000),
    "tall": lambda: uniform(400_000, 4_000, 1_500_000),
    "wide": lambda: uniform(4_000, 400_000, 1_500_000),
    "small": lambda: uniform(3_000, 3_000, 50_000),
    "hot": lambda: hot_columns(100_000, 1_500_000, 64),
}
QUICK: dict[str, Callable[[], sparse.csr_array]] = {
    "uniform": lambda: uniform(30_000, 30_000, 400_000),
    "fem": lambda: finite_elements(70),
    "rmat": lambda: rmat(15, 400_000),
    "small": lambda: uniform(3_000, 3_000, 50_000),
}


def build(name: str, quick: bool) -> SparseMatrix:
    """The case called ``name``."""
    made = (QUICK if quick else FULL)[name]()
    return SparseMatrix.from_scipy(made, name, kind="benchmark")
