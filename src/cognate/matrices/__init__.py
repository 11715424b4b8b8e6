"""Where sparsity patterns come from and what they look like.

May import numpy, scipy and :mod:`cognate.errors`; knows nothing of platforms or learning.
"""

from cognate.matrices.matrix import SparseMatrix

__all__ = ["SparseMatrix"]
