"""The description of a SPADE machine: data in YAML, checked before anything runs."""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from cognate.errors import PlatformError

LINE_BYTES = 64
LINE_FLOATS = LINE_BYTES // 4


@dataclass(frozen=True)
class SpadeMachine:
    """Every number that the simulator takes from hardware. Capacities are bytes."""

    name: str
    pes: int
    """Processing elements."""
    pes_per_l2: int
    """Elements that share one L2."""
    clock_ghz: float
    assignment: str
    """``dynamic``: a free element takes the next row panel; ``static``: panel i on i mod pes."""
    vector_registers: int
    """64-byte registers of an element."""
    dirty_high_percent: int
    """Write-back of registers starts above this share of dirty ones …"""
    dirty_low_percent: int
    """… and stops at this one."""
    reservation_stations: int
    dense_load_queue: int
    sparse_load_queue: int
    """Groups of 16 nonzeros (three lines) that may be requested ahead."""
    simd_cycles: int
    """Latency of a vector operation."""
    l1_bytes: int
    l1_ways: int
    victim_bytes: int
    """Victim cache behind the bypass buffer; 0 for none."""
    victim_ways: int
    l2_bytes: int
    l2_ways: int
    llc_bytes: int
    llc_ways: int
    l1_ns: float
    victim_ns: float
    l2_ns: float
    llc_ns: float
    """Time from request to use when the row is found there."""
    lookup_ns: float
    """Time that a miss spends in look-ups before it leaves for memory."""
    link_ns: float
    """Round trip from element to memory controller."""
    dram_ns: float
    """Memory access time."""
    l2_gb_s: float
    """Bandwidth of one L2, 1e9 bytes/s."""
    llc_gb_s: float
    """Bandwidth of the last-level cache, all slices together."""
    channels: int
    bandwidth_gb_s: float
    """Sustained bandwidth of all channels together, 1e9 bytes/s."""
    quantum_ns: float
    """Elements take turns of this length in the simulation."""

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise PlatformError(f"machine {self.name}: {problem}")

    @property
    def window(self) -> int:
        """Vector operations with loads in flight, per element."""
        return min(self.reservation_stations, self.dense_load_queue)

    @property
    def flops_per_second(self) -> float:
        """Peak rate: one 16-wide multiply-add per element and cycle."""
        return 2.0 * LINE_FLOATS * self.pes * self.clock_ghz * 1e9

    @cached_property
    def values(self) -> dict[str, Any]:
        """All fields as plain data."""
        return dataclasses.asdict(self)


_MAY_BE_ZERO = {"victim_bytes", "l2_bytes", "llc_bytes", "dirty_low_percent", "lookup_ns"}
_MAY_BE_ZERO |= {"link_ns", "dram_ns", "l1_ns", "victim_ns", "l2_ns", "llc_ns"}
_CACHES = ("l1", "victim", "l2", "llc")


def _problem(machine: SpadeMachine) -> str | None:
    """Why the machine is impossible, or None."""
    for field in dataclasses.fields(machine):
        value = getattr(machine, field.name)
        if field.type is str:
            continue
        wanted = (int,) if field.type is int else (int, float)
        if isinstance(value, bool) or not isinstance(value, wanted):
            return f"{field.name} = {value!r} must be a number of type {field.type}"
        if value < 0 or (value == 0 and field.name not in _MAY_BE_ZERO):
            return f"{field.name} = {value} must be positive"
    if machine.assignment not in ("dynamic", "static"):
        return f"assignment {machine.assignment!r} must be dynamic or static"
    return _capacity_problem(machine) or _timing_problem(machine)


