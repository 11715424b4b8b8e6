"""Run what trains and ranks on one thread.

Cost models are small: a second thread gains little on an idle machine and loses an order of
magnitude on a busy one, where it waits at every barrier. On one thread results do not depend on
the machine's size either, and models train side by side.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra, and torch where it is loaded, to one thread within the block.

    Also usable as a decorator.
    """
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 1
    with _controller().limit(limits=1, user_api="blas"):
        if torch:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            if torch:
                torch.set_num_threads(before)


@cache
def _controller() -> ThreadpoolController:
    """The libraries loaded at first use: numpy's and scipy's are by then."""
    return ThreadpoolController()
