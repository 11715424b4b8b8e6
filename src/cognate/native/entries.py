"""Entries of a cache folder: a file with its checksum beside it."""

import hashlib
from pathlib import Path

from cognate.files import write_text


def is_intact(entry: Path) -> bool:
    """Whether the file is there and is what was sealed: loading half a library may crash."""
    try:
        return _checksum_path(entry).read_text() == _checksum(entry)
    except OSError:
        return False


def seal(built: Path, entry: Path) -> None:
    """Move a finished file into place, then its checksum: without that it does not count."""
    checksum = _checksum(built)
    _checksum_path(entry).unlink(missing_ok=True)
    built.replace(entry)
    write_text(_checksum_path(entry), checksum)


def _checksum_path(entry: Path) -> Path:
    return entry.with_suffix(entry.suffix + ".sha256")


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
