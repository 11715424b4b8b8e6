"""Conformance of what a platform says of itself: identity, machine, schedules, slots."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cognate.errors import ScheduleError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms.platform import Machine, Platform
from cognate.schedules import Schedule, ScheduleSpace, Slots

SCHEDULES_LOOKED_AT = 200


def check_declarations(platform: Platform) -> Iterator[str]:
    """Name, kind, cost, machine and description."""
    if not isinstance(platform.name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", platform.name):
        yield f"name {platform.name!r} must be lower-case letters, digits and hyphens"
    if platform.kind not in ("measured", "simulated"):
        yield f"kind {platform.kind!r} must be 'measured' or 'simulated'"
    if not _is_positive(platform.sample_cost):
        yield f"sample_cost {platform.sample_cost!r} must be a positive number (the CPU's is 1)"
    specific = platform.specific_parameters
    if not isinstance(specific, tuple) or not all(isinstance(p, str) for p in specific):
        yield f"specific_parameters {specific!r} must be a tuple of parameter names"
    yield from _check_machine(platform.machine())
    try:
        json.dumps(platform.describe())
    except (TypeError, ValueError) as error:
        yield f"describe() must be JSON-ready: {error}"


def _check_machine(machine: Any) -> Iterator[str]:
    if not isinstance(machine, Machine):
        yield f"machine() must give a Machine, not {type(machine).__name__}"
        return
    if not isinstance(machine.workers, int) or machine.workers < 1:
        yield f"machine().workers {machine.workers!r} must be a whole number of at least 1"
    for name in ("bytes_per_second", "flops_per_second"):
        if not _is_positive(getattr(machine, name)):
            yield f"machine().{name} {getattr(machine, name)!r} must be a positive number"
    if not isinstance(machine.cache_bytes, tuple) or not all(
        map(_is_positive, machine.cache_bytes)
    ):
        yield f"machine().cache_bytes {machine.cache_bytes!r} must be a tuple of positive sizes"


def check_space(platform: Platform, operation: Operation) -> Iterator[str]:
    """Parameters, ids, texts, the default and the named schedules."""
    space = platform.space(operation)
    if not isinstance(space, ScheduleSpace):
        yield f"space() must give a ScheduleSpace, not {type(space).__name__}"
        return
    if platform.space(operation).fingerprint != space.fingerprint:
        yield "space() gives another space when it is asked again; it must not change"
    names = [parameter.name for parameter in space.parameters]
    for parameter in space.parameters:
        if not re.fullmatch(r"[A-Za-z_]\w*", parameter.name):
            yield f"parameter {parameter.name!r} must be written like a variable's name"
        for value in parameter.values:
            if not re.fullmatch(r"[^\s=]+", str(value)):
                yield f"value {value!r} of {parameter.name} must hold no blank and no '='"
    if len(set(names)) != len(names):
        yield f"parameters must have different names: {', '.join(names)}"
        return
    for name in platform.specific_parameters:
        if name not in names:
            yield f"specific_parameters names {name}, but {space.name} has no such parameter"
    try:
        default = space.default
    except ScheduleError as error:
        yield f"the default of every parameter together is forbidden: {error}"
        return
    schedules = space.sample(SCHEDULES_LOOKED_AT, seed=0)
    if len(schedules) < 2:
        yield "a space of fewer than two schedules leaves nothing to choose"
    for schedule in (default, *schedules):
        if space.at(schedule.schedule_id) != schedule or space.parse(str(schedule)) != schedule:
            yield f"{schedule} does not come back from its id and text"
            break
    yield from _check_baselines(platform, operation, space)


def _check_baselines(
    platform: Platform, operation: Operation, space: ScheduleSpace
) -> Iterator[str]:
    baselines = platform.baselines(operation)
    if "default" not in baselines:
        yield "baselines() must name one schedule 'default'"
    for name, schedule in baselines.items():
        if not isinstance(schedule, Schedule) or space.at(schedule.schedule_id) != schedule:
            yield f"baseline {name} is not a schedule of {space.name}"
    explanation = platform.explain(space.default, operation)
    if not isinstance(explanation, str) or not explanation:
        yield "explain() must give a text"


def check_slots(
    platform: Platform, operation: Operation, matrices: Sequence[SparseMatrix]
) -> Iterator[str]:
    """Slots are clipped, repeatable, and together with the specific parameters say all."""
    space = platform.space(operation)
    schedules = space.sample(SCHEDULES_LOOKED_AT, seed=1)
    moved: set[str] = set()
    for matrix in matrices:
        slots = platform.slots(matrix, operation, schedules)
        problems = list(_shape_problems(slots, matrix, operation, len(schedules)))
        yield from (f"on {matrix.name} ({matrix.rows} × {matrix.cols}) {p}" for p in problems)
        if problems:
            return
        features = slots.features()
        backwards = platform.slots(matrix, operation, schedules[::-1]).features()[::-1]
        if not np.array_equal(features, backwards):
            yield f"on {matrix.name} slots change with the order in which schedules are given"
            return
        moved |= _moving(space, platform, operation, matrix, moved)
    silent = {p.name for p in space.parameters} - moved - set(platform.specific_parameters)
    for name in sorted(silent):
        yield (
            f"no slot depends on parameter {name}, even on a large matrix, so no model would see "
            "it; name it in specific_parameters or let slots() express it"
        )


def _shape_problems(
    slots: Any, matrix: SparseMatrix, operation: Operation, count: int
) -> Iterator[str]:
    if not isinstance(slots, Slots):
        yield f"slots() must give Slots, not {type(slots).__name__}"
        return
    extents = {
        "rows_per_tile": max(1, matrix.rows),
        "cols_per_tile": max(1, matrix.cols),
        "width_per_slice": operation.width,
    }
    for name, largest in extents.items():
        values = np.asarray(getattr(slots, name))
        if values.shape != (count,):
            yield f"{name} has shape {values.shape}, not one number a schedule ({count},)"
        elif not np.issubdtype(values.dtype, np.integer):
            yield f"{name} must be whole numbers, not {values.dtype}"
        elif values.min() < 1 or values.max() > largest:
            yield (
                f"{name} ranges from {values.min()} to {values.max()}, outside 1 to {largest}; "
                "make slots with Slots.clipped"
            )
    outer = np.asarray(slots.columns_outer)
    if outer.shape != (count,) or outer.dtype != np.bool_:
        yield f"columns_outer must be one bool a schedule, not {outer.dtype} {outer.shape}"
    elif outer[np.asarray(slots.cols_per_tile) >= matrix.cols].any():
        yield "columns_outer is set where there is one column panel; make slots with Slots.clipped"


def _moving(
    space: ScheduleSpace,
    platform: Platform,
    operation: Operation,
    matrix: SparseMatrix,
    known: set[str],
) -> set[str]:
    """Parameters that change a slot on this matrix, from somewhere in the space."""
    found: set[str] = set()
    starts = space.sample(20, seed=2)
    for parameter in space.parameters:
        if parameter.name in known:
            continue
        for start in starts:
            variants = []
            for value in parameter.values:
                try:
                    variants.append(space.schedule(**{**start.as_dict(), parameter.name: value}))
                except ScheduleError:
                    continue
            if len(variants) < 2:
                continue
            features = platform.slots(matrix, operation, variants).features()
            if (features != features[0]).any():
                found.add(parameter.name)
                break
    return found


def _is_positive(number: Any) -> bool:
    return (
        isinstance(number, int | float)
        and not isinstance(number, bool)
        and math.isfinite(number)
        and number > 0
    )
