import numpy as np
import pandas as pd
import pytest

from cognate.errors import MatrixError
from cognate.matrices import embedded
from cognate.matrices.splits import embedded_split, split
from cognate.matrices.tables import SPLIT_SEED

CATALOGUE = embedded.catalogue()
PARTS = ["test", "train", "validation"]


def table_of(families: list[int]) -> pd.DataFrame:
    names = [f"f{f}" for f, count in enumerate(families) for _ in range(count)]
    return pd.DataFrame(
        {
            "name": [f"m{i}" for i in range(len(names))],
            "family": names,
            "group": ["g"] * len(names),
            "nnz": np.arange(len(names)) * 100 + 100,
        }
    )


def test_stored_split_is_the_one_its_seed_draws() -> None:
    drawn = split(CATALOGUE, seed=SPLIT_SEED)
    assert embedded_split().to_dict() == dict(zip(CATALOGUE["name"], drawn, strict=True))


def test_stored_split_keeps_families_whole() -> None:
    parts = CATALOGUE["name"].map(embedded_split()).groupby(CATALOGUE["family"]).nunique()
    assert (parts == 1).all()


@pytest.mark.parametrize("sizes", [(0, 10**9), (90_000, 1_300_000)])
def test_each_part_holds_every_sort_of_pattern(sizes: tuple[int, int]) -> None:
    chosen = CATALOGUE[CATALOGUE["nnz"].between(*sizes)]
    part = chosen["name"].map(embedded_split())
    sorts = {
        **{t: chosen["traits"].str.contains(t) for t in ("skewed", "blocked", "shuffled")},
        "tall": chosen["rows"] >= 2 * chosen["cols"],
        "wide": chosen["cols"] >= 2 * chosen["rows"],
    }
    for sort, has_it in sorts.items():
        assert sorted(part[has_it].unique()) == PARTS, sort


def test_stored_split_has_its_shares_and_spans_sizes() -> None:
    part = CATALOGUE["name"].map(embedded_split())
    shares = part.value_counts(normalize=True)
    assert shares["train"] == pytest.approx(0.50, abs=0.03)
    assert shares["validation"] == pytest.approx(0.15, abs=0.03)
    for _, nnz in CATALOGUE.groupby(part)["nnz"]:
        assert nnz.min() < 2e4
        assert nnz.max() > 1e6
        assert 2e5 < nnz.median() < 6e5


def test_depends_on_seed_and_not_on_row_order() -> None:
    table = table_of([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    one = split(table, seed=1)
    shuffled = table.sample(frac=1, random_state=3)
    pd.testing.assert_series_equal(split(shuffled, seed=1).sort_index(), one)
    assert any(not one.equals(split(table, seed=seed)) for seed in range(2, 6))


@pytest.mark.parametrize("families", [[1, 1, 1], [50, 1, 1], [1, 1, 60, 2], [2] * 7])
def test_no_part_is_empty(families: list[int]) -> None:
    for seed in range(8):
        assert sorted(split(table_of(families), seed=seed).unique()) == PARTS


def test_parts_of_no_share_get_nothing() -> None:
    parts = split(table_of([1] * 10), {"train": 0.7, "validation": 0.0, "test": 0.3})
    assert parts.value_counts().to_dict() == {"train": 7, "test": 3}


def test_too_few_families_is_an_error() -> None:
    with pytest.raises(MatrixError, match="1 group values cannot fill 3 parts"):
        split(table_of([1, 1, 1]), by="group")
