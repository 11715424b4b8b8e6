"""The embedded corpus: about a hundred generated matrices, no download.

Shapes and entry counts of all of them are stored beside the code, so a study can be planned
without building any.
"""

import difflib
from importlib import resources

import numpy as np
import pandas as pd
import scipy.sparse

from cognate.errors import MatrixError
from cognate.matrices.generators.tools import named_random
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.recipes import recipes

COLUMNS = [
    "name", "group", "kind", "family", "rows", "cols", "nnz", "pattern_hash", "traits", "origin",
]  # fmt: skip
"""``traits`` are words of ``skewed``, ``blocked``, ``shuffled``, joined by blanks."""


def names() -> list[str]:
    """Names of all embedded matrices, in the catalogue's order."""
    return list(recipes())


def build(name: str) -> SparseMatrix:
    """Generate one matrix; equal on every machine. :class:`MatrixError` if there is none."""
    recipe = recipes().get(name)
    if recipe is None:
        near = difflib.get_close_matches(name, names(), 3)
        hint = f"did you mean {' or '.join(near)}?" if near else "see 'cognate matrices list'"
        raise MatrixError(f"there is no embedded matrix {name!r}; {hint}")
    csr = scipy.sparse.csr_array(recipe.make())
    if not recipe.keep_values:
        random = named_random(f"values of {name}")
        csr.data = 2 * random.random(csr.nnz, dtype=np.float32) - 1
        csr.data[csr.data == 0] = 1
    return SparseMatrix.from_scipy(
        csr, name, group=recipe.group, kind=recipe.kind, family=recipe.family
    )


def catalogue() -> pd.DataFrame:
    """One row a matrix with the columns :data:`COLUMNS`; builds nothing."""
    table = resources.files("cognate.matrices") / "data" / "embedded.csv"
    with table.open(encoding="utf-8") as stream:
        return pd.read_csv(stream, keep_default_na=False)


def describe_all() -> pd.DataFrame:
    """The catalogue made anew by building every matrix (about a minute)."""
    rows = []
    for recipe in recipes().values():
        matrix = build(recipe.name)
        traits = " ".join(sorted(recipe.traits))
        rows.append(
            (recipe.name, recipe.group, recipe.kind, recipe.family, matrix.rows, matrix.cols,
             matrix.nnz, matrix.pattern_hash, traits, recipe.origin)
        )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)
