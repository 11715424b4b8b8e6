"""Discretised domains: stencils, finite elements, triangulations, neighbours in space."""

import itertools
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
import scipy.sparse
from scipy.spatial import Delaunay, cKDTree

from cognate.matrices.generators.recipe import (
    Csr,
    Indices,
    Random,
    Recipe,
    pattern,
    permutation,
    ragged,
    shuffled_copy,
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


def red_black(side: int, random: Random) -> Csr:
    """A five-point grid with all red points first, then all black ones."""
    grid = stencil((side, side), star(2))
    y, x = np.divmod(np.arange(side * side), side)
    order = np.argsort((x + y) % 2, kind="stable")
    return Csr(grid[order][:, order])


def points(count: int, dimensions: int, random: Random) -> Indices:
    """Random integer points in Morton order, shape (count, dimensions)."""
    found = random.integers(0, CELLS, size=(count, dimensions))
    key = np.zeros(count, dtype=np.uint64)
    for bit in range(20):
        for axis in range(dimensions):
            part = ((found[:, axis] >> bit) & 1).astype(np.uint64)
            key |= part << np.uint64(bit * dimensions + axis)
    return found[np.argsort(key, kind="stable")]


def triangulation(count: int, dimensions: int, random: Random) -> Csr:
    """Delaunay triangulation of random points, with a diagonal."""
    simplices = Delaunay(points(count, dimensions, random)).simplices
    pairs = list(itertools.combinations(range(dimensions + 1), 2))
    starts = np.concatenate([simplices[:, i] for i, _ in pairs])
    ends = np.concatenate([simplices[:, j] for _, j in pairs])
    return undirected(count, starts, ends, diagonal=True)


def within_radius(count: int, dimensions: int, radius: float, random: Random) -> Csr:
    """Random geometric graph: points nearer than ``radius`` (side = 1) are joined."""
    tree = cKDTree(points(count, dimensions, random))
    pairs = tree.query_pairs(radius * CELLS, output_type="ndarray")
    return undirected(count, pairs[:, 0], pairs[:, 1])


def nearest(count: int, dimensions: int, neighbours: int, random: Random) -> Csr:
    """Each point refers to its nearest neighbours; not symmetric."""
    place = points(count, dimensions, random)
    _, found = cKDTree(place).query(place, k=neighbours + 1)
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


def saddle(side: int, random: Random) -> Csr:
    """Stokes flow on staggered grids: [K 0 G; 0 K G; Gᵀ Gᵀ 0], velocities then pressure."""
    laplacian = stencil((side, side), star(2))
    right = stencil((side, side), [(0, 0), (0, 1)])
    down = stencil((side, side), [(0, 0), (1, 0)])
    blocks = [[laplacian, None, right], [None, laplacian, down], [right.T, down.T, None]]
    return Csr(scipy.sparse.block_array(blocks, format="csr"))


def lattice_fermions(side: int, random: Random) -> Csr:
    """Lattice gauge theory on a periodic 4-D grid: 3 colours coupled to each of 8 neighbours."""
    return with_blocks(stencil((side,) * 4, star(4), periodic=True), 3, 3)


def graded(side: int, levels: int, random: Random) -> Csr:
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


def _elements(extents: Sequence[int], unknowns: int, random: Random) -> Csr:
    return with_blocks(stencil(extents, box(len(extents))), unknowns, unknowns)


def _elements_unordered(extents: Sequence[int], unknowns: int, random: Random) -> Csr:
    nodes = stencil(extents, box(len(extents)))
    order = permutation(nodes.shape[0], random)
    return with_blocks(Csr(nodes[order][:, order]), unknowns, unknowns)


def _plane_elements(count: int, random: Random) -> Csr:
    return with_blocks(triangulation(count, 2, random), 2, 2)


def _grid(
    extents: Sequence[int], offsets: Iterable[Sequence[int]], periodic: bool, random: Random
) -> Csr:
    return stencil(extents, offsets, periodic)


def _recipes() -> list[Recipe]:
    space, structure = "2D/3D problem", "structural problem"
    fluid, random_graph = "computational fluid dynamics problem", "undirected random graph"
    found: list[Recipe] = []

    def add(name: str, kind: str, family: str, origin: str, make: object, *traits: str) -> Recipe:
        found.append(Recipe(name, kind, family, origin, make, traits))  # type: ignore[arg-type]
        return found[-1]

    def grid(extents: Sequence[int], offsets: list[tuple[int, ...]], periodic: bool = False):  # type: ignore[no-untyped-def]
        return partial(_grid, extents, offsets, periodic)

    add(
        "grid2d_5pt_40x50",
        space,
        "stencil_2d_5pt",
        "five-point stencil, 40 x 50",
        grid((40, 50), star(2)),
    )
    plane = add(
        "grid2d_5pt_300x300",
        space,
        "stencil_2d_5pt",
        "five-point stencil, 300 x 300",
        grid((300, 300), star(2)),
    )
    found.append(shuffled_copy(plane))
    add(
        "grid2d_5pt_600x400",
        space,
        "stencil_2d_5pt",
        "five-point stencil, 600 x 400",
        grid((600, 400), star(2)),
    )
    add(
        "grid2d_red_black_250",
        space,
        "stencil_2d_5pt",
        "five-point stencil, 250 x 250, red points before black ones",
        partial(red_black, 250),
    )
    strip = add(
        "grid2d_9pt_12x8000",
        fluid,
        "stencil_2d_9pt",
        "nine-point stencil on a long strip",
        grid((8000, 12), box(2)),
    )
    found.append(shuffled_copy(strip))
    add(
        "grid2d_13pt_200x200",
        structure,
        "stencil_2d_13pt",
        "biharmonic-like stencil, 200 x 200",
        grid((200, 200), box(2) + [o for o in star(2, 2) if max(map(abs, o)) == 2]),
    )
    add(
        "grid3d_7pt_12",
        space,
        "stencil_3d_7pt",
        "seven-point stencil, 12 x 12 x 12",
        grid((12, 12, 12), star(3)),
    )
    cube = add(
        "grid3d_7pt_48",
        fluid,
        "stencil_3d_7pt",
        "seven-point stencil, 48 x 48 x 48",
        grid((48, 48, 48), star(3)),
    )
    found.append(shuffled_copy(cube))
    add(
        "grid3d_27pt_32",
        fluid,
        "stencil_3d_27pt",
        "27-point stencil, 32 x 32 x 32",
        grid((32, 32, 32), box(3)),
    )
    add(
        "lattice4d_qcd_8",
        "theoretical/quantum chemistry problem",
        "lattice_4d",
        "3 colours on a periodic 4-D lattice, 8 sites a side",
        partial(lattice_fermions, 8),
        "blocked",
    )
    add(
        "fe_solid_small",
        structure,
        "fe_solid",
        "8-node bricks, 3 unknowns a node, 6 x 6 x 6",
        partial(_elements, (6, 6, 6), 3),
        "blocked",
    )
    add(
        "fe_solid_20",
        structure,
        "fe_solid",
        "8-node bricks, 3 unknowns a node, 20 x 16 x 16",
        partial(_elements, (20, 16, 16), 3),
        "blocked",
    )
    add(
        "fe_solid_unordered",
        structure,
        "fe_solid",
        "8-node bricks, 3 unknowns a node, nodes in random order",
        partial(_elements_unordered, (16, 16, 16), 3),
        "blocked",
        "shuffled",
    )
    add(
        "fe_shell_60",
        structure,
        "fe_shell",
        "4-node shells, 6 unknowns a node, 60 x 50",
        partial(_elements, (60, 50), 6),
        "blocked",
    )
    add(
        "fe_plane_30k",
        structure,
        "fe_plane",
        "triangles, 2 unknowns a node, 30,000 nodes",
        partial(_plane_elements, 30_000),
        "blocked",
    )
    add(
        "stokes_120",
        fluid,
        "saddle",
        "Stokes flow on staggered grids, 120 x 120",
        partial(saddle, 120),
    )
    add(
        "graded_mesh_6",
        "thermal problem",
        "graded",
        "six nested grids of 100 x 100",
        partial(graded, 100, 6),
    )
    add(
        "delaunay_1k",
        "undirected graph",
        "delaunay_2d",
        "triangulation of 1,000 points",
        partial(triangulation, 1000, 2),
    )
    flat = add(
        "delaunay_60k",
        "undirected graph",
        "delaunay_2d",
        "triangulation of 60,000 points",
        partial(triangulation, 60_000, 2),
    )
    found.append(shuffled_copy(flat))
    add(
        "delaunay_3d_20k",
        space,
        "delaunay_3d",
        "tetrahedra on 20,000 points",
        partial(triangulation, 20_000, 3),
    )
    near = add(
        "rgg_2d_50k",
        random_graph,
        "geometric_2d",
        "50,000 points joined within a radius",
        partial(within_radius, 50_000, 2, 0.0090),
    )
    found.append(shuffled_copy(near))
    add(
        "rgg_3d_30k",
        random_graph,
        "geometric_3d",
        "30,000 points in a cube, within a radius",
        partial(within_radius, 30_000, 3, 0.0550),
    )
    add(
        "knn_4d_40k",
        "undirected weighted graph",
        "nearest",
        "8 nearest of 40,000 points in 4-D",
        partial(nearest, 40_000, 4, 8),
    )
    add(
        "orbitals_3k",
        "theoretical/quantum chemistry problem",
        "orbitals",
        "overlaps of 1, 5 or 13 basis functions an atom, 3,000 atoms",
        partial(orbitals, 3000, 0.08),
        "blocked",
    )
    road = add(
        "roads_150",
        "undirected graph",
        "roads",
        "thinned 150 x 150 grid of street chains",
        partial(streets, 150, 0.6, 4),
    )
    found.append(shuffled_copy(road))
    add(
        "roads_300",
        "undirected graph",
        "roads",
        "thinned 300 x 300 grid of street chains",
        partial(streets, 300, 0.55, 3),
    )
    return found


RECIPES = _recipes()
