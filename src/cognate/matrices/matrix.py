"""A sparse matrix in canonical form, with its identity."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from cognate.errors import MatrixError
from cognate.files import replacing

INDEX_LIMIT = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse matrix in CSR form with sorted, unique column indices.

    Stored entries count as work: an explicit zero is kept. Build one with
    :meth:`from_scipy`, which brings any scipy sparse array into this form.
    """

    shape: tuple[int, int]
    row_pointers: NDArray[np.int64]
    """Shape (rows + 1,): row ``i`` holds entries ``row_pointers[i]:row_pointers[i + 1]``."""
    columns: NDArray[np.int32]
    """Shape (nnz,): column of each entry, ascending within a row."""
    values: NDArray[np.float32]
    """Shape (nnz,)."""
    name: str
    group: str = ""
    """Collection group or, for generated matrices, the source's name."""
    kind: str = ""
    """Problem domain, in the words of the SuiteSparse collection."""
    family: str = field(default="")
    """Matrices of one family are near copies: never split over training and test."""

    def __post_init__(self) -> None:
        for array in (self.row_pointers, self.columns, self.values):
            array.setflags(write=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def cols(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def nnz(self) -> int:
        """Number of stored entries, explicit zeros included."""
        return len(self.columns)

    @cached_property
    def pattern_hash(self) -> str:
        """Sixteen hex digits of the SHA-256 of shape and pattern; values do not count."""
        digest = hashlib.sha256(np.asarray(self.shape, dtype="<i8").tobytes())
        digest.update(np.ascontiguousarray(self.row_pointers, dtype="<i8").data)
        digest.update(np.ascontiguousarray(self.columns, dtype="<i4").data)
        return digest.hexdigest()[:16]

    @classmethod
    def from_scipy(cls, matrix: Any, name: str, **identity: str) -> "SparseMatrix":
        """Bring a two-dimensional scipy sparse array or matrix into canonical form.

        Duplicates are summed, column indices sorted, explicit zeros kept, values converted
        to float32. ``identity`` is any of ``group``, ``kind``, ``family``.

        Raises :class:`MatrixError` for complex or non-finite values, or a dimension beyond
        int32.
        """
        if not scipy.sparse.issparse(matrix) or matrix.ndim != 2:
            raise MatrixError(f"{name}: not a two-dimensional scipy sparse array")
        if max(matrix.shape) > INDEX_LIMIT:
            raise MatrixError(f"{name}: dimension {max(matrix.shape)} is beyond {INDEX_LIMIT}")
        if np.iscomplexobj(matrix.data):
            raise MatrixError(f"{name}: complex values are not supported; read it as a pattern")
        csr = scipy.sparse.csr_array(matrix, copy=True)
        csr.sum_duplicates()
        values = csr.data.astype(np.float32)
        if not np.isfinite(values).all():
            raise MatrixError(
                f"{name}: values that are not finite in float32; read it as a pattern"
            )
        return cls(
            shape=(int(csr.shape[0]), int(csr.shape[1])),
            row_pointers=csr.indptr.astype(np.int64),
            columns=csr.indices.astype(np.int32),
            values=values,
            name=name,
            **identity,
        )

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The same matrix as a scipy CSR array (arrays shared where types allow)."""
        return scipy.sparse.csr_array(
            (self.values, self.columns, self.row_pointers), shape=self.shape
        )

    def save(self, path: Path | str) -> None:
        """Write to an uncompressed ``.npz`` file, atomically."""
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.savez(
                stream,
                shape=np.asarray(self.shape, dtype=np.int64),
                row_pointers=self.row_pointers,
                columns=self.columns,
                values=self.values,
                identity=np.asarray([self.name, self.group, self.kind, self.family]),
            )

    @classmethod
    def load(cls, path: Path | str) -> "SparseMatrix":
        """Read what :meth:`save` or scipy's ``save_npz`` wrote; :class:`MatrixError` otherwise."""
        try:
            with np.load(path, allow_pickle=False) as stored:
                if "identity" not in stored and "format" in stored:
                    return cls.from_scipy(scipy.sparse.load_npz(path), Path(path).stem)
                name, group, kind, family = (str(part) for part in stored["identity"])
                rows, cols = (int(extent) for extent in stored["shape"])
                return cls(
                    shape=(rows, cols),
                    row_pointers=stored["row_pointers"],
                    columns=stored["columns"],
                    values=stored["values"],
                    name=name,
                    group=group,
                    kind=kind,
                    family=family,
                )
        except (OSError, EOFError, ValueError, KeyError, BadZipFile, NotImplementedError) as error:
            raise MatrixError(
                f"{path}: not a matrix stored by cognate or by scipy's save_npz ({error})"
            ) from error
