"""Members of the SuiteSparse collection that a formula defines, entry for entry."""

import itertools
from math import comb

import numpy as np

from cognate.matrices.generators.tools import (
    Csr,
    Indices,
    pattern,
    undirected,
)


def mycielskian(order: int) -> Csr:
    """Graph ``order`` of Mycielski's sequence from the single edge, ``order`` = 2.

    A graph ``A`` of n vertices becomes [A A 0; A 0 1; 0 1 0] with 2n + 1 vertices: no
    triangles, one colour more (Mycielski, "Sur le coloriage des graphes", 1955).
    """
    edges = np.array([[0], [1]])
    vertices = 2
    for _ in range(order - 2):
        first, second = edges
        copies = np.arange(vertices, 2 * vertices)
        apex = np.full(vertices, 2 * vertices)
        starts = np.concatenate([first, first, second, copies])
        ends = np.concatenate([second, second + vertices, first + vertices, apex])
        edges = np.stack([starts, ends])
        vertices = 2 * vertices + 1
    return undirected(vertices, *edges)


def combinations(items: int, size: int) -> Indices:
    """All ``size``-subsets of ``range(items)`` in lexicographic order, one a row."""
    count = comb(items, size)
    flat = itertools.chain.from_iterable(itertools.combinations(range(items), size))
    return np.fromiter(flat, dtype=np.int64, count=count * size).reshape(count, size)


def _pair_rank(items: int, low: Indices, high: Indices) -> Indices:
    """Position of the pair low < high among all pairs in lexicographic order."""
    return low * (2 * items - low - 1) // 2 + high - low - 1


def subset_incidence(points: int, size: int) -> Csr:
    """Which pairs of ``points`` lie in which ``size``-subsets, both lexicographic (bibd_v_k)."""
    subsets = combinations(points, size)
    rows = [
        _pair_rank(points, subsets[:, i], subsets[:, j])
        for i, j in itertools.combinations(range(size), 2)
    ]
    cols = np.tile(np.arange(len(subsets)), len(rows))
    return pattern((comb(points, 2), len(subsets)), np.concatenate(rows), cols)


def trefethen(size: int) -> Csr:
    """The first primes on the diagonal, ones where |i - j| is a power of two.

    Problem 7 of Trefethen, "A Hundred-dollar, Hundred-digit Challenge", 2002.
    """
    limit = max(20, int(size * (np.log(size) + np.log(np.log(size))) * 1.1))
    sieve = np.ones(limit, dtype=bool)
    sieve[:2] = False
    for divisor in range(2, int(limit**0.5) + 1):
        if sieve[divisor]:
            sieve[divisor * divisor :: divisor] = False
    steps = [1 << k for k in range((size - 1).bit_length()) if 1 << k < size]
    starts = np.concatenate([np.arange(size - step) for step in steps])
    ends = starts + np.repeat(steps, [size - step for step in steps])
    matrix = undirected(size, starts, ends, diagonal=True)
    matrix.setdiag(np.flatnonzero(sieve)[:size].astype(np.float32))
    return matrix


def butterfly(order: int) -> Csr:
    """The wrapped butterfly: vertex (word, level) = order · word + level."""
    word, level = np.divmod(np.arange(order << order), order)
    following = (level + 1) % order
    starts = np.tile(np.arange(order << order), 2)
    ends = np.concatenate([order * word + following, order * (word ^ (1 << level)) + following])
    return undirected(order << order, starts, ends)


