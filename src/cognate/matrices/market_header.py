"""The banner and size line of a Matrix Market file, and what a file is when it has neither."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

from cognate.errors import MatrixError
from cognate.matrices.matrix import INDEX_LIMIT

FORMATS = ("coordinate", "array")
FIELDS = {
    "real": "real",
    "double": "real",
    "integer": "integer",
    "unsigned-integer": "integer",
    "complex": "complex",
    "pattern": "pattern",
}
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_HEADER_BYTES = 1 << 20
"""A header with its comments ends within this many bytes."""


@dataclass(frozen=True)
class Header:
    """What a Matrix Market file says about itself before its entries."""

    format: str
    field: str
    symmetry: str
    rows: int
    cols: int
    entries: int
    """Stored entries: of one triangle when symmetric; rows × cols for an array."""
    lines: int
    """Lines up to and including the size line."""
    bytes_read: int
    """Offset of the first byte after the size line."""

    @property
    def words_per_entry(self) -> int:
        """Numbers that each entry has in the file."""
        values = {"pattern": 0, "complex": 2}.get(self.field, 1)
        return values + (2 if self.format == "coordinate" else 0)


def read_header(path: Path | str) -> Header:
    """Read only the header of a ``.mtx`` or ``.mtx.gz`` file; errors as :func:`parse_header`."""
    return parse_header(read_bytes(path, _HEADER_BYTES), path)


def read_bytes(path: Path | str, limit: int = -1) -> bytes:
    """The file's content, decompressed if its name ends in ``.gz``; at most ``limit`` bytes."""
    try:
        if not str(path).endswith(".gz"):
            with open(path, "rb") as stream:
                return stream.read(limit)
        with gzip.open(path, "rb") as stream:
            return stream.read(limit)
    except gzip.BadGzipFile as error:
        raise MatrixError(f"{path}: the name ends in .gz but this is not a gzip file") from error
    except (EOFError, zlib.error) as error:
        raise MatrixError(f"{path}: the gzip file is truncated or damaged ({error})") from error
    except OSError as error:
        raise MatrixError(f"{path}: cannot be read ({error.strerror or error})") from error


def parse_header(content: bytes, path: Path | str) -> Header:
    """Parse the header at the start of ``content``; ``path`` is for messages only.

    Raises :class:`MatrixError` with line and reason for a bad or missing banner, a
    contradictory or impossible header, and content that is not Matrix Market at all.
    """
    end = _line_end(content, 0)
    words = content[:end].decode("latin-1").lower().split()
    if not words or words[0] != "%%matrixmarket":
        raise MatrixError(f"{path}, line 1: no %%MatrixMarket banner; {what_it_is(content)}")
    form, field, symmetry = _banner(words, f"{path}, line 1")
    number = 1
    while True:
        start, end = end, _line_end(content, end)
        number += 1
        if start >= len(content):
            raise MatrixError(f"{path}: ends before the line with the matrix's size")
        line = content[start:end].strip()
        if line and not line.startswith(b"%"):
            break
    rows, cols, entries = _size(line, form, f"{path}, line {number}")
    _check_size(rows, cols, entries, symmetry, f"{path}, line {number}")
    return Header(form, field, symmetry, rows, cols, entries, number, end)


def what_it_is(content: bytes) -> str:
    """A guess, for an error message, at what this content is instead of Matrix Market."""
    start = content[:512].lstrip().lower()
    if not content.strip():
        return "the file is empty"
    if content[257:262] == b"ustar":
        return "it is a tar archive: extract the .mtx file from it"
    if content.startswith(b"\x1f\x8b"):
        return "it is gzip-compressed: name it .mtx.gz, or extract it if it is a .tar.gz"
    if content.startswith(b"PK\x03\x04"):
        return "it is a zip archive: extract the .mtx file from it"
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        return "it is an HTML page, perhaps of a download that failed"
    if b"\0" in content[:4096]:
        return "it is a binary file"
    if start.startswith(b"\xef\xbb\xbf"):
        return "it starts with a byte-order mark: save it as plain ASCII"
    return "the first line must be '%%MatrixMarket matrix coordinate real general' or the like"


def _line_end(content: bytes, start: int) -> int:
    end = content.find(b"\n", start)
    return len(content) if end < 0 else end + 1


def _banner(words: list[str], where: str) -> tuple[str, str, str]:
    if len(words) != 5:
        raise MatrixError(f"{where}: the banner has {len(words)} words instead of 5")
    _, what, form, field, symmetry = words
    if what != "matrix":
        raise MatrixError(f"{where}: the banner describes a {what!r}; only 'matrix' is supported")
    for word, known in ((form, FORMATS), (field, tuple(FIELDS)), (symmetry, SYMMETRIES)):
        if word not in known:
            raise MatrixError(f"{where}: {word!r} in the banner is none of {', '.join(known)}")
    field = FIELDS[field]
    if field == "pattern" and form == "array":
        raise MatrixError(f"{where}: the banner contradicts itself: an array has no pattern")
    if field == "pattern" and symmetry == "skew-symmetric":
        raise MatrixError(f"{where}: the banner contradicts itself: a pattern has no sign")
    if symmetry == "hermitian" and field != "complex":
        raise MatrixError(f"{where}: the banner contradicts itself: Hermitian but {field}")
    return form, field, symmetry


def _size(line: bytes, form: str, where: str) -> tuple[int, int, int]:
    words = line.split()
    expected = 3 if form == "coordinate" else 2
    if len(words) != expected or not all(word.isdigit() for word in words):
        names = "rows, columns and entries" if expected == 3 else "rows and columns"
        shown = line[:60].decode("latin-1")
        raise MatrixError(f"{where}: expected {names} as whole numbers, found {shown!r}")
    rows, cols, *rest = (int(word[:30]) for word in words)
    return rows, cols, rest[0] if rest else rows * cols


def _check_size(rows: int, cols: int, entries: int, symmetry: str, where: str) -> None:
    if max(rows, cols) > INDEX_LIMIT:
        raise MatrixError(f"{where}: dimension {max(rows, cols)} is beyond {INDEX_LIMIT} (int32)")
    if symmetry != "general" and rows != cols:
        raise MatrixError(f"{where}: {symmetry} needs a square matrix, this is {rows} x {cols}")
    if entries > rows * cols:
        raise MatrixError(
            f"{where}: {entries} entries are declared, but {rows} x {cols} has no place for them"
        )
