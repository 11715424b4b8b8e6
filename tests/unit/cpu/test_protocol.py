"""The measuring protocol on a fake machine, whose true times are known."""

import numpy as np
import pytest

from cognate.platforms.cpu.protocol import Policy, Surveyor, kendall, value_of


class FakeMachine:
    """Runs take their true time, disturbed: jitter, stolen slices, slow windows."""

    def __init__(self, true_seconds, seed=0, jitter=0.0, stolen=0.0, slow_windows=0.0):
        self.true_seconds = np.asarray(true_seconds)
        self.random = np.random.default_rng(seed)
        self.jitter, self.stolen, self.slow_windows = jitter, stolen, slow_windows
        self.time, self.slow_until = 0.0, 0.0
        self.log = []

    def factor(self):
        if self.time > self.slow_until and self.random.random() < self.slow_windows:
            self.slow_until = self.time + 0.05
        return 2.1 if self.time < self.slow_until else 1.0

    def visit(self, schedule, runs, seconds):
        fastest, lost = np.inf, 0.0
        for _ in range(max(runs, int(seconds / self.true_seconds[schedule]))):
            once = self.true_seconds[schedule] * self.factor()
            once *= 1 + abs(self.random.normal(0, self.jitter)) if self.jitter else 1
            if self.random.random() < self.stolen:
                once += 0.004
                lost += 0.004
            self.time += once
            fastest = min(fastest, once)
        self.log.append(schedule)
        return fastest, lost / runs

    def probe(self):
        self.time += 0.0003
        return 0.0003 * self.factor()

    def clock(self):
        return self.time

    def survey(self, policy=None, anchor=0, seed=0):
        policy = policy or Policy()
        return Surveyor(self, list(self.true_seconds * 1.2), anchor, policy, seed, clock=self.clock)


def true_times(count=60, spread=3.0):
    return 1e-3 * np.random.default_rng(5).permutation(np.geomspace(1, spread, count))


def test_quiet_machine_gives_the_truth_exactly():
    true = true_times()
    sweep = FakeMachine(true).survey().run()
    assert sweep.seconds() == pytest.approx(true)
    assert sweep.agreement() == 1.0
    assert sum(sweep.dirty) == 0


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_hide_the_ranking(seed):
    true = true_times()
    machine = FakeMachine(true, seed, jitter=0.02, stolen=0.05, slow_windows=0.01)
    sweep = machine.survey().run()
    assert kendall(sweep.seconds(), true) > 0.95
    assert sweep.agreement() > 0.75
    chosen = int(np.argmin(sweep.seconds()))
    assert true[chosen] <= 1.03 * true.min()


@pytest.mark.parametrize("seed", range(3))
def test_one_visit_each_would_have_been_worse(seed):
    true = true_times()
    noise = {"jitter": 0.02, "stolen": 0.05, "slow_windows": 0.01}
    single = Policy(rounds=1, most_rounds=1, dirty_repeats=0, visit_runs=1, visit_seconds=0)
    once = FakeMachine(true, seed, **noise).survey(single).run()
    several = FakeMachine(true, seed, **noise).survey().run()
    assert kendall(several.seconds(), true) > kendall(once.seconds(), true)


def test_hopeless_schedules_are_dropped_and_near_ones_kept():
    true = np.array([1.0, 1.1, 2.0, 3.9, 4.5, 9.0]) * 1e-3
    policy = Policy(rounds=3, most_rounds=6)
    sweep = FakeMachine(true).survey(policy).run()
    assert [len(visits) for visits in sweep.visits] == [6, 6, 3, 3, 1, 1]
    assert sweep.seconds()[:5] == pytest.approx(true[:5])


def test_a_slow_accident_in_the_first_round_is_not_hopeless():
    true = np.array([1.0, 1.2, 1.4]) * 1e-3

    class Unlucky(FakeMachine):
        def visit(self, schedule, runs, seconds):
            fastest, lost = super().visit(schedule, runs, seconds)
            if schedule == 1 and self.log.count(1) <= 1 + Policy.dirty_repeats:
                return 10 * fastest, 9 * fastest
            return fastest, lost

    sweep = Unlucky(true).survey().run()
    assert sweep.seconds() == pytest.approx(true)


def test_anchor_is_in_every_round():
    true = np.array([9.0, 1.0, 1.05]) * 1e-3
    sweep = FakeMachine(true).survey(anchor=0).run()
    visited = {r for rounds in sweep.rounds for r in rounds}
    assert set(sweep.rounds[0]) >= visited - {0}


def test_rounds_are_shuffled_and_reproducible():
    first, again, other = (FakeMachine(true_times(20)) for _ in range(3))
    first.survey(seed=1).run()
    again.survey(seed=1).run()
    other.survey(seed=2).run()
    assert first.log == again.log != other.log
    assert sorted(first.log[:20]) == list(range(20)) != first.log[:20]


def test_dirty_visits_are_repeated_but_not_without_end():
    machine = FakeMachine(true_times(30), stolen=1.0)  # never quiet
    sweep = machine.survey(Policy(rounds=3, most_rounds=3)).run()
    assert sum(sweep.dirty) == sum(map(len, sweep.visits))
    assert len(machine.log) <= 1.3 * sum(map(len, sweep.visits)) + 2


def test_beyond_its_budget_a_sweep_keeps_the_first_runs():
    true = true_times(50)
    sweep = FakeMachine(true).survey(Policy(budget_seconds=1e-6)).run()
    assert [len(visits) for visits in sweep.visits] == [1] * 50
    assert sweep.seconds() == pytest.approx(1.2 * true)  # the estimates
    assert np.isnan(sweep.agreement())


def test_budget_ends_in_the_middle_of_a_round():
    true = true_times(50)
    budget = 1.5 * 50 * (3 * true.mean() + 0.0003)
    machine = FakeMachine(true)
    sweep = machine.survey(Policy(budget_seconds=budget)).run()
    assert {len(visits) for visits in sweep.visits} == {1, 2}
    assert sweep.seconds() == pytest.approx(true)
    assert machine.time <= budget + 3 * true.max() + 0.0006


def test_more_rounds_raise_a_poor_agreement():
    true = true_times(40, spread=1.5)
    machine = FakeMachine(true, jitter=0.4)
    surveyor = machine.survey(Policy(rounds=2, most_rounds=2, visit_runs=1, visit_seconds=0))
    before = surveyor.run().agreement()
    assert before < 0.85
    assert surveyor.more(12).agreement() > before


def test_slow_kernels_run_once_a_visit():
    calls = []

    class Watched(FakeMachine):
        def visit(self, schedule, runs, seconds):
            calls.append((schedule, runs))
            return super().visit(schedule, runs, seconds)

    Watched(np.array([0.010, 0.001])).survey(Policy(cutoff=50)).run()
    assert set(calls) == {(0, 1), (1, 3)}


def test_value_is_the_least_of_few_and_the_quartile_of_many():
    assert value_of([3.0, 1.0, 2.0]) == 1.0
    assert value_of([1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]) == 2.0


def test_kendall_equals_scipy():
    from scipy.stats import kendalltau

    random = np.random.default_rng(0)
    for _ in range(20):
        first, second = random.integers(0, 8, (2, 15)).astype(float)
        assert kendall(first, second) == pytest.approx(kendalltau(first, second).statistic)
