"""The matrices of the published measurements, as far as they can be made again."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.spatial import Delaunay

from cognate.matrices.generators.formulas import mycielskian
from cognate.matrices.generators.graphs import rmat
from cognate.matrices.generators.meshes import points, streets, within_radius
from cognate.matrices.generators.tools import Csr, named_random, permutation, undirected
from cognate.matrices.matrix import SparseMatrix


@dataclass(frozen=True)
class Pattern:
    """A stand-in for a published matrix."""

    published: str
    how: str
    make: Callable[[], Csr]


def _shuffled(matrix: Csr, name: str) -> Csr:
    order = permutation(matrix.shape[0], named_random(name))
    moved = matrix.tocoo()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Csr((moved.data, (place[moved.coords[0]], place[moved.coords[1]])), shape=matrix.shape)


def _kronecker(scale: int) -> Csr:
    name = f"kron_g500-logn{scale}"
    return _shuffled(rmat(scale, 48 << scale, False, named_random(name)), name)


def _delaunay(scale: int) -> Csr:
    """In Morton order."""
    simplices = Delaunay(points(1 << scale, 2, named_random(f"delaunay_n{scale}"))).simplices
    pairs = np.concatenate([simplices[:, [0, 1]], simplices[:, [1, 2]], simplices[:, [0, 2]]])
    return undirected(1 << scale, pairs[:, 0], pairs[:, 1])


def _packing() -> Csr:
    """Touching neighbours in a random packing: 2.1 M nodes, 16.3 neighbours on average."""
    nodes = 2_145_852
    radius = float((16.3 / (4 / 3 * np.pi * nodes)) ** (1 / 3))
    return within_radius(nodes, 3, radius, named_random("packing"))


def _roads() -> Csr:
    """12 M nodes of degree 2.1, most of them between two crossings, as in asia_osm."""
    return streets(1100, 0.65, 8, named_random("asia_osm"))


PATTERNS = {
    "MYC": Pattern("mycielskian17", "exact: the construction is deterministic",
                   lambda: mycielskian(17)),
    "KRO": Pattern("kron_g500-logn20", "Graph500 parameters, vertices permuted",
                   lambda: _kronecker(20)),
    "KRO19": Pattern("kron_g500-logn19", "Graph500 parameters, vertices permuted",
                     lambda: _kronecker(19)),
    "DELz": Pattern("delaunay_n22", "random points, Morton order", lambda: _delaunay(22)),
    "DELr": Pattern("delaunay_n22", "random points, random order",
                    lambda: _shuffled(_delaunay(22), "delaunay order")),
    "PAC": Pattern("packing-500x100x100-b050", "stand-in: random geometric graph, Morton order",
                   _packing),
    "ROA": Pattern("asia_osm", "stand-in: thinned grid of chains", _roads),
}  # fmt: skip


def build(name: str) -> SparseMatrix:
    csr = scipy.sparse.csr_array(PATTERNS[name].make())
    return SparseMatrix.from_scipy(csr, name)
