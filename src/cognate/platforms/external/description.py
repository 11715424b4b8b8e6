"""The YAML file that describes somebody's platform, read into a checked model."""

import hashlib
import re
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from pydantic import model_validator as check_model

from cognate.errors import PlatformError

Value = StrictInt | StrictStr
PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
FIXED_PLACEHOLDERS = (
    "matrix", "npz", "operation", "width", "schedule", "schedule_id", "rows", "cols", "nnz",
    "python",
)  # fmt: skip
RESERVED = {"matrix", "npz", "schedule", "schedule_id", "python"}
"""Placeholders that no parameter may take; another one with a parameter's name is its value."""
UNITS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
Unit = Literal["seconds", "milliseconds", "microseconds", "nanoseconds", "cycles"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class MachineEntry(_Section):
    """The balance points of the hardware; see :class:`cognate.platforms.Machine`."""

    workers: int = Field(ge=1)
    cache_bytes: tuple[Annotated[int, Field(ge=1)], ...] = ()
    bytes_per_second: float = Field(gt=0, allow_inf_nan=False)
    flops_per_second: float = Field(gt=0, allow_inf_nan=False)


class ParameterEntry(_Section):
    """One choice that a schedule makes."""

    name: str = Field(pattern=r"^[A-Za-z_]\w*$")
    values: tuple[Value, ...] = Field(min_length=1)
    default: Value
    meaning: str = ""

    @check_model(mode="after")
    def _hangs_together(self) -> "ParameterEntry":
        if len(set(self.values)) != len(self.values) or self.default not in self.values:
            raise ValueError("values must be distinct and hold the default")
        return self


class ForbidEntry(_Section):
    """A combination of values that is no schedule."""

    when: dict[str, Value] = Field(min_length=1)
    reason: str = Field(min_length=1)


class ByValue(_Section):
    """A slot's number for each value of a parameter."""

    parameter: str
    values: dict[Value, int | bool | Literal["all"]]


Slot = StrictInt | bool | str | ByValue


class SlotEntries(_Section):
    """How a schedule's comparable slots follow from its parameters.

    An extent is a number, ``all``, a parameter's name, or a parameter with a number for each
    value; ``columns_outer`` likewise, with true and false (or 1 and 0).
    """

    rows_per_tile: Slot = "all"
    cols_per_tile: Slot = "all"
    width_per_slice: Slot = "all"
    columns_outer: Slot = False


class TimesEntry(_Section):
    """Times that were measured or simulated elsewhere."""

    file: str
    width: int | None = Field(None, ge=1)
    """Dense columns of all times, unless the file has a column ``width``."""
    unit: Unit = "seconds"
    """Unit of the column ``time``."""
    clock_hz: float | None = Field(None, gt=0)


class CommandEntry(_Section):
    """A program that runs one schedule on one matrix and prints how long it took."""

    run: tuple[str, ...] | str
    pattern: str | None = None
    """Regular expression with one group around the number; without, the last line is it."""
    unit: Unit = "seconds"
    clock_hz: float | None = Field(None, gt=0)
    timeout_seconds: float = Field(600, gt=0)
    retries: int = Field(1, ge=0)
    """How often a run that failed or printed junk is tried again; a timeout is not."""
    parallel: int = Field(1, ge=1)
    rejected_exit_codes: tuple[int, ...] = ()
    """Exit codes that say: this schedule cannot run on this matrix."""
    give_up_after: int = Field(10, ge=1)
    """Failures in a row, on one matrix, after which the rest is not tried."""
    files: tuple[str, ...] = ()
    """More files that results depend on; those named in ``run`` count by themselves."""

    @property
    def words(self) -> tuple[str, ...]:
        """The command's words, placeholders still in them."""
        return tuple(shlex.split(self.run)) if isinstance(self.run, str) else self.run

    @check_model(mode="after")
    def _reads_one_number(self) -> "CommandEntry":
        if not self.words:
            raise ValueError("run is empty")
        if self.pattern is not None:
            try:
                groups = re.compile(self.pattern).groups
            except re.error as error:
                raise ValueError(f"pattern is not a regular expression: {error}") from None
            if groups != 1:
                raise ValueError("pattern must have one group, around the number")
        return self


class Description(_Section):
    """A whole platform file."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    kind: Literal["measured", "simulated"]
    sample_cost: float = Field(1.0, gt=0, allow_inf_nan=False)
    operations: tuple[Literal["spmm", "sddmm"], ...] = Field(("spmm", "sddmm"), min_length=1)
    machine: MachineEntry
    parameters: tuple[ParameterEntry, ...] = Field(min_length=1)
    forbid: tuple[ForbidEntry, ...] = ()
    slots: SlotEntries
    times: TimesEntry | None = None
    command: CommandEntry | None = None

    @check_model(mode="after")
    def _hangs_together(self) -> "Description":
        if (self.times is None) == (self.command is None):
            raise ValueError("give either 'times' (a table) or 'command' (a program), not both")
        known = {p.name: p.values for p in self.parameters}
        if len(known) != len(self.parameters):
            raise ValueError("two parameters have the same name")
        for entry in self.forbid:
            for name, value in entry.when.items():
                if value not in known.get(name, ()):
                    raise ValueError(f"forbid: {name}={value} is not a value of a parameter")
        for slot in ("rows_per_tile", "cols_per_tile", "width_per_slice", "columns_outer"):
            _check_slot(slot, getattr(self.slots, slot), known)
        timed = self.times or self.command
        if timed and (timed.unit == "cycles") != (timed.clock_hz is not None):
            raise ValueError("clock_hz is needed with unit: cycles, and only there")
        if self.command:
            _check_placeholders(self.command, set(known))
            if self.kind == "measured" and self.command.parallel > 1:
                raise ValueError("command.parallel must be 1: what is measured runs alone")
        return self

    @property
    def specific_parameters(self) -> tuple[str, ...]:
        """Parameters that no slot follows from."""
        slots = self.slots
        used = set()
        for slot in (
            slots.rows_per_tile,
            slots.cols_per_tile,
            slots.width_per_slice,
            slots.columns_outer,
        ):
            used.add(slot.parameter if isinstance(slot, ByValue) else slot)
        return tuple(p.name for p in self.parameters if p.name not in used)


def seconds_per_unit(entry: TimesEntry | CommandEntry) -> float:
    """What a printed or listed number is multiplied by."""
    return 1 / entry.clock_hz if entry.clock_hz else UNITS[entry.unit]


def read_description(path: Path) -> Description:
    """Read and check a platform file; :class:`PlatformError` lists every mistake."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlatformError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PlatformError(f"{path}: is not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise PlatformError(f"{path}: must be a mapping of keys; see docs/adding.md")
    try:
        return Description.model_validate(content)
    except ValidationError as error:
        lines = list(dict.fromkeys(_explain(problem) for problem in error.errors()))
        raise PlatformError("\n".join(f"{path}: {line}" for line in lines)) from None


def file_hash(path: Path) -> str:
    """Sixteen hex digits of a file's SHA-256; :class:`PlatformError` if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise PlatformError(f"{path}: cannot be read: {error.strerror}") from error


def _explain(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"] if not str(part).startswith("function"))
    message = problem["msg"].removeprefix("Value error, ")
    if isinstance(problem["input"], bool | float) and "values" in problem["loc"]:
        message = f"{problem['input']!r} must be a whole number or a text; put it in quotes"
    return f"{where}: {message}" if where else str(message)


def _check_slot(slot: str, entry: Slot, known: dict[str, tuple[Value, ...]]) -> None:
    """Raise ValueError unless the slot gives a number (or a truth) for every schedule."""
    if isinstance(entry, ByValue):
        if entry.parameter not in known:
            raise ValueError(f"slots.{slot}: {entry.parameter} is not a parameter")
        missing = [value for value in known[entry.parameter] if value not in entry.values]
        if missing:
            raise ValueError(f"slots.{slot}: no number for {entry.parameter}={missing[0]}")
        given: list[Any] = list(entry.values.values())
    elif isinstance(entry, str) and entry != "all":
        if entry not in known:
            raise ValueError(f"slots.{slot}: {entry} is neither a parameter, a number nor 'all'")
        given = list(known[entry])
    else:
        given = [entry]
    for value in given:
        if slot == "columns_outer":
            if value not in (0, 1):
                raise ValueError(f"slots.{slot}: {value!r} must be true or false, 1 or 0")
        elif value != "all" and (isinstance(value, bool | str) or value < 1):
            raise ValueError(f"slots.{slot}: {value!r} must be a number of at least 1, or 'all'")


def _check_placeholders(command: CommandEntry, parameters: set[str]) -> None:
    if parameters & RESERVED:
        raise ValueError(f"a parameter cannot be called {min(parameters & RESERVED)}; rename it")
    used = {name for word in command.words for name in PLACEHOLDER.findall(word)}
    known = parameters | set(FIXED_PLACEHOLDERS)
    if used - known:
        raise ValueError(
            f"command.run: {{{min(used - known)}}} is unknown; there are "
            + ", ".join(f"{{{name}}}" for name in sorted(known))
        )
    if not used & {"matrix", "npz"}:
        raise ValueError("command.run must pass the matrix: {matrix} (.mtx) or {npz}")
    if not used & {"schedule", "schedule_id"} and parameters - used:
        raise ValueError(
            f"command.run does not pass {min(parameters - used)}; add {{{min(parameters - used)}}} "
            "or {schedule}"
        )
