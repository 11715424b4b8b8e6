"""The reader against scipy's writer and against dense arithmetic, on random matrices."""

import tempfile
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cognate.errors import MatrixError
from cognate.matrices.market import read_market


@st.composite
def matrices(draw: st.DrawFn) -> scipy.sparse.coo_array:
    rows, cols = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    place = st.tuples(st.integers(0, rows - 1), st.integers(0, cols - 1))
    places = draw(st.lists(place, max_size=30, unique=True))
    finite = st.floats(-1e6, 1e6, width=32)
    values = draw(st.lists(finite, min_size=len(places), max_size=len(places)))
    i, j = zip(*places, strict=True) if places else ((), ())
    return scipy.sparse.coo_array((np.asarray(values, np.float32), (i, j)), shape=(rows, cols))


@given(matrices())
@settings(max_examples=60, deadline=None)
def test_reads_back_what_scipy_writes(matrix: scipy.sparse.coo_array) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.mtx"
        scipy.io.mmwrite(path, matrix, symmetry="general")
        found = read_market(path)
    assert found.shape == matrix.shape
    assert found.nnz == matrix.nnz
    np.testing.assert_array_equal(found.to_scipy().toarray(), matrix.toarray())


@given(matrices(), st.sampled_from(["symmetric", "skew-symmetric"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_expands_a_stored_triangle(
    matrix: scipy.sparse.coo_array, symmetry: str, upper: bool
) -> None:
    size = max(matrix.shape)
    dense = np.zeros((size, size), np.float32)
    dense[: matrix.shape[0], : matrix.shape[1]] = matrix.toarray()
    k = -1 if symmetry == "skew-symmetric" else 0
    triangle = np.tril(dense, k) if not upper else np.tril(dense, k).T
    expected = triangle + (1 if symmetry == "symmetric" else -1) * triangle.T
    if symmetry == "symmetric":
        expected -= np.diag(np.diag(triangle))
    i, j = np.nonzero(triangle)
    lines = [f"%%MatrixMarket matrix coordinate real {symmetry}", f"{size} {size} {len(i)}"]
    lines += [f"{a + 1} {b + 1} {triangle[a, b]!s}" for a, b in zip(i, j, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.mtx"
        path.write_text("\n".join(lines) + "\n")
        found = read_market(path)
    np.testing.assert_array_equal(found.to_scipy().toarray(), expected)


VALID = b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.5\n2 3 -2e1\n3 2 4\n"


@given(st.integers(0, len(VALID) - 1), st.binary(max_size=3), st.integers(0, 4))
@settings(max_examples=300, deadline=None)
def test_any_damage_is_refused_or_harmless(place: int, inserted: bytes, removed: int) -> None:
    content = VALID[:place] + inserted + VALID[place + removed :]
    message = ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.mtx"
        path.write_bytes(content)
        try:
            found = read_market(path)
        except MatrixError as error:
            message = str(error)
    if message:
        assert str(path) in message
    else:
        assert found.nnz <= 3
        assert np.isfinite(found.values).all()
        assert (found.columns < found.cols).all()
