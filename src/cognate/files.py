"""Write files so that a reader sees the old content or the new one, never half of it."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that replaces it when the block succeeds.

    Missing parent folders are made. On any exception the temporary file is removed and
    ``path`` is left as it was.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=f".tmp{target.suffix}"
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path | str, text: str) -> None:
    """Write ``text`` to ``path`` (UTF-8), atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def cache_folder() -> Path:
    """Where libraries and downloads are kept: ``COGNATE_CACHE`` or ``~/.cache/cognate``."""
    chosen = os.environ.get("COGNATE_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cognate"


@contextmanager
def locked(path: Path | str) -> Iterator[None]:
    """Hold the lock file ``path`` while the block runs; other processes and threads wait.

    The system frees the lock when its holder ends in any way. The file itself stays.
    """
    lock = Path(path)
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
