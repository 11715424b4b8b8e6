"""The few tools that all generators share."""

import hashlib
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Csr: TypeAlias = scipy.sparse.csr_array
Indices = NDArray[np.int64]
Random = np.random.Generator


def named_random(name: str) -> Random:
    """A random generator whose stream depends on ``name`` alone."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.default_rng(seed)


def pattern(shape: tuple[int, int], rows: Any, cols: Any) -> Csr:
    """A CSR array of ones at the given coordinates; repeated coordinates count once."""
    rows, cols = np.ravel(rows), np.ravel(cols)
    matrix = Csr((np.ones(len(rows), dtype=np.float32), (rows, cols)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def undirected(vertices: int, starts: Any, ends: Any, diagonal: bool = False) -> Csr:
    """The symmetric pattern of a graph given each edge once; loops are dropped."""
    starts, ends = np.ravel(starts), np.ravel(ends)
    proper = starts != ends
    starts, ends = starts[proper], ends[proper]
    loops = np.arange(vertices if diagonal else 0)
    rows = np.concatenate([starts, ends, loops])
    return pattern((vertices, vertices), rows, np.concatenate([ends, starts, loops]))


def permutation(count: int, random: Random) -> Indices:
    """A random permutation of ``range(count)``."""
    return np.argsort(random.random(count), kind="stable")


def zipf_weights(count: int, square_root: bool = False) -> NDArray[np.float64]:
    """Cumulative weights 1/k (or 1/√k), k = 1 … ``count``, scaled to end at 1."""
    ranks = np.arange(1, count + 1, dtype=np.float64)
    total = np.cumsum(1 / (np.sqrt(ranks) if square_root else ranks))
    scaled: NDArray[np.float64] = total / total[-1]
    return scaled


def draw(cumulative: NDArray[np.float64], count: int, random: Random) -> Indices:
    """``count`` indices drawn with replacement by cumulative weights."""
    return np.searchsorted(cumulative, random.random(count), side="right").astype(np.int64)


def ragged(counts: Indices) -> tuple[Indices, Indices]:
    """For lists of the given lengths laid end to end: each item's list and place in it."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)


def with_blocks(matrix: Csr, rows: int, cols: int) -> Csr:
    """Every entry becomes a dense block of ``rows`` × ``cols``."""
    blown = Csr(scipy.sparse.kron(matrix, np.ones((rows, cols), dtype=np.float32), format="csr"))
    blown.sort_indices()
    return blown
