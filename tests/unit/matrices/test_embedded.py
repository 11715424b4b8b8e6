import itertools
import zlib

import numpy as np
import pytest
import scipy.sparse

from cognate.errors import MatrixError
from cognate.matrices import embedded, suitesparse
from cognate.matrices.generators import blocks, formulas, graphs, meshes, programs, tools
from cognate.matrices.recipes import recipes
from cognate.matrices.statistics import statistics

CATALOGUE = embedded.catalogue().set_index("name")
SMALL = CATALOGUE.index[CATALOGUE["nnz"] < 25_000]


def test_catalogue_holds_every_recipe_once_with_its_identity() -> None:
    assert list(CATALOGUE.index) == embedded.names()
    for name, recipe in recipes().items():
        row = CATALOGUE.loc[name]
        assert (row["group"], row["kind"]) == (recipe.group, recipe.kind)
        assert (row["family"], row["origin"]) == (recipe.family, recipe.origin)
        assert row["traits"] == " ".join(sorted(recipe.traits))


def test_catalogue_spans_what_a_study_needs() -> None:
    nnz, rows = CATALOGUE["nnz"], CATALOGUE["rows"]
    assert len(CATALOGUE) >= 100
    assert CATALOGUE["family"].nunique() >= 35
    assert len(SMALL) >= 12
    assert (nnz.between(1e5, 1.2e6) & rows.between(1e4, 4e5)).sum() >= 60
    assert nnz.min() >= 1000
    assert nnz.max() <= 3_000_000


@pytest.mark.parametrize("name", embedded.names())
def test_builds_the_stored_pattern(name: str) -> None:
    matrix, row = embedded.build(name), CATALOGUE.loc[name]
    assert matrix.shape == (row["rows"], row["cols"])
    assert (matrix.nnz, matrix.pattern_hash) == (row["nnz"], row["pattern_hash"])
    assert (matrix.name, matrix.group) == (name, row["group"])
    assert np.count_nonzero(matrix.values) == matrix.nnz


def test_values_depend_on_the_name_only() -> None:
    first, again = embedded.build("circuit_small"), embedded.build("circuit_small")
    assert first.values.tobytes() == again.values.tobytes()
    assert zlib.crc32(first.values.tobytes()) == 2252205587
    assert np.abs(first.values).max() <= 1


def test_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(MatrixError, match="did you mean mycielskian12"):
        embedded.build("mycielskan12")


def test_members_of_the_collection_have_its_size_and_kind() -> None:
    index = suitesparse.index().set_index(["group", "name"])
    members = CATALOGUE[CATALOGUE["group"] != "embedded"]
    assert len(members) >= 25
    for name, row in members.iterrows():
        entry = index.loc[(row["group"], name)]
        for column in ("rows", "cols", "nnz", "kind"):
            assert row[column] == entry[column], (name, column)


@pytest.mark.parametrize(
    ("name", "pattern_hash"),
    [  # of the collection's own files
        ("Trefethen_500", "e21e83120ce4d08a"),
        ("bfly", "784d8079418ec949"),
        ("cca", "54808b413677e8a5"),
        ("bibd_12_5", "8f57cdffba6470c0"),
        ("bibd_14_7", "132080e6452aee17"),
        ("gr_30_30", "9fbf43e95c92312b"),
        ("obstclae", "b43959bdb1fa9547"),
    ],
)
def test_equals_the_collection_entry_for_entry(name: str, pattern_hash: str) -> None:
    assert embedded.build(name).pattern_hash == pattern_hash


@pytest.mark.parametrize("trait", ["skewed", "blocked", "shuffled"])
def test_traits_are_true(trait: str) -> None:
    with_trait = CATALOGUE[CATALOGUE["traits"].str.contains(trait)]
    assert with_trait["family"].nunique() >= 6
    for name in with_trait.sort_values("nnz").index[:8]:
        matrix = embedded.build(name)
        facts = statistics(matrix)
        if trait == "skewed":
            assert facts["row_gini"] > 0.3 or facts["row_max"] > 20 * facts["row_mean"], name
        elif trait == "blocked":
            assert facts["adjacent_share"] > 0.6, name
        else:
            assert facts["diagonal_distance"] > 0.2, name


