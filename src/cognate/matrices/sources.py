"""One front door to all sources of matrices."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cognate.errors import MatrixError
from cognate.matrices import directory, embedded, suitesparse
from cognate.matrices.market import Values, read_market
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.selection import select

SOURCES = ("embedded", "suitesparse", "directory")
COLUMNS = ["name", "group", "kind", "family", "rows", "cols", "nnz"]


def list_matrices(
    source: str,
    folder: Path | str | None = None,
    values: Values = "stored",
    **rules: Any,
) -> pd.DataFrame:
    """The matrices of a source that pass ``rules``, with the columns :data:`COLUMNS`.

    Cheap: reads stored tables, or the headers of the files in ``folder`` (for source
    ``directory``), and builds or downloads nothing. ``rules`` are those of
    :func:`cognate.matrices.selection.select`: names, kinds, groups, families, nnz, rows,
    count, seed. Complex matrices of the collection are listed for ``values="pattern"`` only.
    Names are unique in the result.

    Raises :class:`MatrixError` for an unknown source or name, unreadable files, or if no
    matrix passes.
    """
    return select(_catalogue(source, folder, values, rules.get("names", ())), **rules)


def load_matrix(
    source: str,
    name: str,
    folder: Path | str | None = None,
    values: Values = "stored",
    offline: bool = False,
) -> SparseMatrix:
    """Build, read or fetch one matrix; its identity is as in :func:`list_matrices`.

    Raises :class:`MatrixError` naming the nearest matrices if there is none of this name,
    and :class:`~cognate.errors.DownloadError` if it cannot be had, for example because it is
    not in the cache and ``offline`` is set.
    """
    if source == "embedded":
        return embedded.build(name)
    if source == "suitesparse":
        return suitesparse.load(name, values, offline)
    if source == "directory":
        return directory.load(_folder(folder), name, values)
    raise _unknown_source(source)


def open_matrix(
    name_or_path: str, source: str = "embedded", folder: Path | str | None = None
) -> SparseMatrix:
    """The matrix in a ``.mtx``, ``.mtx.gz`` or ``.npz`` file, or else the one of this name."""
    if name_or_path.endswith((".mtx", ".mtx.gz")):
        return read_market(name_or_path)
    if name_or_path.endswith(".npz"):
        return SparseMatrix.load(name_or_path)
    return load_matrix(source, name_or_path, folder)


def _catalogue(
    source: str, folder: Path | str | None, values: Values, names: Sequence[str]
) -> pd.DataFrame:
    if source == "embedded":
        return embedded.catalogue()[COLUMNS]
    if source == "suitesparse":
        return suitesparse.catalogue(values)[COLUMNS]
    if source == "directory":
        return directory.catalogue(_folder(folder), names, values)[COLUMNS]
    raise _unknown_source(source)


def _unknown_source(source: str) -> MatrixError:
    return MatrixError(f"source {source!r} is unknown; choose from {', '.join(SOURCES)}")


def _folder(folder: Path | str | None) -> Path:
    if folder is None:
        raise MatrixError("the source 'directory' needs a folder of .mtx or .mtx.gz files")
    return Path(folder)
