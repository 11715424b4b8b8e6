"""Where sparsity patterns come from and what they look like.

May import numpy, scipy, pandas, :mod:`cognate.errors` and :mod:`cognate.files`; the network is
reached through pooch, when a file is fetched. Knows nothing of platforms or learning.
"""

from cognate.matrices.matrix import SparseMatrix

__all__ = ["SparseMatrix"]
