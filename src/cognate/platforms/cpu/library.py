"""The compiled kernels, as ctypes sees ``kernels/*.c``."""

import ctypes
from ctypes import c_double, c_int, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

from cognate.native import load_library

KERNELS = Path(__file__).parent / "kernels"
UNITS = ("spmm.c", "sddmm.c", "plan.c", "check.c", "run.c", "limits.c")
SOURCES = tuple(KERNELS / name for name in UNITS)
FLAGS = ("-fopenmp-simd", "-pthread")
"""The first lets the plain sum be vectorised, as sparse compilers do; no OpenMP is linked. Freer
floating-point flags would also split the fused multiply-adds of the other kernels."""
PREFETCH_ROOM = 64
"""Entries that kernels may read, and ignore, beyond the end of a plan."""


class PlanStruct(ctypes.Structure):
    """``struct plan``."""

    _fields_ = [
        *((name, c_int64) for name in ("phases", "units", "tiles", "segments", "entries")),
        *((name, c_int64) for name in ("block_rows", "block_cols", "segment_is_row")),
        *((name, c_void_p) for name in ("phase_unit", "unit_tile", "tile_segment")),
        *((name, c_void_p) for name in ("segment_entry", "segment_id", "entry_id")),
        *((name, c_void_p) for name in ("source", "value")),
    ]


class TaskStruct(ctypes.Structure):
    """``struct task``."""

    _fields_ = [
        *((name, c_void_p) for name in ("plan", "left", "right", "result")),
        *((name, c_int64) for name in ("rows", "width", "stride", "operation")),
        *((name, c_int64) for name in ("slice", "place", "chunk", "inner", "unroll")),
        *((name, c_int64) for name in ("prefetch", "accumulate", "stream")),
    ]


class MatrixStruct(ctypes.Structure):
    """``struct matrix``."""

    _fields_ = [
        *((name, c_int64) for name in ("rows", "cols", "entries")),
        *((name, c_void_p) for name in ("row_start", "row", "col", "value")),
    ]


class LayoutStruct(ctypes.Structure):
    """``struct layout``."""

    _fields_ = [
        ("level", c_int64 * 4),
        ("dense", c_int64 * 4),
        *((name, c_int64) for name in ("shift_i", "shift_k", "parallel", "block")),
    ]


class ScratchStruct(ctypes.Structure):
    """``struct scratch``."""

    _fields_ = [
        ("capacity", c_int64),
        *((name, c_void_p) for name in ("order", "row", "col")),
        *((name, c_void_p) for name in ("spare_order", "spare_row", "spare_col")),
        *((name, c_void_p) for name in ("keyed", "spare_keyed")),
        *((name, c_void_p) for name in ("histogram", "phase_unit", "unit_tile")),
        *((name, c_void_p) for name in ("tile_segment", "segment_entry", "segment_id")),
        *((name, c_void_p) for name in ("entry_id", "source", "value")),
    ]


class TruthStruct(ctypes.Structure):
    """``struct truth``."""

    _fields_ = [("reference", c_void_p), ("tolerance", c_void_p)]


@cache
def kernels() -> ctypes.CDLL:
    """The compiled library; :class:`cognate.errors.NativeError` if it cannot be built."""
    library = load_library([*SOURCES, KERNELS / "kernels.h"], FLAGS)
    library.pool_start.argtypes = [c_int, ctypes.POINTER(c_int32)]
    library.pool_real_time.argtypes = [c_int]
    library.plan_build.argtypes = [c_void_p] * 4
    library.measure.argtypes = [c_void_p, c_int, c_double, ctypes.POINTER(c_double)]
    library.measure.restype = c_double
    library.probe.restype = c_double
    library.read_rate.argtypes = [c_void_p, c_int64, c_int64]
    library.read_rate.restype = c_double
    library.gather_rate.argtypes = [c_void_p, c_void_p, c_int64, c_int64]
    library.gather_rate.restype = c_double
    library.multiply_rate.argtypes = [c_int]
    library.multiply_rate.restype = c_double
    library.check.argtypes = [c_void_p, c_void_p, c_int64]
    library.check.restype = c_int64
    library.poison.argtypes = [c_void_p, c_int64]
    library.poison.restype = None
    return library
