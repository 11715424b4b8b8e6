"""The entries of a coordinate Matrix Market file: a fast check and a slow, exact scan."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cognate.errors import MatrixError
from cognate.matrices.market_header import Header

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Zero-based rows and columns, and values."""

_BLANK, _DIGIT, _MINUS, _POINT, _EXPONENT, _OTHER = range(6)
_CLASS = np.full(256, _OTHER, dtype=np.uint8)
_CLASS[list(b" \t\r\n")] = _BLANK
_CLASS[list(b"0123456789")] = _DIGIT
_CLASS[list(b".")] = _POINT
_CLASS[list(b"eE")] = _EXPONENT
_CLASS[list(b"-")] = _MINUS

_PIECE_BYTES = 1 << 18
"""Lines are checked in pieces that stay in the cache: several times faster than all at once."""

_HIGHEST = {"pattern": _DIGIT, "integer": _MINUS, "real": _EXPONENT, "complex": _EXPONENT}


def is_plain(body: bytes, header: Header) -> bool:
    """Whether the body is made of simple numbers only, as many as the header announces.

    Simple numbers have digits, at most one point, an exponent after it, and a minus sign in
    front of either. Of these scipy's parser is known to make what our scan makes; of others
    it ignores the end of a word in silence (``1.5.3``, ``1-2``, ``7,5``, ``0x10``).
    """
    words = start = 0
    while start < len(body):
        end = body.find(b"\n", start + _PIECE_BYTES) + 1 or len(body)
        kinds = _CLASS[np.frombuffer(body, np.uint8, end - start, start)]
        if kinds.max() > _HIGHEST[header.field] or not _are_numbers(kinds):
            return False
        blank = kinds == _BLANK
        words += int(np.count_nonzero(blank[:-1] & ~blank[1:])) + int(not blank[0])
        start = end
    return words == header.entries * header.words_per_entry


def _are_numbers(kinds: NDArray[np.uint8]) -> bool:
    """Whether signs, points and exponents stand where they may."""
    padded = np.full(len(kinds) + 2, _BLANK, dtype=np.uint8)
    padded[1:-1] = kinds
    signs = np.flatnonzero(padded == _MINUS)
    if not _among(padded[signs - 1], _BLANK, _EXPONENT):
        return False
    if not _among(padded[signs + 1], _DIGIT, _POINT):
        return False
    padded[signs] = _DIGIT
    if not _among(padded[np.flatnonzero(padded == _EXPONENT) + 1], _DIGIT):
        return False
    marks = padded[padded != _DIGIT]
    first, second = marks[:-1], marks[1:]
    twice = (first == _EXPONENT) & (second != _BLANK) | (first == _POINT) & (second == _POINT)
    return not twice.any()


def _among(kinds: NDArray[np.uint8], *allowed: int) -> bool:
    good = np.zeros(len(kinds), dtype=bool)
    for kind in allowed:
        good |= kinds == kind
    return bool(good.all())


def scan(body: bytes, header: Header, path: Path | str) -> Entries:
    """Parse line by line: slow, but it knows the line of what is wrong.

    Raises :class:`MatrixError` with line and reason; ``path`` is for messages only.
    """
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


def line_of_entry(body: bytes, entry: int, header: Header) -> int:
    """Number in the file of the line that holds an entry, counted from 0."""
    first = header.lines + 1
    seen = -1
    for number, line in enumerate(body.split(b"\n"), start=first):
        words = line.split()
        seen += bool(words) and not words[0].startswith(b"%")
        if seen == entry:
            return number
    return first


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
            f"{where}: {_shown(b' '.join(words))} is not a value of kind {field}"
        ) from None
    return complex(*parts) if field == "complex" else parts[0]


def _shown(text: bytes) -> str:
    return repr(text[:60].decode("latin-1").strip())
