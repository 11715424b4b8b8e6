"""Run somebody's program with a time limit and keep the end of what it prints."""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEPT_BYTES = 1 << 16
_POLL_SECONDS = 0.05
_PAUSE_SECONDS = 0.003
_DRAIN_SECONDS = 1.0


@dataclass(frozen=True)
class Outcome:
    """How a program ended."""

    exit_code: int | None
    """Negative for a signal; None if the time limit ended it."""
    output: str
    errors: str
    """The last 64 KiB of standard output and of standard error."""
    seconds: float


class Stopped(Exception):
    """The run was called off from outside."""


def run(
    words: Sequence[str], folder: Path, timeout_seconds: float, stop: threading.Event
) -> Outcome:
    """Run a program in ``folder`` and wait for it, at most ``timeout_seconds``.

    The program and all that it started are killed at the limit, when ``stop`` is set (raises
    :class:`Stopped`), and when the program itself has ended. Raises :class:`OSError` if it
    cannot be started.
    """
    started = time.monotonic()
    process = subprocess.Popen(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors, in_time = _listen(process, started + timeout_seconds, stop)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
    return Outcome(code if in_time else None, output, errors, time.monotonic() - started)


def _listen(
    process: subprocess.Popen[bytes], deadline: float, stop: threading.Event
) -> tuple[str, str, bool]:
    """Read both pipes until the program ends or the deadline passes; the ends of both."""
    kept: dict[Any, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    ended = False
    with selectors.DefaultSelector() as selector:
        for pipe in kept:
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ)
        while True:
            if stop.is_set():
                raise Stopped
            if not ended and _has_ended(process):
                ended, deadline = True, time.monotonic() + _DRAIN_SECONDS
            if not ended and not selector.get_map():
                time.sleep(_PAUSE_SECONDS)
            ready = selector.select(0 if ended or not selector.get_map() else _POLL_SECONDS)
            for key, _ in ready:
                _read_some(key.fileobj, kept, selector)
            if (ended and not ready) or time.monotonic() > deadline:
                return *_texts(kept), ended


def _read_some(pipe: Any, kept: dict[Any, bytearray], selector: selectors.BaseSelector) -> None:
    chunk = os.read(pipe.fileno(), KEPT_BYTES)
    if not chunk:
        selector.unregister(pipe)
        return
    kept[pipe] += chunk
    del kept[pipe][:-KEPT_BYTES]


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the program has ended, leaving it to be waited for, so its id stays its own."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _texts(kept: dict[Any, bytearray]) -> tuple[str, str]:
    output, errors = (bytes(content).decode(errors="replace") for content in kept.values())
    return output, errors
