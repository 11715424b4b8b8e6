"""The three schedule spaces: ``cpu-core``, ``cpu-waco`` and ``cpu-full``.

All share their parameters. Storage is read level by level in the order i1, i0, k1, k0:
``U`` lists every coordinate, ``C`` only those that occur, so ``UUUC`` is CSR, ``CUUC`` is
DCSR and ``UUCU`` with small splits is BCSR.
"""

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property

from cognate.errors import ScheduleError
from cognate.operations import Operation
from cognate.platforms.cpu.families import CORE
from cognate.platforms.cpu.loops import LoopNest, split_order
from cognate.schedules import Parameter, Schedule, ScheduleSpace
from cognate.schedules.space import Value

SPACE_NAMES = ("cpu-core", "cpu-waco", "cpu-full")

DEFAULTS: dict[str, Value] = {
    "order": "i1i0k1k0j1j0",
    "i": 1,
    "k": "all",
    "j": "all",
    "format": "UUUC",
    "parallel": "i1",
    "chunk": 32,
    "inner": "plain",
    "unroll": 1,
    "prefetch": 0,
    "store": "cached",
}
"""The ``taco`` schedule: CSR, rows parallel in dynamic chunks of 32, plain i-k-j loop."""

WIDE = 32
"""Slices of 16 are left out of ``cpu-core`` beyond twice this dense width."""

MEANINGS = {
    "order": "loops over row tiles i1, rows i0, column panels k1, columns k0, slices j1, j0",
    "i": "rows a tile",
    "k": "columns a panel",
    "j": "dense columns a slice; with registers, the widest vector tile",
    "format": "storage of i1, i0, k1, k0: U lists every coordinate, C those that occur",
    "parallel": "the loop whose iterations are shared among threads",
    "chunk": "iterations a thread takes at a time; static: equal shares, fixed",
    "inner": "plain: as a sparse compiler prints it; register: sums held in vector registers",
    "unroll": "nonzeros a step of the innermost loop",
    "prefetch": "how many nonzeros ahead dense rows are prefetched, 0 for not",
    "store": "whether C is written through the caches or streamed around them",
}

FORMATS = tuple("".join(letters) for letters in itertools.product("UC", repeat=4))


def _legal_orders() -> tuple[str, ...]:
    """All orders in which an outer loop precedes its inner one and j0 is innermost."""
    return tuple(
        "".join(order) + "j0"
        for order in itertools.permutations(("i1", "i0", "k1", "k0", "j1"))
        if order.index("i1") < order.index("i0") and order.index("k1") < order.index("k0")
    )


ORDERS = _legal_orders()

FULL: dict[str, tuple[Value, ...]] = {
    "order": ORDERS,
    "i": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    "k": (1, 2, 4, 8, 16, 32, 64, 256, 1024, 4096, 16384, 65536, "all"),
    "j": (1, 2, 4, 8, 16, 32, 64, 128, 256, "all"),
    "format": FORMATS,
    "parallel": ("i1", "k1"),
    "chunk": (1, 2, 4, 8, 16, 32, 64, 128, 256, "static"),
    "inner": ("plain", "register"),
    "unroll": (1, 2, 4, 8),
    "prefetch": (0, 8, 32),
    "store": ("cached", "stream"),
}


