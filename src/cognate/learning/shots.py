"""Choose the target matrices to sample."""

from collections.abc import Mapping, Sequence

import numpy as np

from cognate.errors import ModelError
from cognate.learning.profile import pattern_statistics
from cognate.matrices.matrix import SparseMatrix

STRATEGIES = ("random", "diverse")


def choose_shots(
    strategy: str,
    names: Sequence[str],
    matrices: Mapping[str, SparseMatrix],
    count: int,
    seed: int,
) -> tuple[str, ...]:
    """``count`` of the named matrices; for one seed, fewer shots are the first of more.

    ``random`` draws them; ``matrices`` is not looked at then. ``diverse`` draws the first and
    then always takes the matrix whose statistics are farthest from those of the ones it has
    (the farthest-first traversal of Gonzalez, 1985), so that a few shots span the patterns.
    """
    require_strategy(strategy)
    if count > len(names):
        raise ModelError(f"{count} shots are more than the {len(names)} matrices to draw from")
    ordered = sorted(names)
    random = np.random.default_rng([seed, 5])
    if strategy == "random":
        return tuple(ordered[i] for i in random.permutation(len(ordered))[:count])
    statistics = np.stack([pattern_statistics(matrices[name]) for name in ordered])
    scaled = (statistics - statistics.mean(axis=0)) / (statistics.std(axis=0) + 1e-6)
    chosen = [int(random.integers(len(ordered)))][:count]
    nearest = np.full(len(ordered), np.inf)
    while len(chosen) < count:
        distance = ((scaled - scaled[chosen[-1]]) ** 2).sum(axis=1)
        nearest = np.minimum(nearest, distance)
        nearest[chosen] = -1
        chosen.append(int(np.argmax(nearest)))
    return tuple(ordered[i] for i in chosen)


def require_strategy(name: str) -> str:
    """``name`` if it is one of :data:`STRATEGIES`; else :class:`ModelError`."""
    if name not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise ModelError(f"shot selection {name!r} is unknown; choose from {known}")
    return name
