import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cognate.learning.baselines import FixedRanker
from cognate.matrices import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms import get_platform

WIDTH = 32


@pytest.fixture(scope="session")
def spade():
    return get_platform("spade", threads=1)


@pytest.fixture(scope="session")
def spmm():
    return get_operation("spmm", WIDTH)


@pytest.fixture(scope="session")
def matrices():
    """Six patterns of different shapes and density, by name."""
    built = {}
    for i, (rows, cols, density) in enumerate(
        [(400, 300, 0.02), (900, 100, 0.05), (100, 2000, 0.02), (700, 700, 0.01), (50, 60, 0.3)]
    ):
        random = np.random.default_rng(i)
        array = scipy.sparse.random_array((rows, cols), density=density, rng=random)
        built[f"m{i}"] = SparseMatrix.from_scipy(array, f"m{i}")
    return built


@pytest.fixture(scope="session")
def samples(spade, spmm, matrices):
    """All schedules of every matrix, simulated."""
    space = spade.space(spmm)
    tables = []
    for name, matrix in matrices.items():
        schedules = list(space)
        table = spade.evaluate(matrix, spmm, schedules)
        parameters = space.table(schedules).drop(columns="schedule_id")
        tables.append(pd.concat([table, parameters], axis=1).assign(matrix=name))
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="session")
def ranker(spade, spmm):
    """Known scores: the schedule's id over a hundred; the default's is what its id gives."""
    return FixedRanker(spade, spmm, {s.schedule_id: s.schedule_id / 100 for s in spade.space(spmm)})