def _capacity_problem(machine: SpadeMachine) -> str | None:
    for cache in _CACHES:
        size, ways = getattr(machine, f"{cache}_bytes"), getattr(machine, f"{cache}_ways")
        if ways > 64:
            return f"{cache}_ways = {ways} is more than the simulator's 64"
        if size % (LINE_BYTES * ways):
            return f"{cache}_bytes = {size} is not a whole number of sets of {ways} 64-byte lines"
    if machine.vector_registers > 64:
        return f"vector_registers = {machine.vector_registers} is more than the simulator's 64"
    if machine.vector_registers < 2:
        return "vector_registers must be at least 2: one for each operand"
    if machine.window > 64 or machine.sparse_load_queue > 64:
        return "queues of more than 64 entries are beyond the simulator"
    if machine.dirty_low_percent > machine.dirty_high_percent or machine.dirty_high_percent > 100:
        return "dirty_low_percent <= dirty_high_percent <= 100 does not hold"
    if machine.pes > 65536 or machine.channels > 1024:
        return "more than 65536 elements or 1024 channels are beyond the simulator"
    return None


def _timing_problem(machine: SpadeMachine) -> str | None:
    if not machine.l1_ns <= machine.l2_ns <= machine.llc_ns:
        return "latencies must not fall from L1 to L2 to the LLC"
    if machine.clock_ghz > 100:
        return f"clock_ghz = {machine.clock_ghz} is not a clock in GHz"
    if machine.bandwidth_gb_s / machine.channels > 6400:
        return "a channel faster than one line in 10 ps is beyond the simulator"
    if not 1 <= machine.quantum_ns <= 1000:
        return f"quantum_ns = {machine.quantum_ns} must lie between 1 and 1000"
    return None


def machine_names() -> list[str]:
    """Names of the machines that come with cognate."""
    folder = files("cognate.platforms.spade") / "machines"
    return sorted(Path(entry.name).stem for entry in folder.iterdir() if ".yaml" in entry.name)


def load_machine(name: str = "spade-224", overrides: dict[str, Any] | None = None) -> SpadeMachine:
    """The machine called ``name``, or described by the YAML file ``name``, with overrides.

    In a file every value is either plain or ``{value: …, source: …}``; ``based_on`` names a
    machine to start from. Raises :class:`PlatformError` for an unknown name or field, and
    for a machine that cannot exist.
    """
    values = {field: entry["value"] for field, entry in describe_machine(name).items()}
    label = Path(name).stem if name.endswith((".yaml", ".yml")) else name
    return _build(label, {**values, **(overrides or {})})


def describe_machine(name: str) -> dict[str, dict[str, Any]]:
    """Field → ``{value, source}`` of a machine, inherited values included."""
    content = dict(_read(name))
    base = content.pop("based_on", None)
    fields = describe_machine(str(base)) if base else {}
    for field, entry in content.items():
        if not isinstance(entry, dict):
            entry = {"value": entry, "source": f"given in {name}"}
        if set(entry) != {"value", "source"}:
            raise PlatformError(f"machine {name}: {field} needs exactly a value and a source")
        fields[field] = entry
    return fields


def _read(name: str) -> dict[str, Any]:
    given = Path(name)
    if given.suffix in (".yaml", ".yml"):
        if not given.is_file():
            raise PlatformError(f"machine file {name} does not exist")
        text = given.read_text(encoding="utf-8")
    elif name in machine_names():
        text = (files("cognate.platforms.spade") / "machines" / f"{name}.yaml").read_text("utf-8")
    else:
        raise PlatformError(
            f"machine {name!r} is unknown; choose from {', '.join(machine_names())} "
            "or name a .yaml file"
        )
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PlatformError(f"machine {name}: not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise PlatformError(f"machine {name}: a machine is a mapping of fields to values")
    return content


def _build(name: str, values: dict[str, Any]) -> SpadeMachine:
    known = {field.name for field in dataclasses.fields(SpadeMachine)} - {"name"}
    unknown, missing = sorted(set(values) - known), sorted(known - set(values))
    if unknown:
        raise PlatformError(
            f"machine {name}: there is no field {unknown[0]}; fields are {', '.join(sorted(known))}"
        )
    if missing:
        raise PlatformError(f"machine {name}: {missing[0]} is not given")
    return SpadeMachine(name=name, **values)
