"""The SuiteSparse Matrix Collection: an index kept here, archives fetched when needed."""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from cognate.errors import DownloadError, MatrixError
from cognate.files import cache_folder
from cognate.matrices import download, registry
from cognate.matrices.archive import read_member
from cognate.matrices.download import Patience, Progress
from cognate.matrices.market import Values, parse_market
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.selection import unknown_message

COLLECTION = "https://sparse.tamu.edu"
"""Where the collection lives; ``COGNATE_MIRROR`` names another place with the same paths."""

_BYTES_PER_ENTRY = 100
_HEADER_BYTES = 4 << 20


def server() -> str:
    """Root of the collection: ``COGNATE_MIRROR`` or :data:`COLLECTION`."""
    return (os.environ.get("COGNATE_MIRROR") or COLLECTION).rstrip("/")


def index() -> pd.DataFrame:
    """The snapshot of the collection's index: one row a matrix, in the collection's order.

    Columns: name, group, kind, family, rows, cols, nnz (stored entries, explicit zeros
    included), is_real.
    """
    return _index().copy()


def index_table() -> pd.DataFrame:
    """The snapshot as stored: the collection's own columns, with their names spelt out."""
    stored = resources.files("cognate.matrices") / "data" / "suitesparse_index.csv.gz"
    with stored.open("rb") as stream:
        return pd.read_csv(stream, compression="gzip", keep_default_na=False)


@cache
def _index() -> pd.DataFrame:
    table = index_table()
    table["nnz"] = table["entries"]
    table["is_real"] = table["is_real"].astype(bool)
    table["family"] = [
        family_of(name, group) for name, group in table[["name", "group"]].itertuples(index=False)
    ]
    return table[["name", "group", "kind", "family", "rows", "cols", "nnz", "is_real"]]


def family_of(name: str, group: str) -> str:
    """Group and name up to its first digit: members of a series differ in what follows.

    A matrix without a group is a family of its own.
    """
    if not group:
        return name
    stem = re.split(r"\d", name, maxsplit=1)[0].rstrip("_-.")
    return f"{group}/{stem or name}"


def catalogue(values: Values = "stored") -> pd.DataFrame:
    """The matrices that can be used: the index less duplicates and, for stored values, complex.

    Names are unique: where two groups share one, both are called ``name@group``. Column
    ``member`` is the name within the group.
    """
    table = _index()
    usable = ~table["kind"].str.startswith("duplicate")
    if values == "stored":
        usable &= table["is_real"]
    table = table[usable].drop(columns="is_real").reset_index(drop=True)
    table["member"] = table["name"]
    shared = table["name"].duplicated(keep=False)
    table.loc[shared, "name"] += "@" + table.loc[shared, "group"]
    return table


def load(
    name: str,
    values: Values = "stored",
    offline: bool = False,
    progress: Progress | None = None,
    patience: Patience | None = None,
) -> SparseMatrix:
    """Read a matrix of the collection, fetching its archive if it is not in the cache.

    Raises :class:`MatrixError` for an unknown name or a file that does not fit the index, and
    :class:`DownloadError` if it cannot be had.
    """
    entry = _entry(name)
    path = fetch(name, offline, progress, patience)
    content = read_member(path, str(entry["member"]), _limit(entry))
    identity = {column: str(entry[column]) for column in ("group", "kind", "family")}
    matrix = parse_market(content, f"{path}:{entry['member']}.mtx", name, values, **identity)
    if matrix.shape != (entry["rows"], entry["cols"]):
        raise MatrixError(
            f"{path}: is {matrix.rows} x {matrix.cols}, but the collection's index says "
            f"{entry['rows']} x {entry['cols']}; delete the file to fetch it again"
        )
    return matrix


def fetch(
    name: str,
    offline: bool = False,
    progress: Progress | None = None,
    patience: Patience | None = None,
) -> Path:
    """The path of a matrix's verified archive in the cache, downloaded if necessary.

    The hash must be the pinned one; that of an archive which was never pinned is trusted
    once it has proved to hold the matrix, and pinned.
    """
    if offline and missing([name]):
        raise DownloadError(_offline_message([name]))
    entry = _entry(name)
    archive = _archive(entry)
    target = _cached(archive)
    limit = _limit(entry)
    pinned = registry.known_hash(archive)
    found = download.fetch(
        f"{server()}/MM/{archive}",
        target,
        sha256=pinned,
        limit=limit,
        check=lambda path: _check(path, str(entry["member"]), limit),
        progress=progress,
        patience=patience,
    )
    if pinned is None:
        registry.pin(archive, found, target.stat().st_size)
    return target


def prefetch(
    names: Sequence[str], progress: Progress | None = None, patience: Patience | None = None
) -> None:
    """Fetch many archives, a few at a time; ``progress`` counts archives.

    All are tried; one :class:`DownloadError` lists those that failed.
    """
    failures = []
    with ThreadPoolExecutor(download.PARALLEL) as pool:
        jobs = [pool.submit(fetch, name, patience=patience) for name in names]
        for done, job in enumerate(jobs, start=1):
            try:
                job.result()
            except DownloadError as error:
                failures.append(str(error))
            if progress:
                progress(done, len(names))
    if failures:
        raise DownloadError("\n".join([f"{len(failures)} downloads failed:", *failures]))


def missing(names: Sequence[str]) -> list[str]:
    """Those of ``names`` whose archives are not in the cache with their pinned hash."""
    absent = []
    for name in names:
        archive = _archive(_entry(name))
        path, pinned = _cached(archive), registry.known_hash(archive)
        if not path.exists() or pinned not in (None, download.hash_of(path)):
            absent.append(name)
    return absent


def _entry(name: str) -> dict[str, Any]:
    table = _by_name()
    if name not in table:
        raise MatrixError(unknown_message("matrix", name, list(table)))
    return table[name]


@cache
def _by_name() -> dict[str, dict[str, Any]]:
    rows: Any = catalogue("pattern").to_dict("records")
    return {row["name"]: row for row in rows}


def _archive(entry: dict[str, Any]) -> str:
    return f"{entry['group']}/{entry['member']}.tar.gz"


def _cached(archive: str) -> Path:
    return cache_folder() / "suitesparse" / "MM" / archive


def _limit(entry: dict[str, Any]) -> int:
    """The most bytes that the matrix can need as text."""
    return _HEADER_BYTES + _BYTES_PER_ENTRY * int(entry["nnz"])


def _check(path: Path, member: str, limit: int) -> None:
    with path.open("rb") as stream:
        start = stream.read(512)
    if not start.startswith(b"\x1f\x8b"):
        html = start.lstrip()[:1] == b"<"
        raise DownloadError(
            f"{path}: is {'an HTML page' if html else 'no gzip file'}, not an archive"
        )
    read_member(path, member, limit)


def _offline_message(names: Sequence[str]) -> str:
    return (
        f"offline, and not in the cache ({cache_folder()}): {', '.join(names)}; while online run "
        f"'cognate matrices fetch {' '.join(names)}'"
    )
