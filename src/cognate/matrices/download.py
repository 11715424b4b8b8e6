"""Fetch one file over HTTP: verified, retried, atomic, and by one process at a time."""

import fcntl
import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cognate.errors import DownloadError
from cognate.files import cache_folder, locked, replacing

Progress = Callable[[int, int], None]
"""Called as ``progress(bytes_done, bytes_total)``; the total is 0 where it is not known."""
Check = Callable[[Path], None]
"""Raises :class:`DownloadError` if the file is not what it should be."""

PARALLEL = 3
"""Downloads at the same time on one machine, over all processes."""


@dataclass(frozen=True)
class Patience:
    """How long to try."""

    attempts: int = 5
    connect_seconds: float = 20.0
    stall_seconds: float = 60.0
    """Longest wait for the next bytes."""
    least_bytes_per_second: float = 1000.0
    """Slower than this on average, after ``stall_seconds``, counts as stalled."""
    pause_seconds: float = 2.0
    """Wait before the second attempt; doubles for each further one."""


class _Refused(DownloadError):
    """The server's answer is final: trying again is of no use."""


@dataclass(frozen=True)
class _Source:
    """What is fetched and what it must be."""

    url: str
    sha256: str | None
    limit: int
    check: Check
    progress: Progress | None

    def verify(self, path: Path, found: str) -> None:
        """Raise :class:`DownloadError` unless the file at ``path`` is what was asked for."""
        if self.sha256 is not None and found != self.sha256:
            raise DownloadError(
                f"{self.url}: has SHA-256 {found} but its registry says {self.sha256}; "
                "the file was changed on its way or at its source"
            )
        try:
            self.check(path)
        except DownloadError as error:
            raise DownloadError(str(error).replace(str(path), self.url)) from error


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str | None,
    limit: int,
    check: Check,
    progress: Progress | None = None,
    patience: Patience | None = None,
) -> str:
    """Make sure ``target`` holds what ``url`` gives; returns its SHA-256 (hex).

    A file that is there with the hash ``sha256`` is not fetched again; a damaged one is.
    Without a known hash the file that is there, or the first one that passes ``check``, is
    trusted. At most ``limit`` bytes are accepted. Processes that want the same file wait for
    the one that fetches it. Raises :class:`DownloadError`; then there is no partial file.
    """
    with locked(target.with_name(f".{target.name}.lock")):
        if target.exists():
            found = hash_of(target)
            if sha256 in (None, found):
                return found
        with _slot():
            source = _Source(url, sha256, limit, check, progress)
            return _fetch_patiently(source, target, patience or Patience())


def hash_of(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _fetch_patiently(source: _Source, target: Path, patience: Patience) -> str:
    """Try until a file passes, the answer is final, or the same wrong file came twice."""
    rejected = ""
    for attempt in range(1, patience.attempts + 1):
        found = ""
        try:
            with replacing(target) as temporary:
                _transfer(source, temporary, patience)
                found = hash_of(temporary)
                source.verify(temporary, found)
            return found
        except _Refused:
            raise
        except DownloadError as error:
            if attempt == patience.attempts or (found and found == rejected):
                raise DownloadError(f"{error} (tried {attempt} times)") from error
            rejected = found
            time.sleep(patience.pause_seconds * 2 ** (attempt - 1))
    raise DownloadError(f"{source.url}: not one attempt is allowed")


def _transfer(source: _Source, path: Path, patience: Patience) -> None:
    import pooch
    import requests

    downloader = pooch.HTTPDownloader(
        progressbar=_Meter(source, patience),
        timeout=(patience.connect_seconds, patience.stall_seconds),
        headers={"Accept-Encoding": "identity", "User-Agent": "cognate"},
        chunk_size=_Meter.chunk_bytes,
    )
    try:
        downloader(source.url, str(path), None)
    except requests.HTTPError as error:
        status = error.response.status_code
        kind = DownloadError if status >= 500 or status in (408, 425, 429) else _Refused
        raise kind(f"{source.url}: the server answered {status} {error.response.reason}") from error
    except requests.RequestException as error:
        raise DownloadError(f"{source.url}: {_in_short(error)}") from error


class _Meter:
    """Counts bytes for pooch: reports progress, ends a transfer that is too long or too slow."""

    chunk_bytes = 1 << 16

    def __init__(self, source: _Source, patience: Patience):
        self.total = 0
        self._source, self._patience = source, patience
        self._done = 0
        self._started = time.monotonic()

    def update(self, count: int) -> None:
        """``count`` more bytes have come, or fewer in the last piece."""
        self._done += count
        url, limit = self._source.url, self._source.limit
        if self.total > limit or self._done > limit + self.chunk_bytes:
            raise _Refused(f"{url}: is longer than the {limit} bytes that it may have")
        seconds = time.monotonic() - self._started
        slowest = self._patience.least_bytes_per_second
        if seconds > self._patience.stall_seconds and self._done < seconds * slowest:
            raise DownloadError(f"{url}: stalled, {self._done} bytes in {seconds:.0f} s")
        if self._source.progress:
            done = min(self._done, self.total) if self.total else self._done
            self._source.progress(done, self.total)

    def reset(self) -> None:
        """Pooch calls this at the end, before it reports the total once more."""
        self._done = 0
        self._started = time.monotonic()

    def close(self) -> None:
        """Nothing to release."""


def _in_short(error: Exception) -> str:
    import requests

    if isinstance(error, requests.ConnectTimeout | requests.ReadTimeout):
        return "the server does not answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke before the end of the file"
    if isinstance(error, requests.TooManyRedirects):
        return "the server redirects in a circle"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached, or went silent"
    return str(error)


@contextmanager
def _slot() -> Iterator[None]:
    """Hold one of the few places for downloads on this machine; wait for one to be free."""
    folder = cache_folder() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        places = [
            opened.enter_context((folder / f"download{place}.lock").open("a"))
            for place in range(PARALLEL)
        ]
        while not any(_taken(place) for place in places):
            time.sleep(0.1)
        yield


def _taken(place: IO[str]) -> bool:
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
