"""Work on many matrices so that one that fails, or kills its process, is known by name."""

import ctypes
import logging
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

from cognate.errors import CognateError, CrashError
from cognate.progress import progress

KEEP_GOING = "COGNATE_KEEP_GOING"
"""Set to 1 by the workflow under ``--keep-going``, for jobs here and on a cluster."""

T = TypeVar("T")
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux's prctl."""

logger = logging.getLogger("cognate")


def attempt_each(
    label: str, names: Sequence[str], work: Callable[[str], T]
) -> tuple[dict[str, T], dict[str, str]]:
    """What ``work`` gives for each name, and for each that failed the reason.

    The first failure is raised, unless :data:`KEEP_GOING` is 1. What is no fault of the matrix
    is always raised: want of memory (the job may be tried again with more), a full disk.
    """
    results: dict[str, T] = {}
    missing: dict[str, str] = {}
    with progress(label, "matrices") as advance:
        advance(0, len(names))
        for done, (name, outcome) in enumerate(isolated(names, work), 1):
            if not isinstance(outcome, BaseException):
                results[name] = outcome
            elif os.environ.get(KEEP_GOING) != "1" or isinstance(outcome, (MemoryError, OSError)):
                raise outcome
            else:
                missing[name] = reason_of(name, outcome)
                logger.error("%s is left out: %s", name, missing[name], exc_info=outcome)
            advance(done, len(names))
    return results, missing


def reason_of(name: str, error: BaseException) -> str:
    """One line that says why a matrix is missing."""
    text = str(error) if isinstance(error, CognateError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split()).removeprefix(f"{name}: ")


def isolated(
    names: Sequence[str], work: Callable[[str], T]
) -> Iterator[tuple[str, T | BaseException]]:
    """Each name with what ``work`` returned or raised, in order, from a child process.

    The child works on one name after the other. When it dies, the name that it was at has a
    :class:`CrashError` (:class:`MemoryError` if it was killed), and a new child goes on with
    the next.
    """
    context = multiprocessing.get_context("fork")
    left = list(names)
    while left:
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_work_through, args=(left, work, sender))
        child.start()
        sender.close()
        try:
            while left:
                outcome = receiver.recv()
                yield left.pop(0), outcome
        except EOFError:
            child.join()
            yield left[0], _death(left.pop(0), child.exitcode)
        finally:
            if left:
                child.kill()
            child.join()
            receiver.close()


def _work_through(names: Sequence[str], work: Callable[[str], T], sender: Connection) -> None:
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    for name in names:
        try:
            sender.send(work(name))
        except Exception as error:
            if not isinstance(error, CognateError):
                error.add_note(traceback.format_exc())
            sender.send(error)


def _death(name: str, status: int | None) -> BaseException:
    if status == -signal.SIGKILL:
        return MemoryError(f"{name}: the process was killed, most likely for want of memory")
    how = signal.Signals(-status).name if status and status < 0 else f"exit status {status}"
    return CrashError(f"{name}: the process that worked on it died ({how})")
