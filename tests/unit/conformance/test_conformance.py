"""The suite passes platforms that keep the contract and names what each broken one breaks."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from cognate.errors import PlatformError
from cognate.platforms import Machine, Platform, get_platform
from cognate.platforms.conformance import assert_conforms, check_platform
from cognate.schedules import Parameter, Schedule, ScheduleSpace, Slots

TILE = Parameter("tile", (8, 64, "all"), 64, "rows of a tile")
ORDER = Parameter("order", ("ij", "ji"), "ij", "which loop is outside")
UNROLL = Parameter("unroll", (1, 4), 1)


class Toy(Platform):
    """A tiny platform that keeps every promise; the broken ones below each change one thing."""

    name = "toy"
    kind = "simulated"
    sample_cost = 10.0
    specific_parameters: ClassVar = ("unroll",)

    def space(self, operation):
        return ScheduleSpace("toy", (TILE, ORDER, UNROLL))

    def slots(self, matrix, operation, schedules):
        tile = np.array([1 << 30 if s["tile"] == "all" else s["tile"] for s in schedules])
        outer = np.array([s["order"] == "ji" for s in schedules])
        full = np.full(len(schedules), 1 << 30)
        return Slots.clipped(matrix, operation.width, tile, tile, full, outer)

    def machine(self):
        return Machine(4, (1 << 15, 1 << 20), 1e10, 1e11)

    def evaluate(self, matrix, operation, schedules, progress=None):
        rows = []
        for done, schedule in enumerate(schedules):
            if progress:
                progress(done, len(schedules))
            rejected = matrix.nnz == 0
            rows.append(
                {
                    "schedule_id": schedule.schedule_id,
                    "seconds": np.nan if rejected else 1e-6 * (matrix.nnz + schedule["unroll"]),
                    "status": "rejected" if rejected else "ok",
                    "reason": "empty" if rejected else "",
                }
            )
        return pd.DataFrame(rows)


class Shouting(Toy):
    name = "My Chip"


class Guessed(Toy):
    kind = "guessed"


class Gratis(Toy):
    sample_cost = 0.0


class ForgottenParameter(Toy):
    specific_parameters: ClassVar = ("unroll", "prefetch")


class BlindParameter(Toy):
    specific_parameters: ClassVar = ()


class NoBandwidth(Toy):
    def machine(self):
        return Machine(4, (), float("nan"), 1e11)


class NumpyDescription(Toy):
    def describe(self):
        return {"lanes": np.int64(16)}


class WanderingSpace(Toy):
    calls = 0

    def space(self, operation):
        self.calls += 1
        return ScheduleSpace(f"toy-{self.calls}", (TILE, ORDER, UNROLL))


class BlankValue(Toy):
    def space(self, operation):
        return ScheduleSpace("toy", (Parameter("tile", ("8", "a b"), "8"), ORDER, UNROLL))


class ForbiddenDefault(Toy):
    def space(self, operation):
        return ScheduleSpace("toy", (TILE, ORDER, UNROLL), lambda s: "never")


class Lonely(Toy):
    def space(self, operation):
        return ScheduleSpace("toy", (Parameter("tile", (8,), 8),))


class ForeignBaseline(Toy):
    def baselines(self, operation):
        return {"default": Schedule(3, ("other",), (1,))}


class NoDefault(Toy):
    def baselines(self, operation):
        return {"fast": self.space(operation).default}


class Mute(Toy):
    def explain(self, schedule, operation):
        return ""


class Unclipped(Toy):
    def slots(self, matrix, operation, schedules):
        big = np.full(len(schedules), 1 << 30)
        return Slots(big, big, big, np.zeros(len(schedules), dtype=bool))


class FloatSlots(Toy):
    def slots(self, matrix, operation, schedules):
        one = np.ones(len(schedules))
        return Slots(one, one, one, np.zeros(len(schedules), dtype=bool))


class ShortSlots(Toy):
    def slots(self, matrix, operation, schedules):
        return super().slots(matrix, operation, schedules[:-1])


class OuterOfOne(Toy):
    def slots(self, matrix, operation, schedules):
        good = super().slots(matrix, operation, schedules)
        return Slots(
            good.rows_per_tile,
            good.cols_per_tile,
            good.width_per_slice,
            np.ones(len(schedules), dtype=bool),
        )


class PositionalSlots(Toy):
    def slots(self, matrix, operation, schedules):
        tile = np.arange(len(schedules)) + 1
        outer = np.zeros(len(schedules), dtype=bool)
        return Slots.clipped(matrix, operation.width, tile, tile, tile, outer)


class Dropping(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        return super().evaluate(matrix, operation, schedules).iloc[1:]


class Sorting(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        return super().evaluate(matrix, operation, schedules).sort_values("schedule_id")


class ListOfRows(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        return super().evaluate(matrix, operation, schedules).to_dict("records")


class NoStatus(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        return super().evaluate(matrix, operation, schedules).drop(columns="status")


class NegativeTime(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        table = super().evaluate(matrix, operation, schedules)
        return table.assign(seconds=-table["seconds"])


class InfiniteTime(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        return super().evaluate(matrix, operation, schedules).assign(seconds=np.inf)


class NoReason(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        return super().evaluate(matrix, operation, schedules).assign(reason="")


class Noisy(Toy):
    calls = 0

    def evaluate(self, matrix, operation, schedules, progress=None):
        self.calls += 1
        table = super().evaluate(matrix, operation, schedules)
        return table.assign(seconds=table["seconds"] * (1 + 0.01 * self.calls))


class Moody(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        table = super().evaluate(matrix, operation, schedules)
        if len(schedules) == 1:
            table = table.assign(status="rejected", reason="not alone", seconds=np.nan)
        return table


class Raising(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        return 1 / matrix.nnz and super().evaluate(matrix, operation, schedules)


class Failing(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        table = super().evaluate(matrix, operation, schedules)
        return table.assign(status="failed", reason="no licence server", seconds=np.nan)


class DefaultFails(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        table = super().evaluate(matrix, operation, schedules)
        default = table["schedule_id"] == self.space(operation).default.schedule_id
        table.loc[default, ["status", "reason", "seconds"]] = ["failed", "sulks", np.nan]
        return table


class Overshooting(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        if progress:
            progress(len(schedules) + 1, len(schedules))
        return super().evaluate(matrix, operation, schedules)


class Vandal(Toy):
    def evaluate(self, matrix, operation, schedules, progress=None):
        matrix.values.setflags(write=True)
        matrix.values[:] *= 2
        return super().evaluate(matrix, operation, schedules)


class WordlessSkip(Toy):
    def skip(self):
        return ""


class OffersNothing(Toy):
    def space(self, operation):
        raise PlatformError("not today")


BROKEN = {
    Shouting: "lower-case",
    Guessed: "'measured' or 'simulated'",
    Gratis: "sample_cost",
    ForgottenParameter: "no such parameter",
    BlindParameter: "no slot depends on parameter unroll",
    NoBandwidth: "bytes_per_second",
    NumpyDescription: "JSON-ready",
    WanderingSpace: "another space",
    BlankValue: "no blank",
    ForbiddenDefault: "forbidden",
    Lonely: "nothing to choose",
    ForeignBaseline: "baseline default is not a schedule",
    NoDefault: "'default'",
    Mute: "explain()",
    Unclipped: "Slots.clipped",
    FloatSlots: "whole numbers",
    ShortSlots: "not one number a schedule",
    OuterOfOne: "one column panel",
    PositionalSlots: "order in which schedules are given",
    Dropping: "have no row",
    Sorting: "in the order",
    ListOfRows: "data frame",
    NoStatus: "lacks the columns status",
    NegativeTime: "greater_than",
    InfiniteTime: "finite",
    NoReason: "a reason must be given",
    Noisy: "repeatable",
    Moody: "rejected once",
    Raising: "raised ZeroDivisionError",
    Failing: "no licence server",
    DefaultFails: "speed-ups need its time",
    Overshooting: "exceeds total",
    Vandal: "changed the matrix",
    WordlessSkip: "reason in words",
    OffersNothing: "no operation is offered",
}


def test_a_platform_that_keeps_its_contract_gives_no_finding():
    assert check_platform(Toy()) == []


def test_a_measured_platform_may_give_other_times():
    class Measured(Noisy):
        kind = "measured"

    assert_conforms(Measured())


@pytest.mark.parametrize(("platform", "words"), BROKEN.items(), ids=lambda v: getattr(v, "name", v))
def test_each_broken_promise_is_named(platform, words):
    problems = [f for f in check_platform(platform(), operations=["spmm"]) if f.is_problem]
    assert any(words in str(problem) for problem in problems), problems


def test_asserting_lists_every_problem():
    class Twice(Shouting):
        sample_cost = -1.0

    with pytest.raises(AssertionError) as caught:
        assert_conforms(Twice(), operations=["spmm"])
    assert "lower-case" in str(caught.value)
    assert "sample_cost" in str(caught.value)


def test_a_platform_that_cannot_run_here_is_noted_not_blamed():
    class Elsewhere(Toy):
        def skip(self):
            return "needs the chip"

    findings = check_platform(Elsewhere())
    assert [f.is_problem for f in findings] == [False, False]
    assert "needs the chip" in str(findings[0])


def test_an_operation_that_is_not_offered_is_noted():
    class OnlySpmm(Toy):
        def space(self, operation):
            if operation.name != "spmm":
                raise PlatformError("computes SpMM only")
            return super().space(operation)

    (finding,) = check_platform(OnlySpmm())
    assert not finding.is_problem
    assert "sddmm" in str(finding)


def test_spade_conforms():
    assert_conforms(get_platform("spade", threads=1))


def test_cpu_conforms():
    cpu = get_platform("cpu")
    if cpu.skip():
        pytest.skip(cpu.skip())
    assert_conforms(cpu, width=16, schedules=3)
