"""Choose the target matrices to sample."""

from collections.abc import Mapping, Sequence

import numpy as np

from cognate.errors import ModelError
from cognate.matrices.matrix import SparseMatrix


def choose_shots(
    strategy: str,
    names: Sequence[str],
    matrices: Mapping[str, SparseMatrix],
    count: int,
    seed: int,
) -> tuple[str, ...]:
    """``count`` of the named matrices; for one seed, fewer shots are the first of more.

    ``random`` draws them; ``matrices`` is not looked at then.
    """
    if strategy != "random":
        raise ModelError(f"shot selection {strategy!r} is unknown; choose random")
    order = np.random.default_rng([seed, 5]).permutation(len(names))
    return tuple(sorted(names)[i] for i in order[:count])
