"""Dense parts: blocks, bands, dense rows; weights and masks of neural networks."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from cognate.matrices.generators.recipe import (
    Csr,
    Random,
    Recipe,
    pattern,
    ragged,
    shuffled_copy,
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


def full(rows: int, cols: int, random: Random) -> Csr:
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


def convolution(side: int, inputs: int, outputs: int, random: Random) -> Csr:
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


def _recipes() -> list[Recipe]:
    found: list[Recipe] = []

    def add(name: str, kind: str, family: str, origin: str, make: Any, *traits: str) -> Recipe:
        found.append(Recipe(name, kind, family, origin, make, traits))
        return found[-1]

    network, structure = "neural network problem", "structural problem"
    add(
        "blocks_small",
        structure,
        "block_diagonal",
        "20 dense blocks of 5 to 25 rows",
        partial(block_diagonal, 20, 5, 25),
        "blocked",
    )
    dense = add(
        "blocks_600",
        "theoretical/quantum chemistry problem",
        "block_diagonal",
        "600 dense blocks of 8 to 48 rows",
        partial(block_diagonal, 600, 8, 48),
        "blocked",
    )
    found.append(shuffled_copy(dense))
    tiles = add(
        "scattered_blocks_16",
        structure,
        "scattered_blocks",
        "dense blocks of 16 x 16, 3 in each of 1,000 block rows",
        partial(scattered_blocks, 1000, 16, 3),
        "blocked",
    )
    found.append(shuffled_copy(tiles))
    add(
        "band_20k",
        "electromagnetics problem",
        "band",
        "band of half-width 20, 60 % full",
        partial(band, 20_000, 20, 0.6),
    )
    add(
        "band_wide_15k",
        "electromagnetics problem",
        "band",
        "band of half-width 400, 5 % full",
        partial(band, 15_000, 400, 0.05),
    )
    add(
        "dense_rows_60k",
        "circuit simulation problem",
        "dense_rows",
        "60,000 short rows and 8 rows that are half full",
        partial(dense_rows, 60_000, 8, 0.5, 3),
        "skewed",
    )
    add(
        "full_60",
        "theoretical/quantum chemistry problem",
        "full",
        "60 x 60, all stored",
        partial(full, 60, 60),
        "blocked",
    )
    add(
        "full_wide_200x2000",
        "theoretical/quantum chemistry problem",
        "full",
        "200 x 2,000, all stored",
        partial(full, 200, 2000),
        "blocked",
    )
    add(
        "pruned_small",
        network,
        "pruned",
        "128 x 256 weights, 80 % removed",
        partial(pruned, 128, 256, 0.2),
    )
    for rows, cols, removed in (
        (1024, 1024, 50),
        (2048, 1024, 70),
        (4096, 2048, 90),
        (8192, 4096, 95),
        (1024, 16384, 95),
    ):
        add(
            f"pruned_{rows}x{cols}_{removed}",
            network,
            "pruned",
            f"{rows} x {cols} weights, {removed} % removed one by one",
            partial(pruned, rows, cols, (100 - removed) / 100),
        )
    add(
        "pruned_uneven_8192x2048",
        network,
        "pruned_uneven",
        "8,192 x 2,048 weights, rows and columns of uneven scale, 95 % removed",
        partial(pruned_uneven, 8192, 2048, 0.05),
        "skewed",
    )
    add(
        "pruned_2_of_4",
        network,
        "pruned_n_of_m",
        "2 of 4 weights kept, 1,024 x 1,024",
        partial(pruned_n_of_m, 1024, 1024, 2, 4),
    )
    add(
        "pruned_1_of_16",
        network,
        "pruned_n_of_m",
        "1 of 16 weights kept, 12,288 x 1,024",
        partial(pruned_n_of_m, 12_288, 1024, 1, 16),
    )
    add(
        "pruned_blocks_8",
        network,
        "pruned_blocks",
        "8 x 8 blocks of weights, 90 % removed",
        partial(pruned_blocks, 2048, 4096, 8, 0.1),
        "blocked",
    )
    add(
        "pruned_neurons",
        network,
        "pruned_neurons",
        "40 % of rows empty, the rest 90 % removed",
        partial(pruned_rows, 10_240, 1024, 0.4, 0.1),
    )
    add(
        "attention_small",
        network,
        "attention",
        "512 tokens, window of 4, 2 leading",
        partial(attention, 512, 4, 2, 2),
    )
    add(
        "attention_8k",
        network,
        "attention",
        "8,192 tokens, window of 32, 16 leading",
        partial(attention, 8192, 32, 16, 8),
        "skewed",
    )
    add(
        "convolution_32",
        network,
        "convolution",
        "3 x 3 convolution, 4 to 8 channels, 32 x 32",
        partial(convolution, 32, 4, 8),
    )
    add(
        "experts_12k",
        network,
        "experts",
        "12,000 tokens by 2 of 64 experts with 16 units",
        partial(experts, 12_000, 64, 16),
        "blocked",
    )
    return found


RECIPES = _recipes()
