"""A folder of Matrix Market files as a source of matrices."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cognate.errors import MatrixError
from cognate.matrices import suitesparse
from cognate.matrices.market import Values, check_values, matrix_name, read_market
from cognate.matrices.market_header import read_header
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.selection import unknown_message

IDENTITY_FILE = "index.csv"
"""Optional table in the folder with columns name and any of group, kind, family."""


def matrix_files(folder: Path | str) -> dict[str, Path]:
    """Matrix names to files ``<name>.mtx`` or ``<name>.mtx.gz`` of the folder, sorted by name."""
    root = Path(folder)
    if not root.is_dir():
        raise MatrixError(f"{root}: there is no such folder of matrices")
    found: dict[str, Path] = {}
    for path in sorted(root.iterdir()):
        if not path.name.endswith((".mtx", ".mtx.gz")):
            continue
        name = matrix_name(path)
        if name in found:
            raise MatrixError(f"{root}: both {found[name].name} and {path.name} are {name}")
        found[name] = path
    if not found:
        raise MatrixError(f"{root}: holds no .mtx or .mtx.gz file")
    return found


def catalogue(
    folder: Path | str, names: Sequence[str] = (), values: Values = "stored"
) -> pd.DataFrame:
    """One row a file: name, group, kind, family, rows, cols, nnz; reads headers only.

    ``names`` limits it to these files. ``nnz`` is exact for general matrices and counts both
    triangles of symmetric ones, their diagonal twice. Group and kind come from ``index.csv``
    in the folder, or else from the SuiteSparse index where name and shape agree. All files
    that cannot be used are named in one :class:`MatrixError`.
    """
    files = matrix_files(folder)
    for name in names:
        if name not in files:
            raise MatrixError(f"{folder}: {unknown_message('matrix', name, list(files))}")
    rows, problems = [], []
    for name in names or files:
        try:
            header = read_header(files[name])
            check_values(header, values, files[name])
        except MatrixError as error:
            problems.append(str(error))
            continue
        nnz = header.entries * (1 if header.symmetry == "general" else 2)
        rows.append((name, header.rows, header.cols, nnz))
    if problems:
        count = f"{len(problems)} of {len(names or files)} files cannot be used"
        advice = "Remove them, or name the files to use under matrices.names."
        raise MatrixError("\n".join([f"{folder}: {count}:", *problems, advice]))
    table = pd.DataFrame(rows, columns=["name", "rows", "cols", "nnz"]).drop_duplicates("name")
    return _with_identity(table, Path(folder) / IDENTITY_FILE)


def load(folder: Path | str, name: str, values: Values = "stored") -> SparseMatrix:
    """Read the matrix ``name`` of the folder, with its identity."""
    entry = catalogue(folder, [name], values).iloc[0]
    identity = {column: str(entry[column]) for column in ("group", "kind", "family")}
    return read_market(matrix_files(folder)[name], name=name, values=values, **identity)


def _with_identity(table: pd.DataFrame, identity_path: Path) -> pd.DataFrame:
    known = suitesparse.index()[["name", "rows", "cols", "group", "kind"]]
    known = known.drop_duplicates(["name", "rows", "cols"])
    table = table.merge(known, on=["name", "rows", "cols"], how="left")
    table[["group", "kind"]] = table[["group", "kind"]].fillna("")
    table["family"] = ""
    if identity_path.is_file():
        own = _own_identity(identity_path).reindex(table["name"])
        for column in own:
            stated = own[column].fillna("").to_numpy()
            table[column] = table[column].where(stated == "", stated)
    table["family"] = [
        family or suitesparse.family_of(name, group)
        for name, group, family in table[["name", "group", "family"]].itertuples(index=False)
    ]
    return table[["name", "group", "kind", "family", "rows", "cols", "nnz"]]


def _own_identity(path: Path) -> pd.DataFrame:
    try:
        own = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise MatrixError(f"{path}: cannot be read as a table ({error})") from error
    if "name" not in own:
        raise MatrixError(f"{path}: has no column 'name'")
    if own["name"].duplicated().any():
        twice = own.loc[own["name"].duplicated(), "name"].iloc[0]
        raise MatrixError(f"{path}: {twice} is listed twice")
    columns = [column for column in ("group", "kind", "family") if column in own]
    return own.set_index("name")[columns]
