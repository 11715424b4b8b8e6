"""One evaluation: plan, check and time all schedules of a matrix."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Protocol

import numpy as np
import pandas as pd

from cognate.errors import PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.engine import Check, Engine, Task
from cognate.platforms.cpu.loops import LoopNest
from cognate.platforms.cpu.plans import Plan, WastefulError
from cognate.platforms.cpu.protocol import Policy, Surveyor, Sweep
from cognate.platforms.cpu.spaces import anchor_of
from cognate.schedules import Schedule

LEAST_AGREEMENT = 0.85
"""Kendall's τ of split halves below which a matrix is measured again, then flagged."""

ESTIMATE_REPEATS = 2
COLD_SECONDS = 0.002
"""A first run that is shorter than this says more about caches than about the schedule."""
DISTURBED_SHARE = 0.1
"""Nor does one that lost more than this share of its time to other processes."""


class Settings(Protocol):
    """What a survey needs to know of the platform."""

    processors: list[int]
    real_time: bool
    padding_limit: float
    seed: int
    policy: Policy

    @property
    def arena(self) -> Arena:
        """Memory for operands and plans."""


@dataclass
class Row:
    """What is known of one schedule."""

    schedule: Schedule
    status: str = "ok"
    reason: str = ""
    seconds: float = float("nan")
    visits: list[float] = field(default_factory=list)
    visit_rounds: list[int] = field(default_factory=list)
    dirty_visits: int = 0
    plan_seconds: float = float("nan")
    plan_bytes: int = 0
    anchor_seconds: float = float("nan")
    agreement: float = float("nan")

    def refuse(self, status: str, reason: str) -> None:
        """Mark as rejected or failed."""
        self.status, self.reason = status, reason


def survey(
    settings: Settings,
    matrix: SparseMatrix,
    operation: Operation,
    schedules: Sequence[Schedule],
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """One row a schedule, in the order given.

    Columns: ``seconds``, ``status``, ``reason``; ``visits`` (seconds of each) and
    ``visit_rounds``; ``dirty_visits``; ``plan_seconds`` and ``plan_bytes`` of the layout;
    ``anchor_seconds`` of the anchor in the same sweep; ``agreement`` (Kendall's τ of the
    sweep's split halves, NaN if unknown) and ``noisy`` (whether it stayed below 0.85).

    Plans of all schedules stay in memory while they are timed. If they do not fit, schedules
    are timed in batches, each with the anchor.
    """
    begin = monotonic()
    rows = [Row(schedule) for schedule in schedules]
    waiting, arena = list(rows), settings.arena
    try:
        with Engine(
            matrix,
            operation,
            settings.processors,
            arena,
            settings.padding_limit,
            settings.real_time,
        ) as engine:
            start = arena.mark()
            while waiting:
                arena.release(start)
                batch = _Batch(engine, settings, Row(anchor_of(operation)))
                waiting = batch.take(waiting, progress, len(rows))
                batch.time(begin)
    except MemoryError as error:
        for row in waiting:
            row.refuse("rejected", f"the operands do not fit in memory: {error}")
    return _frame(rows)


class _Batch:
    """Schedules whose plans are in memory together."""

    def __init__(self, engine: Engine, settings: Settings, anchor: Row):
        self.engine = engine
        self.settings = settings
        self.rows: list[Row] = []
        self.tasks: list[Task] = []
        self.estimates: list[float] = []
        self._plans: dict[tuple[object, ...], Plan | str] = {}
        self._add(anchor)
        if anchor.status != "ok":
            raise PlatformError(f"the anchor schedule {anchor.schedule}: {anchor.reason}")

    def take(
        self, waiting: list[Row], progress: Callable[[int, int], None] | None, total: int
    ) -> list[Row]:
        """Plan and check rows until memory is full; the rows that are left."""
        for position, row in enumerate(waiting):
            try:
                self._add(row)
            except MemoryError as error:
                if len(self.tasks) > 1:
                    return waiting[position:]
                row.refuse("rejected", f"the layout does not fit in memory: {error}")
            if progress:
                progress(total - len(waiting) + position + 1, total)
        return []

    def _add(self, row: Row) -> None:
        plan = self._plan(LoopNest.of(row.schedule))
        if isinstance(plan, str):
            row.refuse("rejected", plan)
            return
        row.plan_seconds, row.plan_bytes = plan.seconds, plan.stored_bytes
        task = self.engine.task(row.schedule, plan)
        checked = self.engine.check(task)
        if checked.wrong:
            row.refuse("failed", f"{checked.wrong} elements of the result are wrong")
            return
        self.rows.append(row)
        self.tasks.append(task)
        self.estimates.append(self._estimate(task, checked))

    def _estimate(self, task: Task, checked: Check) -> float:
        """Seconds of a run: that of the check, unless it was cold or disturbed."""
        seconds, lost = checked.seconds, checked.lost
        fastest = seconds
        for _ in range(ESTIMATE_REPEATS):
            if seconds > COLD_SECONDS and lost <= DISTURBED_SHARE * seconds:
                break
            seconds, lost = self.engine.measure(task)
            fastest = min(fastest, seconds)
        return fastest

    def _plan(self, nest: LoopNest) -> Plan | str:
        key = nest.plan_key
        if key not in self._plans:
            try:
                self._plans[key] = self.engine.planner.build(nest)
            except WastefulError as error:
                self._plans[key] = str(error)
        return self._plans[key]

    def visit(self, schedule: int, runs: int, seconds: float) -> tuple[float, float]:
        """See :class:`cognate.platforms.cpu.protocol.Bench`."""
        return self.engine.measure(self.tasks[schedule], runs, seconds)

    def probe(self) -> float:
        """See :class:`cognate.platforms.cpu.protocol.Bench`."""
        return self.engine.probe()

    def time(self, begin: float) -> None:
        """Time everything and fill the rows in; ``begin`` is when the budget began."""
        policy = self.settings.policy
        if policy.budget_seconds is not None:
            spent = monotonic() - begin
            policy = replace(policy, budget_seconds=max(0.0, policy.budget_seconds - spent))
        surveyor = Surveyor(self, self.estimates, 0, policy, self.settings.seed)
        sweep = surveyor.run()
        if sweep.agreement() < LEAST_AGREEMENT:
            sweep = surveyor.more(self.settings.policy.rounds)
        self._fill(sweep)

    def _fill(self, sweep: Sweep) -> None:
        values, agreement = sweep.seconds(), sweep.agreement()
        for position, row in enumerate(self.rows):
            row.seconds = float(values[position])
            row.visits = sweep.visits[position]
            row.visit_rounds = sweep.rounds[position]
            row.dirty_visits = sweep.dirty[position]
            row.anchor_seconds = float(values[0])
            row.agreement = agreement


def _frame(rows: list[Row]) -> pd.DataFrame:
    names = [name for name in Row.__dataclass_fields__ if name != "schedule"]
    table = pd.DataFrame({name: [getattr(row, name) for row in rows] for name in names})
    table["noisy"] = np.array([row.agreement < LEAST_AGREEMENT for row in rows], dtype=bool)
    return table
