"""Networks: skewed, clustered, hierarchical, directed; and tables of who touches what."""

import numpy as np

from cognate.matrices.generators.tools import (
    Csr,
    Random,
    draw,
    pattern,
    permutation,
    ragged,
    undirected,
    zipf_weights,
)


def rmat(scale: int, edges: int, directed: bool, random: Random) -> Csr:
    """Recursive matrix with quadrant weights 0.57, 0.19, 0.19, 0.05 (Chakrabarti, 2004)."""
    rows = np.zeros(edges, dtype=np.int64)
    cols = np.zeros(edges, dtype=np.int64)
    for _ in range(scale):
        quadrant = np.searchsorted([0.57, 0.76, 0.95], random.random(edges), side="right")
        rows = 2 * rows + quadrant // 2
        cols = 2 * cols + quadrant % 2
    size = 1 << scale
    return pattern((size, size), rows, cols) if directed else undirected(size, rows, cols)


def kronecker_power(power: int) -> Csr:
    """A deterministic self-similar graph: powers of [1 1 0; 0 1 0; 1 0 1]."""
    seed_rows, seed_cols = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 0, 2])
    rows, cols = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for _ in range(power):
        rows = (3 * rows[:, None] + seed_rows).ravel()
        cols = (3 * cols[:, None] + seed_cols).ravel()
    return pattern((3**power, 3**power), rows, cols)


def small_world(vertices: int, reach: int, rewired: float, random: Random) -> Csr:
    """A ring of neighbours up to ``reach``, a share of ends redirected (Watts, Strogatz 1998)."""
    starts = np.repeat(np.arange(vertices), reach)
    ends = (starts + np.tile(np.arange(1, reach + 1), vertices)) % vertices
    moved = random.random(len(ends)) < rewired
    ends = np.where(moved, random.integers(0, vertices, size=len(ends)), ends)
    return undirected(vertices, starts, ends)


def preferential(vertices: int, links: int, random: Random) -> Csr:
    """Growing network: each new vertex copies ``links`` ends of earlier edges.

    A slot of the edge list refers to a uniformly chosen earlier slot, which holds either a
    vertex itself or another reference: resolving the references by pointer jumping gives
    ends in proportion to degree (Alam et al., "Distributed-memory parallel algorithms for
    generating massive scale-free networks", 2013).
    """
    slots = 2 * vertices * links
    owner = np.arange(slots) // (2 * links)
    target = np.arange(slots)
    odd = target[1::2]
    chosen = (random.random(len(odd)) * (odd - odd % (2 * links))).astype(np.int64)
    target[1::2] = np.where(odd < 2 * links, odd - 1, chosen)
    while not np.array_equal(target, target[target]):
        target = target[target]
    return undirected(vertices, owner[0::2], owner[target[1::2]])


def communities(blocks: int, size: int, inside: int, outside: float, random: Random) -> Csr:
    """Groups of ``size`` vertices with ``inside`` links a vertex and a share that leaves."""
    vertices = blocks * size
    starts = np.repeat(np.arange(vertices), inside)
    home = starts // size * size + random.integers(0, size, size=len(starts))
    away = random.integers(0, vertices, size=len(starts))
    return undirected(vertices, starts, np.where(random.random(len(starts)) < outside, away, home))


def uniform(rows: int, cols: int, entries: int, random: Random) -> Csr:
    """Entries anywhere with equal probability."""
    return pattern(
        (rows, cols),
        random.integers(0, rows, size=entries),
        random.integers(0, cols, size=entries),
    )


def web(hosts: int, links: int, random: Random) -> Csr:
    """Pages by host: most links stay in the host, the rest goes to popular pages.

    Hosts have 20 to 20 · 32 pages, large ones rare; each host's front page is linked by all.
    """
    sizes = 20 << np.searchsorted([0.5, 0.75, 0.875, 0.94, 0.97], random.random(hosts))
    host, _ = ragged(sizes)
    first = (np.cumsum(sizes) - sizes)[host]
    pages = len(host)
    counts = 1 + draw(zipf_weights(4 * links), pages, random)
    source, place = ragged(counts)
    nearby = first[source] + draw(zipf_weights(640), len(source), random) % sizes[host[source]]
    popular = (first[random.integers(0, pages, size=len(source))]) % pages
    target = np.where(random.random(len(source)) < 0.85, nearby, popular)
    target = np.where(place == 0, first[source], target)
    return pattern((pages, pages), source, target)


def citations(papers: int, references: int, random: Random) -> Csr:
    """Each paper cites earlier ones, recent ones more often: strictly lower triangular."""
    counts = random.integers(0, 2 * references, size=papers)
    source, _ = ragged(counts)
    span = 1 + draw(zipf_weights(papers), len(source), random)
    kept = span <= source
    return pattern((papers, papers), source[kept], (source - span)[kept])


def hypercube(order: int) -> Csr:
    """Binary words that differ in one bit."""
    words = np.arange(1 << order)
    ends = words[:, None] ^ (1 << np.arange(order))
    return pattern((1 << order, 1 << order), np.repeat(words, order), ends)


def random_tree(vertices: int, recent: int, random: Random) -> Csr:
    """Each vertex hangs on one of the ``recent`` vertices before it, with a diagonal."""
    child = np.arange(1, vertices)
    back = 1 + (random.random(vertices - 1) * np.minimum(child, recent)).astype(np.int64)
    return undirected(vertices, child, child - back, diagonal=True)


def ratings(rows: int, cols: int, entries: int, random: Random) -> Csr:
    """Users by items: users of even activity, items of Zipf popularity in random order."""
    place = permutation(cols, random)
    users = random.integers(0, rows, size=entries)
    return pattern((rows, cols), users, place[draw(zipf_weights(cols), entries, random)])


def documents(count: int, words: int, topics: int, random: Random) -> Csr:
    """Terms of documents: common words first, and a block of words for each topic."""
    counts = 10 + draw(zipf_weights(120, square_root=True), count, random)
    owner, _ = ragged(counts)
    topic = (np.arange(count) * topics // count)[owner]
    block = words // (2 * topics)
    special = words // 2 + topic * block + random.integers(0, block, size=len(owner))
    common = draw(zipf_weights(words // 2), len(owner), random)
    return pattern(
        (count, words), owner, np.where(random.random(len(owner)) < 0.4, special, common)
    )


def hypersparse(rows: int, cols: int, used: int, each: int, random: Random) -> Csr:
    """Most rows are empty; ``used`` of them hold ``each`` entries."""
    owner = np.repeat((random.random(used) * rows).astype(np.int64), each)
    return pattern((rows, cols), owner, random.integers(0, cols, size=len(owner)))


def embedding_bags(samples: int, fields: int, rows_per_field: int, random: Random) -> Csr:
    """Recommendation batch: one hot row a field and sample, popular rows first."""
    weights = zipf_weights(rows_per_field)
    hot = draw(weights, samples * fields, random).reshape(samples, fields)
    cols = hot + rows_per_field * np.arange(fields)
    return pattern((samples, fields * rows_per_field), np.repeat(np.arange(samples), fields), cols)
