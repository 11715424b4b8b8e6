from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from cognate.errors import MatrixError
from cognate.matrices import SparseMatrix


def test_canonical_form_sums_duplicates_sorts_and_keeps_explicit_zeros() -> None:
    coo = sp.coo_array(([1.0, 2.0, 0.0, 4.0], ([0, 0, 1, 0], [3, 3, 2, 1])), shape=(3, 4))
    matrix = SparseMatrix.from_scipy(coo, "m")
    assert matrix.row_pointers.tolist() == [0, 2, 3, 3]
    assert matrix.columns.tolist() == [1, 3, 2]
    assert matrix.values.tolist() == [4.0, 3.0, 0.0]
    assert (matrix.rows, matrix.cols, matrix.nnz) == (3, 4, 3)


def test_input_is_not_changed() -> None:
    csr = sp.csr_array(([1.0, 2.0], [2, 0], [0, 2]), shape=(1, 3))
    SparseMatrix.from_scipy(csr, "m")
    assert csr.indices.tolist() == [2, 0]


def test_hash_is_of_shape_and_pattern_alone() -> None:
    base = sp.random_array((30, 20), density=0.1, rng=np.random.default_rng(0)).tocsr()
    other = base.copy()
    other.data = other.data + 1
    wider = sp.csr_array((base.data, base.indices, base.indptr), shape=(30, 21))
    hashes = [SparseMatrix.from_scipy(m, "m").pattern_hash for m in (base, other, wider)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_storing_and_loading_gives_the_same_matrix(tmp_path: Path) -> None:
    base = sp.random_array((30, 20), density=0.1, rng=np.random.default_rng(0))
    matrix = SparseMatrix.from_scipy(base, "a", group="g", kind="k", family="f")
    matrix.save(tmp_path / "new" / "a.npz")
    loaded = SparseMatrix.load(tmp_path / "new" / "a.npz")
    assert (loaded.to_scipy() != matrix.to_scipy()).nnz == 0
    assert (loaded.name, loaded.group, loaded.kind, loaded.family) == ("a", "g", "k", "f")
    assert loaded.shape == matrix.shape


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_what_scipy_stored_is_read(tmp_path: Path, form: str) -> None:
    base = sp.random_array((30, 20), density=0.1, rng=np.random.default_rng(0), format=form)
    path = tmp_path / "from_scipy.npz"
    sp.save_npz(path, base)
    loaded = SparseMatrix.load(path)
    assert loaded.name == "from_scipy"
    assert (loaded.to_scipy() != sp.csr_array(base.astype(np.float32))).nnz == 0


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 truncated", b"text"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    with pytest.raises(MatrixError, match="not a matrix stored by cognate"):
        SparseMatrix.load(path)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "not a two-dimensional"),
        (sp.csr_array(np.eye(2) * 1j), "complex"),
        (sp.csr_array(np.array([[np.nan]])), "finite"),
        (sp.csr_array(np.array([[1e300]])), "finite in float32"),
        (sp.coo_array(([1.0], ([0], [0])), shape=(1, 2**31)), "beyond 2147483647"),
    ],
)
def test_what_cannot_be_used_is_refused(matrix: object, message: str) -> None:
    with np.errstate(over="ignore"), pytest.raises(MatrixError, match=message):
        SparseMatrix.from_scipy(matrix, "bad")
