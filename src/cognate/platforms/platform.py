"""The contract of a platform and the registry that finds one by name."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar, Literal

import pandas as pd

from cognate.errors import PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.schedules import Schedule, ScheduleSpace, Slots

ENTRY_POINT_GROUP = "cognate.platforms"

Progress = Callable[[int, int], None]
"""Called as ``progress(done, total)`` while a long evaluation goes on."""


@dataclass(frozen=True)
class Machine:
    """The balance points of a platform's hardware, as far as models may use them."""

    workers: int
    """Processing elements or threads that share the work."""
    cache_bytes: tuple[int, ...]
    """Capacity that one worker sees at each level, nearest first; shared levels in full."""
    bytes_per_second: float
    """Sustained bandwidth of main memory, all workers together."""
    flops_per_second: float
    """Peak rate, all workers together."""


class Platform(ABC):
    """Runs an operation on a matrix under given schedules and says how long each takes.

    Subclasses take their settings as keyword arguments, which the study's configuration
    passes through, and refuse bad ones with :class:`cognate.errors.PlatformError`.
    """

    name: ClassVar[str]
    kind: ClassVar[Literal["measured", "simulated"]]
    sample_cost: ClassVar[float]
    """Relative cost of one sample, the β of the data-collection cost (CPU = 1)."""
    specific_parameters: ClassVar[tuple[str, ...]]
    """Parameters that :meth:`slots` does not express; only the latent encoder sees them."""

    @abstractmethod
    def space(self, operation: Operation) -> ScheduleSpace:
        """The schedules of this platform for this operation."""

    @abstractmethod
    def slots(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Slots:
        """The comparable slots of the schedules on this matrix."""

    def walked(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Sequence[SparseMatrix]:
        """The pattern that each schedule really walks: another one where it reorders ``matrix``.

        Equal patterns are one object, so that whoever looks at them does so once.
        """
        return [matrix] * len(schedules)

    @abstractmethod
    def machine(self) -> Machine:
        """The hardware's balance points."""

    @abstractmethod
    def evaluate(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        schedules: Sequence[Schedule],
        progress: Progress | None = None,
    ) -> pd.DataFrame:
        """Run the operation under each schedule.

        Returns one row a schedule, in the order given, with at least ``schedule_id``,
        ``seconds`` (NaN unless ok), ``status`` (``ok``, ``rejected`` or ``failed``) and ``reason``
        (empty when ok); further columns are the platform's own. Never drops a schedule and
        never raises for one bad schedule.
        """

    def baselines(self, operation: Operation) -> Mapping[str, Schedule]:
        """Named schedules that a study always samples and reports; ``default`` is one."""
        return {"default": self.space(operation).default}

    def answers_for(self, operation: Operation) -> tuple[str, ...] | None:
        """Names of the only matrices that :meth:`evaluate` has times of; None for any matrix."""
        return None

    def explain(self, schedule: Schedule, operation: Operation) -> str:
        """What a schedule means, readable: by default each parameter's value and meaning."""
        parameters = self.space(operation).parameters
        return "\n".join(
            f"{p.name} = {schedule[p.name]}   {p.meaning}".rstrip() for p in parameters
        )

    def report(
        self, matrix: SparseMatrix, operation: Operation, schedule: Schedule, row: Mapping[str, Any]
    ) -> str:
        """What came of one schedule, readable; ``row`` is its row of :meth:`evaluate`."""
        shown = {"schedule": str(schedule), **row}
        return "\n".join(
            f"{name:<28}{value:.6g}" if isinstance(value, float) else f"{name:<28}{value}"
            for name, value in shown.items()
        )

    def skip(self) -> str | None:
        """Why this platform cannot run here, or None."""
        return None

    def describe(self) -> dict[str, Any]:
        """Everything about hardware and software that a sample depends on, JSON-ready."""
        return {}


def platform_names() -> list[str]:
    """Names of all installed platforms, ours and third parties'."""
    return sorted(_entry_points())


def get_platform(name: str, **settings: Any) -> Platform:
    """An instance of the platform registered as ``name``, with these settings.

    A ``name`` that ends in ``.yaml`` or ``.yml`` is a file that describes a platform. Raises
    :class:`PlatformError` if there is none, or if it does not accept the settings.
    """
    if name.endswith((".yaml", ".yml")):
        from cognate.platforms.external import open_external

        return open_external(name, **settings)
    found = _entry_points()
    if name not in found:
        raise PlatformError(f"platform {name!r} is unknown; installed: {', '.join(sorted(found))}")
    try:
        platform_class = found[name].load()
    except (ImportError, AttributeError) as error:
        raise PlatformError(f"platform {name!r} cannot be imported: {error}") from error
    try:
        platform = platform_class(**settings)
    except TypeError as error:
        raise PlatformError(f"platform {name!r}: {error}") from error
    if not isinstance(platform, Platform):
        raise PlatformError(f"platform {name!r}: {platform_class} is not a Platform")
    return platform


def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
