"""The SuiteSparse Matrix Collection: an index snapshot kept here."""

import re
from functools import cache
from importlib import resources

import pandas as pd

_DATA = resources.files("cognate.matrices") / "data"


def index() -> pd.DataFrame:
    """The snapshot of the collection's index: one row a matrix, in the collection's order.

    Columns: name, group, kind, family, rows, cols, nnz (stored entries, explicit zeros
    included), is_real.
    """
    return _index().copy()


@cache
def _index() -> pd.DataFrame:
    with (_DATA / "suitesparse_index.csv.gz").open("rb") as stream:
        table = pd.read_csv(stream, compression="gzip", keep_default_na=False)
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
