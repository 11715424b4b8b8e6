"""Networks: skewed, clustered, hierarchical, directed; and tables of who touches what."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cognate.matrices.generators.recipe import (
    Csr,
    Random,
    Recipe,
    draw,
    named_random,
    pattern,
    permutation,
    ragged,
    shuffled_copy,
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


def by_degree(recipe: Recipe, random: Random) -> Csr:
    """Another recipe's matrix with rows and columns in order of falling row count."""
    matrix = recipe.make(named_random(recipe.name))
    order = np.argsort(-np.diff(matrix.indptr), kind="stable")
    return Csr(matrix[order][:, order])


def kronecker_power(power: int, random: Random) -> Csr:
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


def hypercube(order: int, random: Random) -> Csr:
    """Binary words that differ in one bit."""
    words = np.arange(1 << order)
    ends = words[:, None] ^ (1 << np.arange(order))
    return pattern((1 << order, 1 << order), np.repeat(words, order), ends)


def random_tree(vertices: int, recent: int, random: Random) -> Csr:
    """Each vertex hangs on one of the ``recent`` vertices before it, with a diagonal."""
    child = np.arange(1, vertices)
    back = 1 + (random.random(vertices - 1) * np.minimum(child, recent)).astype(np.int64)
    return undirected(vertices, child, child - back, diagonal=True)


def bipartite(
    rows: int, cols: int, entries: int, weights: NDArray[np.float64], random: Random
) -> Csr:
    """Rows of even size whose columns have Zipf popularity, in random column order."""
    place = permutation(cols, random)
    return pattern(
        (rows, cols),
        random.integers(0, rows, size=entries),
        place[draw(weights, entries, random)],
    )


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


def _recipes() -> list[Recipe]:
    found: list[Recipe] = []

    def add(name: str, kind: str, family: str, origin: str, make: Any, *traits: str) -> Recipe:
        found.append(Recipe(name, kind, family, origin, make, traits))
        return found[-1]

    graph, directed = "undirected graph", "directed graph"
    multigraph, table = "undirected random graph", "bipartite graph"
    add(
        "rmat_10",
        multigraph,
        "rmat",
        "R-MAT, 1,024 vertices",
        partial(rmat, 10, 5000, False),
        "skewed",
    )
    skew = add(
        "rmat_16",
        multigraph,
        "rmat",
        "R-MAT, 65,536 vertices",
        partial(rmat, 16, 400_000, False),
        "skewed",
    )
    found.append(shuffled_copy(skew))
    add(
        "rmat_16_by_degree",
        multigraph,
        "rmat",
        "rmat_16 in order of falling degree",
        partial(by_degree, skew),
        "skewed",
    )
    add(
        "rmat_17_directed",
        directed,
        "rmat",
        "R-MAT, 131,072 vertices, directed",
        partial(rmat, 17, 1_200_000, True),
        "skewed",
    )
    for power in (8, 9):
        add(
            f"kronecker_{power}",
            directed,
            "kronecker",
            f"Kronecker power {power} of a 3 x 3 pattern",
            partial(kronecker_power, power),
            "skewed",
        )
    add(
        "small_world_2k",
        graph,
        "small_world",
        "ring of 2,000, 10 % of links redirected",
        partial(small_world, 2000, 3, 0.1),
    )
    ring = add(
        "small_world_80k",
        graph,
        "small_world",
        "ring of 80,000, 5 % of links redirected",
        partial(small_world, 80_000, 4, 0.05),
    )
    found.append(shuffled_copy(ring))
    add(
        "preferential_60k",
        graph,
        "preferential",
        "growth with preferential attachment",
        partial(preferential, 60_000, 5),
        "skewed",
    )
    club = add(
        "communities_256x128",
        graph,
        "communities",
        "256 groups of 128, 10 % of links leave",
        partial(communities, 256, 128, 10, 0.1),
    )
    found.append(shuffled_copy(club))
    add(
        "uniform_100k",
        multigraph,
        "uniform",
        "entries anywhere, 100,000 x 100,000",
        partial(uniform, 100_000, 100_000, 700_000),
    )
    add(
        "uniform_wide",
        "least squares problem",
        "uniform",
        "entries anywhere, 20,000 x 200,000",
        partial(uniform, 20_000, 200_000, 400_000),
    )
    site = add(
        "web_1500_hosts",
        directed,
        "web",
        "pages of 1,500 hosts, links mostly at home",
        partial(web, 1500, 4),
        "skewed",
    )
    found.append(shuffled_copy(site))
    add(
        "citations_60k",
        directed,
        "citations",
        "papers cite recent papers, 60,000",
        partial(citations, 60_000, 7),
    )
    add("hypercube_15", graph, "hypercube", "hypercube of 15 dimensions", partial(hypercube, 15))
    add(
        "tree_200k",
        graph,
        "tree",
        "random tree of 200,000 vertices",
        partial(random_tree, 200_000, 1000),
    )
    add(
        "ratings_small",
        table,
        "ratings",
        "2,000 users x 300 items, Zipf popularity",
        partial(bipartite, 2000, 300, 12_000, zipf_weights(300)),
    )
    add(
        "ratings_tall",
        table,
        "ratings",
        "200,000 users x 8,000 items, Zipf popularity",
        partial(bipartite, 200_000, 8000, 700_000, zipf_weights(8000)),
    )
    add(
        "documents_30k",
        "term/document graph",
        "documents",
        "30,000 documents x 60,000 words in 50 topics",
        partial(documents, 30_000, 60_000, 50),
    )
    wide = add(
        "documents_wide",
        "term/document graph",
        "documents",
        "12,000 documents x 160,000 words in 20 topics",
        partial(documents, 12_000, 160_000, 20),
    )
    found.append(shuffled_copy(wide, cols=False))
    add(
        "hypersparse_small",
        directed,
        "hypersparse",
        "300 used rows of 20,000",
        partial(hypersparse, 20_000, 20_000, 300, 6),
        "skewed",
    )
    add(
        "hypersparse_400k",
        directed,
        "hypersparse",
        "15,000 used rows of 400,000",
        partial(hypersparse, 400_000, 400_000, 15_000, 12),
        "skewed",
    )
    add(
        "embedding_bags_20k",
        table,
        "embedding_bags",
        "20,000 samples x 26 fields of 5,000 rows",
        partial(embedding_bags, 20_000, 26, 5000),
    )
    return found


RECIPES = _recipes()
