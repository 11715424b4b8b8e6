import pandas as pd
import pytest

from cognate.errors import MatrixError
from cognate.matrices import sources
from cognate.matrices.selection import select

TABLE = pd.DataFrame(
    {
        "name": [f"m{i:02d}" for i in range(20)],
        "group": ["a", "b"] * 10,
        "kind": ["mesh"] * 5 + ["graph"] * 15,
        "family": [f"f{i // 4}" for i in range(20)],
        "rows": range(10, 210, 10),
        "nnz": range(100, 2100, 100),
    }
)


def test_rules_are_combined_with_and() -> None:
    found = select(TABLE, kinds=["graph"], groups=["a"], nnz=(700, 1500), rows=(None, 130))
    expected = TABLE.query(
        "kind == 'graph' and group == 'a' and 700 <= nnz <= 1500 and rows <= 130"
    )
    assert found["name"].tolist() == expected["name"].tolist() != []


def test_no_rule_is_everything() -> None:
    pd.testing.assert_frame_equal(select(TABLE), TABLE)


def test_draw_takes_every_family_first_and_is_stable() -> None:
    drawn = select(TABLE, count=5, seed=7)
    assert drawn["family"].nunique() == 5
    assert drawn["name"].is_monotonic_increasing
    assert select(TABLE, count=5, seed=7).equals(drawn)
    assert any(not select(TABLE, count=5, seed=seed).equals(drawn) for seed in range(5))
    larger = set(select(TABLE, count=9, seed=7)["name"])
    assert set(drawn["name"]) < larger
    without = TABLE[~TABLE["name"].isin(drawn["name"])].iloc[:3]["name"]
    fewer = select(TABLE[~TABLE["name"].isin(without)], count=5, seed=7)
    assert fewer["name"].tolist() == drawn["name"].tolist()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"names": ["m007"]}, "name 'm007' is not in this source .* did you mean m07"),
        ({"kinds": ["grph"]}, "kind 'grph' .* did you mean graph"),
        ({"nnz": (10_000, None)}, "no matrix passes the selection"),
    ],
)
def test_mistakes_are_named(rules: dict, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        select(TABLE, **rules)


def test_embedded_source_lists_and_loads() -> None:
    table = sources.list_matrices("embedded", names=["gr_30_30", "mk9-b2"])
    assert list(table) == sources.COLUMNS
    for row in table.itertuples():
        matrix = sources.load_matrix("embedded", row.name)
        assert (matrix.rows, matrix.cols, matrix.nnz) == (row.rows, row.cols, row.nnz)
        assert (matrix.group, matrix.kind, matrix.family) == (row.group, row.kind, row.family)


def test_suitesparse_source_lists_offline() -> None:
    table = sources.list_matrices("suitesparse", nnz=(100_000, 3_000_000), count=100, seed=1)
    assert len(table) == 100
    assert table["name"].is_unique
    assert table["nnz"].between(100_000, 3_000_000).all()
    assert table["family"].nunique() == 100
    everything = sources.list_matrices("suitesparse")
    assert everything["name"].is_unique
    assert len(everything) > 2500
    assert not everything["kind"].str.startswith("duplicate").any()
    assert {"football@Newman", "football@Pajek"} <= set(everything["name"])
    with_complex = sources.list_matrices("suitesparse", values="pattern")
    assert "mhd1280b" in set(with_complex["name"]) - set(everything["name"])


def test_unknown_source_and_missing_folder() -> None:
    with pytest.raises(MatrixError, match="source 'web' is unknown; choose from embedded"):
        sources.list_matrices("web")
    with pytest.raises(MatrixError, match="needs a folder"):
        sources.list_matrices("directory")
