import gzip
from pathlib import Path

import numpy as np
import pytest

from cognate.errors import MatrixError
from cognate.matrices.market import read_market
from cognate.matrices.market_header import read_header

FILES = Path(__file__).parents[2] / "data" / "matrices"

ACCEPTED = {
    "array": [[1, 3, 5], [0, 4, 0]],
    "comments_in_body": np.diag([1, 2, 3]),
    "crlf_uppercase": [[1.5, 0, 0, 0], [0, 0.25, 0, 0], [0, 0, 0, -20]],
    "duplicates": [[3, 0, 0], [0, 10.5, 0]],
    "explicit_zeros": [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
    "fortran_exponent": [[15, 0], [0, 2]],
    "integer_skew": [[0, -7, 0, 3], [7, 0, 0, 0], [0, 0, 0, 0], [-3, 0, 0, 0]],
    "no_entries": np.zeros((3, 4)),
    "pattern_symmetric": [[1, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 1]],
    "rectangular_empty_rows": [[0, 0], [0, 3], [0, 0], [0, 0], [1, 0], [0, 0]],
    "upper_triangle": [[0, 5, 7], [5, 6, 0], [7, 0, 0]],
}

REFUSED = {
    "bad_banner": "line 1: 'mangled' in the banner is none of general, symmetric",
    "bad_size_line": "line 2: expected rows, columns and entries as whole numbers, found '3 x 1'",
    "beyond_int32": "line 2: dimension 3000000000 is beyond 2147483647",
    "both_triangles": r"both \(2, 1\) and \(1, 2\) are stored",
    "complex_hermitian": "hermitian complex values are not supported; read it as a pattern",
    "decimal_comma": "line 3: '1,5' is not a value",
    "extra_word": "line 3: expected 3 numbers, found 4",
    "fraction_in_integer": "line 4: '2.5' is not a value",
    "fractional_index": "line 3: row index '1.5' is not a whole number",
    "header_only": "ends before the line with the matrix's size",
    "hermitian_real": "line 1: the banner contradicts itself: Hermitian but real",
    "html": "line 1: no %%MatrixMarket banner; it is an HTML page",
    "missing_value": "line 4: expected 3 numbers, found 2",
    "more_entries_than_places": "line 2: 5 entries are declared, but 2 x 2",
    "negative_index": "line 3: row index -1 is out of range 1 to 3",
    "no_banner": "line 1: no %%MatrixMarket banner; the first line must be",
    "not_finite": "line 5: value nan is not finite",
    "pattern_array": "line 1: the banner contradicts itself: an array has no pattern",
    "row_out_of_range": "line 4: row index 4 is out of range 1 to 3",
    "short_banner": "line 1: the banner has 4 words instead of 5",
    "skew_diagonal": r"skew-symmetric, but entry \(3, 3\) is not zero",
    "surplus": "line 6: more entries than the 2 declared",
    "symmetric_not_square": "line 2: symmetric needs a square matrix, this is 3 x 4",
    "too_large_for_float32": r"line 4: value 1e\+300 is not finite in float32",
    "truncated": "truncated: 3 entries are declared, the file ends after 2",
    "value_cut_short": "line 4: '1.5.3' is not a value",
    "vector_banner": "line 1: the banner describes a 'vector'",
    "zero_based": "line 4: column index 0 is out of range: .* seems to be zero-based",
}


def test_every_data_file_has_an_expectation() -> None:
    names = {path.stem for path in FILES.glob("*.mtx")}
    assert names == {*ACCEPTED, *REFUSED, "hypersparse"}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepts(name: str) -> None:
    matrix = read_market(FILES / f"{name}.mtx")
    assert matrix.name == name
    np.testing.assert_array_equal(matrix.to_scipy().toarray(), np.asarray(ACCEPTED[name]))


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_with_file_and_reason(name: str) -> None:
    with pytest.raises(MatrixError, match=REFUSED[name]) as caught:
        read_market(FILES / f"{name}.mtx")
    assert f"{name}.mtx" in str(caught.value)


def test_stored_zeros_are_work() -> None:
    assert read_market(FILES / "explicit_zeros.mtx").nnz == 4
    assert read_market(FILES / "integer_skew.mtx").nnz == 6


def test_hypersparse_rows() -> None:
    matrix = read_market(FILES / "hypersparse.mtx")
    counts = np.diff(matrix.row_pointers)
    assert matrix.shape == (100_000, 100_000)
    assert np.flatnonzero(counts).tolist() == [16, 49_999, 99_998]
    assert matrix.columns.tolist() == [99_998, 49_999, 16]


@pytest.mark.parametrize(
    ("name", "entries"),
    [("complex_hermitian", 5), ("not_finite", 3), ("too_large_for_float32", 2), ("duplicates", 2)],
)
def test_values_can_be_ignored(name: str, entries: int) -> None:
    matrix = read_market(FILES / f"{name}.mtx", values="pattern")
    assert matrix.nnz == entries
    assert set(matrix.values.tolist()) == {1.0}


def test_gzip_and_identity(tmp_path: Path) -> None:
    plain = FILES / "crlf_uppercase.mtx"
    packed = tmp_path / "renamed.mtx.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    matrix = read_market(packed, group="G", kind="K", family="F")
    assert (matrix.name, matrix.group, matrix.kind, matrix.family) == ("renamed", "G", "K", "F")
    assert matrix.pattern_hash == read_market(plain).pattern_hash
    assert read_header(packed).entries == 3


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("a.mtx", b"", "the file is empty"),
        ("a.mtx", gzip.compress(b"%%MatrixMarket"), "it is gzip-compressed: name it .mtx.gz"),
        ("a.mtx", b"PK\x03\x04rest", "it is a zip archive"),
        ("a.mtx", b"x" * 257 + b"ustar" + b"\0" * 250, "it is a tar archive"),
        ("a.mtx", b"BGL\0\1\2\3", "it is a binary file"),
        ("a.mtx.gz", b"%%MatrixMarket", "the name ends in .gz but this is not a gzip file"),
        ("a.mtx.gz", gzip.compress(b"%%MatrixMarket" * 99)[:-20], "truncated or damaged"),
    ],
)
def test_says_what_a_foreign_file_is(
    tmp_path: Path, file: str, content: bytes, message: str
) -> None:
    (tmp_path / file).write_bytes(content)
    with pytest.raises(MatrixError, match=message):
        read_market(tmp_path / file)


