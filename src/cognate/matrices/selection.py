"""Choose matrices from a table by rules that give the same choice everywhere."""

import difflib
import hashlib
from collections.abc import Sequence

import pandas as pd

from cognate.errors import MatrixError

Bounds = tuple[int | None, int | None]
"""Least and greatest value, both included; None is no bound."""


def select(
    table: pd.DataFrame,
    *,
    names: Sequence[str] = (),
    kinds: Sequence[str] = (),
    groups: Sequence[str] = (),
    families: Sequence[str] = (),
    nnz: Bounds = (None, None),
    rows: Bounds = (None, None),
    count: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """The rows of ``table`` that pass every rule, in the table's order.

    An empty list is no rule. When more than ``count`` pass, as many are drawn by ``seed``,
    one of each family before a second of any; a matrix's rank in the draw depends on its
    name and the seed only, so the draw hardly changes when the table grows.

    Raises :class:`MatrixError` for a name, kind, group or family that the table does not
    hold (with the nearest ones), and if nothing passes.
    """
    kept = pd.Series(True, index=table.index)
    rules = {"name": names, "kind": kinds, "group": groups, "family": families}
    for column, wanted in rules.items():
        if wanted:
            _check_known(column, wanted, table[column])
            kept &= table[column].isin(list(wanted))
    for column, (least, greatest) in {"nnz": nnz, "rows": rows}.items():
        if least is not None:
            kept &= table[column] >= least
        if greatest is not None:
            kept &= table[column] <= greatest
    if not kept.any():
        raise MatrixError(f"no matrix passes the selection ({len(table)} were considered)")
    chosen = table[kept]
    if count is not None and len(chosen) > count:
        chosen = chosen.loc[sorted(_draw(chosen, count, seed))]
    return chosen.reset_index(drop=True)


def _draw(table: pd.DataFrame, count: int, seed: int) -> list[int]:
    ranks = pd.DataFrame(
        {
            "family": table["family"],
            "rank": [
                hashlib.sha256(f"{seed}/{name}".encode()).hexdigest() for name in table["name"]
            ],
        }
    ).sort_values("rank")
    ranks["round"] = ranks.groupby("family").cumcount()
    ranked = ranks.sort_values(["round", "rank"], kind="stable")
    return [int(position) for position in ranked.index[:count]]


def _check_known(column: str, wanted: Sequence[str], known: pd.Series) -> None:
    there = set(known)
    for value in wanted:
        if value not in there:
            raise MatrixError(unknown_message(column, value, sorted(there)))


def unknown_message(what: str, value: str, known: Sequence[str]) -> str:
    """Says that ``value`` is unknown and which values are nearest to it."""
    near = difflib.get_close_matches(value, known, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {len(known)} others"
    return f"{what} {value!r} is not in this source of matrices; {hint}"
