import numpy as np
import pytest
import scipy.sparse

from cognate.matrices import SparseMatrix


@pytest.fixture(scope="session")
def scattered():
    random = np.random.default_rng(0)
    return SparseMatrix.from_scipy(
        scipy.sparse.random_array((300, 500), density=0.01, rng=random), "scattered"
    )
