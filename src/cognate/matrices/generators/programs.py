"""Optimisation, control, circuits and estimation: constraint matrices and their relatives."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from cognate.matrices.generators.meshes import star, stencil
from cognate.matrices.generators.tools import (
    Csr,
    Random,
    draw,
    pattern,
    ragged,
    zipf_weights,
)


def staircase(stages: int, rows: int, cols: int, each: int, carried: int, random: Random) -> Csr:
    """Multi-stage linear program: a stage's rows use its own columns and the next stage's.

    ``each`` entries a row in its own block and ``carried`` in the following one.
    """
    total = stages * rows
    row = np.arange(total)
    own = (row // rows * cols)[:, None] + random.integers(0, cols, size=(total, each))
    after = ((row // rows + 1) * cols)[:, None] + random.integers(0, cols, size=(total, carried))
    columns = np.concatenate([own, after], axis=1)
    owner = np.broadcast_to(row[:, None], columns.shape)
    inside = columns < stages * cols
    return pattern((total, stages * cols), owner[inside], columns[inside])


def block_angular(
    blocks: int, rows: int, cols: int, each: int, linking: int, random: Random
) -> Csr:
    """Independent blocks under ``linking`` rows that each touch a tenth of all columns."""
    width = blocks * cols
    row = np.arange(blocks * rows)
    own = (row // rows * cols)[:, None] + random.integers(0, cols, size=(len(row), each))
    link = random.integers(0, width, size=(linking, width // 10))
    owners = [np.repeat(np.arange(linking), width // 10), linking + np.repeat(row, each)]
    return pattern(
        (linking + len(row), width),
        np.concatenate(owners),
        np.concatenate([link.ravel(), own.ravel()]),
    )


def crew_pairings(trips: int, pairings: int, random: Random) -> Csr:
    """Set cover: each column (a crew's day) covers a few trips that follow one another."""
    counts = random.integers(4, 14, size=pairings)
    start = np.sort((random.random(pairings) * trips).astype(np.int64))
    col, _ = ragged(counts)
    gaps = random.integers(1, 9, size=len(col))
    steps = np.cumsum(gaps)
    first = np.cumsum(counts) - counts
    rows = (start[col] + steps - steps[first][col]) % trips
    return pattern((trips, pairings), rows, col)


def transport(sources: int, sinks: int) -> Csr:
    """Transportation problem: one column a (source, sink) pair, one entry in each's row."""
    arc = np.arange(sources * sinks)
    rows = np.concatenate([arc // sinks, sources + arc % sinks])
    return pattern((sources + sinks, len(arc)), rows, np.tile(arc, 2))


def network_flow(side: int, commodities: int) -> Csr:
    """Multi-commodity flow on a grid: node balances a commodity, then shared arc capacities."""
    grid = scipy.sparse.triu(stencil((side, side), star(2)), k=1).tocoo()
    arcs = np.arange(grid.nnz)
    incidence = pattern((side * side, grid.nnz), np.concatenate(grid.coords), np.tile(arcs, 2))
    balance = scipy.sparse.block_diag([incidence] * commodities)
    capacity = scipy.sparse.hstack([scipy.sparse.eye_array(grid.nnz)] * commodities)
    return Csr(scipy.sparse.vstack([balance, capacity], format="csr"))


def optimal_control(steps: int, states: int, inputs: int) -> Csr:
    """KKT matrix of a control problem by collocation: variables by time, then multipliers.

    The Hessian couples a step's variables, the constraints a step with the next one, and one
    parameter (the final time) all of them.
    """
    size = states + inputs
    one = scipy.sparse.eye_array(steps, format="csr")
    both = scipy.sparse.eye_array(steps - 1, steps) + scipy.sparse.eye_array(steps - 1, steps, k=1)
    hessian = scipy.sparse.kron(one, np.ones((size, size)))
    jacobian = scipy.sparse.kron(both, np.ones((states, size)))
    time = np.ones((steps * size, 1))
    defects = np.ones(((steps - 1) * states, 1))
    return Csr(
        scipy.sparse.block_array(
            [
                [hessian, jacobian.T, time],
                [jacobian, None, defects],
                [time.T, defects.T, np.ones((1, 1))],
            ],
            format="csr",
        )
    )


def kkt(variables: int, constraints: int, each: int, random: Random) -> Csr:
    """Quadratic program: [tridiagonal Aᵀ; A 0] with ``each`` variables a constraint, local."""
    hessian = scipy.sparse.diags_array(
        [np.ones(variables)] * 3, offsets=[-1, 0, 1], shape=(variables, variables)
    )
    row = np.repeat(np.arange(constraints), each)
    centre = row * variables // constraints
    spread = random.integers(0, variables // 100, size=len(row))
    jacobian = pattern((constraints, variables), row, (centre + spread) % variables)
    return Csr(scipy.sparse.block_array([[hessian, jacobian.T], [jacobian, None]], format="csr"))


def circuit(nodes: int, cells: int, rails: int, random: Random) -> Csr:
    """Nodal analysis: small cells of local nodes, a few long wires, rails that many nodes use."""
    size = nodes // cells
    starts = np.repeat(np.arange(nodes), 2)
    local = starts // size * size + random.integers(0, size, size=len(starts))
    wires = random.integers(0, nodes, size=(2, nodes // 10))
    tapped = np.flatnonzero(random.random(nodes) < 0.25)
    rail = draw(zipf_weights(rails), len(tapped), random)
    one = np.concatenate([starts, wires[0], tapped])
    two = np.concatenate([np.minimum(local, nodes - 1), wires[1], rail])
    diagonal = np.arange(nodes)
    return pattern(
        (nodes, nodes),
        np.concatenate([one, two, diagonal]),
        np.concatenate([two, one, diagonal]),
    )


def power_flow(side: int, random: Random) -> Csr:
    """Newton matrix of a power grid: angles and magnitudes of thinly meshed buses, 2 × 2 blocks."""
    grid = scipy.sparse.triu(stencil((side, side), star(2)), k=1).tocoo()
    kept = random.random(grid.nnz) < 0.6
    i, j = grid.coords[0][kept], grid.coords[1][kept]
    bus = np.arange(side * side)
    rows, cols = np.concatenate([i, j, bus]), np.concatenate([j, i, bus])
    quarter = pattern((side * side, side * side), rows, cols)
    return Csr(scipy.sparse.block_array([[quarter, quarter], [quarter, quarter]], format="csr"))


def arrowhead(blocks: int, size: int, border: int) -> Csr:
    """Dense diagonal blocks, bordered by ``border`` dense rows and columns."""
    inner = scipy.sparse.kron(scipy.sparse.eye_array(blocks), np.ones((size, size)))
    edge = np.ones((blocks * size, border), dtype=np.float32)
    return Csr(
        scipy.sparse.block_array([[inner, edge], [edge.T, np.ones((border, border))]], format="csr")
    )


def bundle_adjustment(cameras: int, landmarks: int, random: Random) -> Csr:
    """Jacobian of bundle adjustment: 2 rows an observation, 9 camera and 3 landmark columns."""
    counts = random.integers(2, 7, size=landmarks)
    landmark, place = ragged(counts)
    camera = (landmark * cameras // landmarks + place) % cameras
    row = np.arange(len(landmark))
    cols = np.concatenate(
        [
            9 * camera[:, None] + np.arange(9),
            9 * cameras + 3 * landmark[:, None] + np.arange(3),
        ],
        axis=1,
    )
    single = pattern((len(row), 9 * cameras + 3 * landmarks), np.repeat(row, 12), cols)
    return Csr(scipy.sparse.kron(single, np.ones((2, 1)), format="csr"))


def projections(side: int, angles: int) -> Csr:
    """Parallel-beam tomography: rows are the rays that meet the image, columns their pixels.

    ``angles`` slopes of up to 45 degrees from either axis.
    """
    y, x = np.divmod(np.arange(side * side), side)
    half = angles // 4
    rays = [
        (along * rise) // half + across
        for rise in range(-half, half)
        for along, across in ((x, y), (y, x))
    ]
    numbered = np.stack(rays) + side + 3 * side * np.arange(len(rays))[:, None]
    used, rows = np.unique(numbered, return_inverse=True)
    return pattern((len(used), side * side), rows, np.tile(np.arange(side * side), len(rays)))


def queues(capacity: int, stations: int) -> Csr:
    """Markov chain of a closed line of queues: a customer moves on, arrives or leaves."""
    moves = [
        tuple(int(axis == k) - int(axis == k - 1) for axis in range(stations))
        for k in range(stations + 1)
    ]
    return stencil((capacity,) * stations, [(0,) * stations, *moves])


def process(units: int, size: int, recycles: int, random: Random) -> Csr:
    """Chemical plant: full-ish unit blocks in sequence, streams to the next, some recycles."""
    total = units * size
    row = np.repeat(np.arange(total), 5)
    own = row // size * size + random.integers(0, size, size=len(row))
    stream = np.arange(total - size)
    back = random.integers(0, total, size=(2, recycles))
    rows = np.concatenate([row, stream + size, back.min(axis=0), np.arange(total)])
    cols = np.concatenate([own, stream, back.max(axis=0), np.arange(total)])
    return pattern((total, total), rows, cols)


def economy(sectors: int, regions: int, random: Random) -> Csr:
    """Input–output table: dense sector blocks within a region, same sector between regions."""
    inside = np.ones((sectors, sectors), dtype=np.float32)
    trade = scipy.sparse.eye_array(sectors)
    near = (random.random((regions, regions)) < 0.08) & ~np.eye(regions, dtype=bool)
    own = scipy.sparse.kron(scipy.sparse.eye_array(regions), inside, format="csr")
    return Csr(own + scipy.sparse.kron(Csr(near.astype(np.float32)), trade, format="csr"))


def grouped_effects(samples: int, groups: Sequence[int], random: Random) -> Csr:
    """Design matrix of a mixed model: one indicator a grouping factor and a few covariates."""
    offsets = np.cumsum(groups) - groups
    width = sum(groups)
    columns = [offsets[0] + np.arange(samples) * groups[0] // samples]
    for offset, count in zip(offsets[1:], groups[1:], strict=True):
        columns.append(offset + draw(zipf_weights(count), samples, random))
    cols = np.stack(columns, axis=1)
    return pattern((samples, width), np.repeat(np.arange(samples), len(groups)), cols)
