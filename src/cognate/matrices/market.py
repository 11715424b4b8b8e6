"""Read Matrix Market files strictly: scipy parses, we check, every refusal says where and why.

The format: Boisvert, Pozo, Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996.
Beyond it we accept blank lines and comments between entries, CRLF, words in any case, and
repeated coordinates, which are summed.
"""

import io
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import NDArray

from cognate.errors import MatrixError
from cognate.matrices.market_header import Header, parse_header, read_bytes
from cognate.matrices.matrix import SparseMatrix

Values = Literal["stored", "pattern"]
_Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]

_BLANKS = b" \t\r\n\v\f"
_CHARACTERS = {
    "pattern": b"0123456789",
    "integer": b"0123456789-",
    "real": b"0123456789-.eEnaNAiIfFtTyY",
    "complex": b"0123456789-.eEnaNAiIfFtTyY",
}
"""Characters with which scipy's parser is known to agree with ours; others are scanned."""


def read_market(
    path: Path | str, name: str = "", values: Values = "stored", **identity: str
) -> SparseMatrix:
    """The matrix in a ``.mtx`` or ``.mtx.gz`` file.

    ``name`` defaults to the file's name without suffixes; ``identity`` is any of ``group``,
    ``kind``, ``family``. With ``values="pattern"`` all values become 1, and files whose
    values are complex, NaN or infinite can be read too.

    Raises :class:`MatrixError` with file, line where known, and reason.
    """
    content = read_bytes(path)
    header = parse_header(content, path)
    if header.field == "complex" and values != "pattern":
        raise MatrixError(
            f"{path}: {header.symmetry} complex values are not supported; "
            "read it as a pattern to use its structure"
        )
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
    return SparseMatrix.from_scipy(matrix, name or matrix_name(path), **identity)


def matrix_name(path: Path | str) -> str:
    """The file's name without ``.mtx`` or ``.mtx.gz``."""
    return Path(path).name.removesuffix(".gz").removesuffix(".mtx")


def _coordinates(content: bytes, header: Header, path: Path | str) -> _Entries:
    """Zero-based coordinates and values of the stored entries."""
    body = content[header.bytes_read :]
    if _is_plain(body, header):
        size = f"{header.rows} {header.cols} {header.entries}\n"
        banner = f"%%MatrixMarket matrix coordinate {header.field} general\n"
        try:
            found = scipy.io.mmread(io.BytesIO((banner + size).encode() + body), spmatrix=False)
            return (*found.coords, found.data)
        except (ValueError, OverflowError):
            pass  # the scan below says what is wrong, and in which line
    return _scan(body, header, path)


def _is_plain(body: bytes, header: Header) -> bool:
    """Whether only expected characters occur, in as many words as the header announces."""
    kind = np.full(256, 2, dtype=np.uint8)
    kind[list(_CHARACTERS[header.field])] = 1
    kind[list(_BLANKS)] = 0
    kinds = kind[np.frombuffer(body, dtype=np.uint8)]
    if len(kinds) and kinds.max() > 1:
        return False
    words = np.count_nonzero(kinds[1:] > kinds[:-1]) + int(len(kinds) > 0 and kinds[0])
    return bool(words == header.entries * header.words_per_entry)


def _scan(body: bytes, header: Header, path: Path | str) -> _Entries:
    """Parse line by line: slow, but it knows the line of what is wrong."""
    rows, cols, data = [], [], []
    count = 0
    for number, line in enumerate(body.split(b"\n"), start=header.lines + 1):
        words = line.split()
        if not words or words[0].startswith(b"%"):
            continue
        count += 1
        where = f"{path}, line {number}"
        if count > header.entries:
            raise MatrixError(f"{where}: more entries than the {header.entries} declared")
        if len(words) != header.words_per_entry:
            raise MatrixError(
                f"{where}: expected {header.words_per_entry} numbers, found {len(words)}: "
                f"{_shown(line)}"
            )
        rows.append(_index(words[0], header.rows, "row", where))
        cols.append(_index(words[1], header.cols, "column", where))
        data.append(_value(words[2:], header.field, where))
    if count < header.entries:
        raise MatrixError(
            f"{path}: truncated: {header.entries} entries are declared, the file ends after {count}"
        )
    kind = np.complex128 if header.field == "complex" else np.float64
    return np.asarray(rows, np.int64), np.asarray(cols, np.int64), np.asarray(data, kind)


def _index(word: bytes, extent: int, what: str, where: str) -> int:
    if not word.removeprefix(b"-").removeprefix(b"+").isdigit():
        raise MatrixError(f"{where}: {what} index {_shown(word)} is not a whole number")
    index = int(word[:30])
    if index == 0:
        raise MatrixError(
            f"{where}: {what} index 0 is out of range: indices start at 1, "
            "this file seems to be zero-based"
        )
    if not 1 <= index <= extent:
        raise MatrixError(f"{where}: {what} index {index} is out of range 1 to {extent}")
    return index - 1


def _value(words: list[bytes], field: str, where: str) -> complex:
    if field == "pattern":
        return 1.0
    try:
        if any(b"_" in word for word in words):
            raise ValueError
        if field == "integer":
            return float(int(words[0]))
        parts = [float(word.lower().replace(b"d", b"e")) for word in words]
    except (ValueError, OverflowError):
        raise MatrixError(
            f"{where}: {_shown(b' '.join(words))} is not a value of a {field} matrix"
        ) from None
    return complex(*parts) if field == "complex" else parts[0]


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("latin-1").strip())


def _array(content: bytes, header: Header, path: Path | str) -> _Entries:
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
        where += f", line {_line_of_entry(int(bad[0]), content, header)}"
    raise MatrixError(
        f"{where}: value {data[bad[0]]} is not finite in float32; "
        "read it as a pattern to use its structure"
    )


def _line_of_entry(entry: int, content: bytes, header: Header) -> int:
    first = header.lines + 1
    seen = -1
    for number, line in enumerate(content[header.bytes_read :].split(b"\n"), start=first):
        words = line.split()
        seen += bool(words) and not words[0].startswith(b"%")
        if seen == entry:
            return number
    return first


def _expand(
    rows: NDArray[Any], cols: NDArray[Any], data: NDArray[Any], header: Header, path: Path | str
) -> _Entries:
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
