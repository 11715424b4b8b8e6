"""Discretised domains: stencils, finite elements, triangulations, neighbours in space."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import scipy

from cognate.matrices.generators.tools import (
    Csr,
    Indices,
    Random,
    pattern,
    permutation,
    ragged,
    undirected,
    with_blocks,
)

CELLS = 1 << 20
"""Points lie on an integer grid of this many cells a side, so that distances are exact."""


def star(dimensions: int, reach: int = 1) -> list[tuple[int, ...]]:
    """The point itself and its neighbours along each axis up to ``reach``."""
    steps = [step for step in range(-reach, reach + 1) if step]
    return [(0,) * dimensions] + [
        tuple(step if axis == moved else 0 for axis in range(dimensions))
        for moved in range(dimensions)
        for step in steps
    ]


def box(dimensions: int) -> list[tuple[int, ...]]:
    """All neighbours of a point that differ by at most one along every axis."""
    return list(itertools.product((-1, 0, 1), repeat=dimensions))


def stencil(
    extents: Sequence[int], offsets: Iterable[Sequence[int]], periodic: bool = False
) -> Csr:
    """Couple each point of a grid, last axis fastest, to the points at ``offsets``."""
    size = int(np.prod(extents))
    place = np.stack(np.unravel_index(np.arange(size), tuple(extents)))
    limits = np.asarray(extents)[:, None]
    rows, cols = [], []
    for offset in offsets:
        other = place + np.asarray(offset)[:, None]
        inside = ((other >= 0) & (other < limits)).all(axis=0) | periodic
        rows.append(np.flatnonzero(inside))
        cols.append(np.ravel_multi_index(tuple((other % limits)[:, inside]), tuple(extents)))
    return pattern((size, size), np.concatenate(rows), np.concatenate(cols))


def grid(extents: Sequence[int], neighbours: str) -> Csr:
    """A grid whose points are coupled to a ``star``, a ``box`` or a ``wide`` star and box."""
    dimensions = len(extents)
    offsets = {
        "star": star(dimensions),
        "box": box(dimensions),
        "wide": box(dimensions) + star(dimensions, reach=2),
    }
    return stencil(extents, offsets[neighbours])


def red_black(side: int) -> Csr:
    """A five-point grid with all red points first, then all black ones."""
    grid = stencil((side, side), star(2))
    y, x = np.divmod(np.arange(side * side), side)
    order = np.argsort((x + y) % 2, kind="stable")
    return Csr(grid[order][:, order])


def points(count: int, dimensions: int, random: Random) -> Indices:
    """Random integer points in Morton order, shape (count, dimensions)."""
    found = random.integers(0, CELLS, size=(count, dimensions))
    bits = min(20, 60 // dimensions)
    key = np.zeros(count, dtype=np.int64)
    for bit, axis in itertools.product(range(bits), range(dimensions)):
        key |= ((found[:, axis] >> (20 - bits + bit)) & 1) << (bit * dimensions + axis)
    return found[np.argsort(key, kind="stable")]


def triangulation(count: int, dimensions: int, random: Random) -> Csr:
    """Delaunay triangulation of random points, with a diagonal."""
    simplices = scipy.spatial.Delaunay(points(count, dimensions, random)).simplices
    pairs = list(itertools.combinations(range(dimensions + 1), 2))
    starts = np.concatenate([simplices[:, i] for i, _ in pairs])
    ends = np.concatenate([simplices[:, j] for _, j in pairs])
    return undirected(count, starts, ends, diagonal=True)


def within_radius(count: int, dimensions: int, radius: float, random: Random) -> Csr:
    """Random geometric graph: points nearer than ``radius`` (side = 1) are joined."""
    tree = scipy.spatial.cKDTree(points(count, dimensions, random))
    pairs = tree.query_pairs(radius * CELLS, output_type="ndarray")
    return undirected(count, pairs[:, 0], pairs[:, 1])


def nearest(count: int, dimensions: int, neighbours: int, random: Random) -> Csr:
    """Each point refers to its nearest neighbours; not symmetric."""
    place = points(count, dimensions, random)
    _, found = scipy.spatial.cKDTree(place).query(place, k=neighbours + 1)
    return pattern((count, count), np.repeat(np.arange(count), neighbours + 1), found)


def orbitals(atoms: int, radius: float, random: Random) -> Csr:
    """Overlap of basis functions: 1, 5 or 13 an atom, atoms nearer than ``radius`` in 3-D."""
    atom_graph = scipy.sparse.coo_array(
        within_radius(atoms, 3, radius, random) + scipy.sparse.eye_array(atoms)
    )
    functions = np.asarray([1, 5, 13])[random.integers(0, 3, size=atoms)]
    first = np.cumsum(functions) - functions
    i, j = atom_graph.coords
    block, place = ragged(functions[i] * functions[j])
    rows = first[i][block] + place // functions[j][block]
    cols = first[j][block] + place % functions[j][block]
    size = int(functions.sum())
    return pattern((size, size), rows, cols)


def streets(side: int, kept: float, pieces: int, random: Random) -> Csr:
    """Road-like planar graph: a thinned grid whose edges are chains of ``pieces`` segments."""
    grid = scipy.sparse.triu(stencil((side, side), star(2)), k=1).tocoo()
    chosen = random.random(grid.nnz) < kept
    starts, ends = grid.coords[0][chosen], grid.coords[1][chosen]
    inner = side * side + np.arange(len(starts) * (pieces - 1)).reshape(len(starts), -1)
    chain = np.column_stack([starts, inner, ends])
    # Number inner points next to the crossing where their street starts.
    position = np.concatenate([np.arange(side * side), np.repeat(starts, pieces - 1)])
    order = np.empty(len(position), dtype=np.int64)
    order[np.argsort(position, kind="stable")] = np.arange(len(position))
    chain = order[chain]
    return undirected(len(position), chain[:, :-1], chain[:, 1:])


def saddle(side: int) -> Csr:
    """Stokes flow on staggered grids: [K 0 G; 0 K G; Gᵀ Gᵀ 0], velocities then pressure."""
    laplacian = stencil((side, side), star(2))
    right = stencil((side, side), [(0, 0), (0, 1)])
    down = stencil((side, side), [(0, 0), (1, 0)])
    blocks = [[laplacian, None, right], [None, laplacian, down], [right.T, down.T, None]]
    return Csr(scipy.sparse.block_array(blocks, format="csr"))


def lattice_fermions(side: int) -> Csr:
    """Lattice gauge theory on a periodic 4-D grid: 3 colours coupled to each of 8 neighbours."""
    return with_blocks(stencil((side,) * 4, star(4), periodic=True), 3, 3)


def graded(side: int, levels: int) -> Csr:
    """Nested grids refined towards a corner; each level is tied to the one above."""
    grid = stencil((side, side), star(2))
    quarter = np.flatnonzero(
        (np.arange(side * side) // side < side // 2) & (np.arange(side * side) % side < side // 2)
    )
    fine = np.arange(side * side).reshape(side, side)[::2, ::2].ravel()
    tie = pattern((side * side, side * side), fine[: len(quarter)], quarter[: len(fine)])
    blocks: list[list[Csr | None]] = [[None] * levels for _ in range(levels)]
    for level in range(levels):
        blocks[level][level] = grid
        if level:
            blocks[level][level - 1], blocks[level - 1][level] = tie, Csr(tie.T)
    return Csr(scipy.sparse.block_array(blocks, format="csr"))


def elements(extents: Sequence[int], unknowns: int) -> Csr:
    """Finite elements on a box grid of nodes with some unknowns each, node by node."""
    return with_blocks(grid(extents, "box"), unknowns, unknowns)


def elements_unordered(extents: Sequence[int], unknowns: int, random: Random) -> Csr:
    """The same with the nodes, but not the unknowns of a node, in random order."""
    nodes = grid(extents, "box")
    order = permutation(nodes.shape[0], random)
    return with_blocks(Csr(nodes[order][:, order]), unknowns, unknowns)


def plane_elements(count: int, random: Random) -> Csr:
    """Triangles on random nodes with two unknowns each."""
    return with_blocks(triangulation(count, 2, random), 2, 2)
