import itertools

import numpy as np
import pytest

from cognate.errors import ScheduleError
from cognate.schedules import Parameter, ScheduleSpace


def small_space() -> ScheduleSpace:
    return ScheduleSpace(
        "small",
        [
            Parameter("tile", (1, 4, "all"), "all"),
            Parameter("order", ("ik", "ki"), "ik"),
            Parameter("unroll", (1, 2, 4, 8), 1),
        ],
        forbids=lambda s: "no unroll with ki" if s["order"] == "ki" and s["unroll"] == 8 else None,
    )


def test_enumeration_equals_brute_force() -> None:
    expected = [
        (t, o, u)
        for t, o, u in itertools.product((1, 4, "all"), ("ik", "ki"), (1, 2, 4, 8))
        if not (o == "ki" and u == 8)
    ]
    assert [s.values for s in small_space()] == expected


def test_text_and_id_lead_back_to_the_schedule() -> None:
    space = small_space()
    for schedule in space:
        assert space.parse(str(schedule)) == schedule
        assert space.at(schedule.schedule_id) == schedule
        assert space.schedule(**schedule.as_dict()) == schedule
    assert str(space.default) == "tile=all order=ik unroll=1"


def test_sampling_is_unbiased_and_repeatable() -> None:
    space = small_space()
    everything = list(space)
    counts = np.zeros(space.product_size)
    for seed in range(3000):
        for schedule in space.sample(3, seed):
            counts[schedule.schedule_id] += 1
    seen = counts[[s.schedule_id for s in everything]]
    assert counts.sum() == 9000
    assert seen.sum() == 9000
    # Binomial spread: five standard deviations around the mean.
    mean = 9000 / len(everything)
    assert np.abs(seen - mean).max() < 5 * np.sqrt(mean)
    assert space.sample(5, 7) == space.sample(5, 7)
    assert space.sample(100, 0) == everything


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tile=5", "tile=5 is not a value.*1, 4, all"),
        ("tiel=4", "no parameter tiel; did you mean tile"),
        ("tile", "name=value"),
        ("tile=1 tile=4", "twice"),
        ("order=ki unroll=8", "no unroll with ki"),
    ],
)
def test_bad_text_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        small_space().parse(text)
