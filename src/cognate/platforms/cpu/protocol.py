"""When to time which schedule, and what the times mean.

Knows nothing of kernels: a :class:`Bench` runs schedule number i and says how long it took.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Clock = Callable[[], float]


class Bench(Protocol):
    """What can be timed."""

    def visit(self, schedule: int, runs: int, seconds: float) -> tuple[float, float]:
        """Fastest of at least ``runs`` runs that fill ``seconds``; seconds lost a run."""

    def probe(self) -> float:
        """Seconds of a fixed piece of work: grows when the machine is slow."""


@dataclass(frozen=True)
class Policy:
    """How the schedules of one matrix are timed."""

    rounds: int = 3
    """Visits that every schedule gets unless it is hopeless."""
    most_rounds: int = 6
    """Visits that a schedule gets while it is unsettled."""
    cutoff: float = 4.0
    """A schedule this many times slower than the best is hopeless: no further visits."""
    settled_spread: float = 0.03
    """A schedule is settled when its lower quartile and median differ by less than this."""
    near_best: float = 1.3
    """Schedules within this factor of the best are visited until the last round."""
    visit_runs: int = 3
    visit_seconds: float = 0.0008
    """A visit runs ``visit_runs`` times and at least this long; slow kernels run once."""
    slow_seconds: float = 0.004
    lost_share: float = 0.02
    lost_seconds: float = 20e-6
    """A visit is dirty when its threads were kept from running for more than both."""
    probe_factor: float = 1.25
    """... or when the probe took this many times its fastest."""
    dirty_repeats: int = 2
    """A dirty visit is repeated this often ..."""
    repeat_share: float = 0.25
    """... unless repeats are already this share of all visits: then the machine is not quiet,
    and further rounds say more than further repeats."""
    idle_share: float = 0.0
    """Sleep this share of the measuring time (for real-time priority)."""
    budget_seconds: float | None = None
    """Of planning, checking and timing together. No visit begins beyond this; a schedule that
    had none by then keeps the time of its checked run."""


@dataclass
class Sweep:
    """Visits of all schedules of one matrix."""

    visits: list[list[float]]
    """By schedule: seconds of each visit, in the order of :attr:`rounds`."""
    rounds: list[list[int]]
    """By schedule: the round of each visit."""
    dirty: list[int]
    """By schedule: visits that stayed dirty after all repeats."""
    probes: list[float] = field(default_factory=list)

    def seconds(self) -> Floats:
        """One time a schedule: the least of up to 5 visits, the lower quartile of more."""
        return np.array([value_of(visits) for visits in self.visits])

    def agreement(self) -> float:
        """Kendall's τ between odd and even rounds, over schedules visited in both.

        NaN when there are too few of those to say.
        """
        halves = [
            [
                min(v for v, r in zip(visits, rounds, strict=True) if r % 2 == parity)
                for parity in (0, 1)
            ]
            for visits, rounds in zip(self.visits, self.rounds, strict=True)
            if len({r % 2 for r in rounds}) == 2
        ]
        if len(halves) < 2:
            return float("nan")
        even, odd = np.array(halves).T
        return kendall(even, odd)


def value_of(visits: list[float]) -> float:
    """The time that stands for these visits."""
    return min(visits) if len(visits) <= 5 else float(np.quantile(visits, 0.25))


def kendall(first: Floats, second: Floats) -> float:
    """Kendall's τ-b of two rankings (Kendall 1945), by comparing all pairs."""
    a = np.sign(first[:, None] - first[None, :])
    b = np.sign(second[:, None] - second[None, :])
    norm = np.sqrt(np.sum(a * a) * np.sum(b * b))
    return float(np.sum(a * b) / norm) if norm else 1.0


