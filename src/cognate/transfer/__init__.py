"""Learn somebody's accelerator from a handful of samples.

:func:`make_plan` says which matrices to sample, :func:`transfer` collects the samples, learns from
them, judges the result on held-out matrices and writes it down. May import all of learning,
platforms and matrices.
"""

from cognate.transfer.learn import METHOD, Outcome, transfer
from cognate.transfer.plan import Plan, make_plan

__all__ = ["METHOD", "Outcome", "Plan", "make_plan", "transfer"]
