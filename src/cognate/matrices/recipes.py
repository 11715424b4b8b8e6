"""The embedded corpus as data: which generator, with which arguments, makes which matrix."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from typing import Any

import numpy as np
import scipy.sparse
import yaml

from cognate.matrices.generators import blocks, formulas, graphs, meshes, programs
from cognate.matrices.generators.tools import Random, named_random, permutation

_MODULES = {m.__name__.rsplit(".", 1)[1]: m for m in (blocks, formulas, graphs, meshes, programs)}


@dataclass(frozen=True)
class Recipe:
    """A named matrix and the function that builds it."""

    name: str
    group: str
    kind: str
    """Problem domain, in the words of the SuiteSparse collection."""
    family: str
    """Shared by near copies: other sizes and orders of the same thing."""
    origin: str
    """Where the pattern comes from, in one line."""
    traits: tuple[str, ...]
    """Of ``skewed``, ``blocked``, ``shuffled``: what the pattern stands for in a split."""
    keep_values: bool
    """Whether the generator's values are part of the formula; otherwise they are random."""
    make: Callable[[], Any]
    """Returns a scipy CSR array."""


@cache
def recipes() -> dict[str, Recipe]:
    """All recipes by name, in the order of ``data/embedded.yaml``."""
    stored = (resources.files("cognate.matrices") / "data" / "embedded.yaml").read_text("utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return {
        recipe.name: recipe
        for entry in yaml.load(stored, Loader=loader)
        for recipe in _recipe_and_copies(entry)
    }


def _recipe_and_copies(entry: dict[str, Any]) -> Iterator[Recipe]:
    module, function = entry["make"].split(".")
    make = partial(getattr(_MODULES[module], function), **entry["with"])
    if "random" in inspect.signature(make).parameters:
        make = partial(_with_random, make, entry["name"])
    recipe = Recipe(
        name=entry["name"],
        group=entry.get("group", "embedded"),
        kind=entry["kind"],
        family=entry["family"],
        origin=entry["origin"],
        traits=tuple(entry.get("traits", ())),
        keep_values=entry.get("values") == "formula",
        make=make,
    )
    yield recipe
    for order in entry.get("copies", ()):
        yield _copy(recipe, order)


def _with_random(make: Callable[..., Any], name: str) -> Any:
    return make(random=named_random(name))


def _copy(base: Recipe, order: str) -> Recipe:
    reordered, words = _ORDERS[order]
    name = f"{base.name}_{order}"
    shuffled = reordered is not _by_degree
    return replace(
        base,
        name=name,
        group="embedded",
        origin=f"{base.name} with {words}",
        # A shuffle tears blocks apart.
        traits=(*(t for t in base.traits if t != "blocked"), "shuffled")
        if shuffled
        else base.traits,
        make=lambda: reordered(base.make(), named_random(name)),
    )


def _shuffled(matrix: Any, random: Random) -> Any:
    rows = permutation(matrix.shape[0], random)
    square = matrix.shape[0] == matrix.shape[1]
    return matrix[rows][:, rows if square else permutation(matrix.shape[1], random)]


def _rows_shuffled(matrix: Any, random: Random) -> Any:
    return matrix[permutation(matrix.shape[0], random)]


def _cols_shuffled(matrix: Any, random: Random) -> Any:
    return matrix[:, permutation(matrix.shape[1], random)]


def _by_degree(matrix: Any, random: Random) -> Any:
    order = np.argsort(-np.diff(scipy.sparse.csr_array(matrix).indptr), kind="stable")
    return matrix[order][:, order]


_ORDERS: dict[str, tuple[Callable[[Any, Random], Any], str]] = {
    "shuffled": (_shuffled, "rows and columns in random order"),
    "rows_shuffled": (_rows_shuffled, "rows in random order"),
    "cols_shuffled": (_cols_shuffled, "columns in random order"),
    "by_degree": (_by_degree, "rows and columns by falling row count"),
}
