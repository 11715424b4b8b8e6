"""Finite spaces of schedules: enumerate, index, sample, parse and print."""

import difflib
import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pandas as pd

from cognate.errors import ScheduleError

Value = int | str


@dataclass(frozen=True)
class Parameter:
    """One choice that a schedule makes."""

    name: str
    values: tuple[Value, ...]
    default: Value
    meaning: str = ""

    def __post_init__(self) -> None:
        if len(set(self.values)) != len(self.values) or self.default not in self.values:
            raise ScheduleError(
                f"parameter {self.name}: values must be distinct and hold the default"
            )

    def parse(self, text: str) -> Value:
        """The value that is written ``text``; :class:`ScheduleError` names the valid ones."""
        for value in self.values:
            if str(value) == text:
                return value
        raise ScheduleError(
            f"{self.name}={text} is not a value of this space; "
            f"choose from {', '.join(map(str, self.values))}"
        )


@dataclass(frozen=True)
class Schedule:
    """One point of a space. ``str(schedule)`` is a short text that the space parses back."""

    schedule_id: int
    names: tuple[str, ...]
    values: tuple[Value, ...]

    def __getitem__(self, name: str) -> Value:
        try:
            return self.values[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def as_dict(self) -> dict[str, Value]:
        """Parameter names to values, in the space's order."""
        return dict(zip(self.names, self.values, strict=True))

    def __str__(self) -> str:
        return " ".join(f"{n}={v}" for n, v in zip(self.names, self.values, strict=True))


class ScheduleSpace:
    """A product of parameters, less the combinations that ``forbids`` gives a reason against.

    A schedule's id is its index in the full product (the last parameter varies fastest), so
    ids are stable when a rule is added; they have gaps where a combination is forbidden.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[Parameter],
        forbids: Callable[[Schedule], str | None] | None = None,
    ):
        self.name = name
        self.parameters = tuple(parameters)
        self.forbids = forbids or (lambda schedule: None)
        self._by_name = MappingProxyType({p.name: p for p in self.parameters})
        self._names = tuple(p.name for p in self.parameters)
        self.product_size = math.prod(len(p.values) for p in self.parameters)

    def __repr__(self) -> str:
        return f"ScheduleSpace({self.name!r}, {self.product_size} combinations)"

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change when a parameter or one of its values does."""
        text = repr((self.name, [(p.name, p.values, p.default) for p in self.parameters]))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def at(self, schedule_id: int) -> Schedule:
        """The schedule with this id; :class:`ScheduleError` if there is none."""
        if not 0 <= schedule_id < self.product_size:
            raise ScheduleError(
                f"schedule {schedule_id} is outside {self.name} (0 to {self.product_size - 1})"
            )
        rest = int(schedule_id)
        values: list[Value] = []
        for parameter in reversed(self.parameters):
            rest, position = divmod(rest, len(parameter.values))
            values.append(parameter.values[position])
        schedule = Schedule(int(schedule_id), self._names, tuple(reversed(values)))
        reason = self.forbids(schedule)
        if reason:
            raise ScheduleError(f"{schedule} is not in {self.name}: {reason}")
        return schedule

    def schedule(self, **values: Value) -> Schedule:
        """The schedule with these values; parameters that are not named take their default."""
        unknown = [name for name in values if name not in self._by_name]
        if unknown:
            near = difflib.get_close_matches(unknown[0], self._names, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(self._names)}"
            raise ScheduleError(f"{self.name} has no parameter {unknown[0]}{hint}")
        schedule_id = 0
        for parameter in self.parameters:
            value = values.get(parameter.name, parameter.default)
            if value not in parameter.values:
                parameter.parse(str(value))  # raises, naming the valid values
            schedule_id = schedule_id * len(parameter.values) + parameter.values.index(value)
        return self.at(schedule_id)

    def parse(self, text: str) -> Schedule:
        """The schedule written ``name=value name=value …``; what is left out takes its default."""
        values: dict[str, Value] = {}
        for word in text.split():
            name, equals, value = word.partition("=")
            if not equals:
                raise ScheduleError(f"{word!r} is not of the form name=value")
            if name in values:
                raise ScheduleError(f"{name} is given twice in {text!r}")
            parameter = self._by_name.get(name)
            values[name] = parameter.parse(value) if parameter else value
        return self.schedule(**values)

    @cached_property
    def default(self) -> Schedule:
        """The schedule in which every parameter has its default value."""
        return self.schedule()

    def __iter__(self) -> Iterator[Schedule]:
        """All schedules by ascending id, made one at a time."""
        for schedule_id in range(self.product_size):
            try:
                yield self.at(schedule_id)
            except ScheduleError:
                continue

    def sample(self, count: int, seed: int) -> list[Schedule]:
        """``count`` different schedules, each set of that size equally likely.

        All of them, by ascending id, when the space has no more.
        """
        if self.product_size <= max(4 * count, 4096):
            everything = list(self)
            if len(everything) <= count:
                return everything
            chosen = np.random.default_rng(seed).choice(len(everything), count, replace=False)
            return [everything[i] for i in chosen]
        random = np.random.default_rng(seed)
        found: dict[int, Schedule] = {}
        for _ in range(1000 * count):
            schedule_id = int(random.integers(self.product_size))
            if schedule_id in found:
                continue
            try:
                found[schedule_id] = self.at(schedule_id)
            except ScheduleError:
                continue
            if len(found) == count:
                return list(found.values())
        raise ScheduleError(f"{self.name}: could not find {count} schedules that are allowed")

    def table(self, schedules: Sequence[Schedule]) -> pd.DataFrame:
        """One row a schedule: ``schedule_id`` and a column for each parameter."""
        columns: dict[str, list[Value]] = {"schedule_id": [s.schedule_id for s in schedules]}
        for position, name in enumerate(self._names):
            columns[name] = [s.values[position] for s in schedules]
        return pd.DataFrame(columns)
