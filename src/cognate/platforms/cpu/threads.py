"""The threads that run kernels: started once, bound, at real-time priority when asked for."""

import ctypes
import os
import threading
from collections.abc import Sequence

from cognate.errors import PlatformError
from cognate.platforms.cpu.library import kernels

_in_use = threading.Lock()


class Threads:
    """A context in which the kernels' threads exist; one a process at a time.

    The caller's thread is the first of them and is bound too, until the context ends. They
    are the library's own, not OpenMP's: binding then needs no environment variable that must
    be set before another library starts its threads, and nothing of theirs spins here.
    """

    def __init__(self, processors: Sequence[int], real_time: bool = False):
        self.processors = list(processors)
        self.real_time = real_time
        self._affinity: set[int] | None = None

    def __enter__(self) -> "Threads":
        _in_use.acquire()
        if hasattr(os, "sched_getaffinity"):
            self._affinity = os.sched_getaffinity(0)
        numbers = (ctypes.c_int32 * len(self.processors))(*self.processors)
        error = kernels().pool_start(len(self.processors), numbers)
        if not error and self.real_time:
            error = kernels().pool_real_time(1)
        if error:
            self.__exit__()
            raise PlatformError(
                f"cannot set up {len(self.processors)} threads"
                f"{' at real-time priority' if self.real_time else ''}: {os.strerror(error)}"
            )
        return self

    def __exit__(self, *error: object) -> None:
        if self.real_time:
            kernels().pool_real_time(0)
        kernels().pool_stop()
        if self._affinity is not None:
            os.sched_setaffinity(0, self._affinity)
        _in_use.release()
