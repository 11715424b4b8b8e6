"""Dense parts: blocks, bands, dense rows; weights and masks of neural networks."""

import numpy as np
import scipy.sparse

from cognate.matrices.generators.tools import (
    Csr,
    Random,
    pattern,
    ragged,
    with_blocks,
)


def block_diagonal(blocks: int, low: int, high: int, random: Random) -> Csr:
    """Dense square blocks of ``low`` to ``high`` rows along the diagonal."""
    sizes = random.integers(low, high + 1, size=blocks)
    first = np.cumsum(sizes) - sizes
    block, place = ragged(sizes * sizes)
    rows = first[block] + place // sizes[block]
    cols = first[block] + place % sizes[block]
    return pattern((int(sizes.sum()), int(sizes.sum())), rows, cols)


def scattered_blocks(side: int, size: int, each: int, random: Random) -> Csr:
    """``each`` dense blocks in every block row, anywhere."""
    owner = np.repeat(np.arange(side), each)
    return with_blocks(
        pattern((side, side), owner, random.integers(0, side, size=len(owner))), size, size
    )


def band(size: int, half: int, filled: float, random: Random) -> Csr:
    """A band of half-width ``half``, a share of it filled."""
    offsets = np.arange(-half, half + 1)
    rows = np.repeat(np.arange(size), len(offsets))
    cols = rows + np.tile(offsets, size)
    kept = (cols >= 0) & (cols < size) & ((random.random(len(cols)) < filled) | (rows == cols))
    return pattern((size, size), rows[kept], cols[kept])


def dense_rows(size: int, count: int, share: float, each: int, random: Random) -> Csr:
    """A diagonal, ``each`` random entries a row, and ``count`` rows that are ``share`` full."""
    full = (random.random(count) * size).astype(np.int64)
    chosen = random.random((count, size)) < share
    dense, cols = np.nonzero(chosen)
    loose = np.repeat(np.arange(size), each)
    diagonal = np.arange(size)
    return pattern(
        (size, size),
        np.concatenate([diagonal, loose, full[dense]]),
        np.concatenate([diagonal, random.integers(0, size, size=len(loose)), cols]),
    )


def full(rows: int, cols: int) -> Csr:
    """Every entry is stored."""
    return Csr(np.ones((rows, cols), dtype=np.float32))


def pruned(rows: int, cols: int, kept: float, random: Random) -> Csr:
    """Weights pruned one by one: each survives with the same probability."""
    return Csr((random.random((rows, cols), dtype=np.float32) < kept).astype(np.float32))


def pruned_uneven(rows: int, cols: int, kept: float, random: Random) -> Csr:
    """Pruning by magnitude when rows and columns differ in scale: some all but vanish."""
    row_scale = random.random(rows, dtype=np.float32)
    col_scale = random.random(cols, dtype=np.float32)
    chance = 4 * kept * row_scale[:, None] * col_scale[None, :]
    return Csr((random.random((rows, cols), dtype=np.float32) < chance).astype(np.float32))


def pruned_n_of_m(rows: int, cols: int, kept: int, group: int, random: Random) -> Csr:
    """Exactly ``kept`` of every ``group`` neighbouring weights in a row survive."""
    scores = random.random((rows, cols // group, group), dtype=np.float32)
    best = np.argsort(scores, axis=2, kind="stable")[:, :, :kept]
    columns = np.arange(cols // group)[None, :, None] * group + best
    owner = np.broadcast_to(np.arange(rows)[:, None, None], columns.shape)
    return pattern((rows, cols), owner, columns)


def pruned_blocks(rows: int, cols: int, size: int, kept: float, random: Random) -> Csr:
    """Weights pruned in dense ``size`` × ``size`` blocks."""
    return with_blocks(pruned(rows // size, cols // size, kept, random), size, size)


def pruned_rows(rows: int, cols: int, removed: float, kept: float, random: Random) -> Csr:
    """Whole neurons removed (empty rows), the others pruned one by one."""
    alive = random.random((rows, 1), dtype=np.float32) >= removed
    return Csr((alive & (random.random((rows, cols), dtype=np.float32) < kept)).astype(np.float32))


def attention(tokens: int, window: int, leading: int, loose: int, random: Random) -> Csr:
    """Mask of sparse attention: a window, leading tokens seen by and seeing all, some at random."""
    local = band(tokens, window, 1.0, random).tocoo()
    everyone = np.arange(tokens)
    lead = np.repeat(np.arange(leading), tokens)
    owner = np.repeat(everyone, loose)
    rows = [local.coords[0], lead, np.tile(everyone, leading), owner]
    others = random.integers(0, tokens, size=len(owner))
    cols = [local.coords[1], np.tile(everyone, leading), lead, others]
    return pattern((tokens, tokens), np.concatenate(rows), np.concatenate(cols))


def convolution(side: int, inputs: int, outputs: int) -> Csr:
    """A 3 × 3 convolution layer as a matrix: (channel, y, x) to (channel, y, x)."""
    place = np.arange(side * side)
    y, x = np.divmod(place, side)
    rows, cols = [], []
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            inside = (y + dy >= 0) & (y + dy < side) & (x + dx >= 0) & (x + dx < side)
            rows.append(place[inside])
            cols.append(place[inside] + dy * side + dx)
    one = pattern((side * side, side * side), np.concatenate(rows), np.concatenate(cols))
    return Csr(scipy.sparse.kron(np.ones((outputs, inputs)), one, format="csr"))


def experts(tokens: int, experts_count: int, hidden: int, random: Random) -> Csr:
    """Mixture of experts: a token's row is dense over the hidden units of its two experts."""
    first = random.integers(0, experts_count, size=tokens)
    second = (first + 1 + random.integers(0, experts_count - 1, size=tokens)) % experts_count
    chosen = np.stack([first, second], axis=1)
    return with_blocks(
        pattern((tokens, experts_count), np.repeat(np.arange(tokens), 2), chosen), 1, hidden
    )
