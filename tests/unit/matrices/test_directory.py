import gzip
from pathlib import Path

import pytest

from cognate.errors import MatrixError
from cognate.matrices import directory, sources
from cognate.matrices.matrix import SparseMatrix

BANNER = "%%MatrixMarket matrix coordinate real general\n"


def write(folder: Path, name: str, rows: int = 3, cols: int = 3, banner: str = BANNER) -> None:
    content = f"{banner}{rows} {cols} 2\n1 1 1\n2 2 2\n".encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)


def test_lists_and_loads_plain_and_packed(tmp_path: Path) -> None:
    write(tmp_path, "b.mtx")
    write(tmp_path, "a.mtx.gz", 4, 5)
    write(tmp_path, "c.mtx", banner=BANNER.replace("general", "symmetric"))
    (tmp_path / "notes.txt").write_text("not a matrix")
    (tmp_path / "deeper").mkdir()
    write(tmp_path / "deeper", "d.mtx")
    table = sources.list_matrices("directory", tmp_path)
    assert table["name"].tolist() == ["a", "b", "c"]
    assert table[["rows", "cols"]].values.tolist() == [[4, 5], [3, 3], [3, 3]]
    assert table["nnz"].tolist() == [2, 2, 4]
    assert table["family"].tolist() == ["a", "b", "c"]
    matrix = sources.load_matrix("directory", "a", tmp_path)
    assert (matrix.name, matrix.shape, matrix.nnz) == ("a", (4, 5), 2)


def test_identity_comes_from_the_collection_where_name_and_shape_agree(tmp_path: Path) -> None:
    write(tmp_path, "bcsstk08.mtx", 1074, 1074)
    write(tmp_path, "bcsstk09.mtx", 5, 5)
    table = directory.catalogue(tmp_path).set_index("name")
    assert table.loc["bcsstk08", ["group", "kind", "family"]].tolist() == [
        "HB",
        "structural problem",
        "HB/bcsstk",
    ]
    assert table.loc["bcsstk09", ["group", "kind", "family"]].tolist() == ["", "", "bcsstk09"]


def test_own_index_wins_where_it_says_something(tmp_path: Path) -> None:
    write(tmp_path, "bcsstk08.mtx", 1074, 1074)
    write(tmp_path, "mine.mtx")
    rows = ["name,kind,family", "mine,road network,roads", "bcsstk08,,", "absent,x,y"]
    (tmp_path / "index.csv").write_text("\n".join(rows))
    table = directory.catalogue(tmp_path).set_index("name")
    assert table.loc["mine", ["group", "kind", "family"]].tolist() == ["", "road network", "roads"]
    assert table.loc["bcsstk08", "kind"] == "structural problem"
    assert sources.load_matrix("directory", "mine", tmp_path).family == "roads"


def test_all_bad_files_are_named_at_once(tmp_path: Path) -> None:
    write(tmp_path, "good.mtx")
    write(tmp_path, "bad.mtx", banner="%%Nothing\n")
    (tmp_path / "worse.mtx.gz").write_bytes(b"no gzip")
    with pytest.raises(MatrixError, match="2 of 3 files cannot be used") as caught:
        directory.catalogue(tmp_path)
    assert "bad.mtx, line 1" in str(caught.value)
    assert "worse.mtx.gz: the name ends in .gz" in str(caught.value)
    assert sources.list_matrices("directory", tmp_path, names=["good"])["name"].tolist() == ["good"]
    assert sources.load_matrix("directory", "good", tmp_path).nnz == 2


def test_complex_files_are_refused_before_they_are_needed(tmp_path: Path) -> None:
    header = "%%MatrixMarket matrix coordinate complex general"
    (tmp_path / "c.mtx").write_text(f"{header}\n2 2 1\n2 1 0.5 1\n")
    with pytest.raises(MatrixError, match=r"c\.mtx: general complex values are not supported"):
        sources.list_matrices("directory", tmp_path)
    assert sources.list_matrices("directory", tmp_path, values="pattern")["nnz"].tolist() == [1]
    assert sources.load_matrix("directory", "c", tmp_path, values="pattern").nnz == 1


@pytest.mark.parametrize(
    ("index", "message"),
    [("kind\nx\n", "no column 'name'"), ("name,kind\na,x\na,y\n", "a is listed twice")],
)
def test_a_bad_index_is_refused(tmp_path: Path, index: str, message: str) -> None:
    write(tmp_path, "a.mtx")
    (tmp_path / "index.csv").write_text(index)
    with pytest.raises(MatrixError, match=message):
        directory.catalogue(tmp_path)


def test_folders_that_cannot_serve(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="no such folder"):
        directory.catalogue(tmp_path / "absent")
    with pytest.raises(MatrixError, match=r"holds no \.mtx"):
        directory.catalogue(tmp_path)
    write(tmp_path, "a.mtx")
    write(tmp_path, "a.mtx.gz")
    with pytest.raises(MatrixError, match="are a"):
        directory.catalogue(tmp_path)
    (tmp_path / "a.mtx").unlink()
    with pytest.raises(MatrixError, match="'aa' is not in this source of matrices; did you mean a"):
        sources.load_matrix("directory", "aa", tmp_path)


def test_open_matrix_takes_a_file_or_a_name(tmp_path: Path) -> None:
    write(tmp_path, "a.mtx")
    matrix = sources.open_matrix(str(tmp_path / "a.mtx"))
    assert matrix.nnz == 2
    matrix.save(tmp_path / "a.npz")
    assert sources.open_matrix(str(tmp_path / "a.npz")).pattern_hash == matrix.pattern_hash
    assert sources.open_matrix("mk9-b2").group == "JGD_Homology"
    assert isinstance(sources.open_matrix("a", "directory", tmp_path), SparseMatrix)