@pytest.mark.parametrize(
    ("complex_", "dimension"),
    [
        (lambda d: formulas.chessboard(5, 4, d), 2),
        (lambda d: formulas.matching(8, d), 2),
        (lambda d: formulas.matching(9, d), 3),
    ],
)
def test_a_boundary_has_no_boundary(complex_, dimension: int) -> None:  # type: ignore[no-untyped-def]
    product = complex_(dimension) @ complex_(dimension - 1)
    assert abs(product).sum() == 0


def test_formulas_by_brute_force() -> None:
    trefethen = formulas.trefethen(40).toarray()
    primes = [p for p in range(2, 200) if all(p % d for d in range(2, p))][:40]
    for i, j in itertools.product(range(40), repeat=2):
        power = abs(i - j) in (1, 2, 4, 8, 16, 32)
        assert trefethen[i, j] == (primes[i] if i == j else power)
    incidence = formulas.subset_incidence(6, 3).toarray()
    pairs = list(itertools.combinations(range(6), 2))
    subsets = list(itertools.combinations(range(6), 3))
    expected = [[set(pair) <= set(subset) for subset in subsets] for pair in pairs]
    np.testing.assert_array_equal(incidence, expected)


def test_mycielskian_has_no_triangle() -> None:
    graph = formulas.mycielskian(7)
    assert (graph @ graph).multiply(graph).sum() == 0
    assert abs(graph - graph.T).sum() == 0


def test_stencil_equals_a_kronecker_sum() -> None:
    def path(size: int) -> scipy.sparse.csr_array:
        return scipy.sparse.diags_array([1, 1, 1], offsets=[-1, 0, 1], shape=(size, size)).tocsr()

    nine = scipy.sparse.kron(path(5), path(7))
    np.testing.assert_array_equal(meshes.grid((5, 7), "box").toarray(), nine.toarray())


@pytest.mark.parametrize("name", ["delaunay_1k", "small_world_2k", "rmat_10", "control_small"])
def test_undirected_patterns_are_symmetric(name: str) -> None:
    pattern = embedded.build(name).to_scipy() != 0
    assert (pattern != pattern.T).nnz == 0


def test_generators_keep_their_promises() -> None:
    random = tools.named_random("test")
    assert (np.diff(blocks.pruned_n_of_m(40, 64, 2, 4, random).indptr) == 32).all()
    kept = blocks.pruned_n_of_m(40, 64, 2, 4, random).toarray().reshape(40, 16, 4)
    assert (kept.sum(axis=2) == 2).all()
    cites = graphs.citations(500, 5, random).tocoo()
    assert (cites.coords[1] < cites.coords[0]).all()
    arcs = programs.transport(6, 9)
    assert (arcs.sum(axis=0) == 2).all()
    assert arcs.sum(axis=1).tolist() == [9] * 6 + [6] * 9
    covers = programs.crew_pairings(300, 500, random)
    assert np.diff(covers.tocsc().indptr).max() <= 13


def test_a_copy_is_a_permutation_of_its_original() -> None:
    for copy, original in (
        ("documents_wide_rows_shuffled", "documents_wide"),
        ("blocks_600_shuffled", "blocks_600"),
        ("rmat_16_by_degree", "rmat_16"),
    ):
        one, two = embedded.build(copy), embedded.build(original)
        assert one.pattern_hash != two.pattern_hash
        for counts in (
            [np.sort(np.diff(matrix.row_pointers)) for matrix in (one, two)],
            [np.sort(np.bincount(matrix.columns, minlength=matrix.cols)) for matrix in (one, two)],
        ):
            np.testing.assert_array_equal(*counts)
