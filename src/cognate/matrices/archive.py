"""Take one matrix out of an archive of the SuiteSparse collection, trusting nothing in it."""

import io
import tarfile
import zlib
from pathlib import Path
from typing import IO

from cognate.errors import DownloadError

OTHER_MEMBERS_BYTES = 1 << 30
"""An archive's further members (right-hand sides, coordinates) may unpack to this much."""


def read_member(archive: Path | str, name: str, limit: int) -> bytes:
    """The content of member ``<name>/<name>.mtx`` of a ``.tar.gz`` archive.

    Nothing is written to disk and no other member is kept, so paths and links in the archive
    do no harm. Raises :class:`DownloadError` if the archive is damaged, unpacks to more than
    it may (``limit`` bytes for the member), or has no such regular file or two of them.
    """
    wanted = f"{name}/{name}.mtx"
    try:
        with open(archive, "rb") as stream:
            unpacked = _Unpacked(stream, limit + OTHER_MEMBERS_BYTES)
            with tarfile.open(fileobj=unpacked, mode="r|") as tar:
                found = [
                    _content(tar, member, archive, limit)
                    for member in tar
                    if member.name.removeprefix("./") == wanted
                ]
            while unpacked.read(1 << 20):
                pass  # what follows the last member still has to agree with the checksum
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        raise DownloadError(f"{archive}: damaged archive ({error})") from error
    if len(found) != 1:
        many = "twice" if found else "not at all"
        raise DownloadError(f"{archive}: holds {wanted} {many}")
    return found[0]


def _content(
    tar: tarfile.TarFile, member: tarfile.TarInfo, archive: Path | str, limit: int
) -> bytes:
    if not member.isreg():
        raise DownloadError(f"{archive}: {member.name} is not a regular file")
    if member.size > limit:
        raise DownloadError(
            f"{archive}: {member.name} has {member.size} bytes, more than the {limit} "
            "that a matrix of its size can need"
        )
    stream = tar.extractfile(member)
    return stream.read() if stream else b""


class _Unpacked(io.RawIOBase):
    """The decompressed bytes of a gzip stream, at most ``limit`` of them."""

    def __init__(self, stream: IO[bytes], limit: int):
        self._stream = stream
        self._left = limit
        self._unpack = zlib.decompressobj(wbits=31)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        part = b""
        while not part and not self._unpack.eof:
            packed = self._unpack.unconsumed_tail or self._stream.read(1 << 16)
            if not packed:
                raise EOFError("the gzip stream is truncated")
            part = self._unpack.decompress(packed, len(buffer))
        self._left -= len(part)
        if self._left < 0:
            raise tarfile.ReadError("it unpacks to more than it may")
        buffer[: len(part)] = part
        return len(part)
