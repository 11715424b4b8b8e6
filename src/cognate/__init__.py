"""Transfer-learned cost models that pick the fastest schedule for a sparse kernel.

This package holds plain data and errors at its top, and one function: :func:`recommend`. The
rooms below it depend on one another in this order only: ``matrices`` and ``operations``;
``schedules``; ``platforms`` (with ``native``); ``learning``; ``evaluation``; ``figures``; ``cli``.
Importing the package or ``cognate.platforms`` never imports torch.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cognate.recommendation import recommend as recommend

__version__ = "0.1.0"
__all__ = ["__version__", "recommend"]


def __getattr__(name: str) -> Any:
    """Import :func:`recommend` when it is first asked for."""
    if name != "recommend":
        raise AttributeError(f"module 'cognate' has no attribute {name!r}")
    from cognate.recommendation import recommend

    return recommend
