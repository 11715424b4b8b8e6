"""Memory for operands and plans: aligned, on huge pages, reused."""

import mmap

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cognate.errors import PlatformError

HUGE_PAGE_BYTES = 2 << 20
LINE_BYTES = 64


class Arena:
    """One mapping on huge pages from which 64-byte aligned arrays are cut.

    Without it, a vector load of a numpy array (16-byte aligned) touches two cache lines, and
    cache conflicts depend on the physical pages that a process happens to get; both change
    the ranking of schedules.
    """

    def __init__(self, capacity_bytes: int):
        self.capacity_bytes = capacity_bytes
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        try:
            self._memory = mmap.mmap(-1, capacity_bytes + HUGE_PAGE_BYTES, flags=flags)
        except OSError as error:
            raise PlatformError(
                f"cannot reserve {capacity_bytes / 2**30:.1f} GiB of memory ({error}); "
                "lower memory_gib in the platform's settings"
            ) from error
        self.huge_pages = self._advise_huge_pages()
        self._bytes = np.frombuffer(self._memory, dtype=np.uint8)
        self._start = -self._bytes.ctypes.data % HUGE_PAGE_BYTES
        self._used = 0

    @property
    def free_bytes(self) -> int:
        """Bytes that :meth:`array` can still give."""
        return self.capacity_bytes - self._used

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[np.generic]:
        """An uninitialised array that starts on a cache line (a huge page when it is large).

        Raises :class:`MemoryError` when the arena is full.
        """
        kind = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        align = HUGE_PAGE_BYTES if size >= HUGE_PAGE_BYTES else LINE_BYTES
        begin = -(-self._used // align) * align
        if begin + size > self.capacity_bytes:
            raise MemoryError(f"{size / 2**20:.0f} MiB do not fit in the arena")
        self._used = begin + size
        first = self._start + begin
        return self._bytes[first : first + size].view(kind).reshape(shape)

    def mark(self) -> int:
        """A position for :meth:`release`."""
        return self._used

    def release(self, mark: int = 0) -> None:
        """Make everything since ``mark`` available again; such arrays must not be used."""
        self._used = mark

    def _advise_huge_pages(self) -> bool:
        if not hasattr(mmap, "MADV_HUGEPAGE"):
            return False
        try:
            self._memory.madvise(mmap.MADV_HUGEPAGE)
        except OSError:
            return False
        return True
