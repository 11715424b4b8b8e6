"""Split matrices into training, validation and test without tearing a family apart."""

import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Literal

import numpy as np
import pandas as pd

from cognate.errors import MatrixError

FRACTIONS = {"train": 0.50, "validation": 0.15, "test": 0.35}
_WINDOW = 6
"""Families of similar size among which chance decides."""


def split(
    table: pd.DataFrame,
    fractions: Mapping[str, float] = FRACTIONS,
    by: Literal["family", "group"] = "family",
    seed: int = 0,
) -> pd.Series:
    """A part for each row of ``table`` (columns ``name``, ``nnz`` and ``by``), index as there.

    All matrices of a family (or group) go to the same part. Families are taken in order of
    their median size, shuffled within windows, and each goes to the part that lacks most
    matrices, so every part spans the range of sizes and holds about its fraction.

    Raises :class:`MatrixError` if there are fewer families than parts.
    """
    parts = [part for part, fraction in fractions.items() if fraction > 0]
    total = sum(fractions[part] for part in parts)
    ordered = _ordered(table, by, seed)
    if len(ordered) < len(parts):
        raise MatrixError(
            f"{len(ordered)} {by} values cannot fill {len(parts)} parts; choose more matrices"
        )
    filled = dict.fromkeys(parts, 0)
    chosen: dict[str, str] = {}
    placed = 0
    for position, (name, count) in enumerate(ordered):
        empty = [part for part in parts if not filled[part]]
        must_fill = len(ordered) - position <= len(empty)
        lacking = {
            part: fractions[part] / total * (placed + count) - filled[part]
            for part in (empty if must_fill else parts)
        }
        chosen[name] = max(lacking, key=lambda part: lacking[part])
        filled[chosen[name]] += count
        placed += count
    return table[by].map(chosen).rename("split")


def _ordered(table: pd.DataFrame, by: str, seed: int) -> list[tuple[str, int]]:
    """Families with their number of matrices, by size, in random order within windows."""
    summary = table.groupby(by)["nnz"].agg(["median", "size"])
    summary["chance"] = [
        hashlib.sha256(f"{seed}/{name}".encode()).hexdigest() for name in summary.index
    ]
    summary = summary.sort_values(["median", "chance"])
    summary["window"] = np.arange(len(summary)) // _WINDOW
    summary = summary.sort_values(["window", "chance"])
    return [(str(name), int(count)) for name, count in summary["size"].items()]


def embedded_split() -> pd.Series:
    """The stored split of the embedded corpus, by matrix name."""
    table = resources.files("cognate.matrices") / "data" / "split_embedded.csv"
    with table.open(encoding="utf-8") as stream:
        stored = pd.read_csv(stream, keep_default_na=False)
    return stored.set_index("name")["split"]
