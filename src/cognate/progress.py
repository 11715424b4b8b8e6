"""Show how far a long stage is: a bar on a terminal, plain lines every so often elsewhere."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

SECONDS_BETWEEN_LINES = 10.0

Advance = Callable[[int, int], None]

logger = logging.getLogger("cognate")


@contextmanager
def progress(label: str, unit: str) -> Iterator[Advance]:
    """Yield ``advance(done, total)`` that shows progress with rate and remaining time."""
    with _bar(label) if sys.stderr.isatty() else _lines(label, unit) as advance:
        yield advance


@contextmanager
def _bar(label: str) -> Iterator[Advance]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _lines(label: str, unit: str) -> Iterator[Advance]:
    started = time.monotonic()
    shown = started - SECONDS_BETWEEN_LINES

    def advance(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if done < total and now - shown < SECONDS_BETWEEN_LINES:
            return
        shown = now
        rate = done / max(now - started, 1e-9)
        left = f", {(total - done) / rate:.0f} s left" if rate > 0 and done < total else ""
        logger.info("%s: %d/%d %s, %.3g %s/s%s", label, done, total, unit, rate, unit, left)

    yield advance