class Surveyor:
    """Visits all schedules of a matrix in shuffled rounds, the anchor in every one."""

    def __init__(
        self,
        bench: Bench,
        estimates: list[float],
        anchor: int,
        policy: Policy,
        seed: int,
        clock: Clock = monotonic,
    ):
        self.bench = bench
        self.anchor = anchor
        self.policy = policy
        self._estimates = estimates  # one run of each, seconds
        self._random = np.random.default_rng(seed)
        self._clock = clock
        self._begin = clock()
        self._floor = bench.probe()
        count = len(estimates)
        self.sweep = Sweep([[] for _ in range(count)], [[] for _ in range(count)], [0] * count)
        self._trusted = [False] * count
        self._made = self._repeated = 0
        self._round = 0

    def run(self, progress: Callable[[int], None] | None = None) -> Sweep:
        """Rounds until every schedule is settled or hopeless, or time is up."""
        best = min(self._estimates)
        limit = 2 * self.policy.cutoff * best
        active = [i for i, estimate in enumerate(self._estimates) if estimate <= limit]
        for schedule in sorted(set(range(len(self._estimates))) - set(active)):
            self._trusted[schedule] = True
            self._record(schedule, self._estimates[schedule])
        for _ in range(self.policy.most_rounds):
            self._visit_all(active)
            if progress:
                progress(self._round)
            active = self._unsettled(active)
            if active == [self.anchor] or not active or self._late():
                break
        return self.sweep

    def more(self, rounds: int) -> Sweep:
        """Further rounds over everything that is not hopeless."""
        for _ in range(rounds):
            self._visit_all(self._hopeful(range(len(self._estimates))))
            if self._late():
                break
        return self.sweep

    def _visit_all(self, active: list[int]) -> None:
        chosen = sorted({*active, self.anchor})
        for schedule in map(int, self._random.permutation(chosen)):
            if not self._late():
                self._visit(schedule)
            elif not self.sweep.visits[schedule]:
                self._record(schedule, self._estimates[schedule])
        self._round += 1

    def _visit(self, schedule: int) -> None:
        policy = self.policy
        known = self.sweep.visits[schedule]
        slow = min([*known, self._estimates[schedule]]) > policy.slow_seconds
        runs, fill = (1, 0.0) if slow else (policy.visit_runs, policy.visit_seconds)
        fastest, clean = float("inf"), False
        for repeat in range(1 + policy.dirty_repeats):
            if repeat and self._repeated >= policy.repeat_share * self._made + 1:
                break
            self._repeated += repeat > 0
            seconds, lost = self.bench.visit(schedule, runs, fill)
            probe = self.bench.probe()
            self.sweep.probes.append(probe)
            self._floor = min(self._floor, probe)
            if policy.idle_share:
                sleep(policy.idle_share * max(runs * seconds, fill))
            fastest = min(fastest, seconds)
            clean = (
                lost <= max(policy.lost_share * seconds, policy.lost_seconds)
                and probe <= policy.probe_factor * self._floor
            )
            if clean:
                break
        self._made += 1
        self._trusted[schedule] |= clean
        self.sweep.dirty[schedule] += not clean
        self._record(schedule, fastest)

    def _record(self, schedule: int, seconds: float) -> None:
        self.sweep.visits[schedule].append(seconds)
        self.sweep.rounds[schedule].append(self._round)

    def _hopeful(self, among: Iterable[int]) -> list[int]:
        fastest = [min(visits) for visits in self.sweep.visits]
        limit = self.policy.cutoff * min(fastest)
        return [i for i in among if fastest[i] <= limit or not self._is_certain(i)]

    def _is_certain(self, schedule: int) -> bool:
        """Whether one slow visit cannot have been an accident."""
        return self._trusted[schedule] or len(self.sweep.visits[schedule]) > 1

    def _unsettled(self, active: list[int]) -> list[int]:
        hopeful = self._hopeful(active)
        if self._round < self.policy.rounds:
            return hopeful
        best = min(min(visits) for visits in self.sweep.visits)
        return [i for i in hopeful if self._is_unsettled(self.sweep.visits[i], best)]

    def _is_unsettled(self, visits: list[float], best: float) -> bool:
        low, middle = np.quantile(visits, [0.25, 0.5])
        spread = middle / low - 1
        return bool(spread > self.policy.settled_spread or low <= self.policy.near_best * best)

    def _late(self) -> bool:
        budget = self.policy.budget_seconds
        return budget is not None and self._clock() - self._begin > budget