def test_a_missing_file_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(MatrixError, match="No such file"):
        read_market(tmp_path / "absent.mtx")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines[:-1], "truncated: 20000 entries are declared, the file ends after"),
        (lambda lines: [*lines, "1 1 1"], "line 20003: more entries"),
        (lambda lines: [*lines[:900], "0 5 1", *lines[901:]], "line 901: row index 0"),
        (lambda lines: [*lines[:900], "7 501 1", *lines[901:]], "line 901: column index 501"),
        (lambda lines: [*lines[:900], "1 1 1 1", "1 1", *lines[902:]], "line 901: expected 3"),
        (lambda lines: [*lines[:900], "1 1 2-3", *lines[901:]], "line 901: '2-3'"),
        (lambda lines: [*lines[:900], "1 1 1e", *lines[901:]], "line 901: '1e'"),
        (lambda lines: [*lines[:900], "1 1 0x10", *lines[901:]], "line 901: '0x10'"),
        (lambda lines: [*lines[:900], "1 1 1e2.5", *lines[901:]], "line 901: '1e2.5'"),
    ],
)
def test_damage_deep_in_a_large_file_is_found(tmp_path: Path, damage, message: str) -> None:  # type: ignore[no-untyped-def]
    random = np.random.default_rng(1)
    places = random.integers(1, 501, size=(20_000, 2))
    lines = ["%%MatrixMarket matrix coordinate real general", "500 500 20000"]
    lines += [f"{i} {j} {v:.6e}" for (i, j), v in zip(places, random.normal(size=20_000))]  # noqa: B905
    path = tmp_path / "large.mtx"
    path.write_text("\n".join(lines) + "\n")
    assert read_market(path).nnz == len({(i, j) for i, j in places.tolist()})
    path.write_text("\n".join(damage(lines)) + "\n")
    with pytest.raises(MatrixError, match=message):
        read_market(path)
