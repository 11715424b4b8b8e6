"""A pattern as a short vector, for models without a pattern encoder."""

import numpy as np

from cognate.learning.encoding import Floats
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.statistics import statistics

_COUNTS = (
    "rows", "cols", "nnz", "row_mean", "row_std", "row_max", "empty_rows", "col_mean", "col_std",
    "col_max", "empty_cols", "bandwidth", "panel_reuse",
)  # fmt: skip
_SHARES = (
    "row_gini", "col_gini", "diagonal_distance", "row_span", "adjacent_share", "row_overlap",
    "block_fill", "pattern_symmetry", "diagonal_share",
)  # fmt: skip
PATTERN_NAMES = (*_COUNTS, *_SHARES)


def pattern_statistics(matrix: SparseMatrix) -> Floats:
    """Shape (len(PATTERN_NAMES),): counts as log2(1 + count), then shares as they are."""
    found = statistics(matrix)
    counts = np.log2(1 + np.array([found[name] for name in _COUNTS]))
    shares = [found[name] for name in _SHARES]
    return np.concatenate([counts, shares]).astype(np.float32)