class ListedSpace(ScheduleSpace):
    """A space whose schedules are listed one by one; ids are positions in the list.

    For a small union of products whose full product would be mostly forbidden.
    """

    def __init__(
        self, name: str, parameters: Sequence[Parameter], members: Iterable[tuple[Value, ...]]
    ):
        super().__init__(name, parameters)
        self._members = tuple(dict.fromkeys(members))
        self._ids = {values: position for position, values in enumerate(self._members)}
        self.product_size = len(self._members)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change when any member does."""
        return hashlib.sha256(repr((self.name, self._members)).encode()).hexdigest()[:16]

    def at(self, schedule_id: int) -> Schedule:
        """The schedule with this id; :class:`ScheduleError` if there is none."""
        if not 0 <= schedule_id < self.product_size:
            raise ScheduleError(
                f"schedule {schedule_id} is outside {self.name} (0 to {self.product_size - 1})"
            )
        return Schedule(int(schedule_id), self._names, self._members[schedule_id])

    def schedule(self, **values: Value) -> Schedule:
        """The member with these values; what is left out takes its default."""
        wanted = ScheduleSpace(self.name, self.parameters).schedule(**values)
        if wanted.values not in self._ids:
            raise ScheduleError(f"{wanted} is not one of the {self.product_size} of {self.name}")
        return self.at(self._ids[wanted.values])


def space_of(name: str, operation: Operation) -> ScheduleSpace:
    """The space called ``name`` for this operation."""
    return _space(name, operation.name, operation.width)


@cache
def _space(name: str, operation: str, width: int) -> ScheduleSpace:
    if name == "cpu-full":
        return ScheduleSpace(
            name, _parameters(FULL), lambda schedule: forbidden(schedule, operation, width)
        )
    if name == "cpu-waco":
        return _waco(operation)
    return _core(operation, width)


def _core(operation: str, width: int) -> ListedSpace:
    names = tuple(DEFAULTS)
    members = []
    for family in CORE[operation]:
        for values in itertools.product(*(family.get(n, (DEFAULTS[n],)) for n in names)):
            needlessly_narrow = values[names.index("j")] == 16 and width > 2 * WIDE
            if not needlessly_narrow and not forbidden(
                Schedule(0, names, values), operation, width
            ):
                members.append(values)
    used = {
        name: tuple(v for v in values if any(m[position] == v for m in members))
        for position, (name, values) in enumerate(FULL.items())
    }
    return ListedSpace("cpu-core", _parameters(used), members)


def anchor_of(operation: Operation) -> Schedule:
    """The schedule that is part of every round of a sweep, from ``cpu-full``."""
    values: dict[str, Value] = {"chunk": 64, "inner": "register", "unroll": 4}
    if operation.name == "spmm":
        tile = next((t for t in (16, 32, 64) if operation.width <= t), 128)
        values |= {"order": "i1i0k1j1k0j0", "j": tile, "unroll": 2}
    return space_of("cpu-full", operation).schedule(**values)


def _parameters(values: Mapping[str, tuple[Value, ...]]) -> list[Parameter]:
    return [Parameter(n, v, DEFAULTS[n], MEANINGS[n]) for n, v in values.items()]


def _too_wide(slice_width: Value, width: int) -> bool:
    """Whether a slice is so wide that half of it would cover the dense width as well."""
    return slice_width != "all" and int(slice_width) > 1 and int(slice_width) // 2 >= max(16, width)


def forbidden(schedule: Schedule, operation: str, width: int) -> str | None:
    """Why a combination is not in ``cpu-full``, or None. One reason a rule."""
    nest = LoopNest.of(schedule)
    levels = nest.levels
    depth, parallel = nest.depth_of_slices, levels.index(nest.parallel)
    if nest.parallel == "k1" and (operation == "spmm" or levels[0] != "k1"):
        return "columns run in parallel only in SDDMM and only as the outermost sparse loop"
    if nest.parallel == "k1" and nest.cols is None:
        return "a single column panel is nothing to share among threads"
    if 0 < depth <= parallel:
        return "slices stand between a sequential loop and the parallel one"
    if _too_wide(schedule["j"], width):
        return f"a slice of {schedule['j']} is wider than the dense width {width}"
    if nest.width is None and depth != 4:
        return "a single slice belongs innermost"
    if nest.cols is None and levels != ("i1", "i0", "k1", "k0") and nest.segments_are_rows:
        return "a single column panel belongs inside the rows"
    if schedule["store"] == "stream" and (
        operation != "spmm" or not nest.register or not nest.writes_rows_once
    ):
        return "only rows of C that are written once, from registers, are streamed"
    if nest.register:
        return _forbidden_in_registers(schedule, nest, operation)
    if schedule["unroll"] != 1 or schedule["prefetch"] != 0:
        return "the plain loop is neither unrolled nor prefetched"
    return None


def _forbidden_in_registers(schedule: Schedule, nest: LoopNest, operation: str) -> str | None:
    if nest.width is not None and nest.width < 16:
        return "vector tiles have at least 16 floats"
    if operation == "spmm" and nest.depth_of_slices == 4:
        return "registers hold a slice along a segment: slices belong outside the entries"
    if operation == "sddmm" and nest.depth_of_slices == 4 and nest.width is not None:
        return "a dot product in registers takes the whole width or one slice at a time"
    one_at_a_time = nest.blocks or (operation == "spmm" and not nest.segments_are_rows)
    if one_at_a_time and schedule["unroll"] != 1:
        return "blocks and columns are not unrolled"
    if nest.blocks and schedule["prefetch"] != 0:
        return "blocks are not prefetched"
    return None


SMALL: tuple[Value, ...] = (1, 2, 4, 8, 16, 32)
LARGE: tuple[Value, ...] = tuple(1 << power for power in range(17))
NEAR_CSR_ORDER = "i1k1j1i0k0j0"
SDDMM_ORDERS = ("i1k1j1i0k0j0", "k1i1j1k0i0j0", "i1k1j1k0i0j0", "k1i1j1i0k0j0")


def _waco(operation: str) -> ScheduleSpace:
    """The points that WACO's generators draw from, and the default schedule.

    Two generators an operation: for SpMM one near CSR and one of all formats; for SDDMM one of
    all orders, whose splits may be as large as the matrix, and one of four orders.
    """
    spmm = operation == "spmm"
    splits = SMALL if spmm else LARGE
    values: dict[str, tuple[Value, ...]] = {
        "order": ORDERS,
        "i": splits,
        "k": (*splits, "all"),
        "j": (1, 2, 4, 8, 16, 32, 64, 128, "all"),
        "format": FORMATS,
        "parallel": ("i1",) if spmm else ("i1", "k1"),
        "chunk": (*SMALL, 64, 128, 256) if spmm else SMALL,
        "inner": ("plain",),
        "unroll": (1,),
        "prefetch": (0,),
        "store": ("cached",),
    }
    rule = _outside_waco_spmm if spmm else _outside_waco_sddmm
    return ScheduleSpace("cpu-waco", _parameters(values), rule)


def _outside_waco_spmm(schedule: Schedule) -> str | None:
    if _is_taco(schedule):
        return None
    order = str(schedule["order"])
    if "all" in (schedule["k"], schedule["j"]):
        return "only the default schedule leaves k or j unsplit"
    near_csr = order == NEAR_CSR_ORDER and str(schedule["format"])[1:] == "UCU"
    if not near_csr and not _slices_stand_well(schedule):
        return "slices narrower than 8 stand innermost"
    if order.index("i1") > order.index("j1"):
        return "row tiles stand outside slices"
    return None


def _outside_waco_sddmm(schedule: Schedule) -> str | None:
    if _is_taco(schedule):
        return None
    if "all" in (schedule["k"], schedule["j"]):
        return "only the default schedule leaves k or j unsplit"
    sparse = [loop for loop in split_order(str(schedule["order"])) if loop[0] in "ik"]
    if schedule["parallel"] != sparse[0]:
        return "the outermost sparse loop is the parallel one"
    storage = str(schedule["format"])
    if storage == "UUUU":
        return "at least one level is compressed"
    small = schedule["i"] in SMALL and schedule["k"] in SMALL
    four_orders = schedule["order"] in SDDMM_ORDERS and storage[1] + storage[3] == "UU" and small
    if not four_orders and not _slices_stand_well(schedule):
        return "slices narrower than 8 stand innermost"
    return None


def _slices_stand_well(schedule: Schedule) -> bool:
    return int(schedule["j"]) >= 8 or str(schedule["order"]).endswith("j1j0")


def _is_taco(schedule: Schedule) -> bool:
    return schedule.as_dict() == DEFAULTS
