"""Read Matrix Market files strictly: scipy parses, we check, every refusal says where and why.

The format: Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996.
Beyond it we accept blank lines and comments between entries, CRLF, words in any case, and
repeated coordinates, which are summed.
"""

import io
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import NDArray

from cognate.errors import MatrixError
from cognate.matrices.market_body import Entries, is_plain, line_of_entry, scan
from cognate.matrices.market_header import Header, parse_header, read_bytes
from cognate.matrices.matrix import SparseMatrix

Values = Literal["stored", "pattern"]
_COMMENT = re.compile(rb"^[ \t]*%.*$", re.MULTILINE)


def read_market(
    path: Path | str, name: str = "", values: Values = "stored", **identity: str
) -> SparseMatrix:
    """The matrix in a ``.mtx`` or ``.mtx.gz`` file.

    ``name`` defaults to the file's name without suffixes; ``identity`` is any of ``group``,
    ``kind``, ``family``. With ``values="pattern"`` all values become 1, and files whose
    values are complex, NaN or infinite can be read too.

    Raises :class:`MatrixError` with file, line where known, and reason.
    """
    return parse_market(read_bytes(path), path, name or matrix_name(path), values, **identity)


def parse_market(
    content: bytes,
    path: Path | str,
    name: str,
    values: Values = "stored",
    **identity: str,
) -> SparseMatrix:
    """The matrix in the content of a Matrix Market file; ``path`` is for messages only."""
    header = parse_header(content, path)
    check_values(header, values, path)
    entries = _array(content, header, path) if header.format == "array" else None
    rows, cols, data = entries or _coordinates(content, header, path)
    if values == "pattern":
        data = np.ones(len(data), dtype=np.float32)
    else:
        _check_finite(data, content, header, path)
    rows, cols, data = _expand(rows, cols, data, header, path)
    shape = (header.rows, header.cols)
    matrix = scipy.sparse.csr_array((data, (rows, cols)), shape=shape)
    if values == "pattern":
        matrix.sum_duplicates()
        matrix.data[:] = 1
    return SparseMatrix.from_scipy(matrix, name, **identity)


def check_values(header: Header, values: Values, path: Path | str) -> None:
    """Refuse complex values, unless only the pattern is wanted."""
    if header.field == "complex" and values != "pattern":
        raise MatrixError(
            f"{path}: {header.symmetry} complex values are not supported; "
            "read it as a pattern to use its structure"
        )


def matrix_name(path: Path | str) -> str:
    """The file's name without ``.mtx`` or ``.mtx.gz``."""
    return Path(path).name.removesuffix(".gz").removesuffix(".mtx")


def _coordinates(content: bytes, header: Header, path: Path | str) -> Entries:
    """Zero-based coordinates and values of the stored entries."""
    body = content[header.bytes_read :]
    if b"%" in body:
        body = _COMMENT.sub(b"", body)
    if is_plain(body, header):
        size = f"{header.rows} {header.cols} {header.entries}\n"
        banner = f"%%MatrixMarket matrix coordinate {header.field} general\n"
        try:
            found = scipy.io.mmread(io.BytesIO((banner + size).encode() + body), spmatrix=False)
            return (*found.coords, found.data)
        except (ValueError, OverflowError):
            return scan(body, header, path)  # says what is wrong, and in which line
    return scan(body, header, path)


def _array(content: bytes, header: Header, path: Path | str) -> Entries:
    """The nonzeros of a dense file; scipy checks the number of values."""
    if header.symmetry != "general":
        raise MatrixError(f"{path}: a {header.symmetry} array is not supported; store coordinates")
    try:
        dense = scipy.io.mmread(io.BytesIO(content))
    except (ValueError, OverflowError) as error:
        raise MatrixError(f"{path}: {error}") from error
    rows, cols = np.nonzero(dense)
    return rows, cols, dense[rows, cols]


def _check_finite(data: NDArray[Any], content: bytes, header: Header, path: Path | str) -> None:
    with np.errstate(over="ignore"):
        bad = np.flatnonzero(~np.isfinite(data.astype(np.float32)))
    if len(bad) == 0:
        return
    where = f"{path}"
    if header.format == "coordinate":
        where += f", line {line_of_entry(content[header.bytes_read :], int(bad[0]), header)}"
    raise MatrixError(
        f"{where}: value {data[bad[0]]} is not finite in float32; "
        "read it as a pattern to use its structure"
    )


def _expand(
    rows: NDArray[Any], cols: NDArray[Any], data: NDArray[Any], header: Header, path: Path | str
) -> Entries:
    """Mirror the stored triangle of a symmetric or skew-symmetric matrix."""
    if header.symmetry == "general":
        return rows, cols, data
    diagonal = rows == cols
    if header.symmetry == "skew-symmetric" and np.any(data[diagonal]):
        at = int(rows[diagonal][np.flatnonzero(data[diagonal])[0]]) + 1
        raise MatrixError(f"{path}: skew-symmetric, but entry ({at}, {at}) is not zero")
    lower, upper = rows > cols, rows < cols
    if lower.any() and upper.any():
        size = max(1, header.rows)
        twice = np.intersect1d(
            rows[lower].astype(np.int64) * size + cols[lower],
            cols[upper].astype(np.int64) * size + rows[upper],
        )
        if len(twice):
            i, j = divmod(int(twice[0]), size)
            raise MatrixError(
                f"{path}: {header.symmetry}, but both ({i + 1}, {j + 1}) and "
                f"({j + 1}, {i + 1}) are stored; store one triangle or declare it general"
            )
    sign = -1 if header.symmetry == "skew-symmetric" else 1
    off = ~diagonal
    return (
        np.concatenate([rows, cols[off]]),
        np.concatenate([cols, rows[off]]),
        np.concatenate([data, sign * data[off]]),
    )