def cube_connected(order: int, cycles: bool) -> Csr:
    """Hypercube whose corners are paths or, with ``cycles``, cycles of ``order`` vertices."""
    vertices = np.arange(order << order)
    word, level = np.divmod(vertices, order)
    along = vertices if cycles else vertices[level < order - 1]
    starts = np.concatenate([vertices, along])
    following = order * (along // order) + (along + 1 - order * (along // order)) % order
    ends = np.concatenate([order * (word ^ (1 << level)) + level, following])
    return undirected(order << order, starts, ends)


def shuffle_exchange(order: int) -> Csr:
    """Binary words joined to their rotation and to the word with its last bit flipped."""
    words = np.arange(1 << order)
    rotated = ((words << 1) & ((1 << order) - 1)) | (words >> (order - 1))
    return undirected(1 << order, np.tile(words, 2), np.concatenate([rotated, words ^ 1]))


def de_bruijn(order: int) -> Csr:
    """Binary words joined to the two words that a shift by one bit leads to, undirected."""
    words = np.arange(1 << order)
    shifted = (words << 1) & ((1 << order) - 1)
    return undirected(1 << order, np.tile(words, 2), np.concatenate([shifted, shifted | 1]))


def nine_point_grid(side: int) -> Csr:
    """Nine-point Laplacian of a square grid, row by row (gr_30_30)."""
    matrix = pattern((side * side, side * side), *_grid_neighbours(side, diagonals=True))
    matrix.data[:] = -1
    matrix.setdiag(np.full(side * side, 8, dtype=np.float32))
    return matrix


def five_point_grid(side: int, free_boundary: bool) -> Csr:
    """Five-point Laplacian of a square grid; a fixed boundary is not coupled to itself."""
    rows, cols = _grid_neighbours(side, diagonals=False)
    if not free_boundary:
        y, x = np.divmod(np.arange(side * side), side)
        edge = (y == 0) | (x == 0) | (y == side - 1) | (x == side - 1)
        kept = (rows == cols) | ~(edge[rows] & edge[cols])
        rows, cols = rows[kept], cols[kept]
    return pattern((side * side, side * side), rows, cols)


def _grid_neighbours(side: int, diagonals: bool) -> tuple[Indices, Indices]:
    y, x = np.divmod(np.arange(side * side), side)
    rows, cols = [], []
    for dy, dx in itertools.product((-1, 0, 1), repeat=2):
        if dy and dx and not diagonals:
            continue
        inside = (y + dy >= 0) & (y + dy < side) & (x + dx >= 0) & (x + dx < side)
        rows.append(np.flatnonzero(inside))
        cols.append(rows[-1] + dy * side + dx)
    return np.concatenate(rows), np.concatenate(cols)


def wathen(across: int, down: int) -> Csr:
    """Mass matrix of serendipity elements on an ``across`` × ``down`` grid.

    Eight nodes an element, numbered as in Higham's gallery (Wathen, "Realistic eigenvalue
    bounds for the Galerkin mass matrix", 1987).
    """
    j, i = (part.ravel() + 1 for part in np.indices((down, across)))
    corner = 3 * j * across + 2 * i + 2 * j + 1
    middle = (3 * j - 1) * across + 2 * j + i - 1
    low = 3 * (j - 1) * across + 2 * i + 2 * j - 3
    nodes = np.stack([corner, corner - 1, corner - 2, middle, low, low + 1, low + 2, middle + 1])
    size = 3 * across * down + 2 * across + 2 * down + 1
    rows = np.broadcast_to(nodes[:, None, :], (8, 8, across * down))
    return pattern((size, size), rows - 1, np.swapaxes(rows, 0, 1) - 1)


def _boundary(simplices: Indices, faces: Indices, base: int) -> Csr:
    """Boundary matrix: rows are simplices, columns faces, signs alternate.

    Both list vertices below ``base`` in ascending order, and ``faces`` lexicographically.
    """
    size = simplices.shape[1]
    weights = base ** np.arange(size - 1)[::-1]
    keys = faces @ weights
    cols = np.stack(
        [np.searchsorted(keys, np.delete(simplices, k, axis=1) @ weights) for k in range(size)]
    )
    rows = np.broadcast_to(np.arange(len(simplices)), cols.shape)
    signs = np.broadcast_to((-1.0) ** np.arange(size)[:, None], cols.shape).astype(np.float32)
    shape = (len(simplices), len(faces))
    matrix = Csr((signs.ravel(), (rows.ravel(), cols.ravel())), shape=shape)
    matrix.sum_duplicates()
    return matrix


def chessboard(height: int, width: int, dimension: int) -> Csr:
    """Boundary of the complex of non-attacking rooks on a board (ch7-7-b2: 7, 7, 2)."""

    def placements(rooks: int) -> Indices:
        rows = combinations(height, rooks)
        flat = itertools.chain.from_iterable(itertools.permutations(range(width), rooks))
        cols = np.fromiter(flat, dtype=np.int64).reshape(-1, rooks)
        cells = (rows[:, None, :] * width + cols[None, :, :]).reshape(-1, rooks)
        return cells[np.lexsort(cells.T[::-1])]

    return _boundary(placements(dimension + 1), placements(dimension), height * width)


def matching(vertices: int, dimension: int) -> Csr:
    """Boundary of the complex of matchings of the complete graph (mk9-b2: 9, 2)."""
    edges = combinations(vertices, 2)

    def matchings(size: int) -> Indices:
        found = np.arange(len(edges))[:, None]
        for _ in range(size - 1):
            last, candidate = np.divmod(np.arange(len(found) * len(edges)), len(edges))
            later = candidate > found[last, -1]
            last, candidate = last[later], candidate[later]
            ends = edges[found[last]].reshape(len(last), -1)
            apart = (ends[:, :, None] != edges[candidate][:, None, :]).all(axis=(1, 2))
            found = np.column_stack([found[last[apart]], candidate[apart]])
        return found

    return _boundary(matchings(dimension + 1), matchings(dimension), len(edges))
