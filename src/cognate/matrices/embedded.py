"""The embedded corpus: about a hundred generated matrices, no download.

Shapes and entry counts of all of them are stored beside the code, so a study can be planned
without building any.
"""

import difflib
from functools import cache
from importlib import resources

import numpy as np
import pandas as pd
import scipy.sparse

from cognate.errors import MatrixError
from cognate.matrices.generators import blocks, formulas, graphs, meshes, programs
from cognate.matrices.generators.recipe import Recipe, named_random
from cognate.matrices.matrix import SparseMatrix

COLUMNS = [
    "name", "group", "kind", "family", "rows", "cols", "nnz", "pattern_hash", "traits", "origin",
]  # fmt: skip
"""``traits`` are words of ``skewed``, ``blocked``, ``shuffled``, joined by blanks."""


@cache
def _recipes() -> dict[str, Recipe]:
    modules = (formulas, meshes, graphs, programs, blocks)
    return {recipe.name: recipe for module in modules for recipe in module.RECIPES}


def names() -> list[str]:
    """Names of all embedded matrices, in the catalogue's order."""
    return list(_recipes())


def build(name: str) -> SparseMatrix:
    """Generate one matrix; equal on every machine. :class:`MatrixError` if there is none."""
    recipe = _recipes().get(name)
    if recipe is None:
        near = difflib.get_close_matches(name, names(), 3)
        hint = f"did you mean {' or '.join(near)}?" if near else "see 'cognate matrices list'"
        raise MatrixError(f"there is no embedded matrix {name!r}; {hint}")
    csr = scipy.sparse.csr_array(recipe.make(named_random(name)))
    if not recipe.keep_values:
        random = named_random(f"values of {name}")
        csr.data = 2 * random.random(csr.nnz, dtype=np.float32) - 1
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
    for recipe in _recipes().values():
        matrix = build(recipe.name)
        traits = " ".join(sorted(recipe.traits))
        rows.append(
            (recipe.name, recipe.group, recipe.kind, recipe.family, matrix.rows, matrix.cols,
             matrix.nnz, matrix.pattern_hash, traits, recipe.origin)
        )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)
