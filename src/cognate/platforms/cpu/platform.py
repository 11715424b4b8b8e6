"""The CPU platform: schedules in, checked and repeated times out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from cognate.errors import NativeError, PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.native import find_compiler
from cognate.native.compiler import DEFAULT_FLAGS
from cognate.operations import Operation
from cognate.platforms import samples
from cognate.platforms.cpu import hardware
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.cores import granted_processors
from cognate.platforms.cpu.describe import describe_schedule
from cognate.platforms.cpu.library import FLAGS
from cognate.platforms.cpu.loops import LoopNest
from cognate.platforms.cpu.protocol import Policy
from cognate.platforms.cpu.spaces import SPACE_NAMES, anchor_of, space_of
from cognate.platforms.cpu.survey import survey
from cognate.platforms.platform import Machine, Platform, Progress
from cognate.provenance import processor_name
from cognate.schedules import Schedule, ScheduleSpace, Slots

UNBOUNDED = np.iinfo(np.int64).max


class CpuPlatform(Platform):
    """SpMM and SDDMM on the processor at hand, measured.

    What is timed: the kernel alone, all threads, from start to finish, operands and the plan
    (the matrix in the schedule's layout) in memory. Building the plan is reported beside it.
    """

    name: ClassVar[str] = "cpu"
    kind: ClassVar[Literal["measured", "simulated"]] = "measured"
    sample_cost: ClassVar[float] = 1.0
    specific_parameters: ClassVar[tuple[str, ...]] = (
        "order",
        "j",
        "format",
        "parallel",
        "chunk",
        "inner",
        "unroll",
        "prefetch",
        "store",
    )

    def __init__(
        self,
        space: str = "cpu-core",
        threads: int | None = None,
        rounds: int = Policy.rounds,
        most_rounds: int = Policy.most_rounds,
        cutoff: float = Policy.cutoff,
        budget_seconds: float | None = None,
        real_time: bool = False,
        padding_limit: float | None = None,
        memory_gib: float | None = None,
        seed: int = 0,
    ):
        """Settings of a study.

        ``space`` is one of :data:`SPACE_NAMES`. ``threads`` defaults to every processor that
        is granted. ``rounds``, ``most_rounds``, ``cutoff`` and ``budget_seconds`` (a matrix)
        are those of :class:`Policy`. ``real_time`` asks for a priority that starves the rest
        of the machine. A schedule whose layout lists more than ``padding_limit`` times the
        nonzeros is rejected (default 8, and 20 in ``cpu-waco``, as WACO does).
        ``memory_gib`` bounds operands and plans (default: half of what is free).
        """
        if space not in SPACE_NAMES:
            raise PlatformError(f"space {space!r} is unknown; choose from {', '.join(SPACE_NAMES)}")
        processors = granted_processors()
        if threads is not None and not 1 <= threads <= len(processors):
            raise PlatformError(
                f"threads={threads}: this process may use {len(processors)} processors"
            )
        if not 1 <= rounds <= most_rounds or cutoff <= 1:
            raise PlatformError("need 1 <= rounds <= most_rounds and cutoff > 1")
        self.space_name = space
        self.processors = processors[: threads or len(processors)]
        self.real_time = real_time
        self.padding_limit = padding_limit or (20.0 if space == "cpu-waco" else 8.0)
        self.memory_gib = memory_gib or hardware.free_memory_bytes() / 2 / 2**30
        self.seed = seed
        self.policy = Policy(
            rounds=rounds,
            most_rounds=most_rounds,
            cutoff=cutoff,
            budget_seconds=budget_seconds,
            idle_share=0.12 if real_time else 0.0,
        )

    @cached_property
    def arena(self) -> Arena:
        """Memory for operands and plans, kept from matrix to matrix."""
        return Arena(int(self.memory_gib * 2**30))

    def space(self, operation: Operation) -> ScheduleSpace:
        """The chosen space; its members depend on the operation's dense width."""
        return space_of(self.space_name, operation)

    def baselines(self, operation: Operation) -> Mapping[str, Schedule]:
        """``default`` (the ``taco`` schedule) and ``anchor`` (CSR with a register kernel)."""
        named = {"default": self.space(operation).default}
        if self.space_name != "cpu-waco":
            named["anchor"] = self.space(operation).schedule(**anchor_of(operation).as_dict())
        return named

    def slots(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Slots:
        """Tiles are i rows by k columns; slices count where a whole tile is walked for each."""
        nests = [LoopNest.of(schedule) for schedule in schedules]
        widths = [nest.width if nest.depth_of_slices < 3 else None for nest in nests]
        return Slots.clipped(
            matrix,
            operation.width,
            rows_per_tile=np.array([nest.rows for nest in nests], dtype=np.int64),
            cols_per_tile=np.array([nest.cols or UNBOUNDED for nest in nests], dtype=np.int64),
            width_per_slice=np.array([width or UNBOUNDED for width in widths], dtype=np.int64),
            columns_outer=np.array([nest.levels[0] == "k1" for nest in nests], dtype=np.bool_),
        )

    def machine(self) -> Machine:
        """Threads, caches as the kernel reports them, bandwidth and peak rate as measured."""
        return hardware.machine(self.processors)

    def evaluate(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        schedules: Sequence[Schedule],
        progress: Progress | None = None,
    ) -> pd.DataFrame:
        """Check and time every schedule; see :func:`cognate.platforms.cpu.survey.survey`."""
        reason = self.skip()
        if reason:
            raise PlatformError(f"platform cpu cannot run here: {reason}")
        if not schedules:
            return samples.empty()
        outcome = survey(self, matrix, operation, schedules, progress)
        table = self.space(operation).table(schedules)
        table.insert(0, "matrix", matrix.name)
        return pd.concat([table, outcome], axis=1)

    def explain(self, schedule: Schedule, operation: Operation) -> str:
        """The schedule's loop nest in pseudo-C."""
        return describe_schedule(schedule, operation)

    def skip(self) -> str | None:
        """Why nothing can be measured here: no C compiler."""
        try:
            find_compiler()
        except NativeError as error:
            return str(error)
        return None

    def describe(self) -> dict[str, Any]:
        """Processor, memory, compiler, threads and the measuring protocol."""
        compiler = None if self.skip() else find_compiler()
        return {
            "processor": processor_name(),
            "processors": list(self.processors),
            "threads": len(self.processors),
            "cache_bytes": hardware.cache_bytes(),
            "huge_pages": hardware.huge_pages(),
            "real_time": self.real_time,
            "compiler": compiler and f"{compiler.path}: {compiler.version}",
            "flags": [*DEFAULT_FLAGS, *FLAGS],
            "space": self.space_name,
            "padding_limit": self.padding_limit,
            "policy": asdict(self.policy),
        }
