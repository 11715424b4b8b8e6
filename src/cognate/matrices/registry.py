"""Which SHA-256 each archive has: shipped pins, and pins made when first fetched."""

from importlib import resources
from pathlib import Path

from cognate.errors import DownloadError
from cognate.files import cache_folder, locked, write_text

_HEADER = (
    "# One archive a line: group/name.tar.gz, its SHA-256, its size in bytes.\n"
    "# Lines are added when an archive is fetched for the first time, and then hold.\n"
)


def user_file() -> Path:
    """The registry of this machine, beside the downloads."""
    return cache_folder() / "suitesparse" / "registry.txt"


def known_hash(archive: str) -> str | None:
    """SHA-256 of ``group/name.tar.gz``, or None if it was never pinned. Shipped pins win."""
    shipped = resources.files("cognate.matrices") / "data" / "suitesparse_registry.txt"
    pins = _parse(shipped.read_text("utf-8"), str(shipped))
    if archive not in pins and user_file().exists():
        pins = _parse(user_file().read_text("utf-8"), str(user_file()))
    return pins.get(archive)


def pin(archive: str, sha256: str, size: int) -> None:
    """Remember the hash of an archive that has none yet."""
    path = user_file()
    with locked(path.with_suffix(".lock")):
        if known_hash(archive) is None:
            text = path.read_text("utf-8") if path.exists() else _HEADER
            write_text(path, f"{text}{archive} {sha256} {size}\n")


def _parse(text: str, where: str) -> dict[str, str]:
    pins = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) != 3 or len(words[1]) != 64:
            raise DownloadError(
                f"{where}, line {number}: expected archive, SHA-256 and size; "
                "correct or delete the line"
            )
        pins[words[0]] = words[1]
    return pins
