import itertools

import pytest

from cognate.errors import ScheduleError
from cognate.operations import OPERATION_NAMES, get_operation
from cognate.platforms.cpu.families import CORE
from cognate.platforms.cpu.loops import split_order
from cognate.platforms.cpu.spaces import (
    DEFAULTS,
    FORMATS,
    LARGE,
    ORDERS,
    SMALL,
    ListedSpace,
    anchor_of,
    forbidden,
    space_of,
)
from cognate.schedules import Parameter, Schedule

SPMM, SDDMM = (get_operation(name, 256) for name in OPERATION_NAMES)
NAMES = tuple(DEFAULTS)


def members(space):
    return {schedule.values for schedule in space}


def test_there_are_thirty_legal_orders():
    assert len(ORDERS) == len(set(ORDERS)) == 30
    assert all(split_order(order)[-1] == "j0" for order in ORDERS)


@pytest.mark.parametrize("operation", [SPMM, SDDMM])
def test_core_equals_brute_force(operation):
    """Of a few values each, every combination that a family and the rules admit."""
    space = space_of("cpu-core", operation)
    few = {"i": (1, 4, 32), "k": (4, 1024, "all"), "j": (64, "all"), "chunk": (1, 32, "static")}
    few |= {"unroll": (1, 2), "prefetch": (0, 8)}
    choices = [few.get(p.name, p.values) for p in space.parameters]
    families = [
        [family.get(name, (DEFAULTS[name],)) for name in NAMES] for family in CORE[operation.name]
    ]

    def is_member(values):
        return any(
            all(value in allowed for value, allowed in zip(values, family, strict=True))
            for family in families
        ) and not forbidden(Schedule(0, NAMES, values), operation.name, 256)

    expected = set(filter(is_member, itertools.product(*choices)))
    chosen = {v for v in members(space) if all(x in c for x, c in zip(v, choices, strict=True))}
    assert chosen == expected
    assert len(expected) > 10


@pytest.mark.parametrize("name", OPERATION_NAMES)
@pytest.mark.parametrize("width", [1, 16, 32, 100, 128, 256, 512])
def test_core_is_small_and_part_of_full(name, width):
    operation = get_operation(name, width)
    core, full = space_of("cpu-core", operation), space_of("cpu-full", operation)
    assert 100 < core.product_size <= 1024
    for schedule in core:
        assert full.schedule(**schedule.as_dict()).values == schedule.values
        assert core.parse(str(schedule)) == core.at(schedule.schedule_id) == schedule
    assert core.default.as_dict() == DEFAULTS
    core.schedule(**anchor_of(operation).as_dict())


@pytest.mark.parametrize("space", ["cpu-full", "cpu-waco"])
@pytest.mark.parametrize("operation", [SPMM, SDDMM])
def test_large_spaces_are_indexed_and_parsed(space, operation):
    found = space_of(space, operation)
    sample = found.sample(50, seed=3)
    assert len({schedule.schedule_id for schedule in sample}) == 50
    assert sample == found.sample(50, seed=3) != found.sample(50, seed=4)
    for schedule in sample:
        assert found.at(schedule.schedule_id) == schedule == found.parse(str(schedule))
    assert found.default.as_dict() == DEFAULTS


def test_full_is_large_and_enumerated_lazily():
    space = space_of("cpu-full", SPMM)
    assert space.product_size > 10**8
    assert len(list(itertools.islice(space, 100))) == 100


def waco_spmm():
    """The points of WACO's SpMM generators, written as its scripts do.

    https://github.com/nullplay/Workload-Aware-Co-Optimization
    """
    splits, narrow = [1 << p for p in range(6)], [1 << p for p in range(8)]
    chunks = [1 << p for p in range(9)]
    everything = list(itertools.permutations(["i1", "i0", "k1", "k0", "j1", "j0"]))
    for i, k, j, i1f, chunk in itertools.product(splits, splits, narrow, [0, 1], chunks):
        yield ("i1", "k1", "j1", "i0", "k0", "j0"), i, k, j, (i1f, 1, 0, 1), chunk
    for j in narrow:
        orders = [o for o in everything if _waco_order(o, j) and o.index("i1") < o.index("j1")]
        for parts in itertools.product(orders, splits, splits, itertools.product([0, 1], repeat=4)):
            order, i, k, formats = parts
            for chunk in chunks:
                yield order, i, k, j, formats, chunk


