"""The simulator's C library and the layout of the structures that it shares with Python."""

import ctypes
from functools import cache
from pathlib import Path

from cognate.native import load_library

SOURCES = ("simulator.c", "tiles.c", "model.h", "memory.h", "cache.h", "modulo.h")
CAUSES = ("issue", "dependence", "sparse", "l1", "l2", "llc", "dram", "barrier", "imbalance")
LEVELS = ("vrf", "l1", "victim", "l2", "llc")
COUNTS = tuple(f"{level}_{what}" for level in LEVELS for what in ("hits", "misses"))
TRAFFICS = ("sparse_read", "r_read", "c_read", "r_written", "output_read", "output_written")


def _integers(*names: str) -> list[tuple[str, type]]:
    return [(name, ctypes.c_int64) for name in names]


class CMachine(ctypes.Structure):
    """``Machine`` of simulator.c."""

    _fields_ = _integers(
        *("pes", "pes_per_l2", "cycle_ps", "quantum_ps", "dynamic"),
        *("registers", "dirty_high", "dirty_low", "window", "simd_ps", "sparse_groups"),
        *("l1_sets", "l1_ways", "vc_sets", "vc_ways", "l2_sets", "l2_ways", "llc_sets", "llc_ways"),
        *("l1_ps", "vc_ps", "l2_ps", "llc_ps", "lookup_ps", "link_ps", "dram_ps"),
        *("channels", "line_ps", "l2_line_fs", "llc_line_fs"),
    )


class CTiling(ctypes.Structure):
    """``Tiling`` of simulator.c."""

    _fields_ = (
        *_integers("entries", "tiles", "phases", "panels"),
        *[
            (name, ctypes.c_void_p)
            for name in ("row", "col", "tile_start", "tile_panel", "phase_start")
        ],
    )


class CWork(ctypes.Structure):
    """``Work`` of simulator.c."""

    _fields_ = (
        *_integers("operation", "rows", "cols", "lines", "bypass", "used_rows"),
        *_integers("slices", "extrapolate"),
        ("timeline", ctypes.c_void_p),
        *_integers("timeline_bins", "timeline_ps"),
    )


class CTotals(ctypes.Structure):
    """``Totals`` of simulator.c."""

    _fields_ = (
        ("ps", ctypes.c_int64),
        ("causes", ctypes.c_int64 * len(CAUSES)),
        ("counts", ctypes.c_int64 * len(COUNTS)),
        ("traffic", ctypes.c_int64 * len(TRAFFICS)),
    )


class CResult(ctypes.Structure):
    """``Result`` of simulator.c."""

    _fields_ = (
        ("after", CTotals * 3),
        *_integers("flush_ps", "flushed", "slices"),
    )


@cache
def library(*flags: str) -> ctypes.CDLL:
    """The compiled simulator; calls release the interpreter, so threads run side by side."""
    folder = Path(__file__).parent
    loaded = load_library([folder / name for name in SOURCES], flags)
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    three = (integer, integer, integer)
    loaded.order_entries.argtypes = [integer, integer, pointer, pointer, *three, pointer, pointer]
    loaded.order_entries.restype = ctypes.c_int
    loaded.find_tiles.argtypes = [integer, pointer, pointer, *three, *(pointer,) * 4]
    loaded.find_tiles.restype = integer
    structures = (CMachine, CTiling, CWork, CResult)
    loaded.simulate.argtypes = [ctypes.POINTER(structure) for structure in structures]
    loaded.simulate.restype = ctypes.c_int
    return loaded
