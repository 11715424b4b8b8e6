import numpy as np
import pytest

from cognate.errors import ModelError
from cognate.learning.profile import pattern_statistics
from cognate.learning.shots import STRATEGIES, choose_shots
from cognate.matrices.matrix import SparseMatrix


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fewer_shots_are_the_first_of_more(
    strategy: str, test_matrices: dict[str, SparseMatrix]
) -> None:
    names = list(test_matrices)
    for seed in range(5):
        six = choose_shots(strategy, names, test_matrices, 6, seed)
        assert len(set(six)) == 6
        assert choose_shots(strategy, names[::-1], test_matrices, 4, seed) == six[:4]
    drawn = {choose_shots(strategy, names, test_matrices, 2, seed) for seed in range(20)}
    assert len(drawn) > 4


def test_diverse_shots_lie_farther_apart(test_matrices: dict[str, SparseMatrix]) -> None:
    names = sorted(test_matrices)
    statistics = np.stack([pattern_statistics(test_matrices[n]) for n in names])
    scaled = (statistics - statistics.mean(axis=0)) / (statistics.std(axis=0) + 1e-6)

    def nearest_pair(strategy: str) -> float:
        least = []
        for seed in range(10):
            chosen = choose_shots(strategy, names, test_matrices, 3, seed)
            places = scaled[[names.index(n) for n in chosen]]
            gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
            least.append(gaps[np.triu_indices(3, 1)].min())
        return float(np.mean(least))

    assert nearest_pair("diverse") > 1.1 * nearest_pair("random")


def test_mistakes_are_refused(test_matrices: dict[str, SparseMatrix]) -> None:
    with pytest.raises(ModelError, match="choose from random, diverse"):
        choose_shots("best", list(test_matrices), test_matrices, 2, 0)
    with pytest.raises(ModelError, match="9 shots are more than the 8"):
        choose_shots("random", list(test_matrices), test_matrices, 9, 0)