def _waco_order(order, j):
    nested = all(order.index(f"{x}1") < order.index(f"{x}0") for x in "ikj")
    return nested and (order[4:] == ("j1", "j0") if j < 8 else order[5] == "j0")


def test_waco_spmm_has_the_points_of_its_generators():
    space = space_of("cpu-waco", SPMM)
    second = sum(1 for point in waco_spmm()) - 6 * 6 * 8 * 2 * 9
    assert second == 611_712
    for order, i, k, j, formats, chunk in itertools.islice(waco_spmm(), 0, None, 997):
        space.schedule(
            order="".join(order), i=i, k=k, j=j, chunk=chunk,
            format="".join("CU"[letter] for letter in formats),
        )  # fmt: skip


def count_allowed(space, **fixed):
    """How many members there are; orders, slices, formats and parallel loops one by one."""
    names = ("order", "j", "format", "parallel")
    choices = [next(p.values for p in space.parameters if p.name == name) for name in names]
    total = 0
    for values in itertools.product(*choices):
        try:
            space.schedule(**dict(zip(names, values, strict=True)), **fixed)
        except ScheduleError:
            continue
        total += 1
    return total


def test_waco_spmm_has_no_other_points():
    space = space_of("cpu-waco", SPMM)
    near_csr_only = 2 * 3  # formats of the first generator with slices of 1, 2 and 4
    splits_and_chunks = 6 * 6 * 9
    members_apart_from_default = count_allowed(space, i=2, k=2) * splits_and_chunks
    assert members_apart_from_default == 611_712 + near_csr_only * splits_and_chunks


def test_waco_sddmm_counts():
    """2,177,280 points of the first generator for a 4096 x 4096 matrix; 20,736 of the second."""
    space = space_of("cpu-waco", SDDMM)
    beyond_second = count_allowed(space, i=64, k=64)
    assert beyond_second * 12 * 12 * 6 == 2_177_280
    second_only = count_allowed(space, i=2, k=2) - beyond_second
    narrow_slices = 3
    assert second_only == 4 * narrow_slices * 3
    assert (*SMALL, 64) == LARGE[:7]
    assert len(FORMATS) == 16


def test_forbidden_gives_reasons():
    space = space_of("cpu-full", SPMM)
    for text, reason in {
        "parallel=k1": "only in SDDMM",
        "order=j1i1i0k1k0j0 j=32 inner=register": None,
        "inner=register j=32": "registers hold",
        "unroll=2": "neither unrolled nor prefetched",
        "order=i1i0k1j1k0j0 j=8 inner=register": "at least 16",
        "order=k1i1i0k0j1j0": "single column panel",
        "order=k1j1i1i0k0j0 k=64 j=32": "between a sequential loop",
        "order=i1j1i0k1k0j0": "single slice",
        "order=i1i0k1j1k0j0 j=256 inner=register": None,
        "order=i1i0k1j1k0j0 j=256 inner=register store=stream": None,
        "order=i1i0k1j1k0j0 j=256 format=UUCC inner=register store=stream": "written once",
        "store=stream": "written once",
        "order=i1k1k0j1i0j0 i=32 j=64 inner=register unroll=4": "not unrolled",
    }.items():
        if reason is None:
            space.parse(text)
        else:
            with pytest.raises(ScheduleError, match=reason):
                space.parse(text)
    with pytest.raises(ScheduleError, match="wider than"):
        space_of("cpu-full", get_operation("spmm", 32)).parse(
            "order=i1i0k1j1k0j0 j=64 inner=register"
        )


def test_listed_space_refuses_what_is_not_listed():
    space = ListedSpace(
        "pair", [Parameter("a", (1, 2), 1), Parameter("b", (1, 2), 1)], [(1, 1), (2, 2), (1, 1)]
    )
    assert [str(s) for s in space] == ["a=1 b=1", "a=2 b=2"]
    assert space.parse("a=2 b=2").schedule_id == 1
    with pytest.raises(ScheduleError, match="not one of the 2"):
        space.parse("a=2")
    with pytest.raises(ScheduleError, match="outside pair"):
        space.at(2)
    with pytest.raises(ScheduleError, match="did you mean"):
        space.schedule(aa=1)
    other = ListedSpace("pair", space.parameters, [(1, 1)])
    assert other.fingerprint != space.fingerprint
