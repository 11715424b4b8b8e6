"""Run torch on one thread.

Cost models are small: a second thread gains little on an idle machine and loses an order of
magnitude on a busy one, where it waits at every barrier. On one thread results do not depend on
the machine's size either, and models train side by side.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread within the block, also usable as a decorator."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
