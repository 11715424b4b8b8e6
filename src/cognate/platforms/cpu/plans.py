"""Lay a matrix out in the loop order of a schedule."""

import ctypes
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cognate.matrices.matrix import INDEX_LIMIT, SparseMatrix
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.library import (
    PREFETCH_ROOM,
    LayoutStruct,
    MatrixStruct,
    PlanStruct,
    ScratchStruct,
    kernels,
)
from cognate.platforms.cpu.loops import SINGLE_PANEL_SHIFT, SPARSE_LEVELS, LoopNest

Array = NDArray[Any]


class WastefulError(Exception):
    """A layout needs more room than is allowed; the message is the reason for rejecting it."""


@dataclass
class Plan:
    """A matrix in loop order. See ``struct plan`` in ``kernels.h``."""

    struct: PlanStruct
    arrays: dict[str, Array]
    seconds: float
    """Time to build it."""

    @property
    def stored_bytes(self) -> int:
        """Size of everything but the map back to CSR order, which kernels do not read."""
        return sum(array.nbytes for name, array in self.arrays.items() if name != "source")

    def counts(self) -> dict[str, int]:
        """How many phases, units, tiles, segments and entries there are."""
        names = ("phases", "units", "tiles", "segments", "entries")
        return {name: int(getattr(self.struct, name)) for name in names}


class Planner:
    """Builds plans of one matrix; scratch memory is reused from plan to plan."""

    def __init__(self, matrix: SparseMatrix, arena: Arena, padding_limit: float):
        self.matrix = matrix
        self.padding_limit = padding_limit
        self._arena = arena
        rows = np.repeat(np.arange(matrix.rows, dtype=np.int32), np.diff(matrix.row_pointers))
        self._sources = (matrix.row_pointers, rows, matrix.columns, matrix.values)
        pointers = (source.ctypes.data for source in self._sources)
        self._matrix = MatrixStruct(matrix.rows, matrix.cols, matrix.nnz, *pointers)
        listed = int(padding_limit * max(matrix.nnz, matrix.rows, matrix.cols)) + 64
        self.limit = min(listed, INDEX_LIMIT)
        self._scratch = self._make_scratch()

    def _make_scratch(self) -> ScratchStruct:
        entries, cut = self.matrix.nnz + 1, self._arena.array
        self._scratch_arrays = {
            **{name: cut(entries, np.int32) for name in ("order", "row", "col")},
            **{name: cut(entries, np.int32) for name in ("spare_order", "spare_row", "spare_col")},
            "keyed": cut(entries, np.uint64),
            "spare_keyed": cut(entries, np.uint64),
            "histogram": cut(self.matrix.cols + 2, np.int64),
            **{
                name: cut(self.limit, np.int32)
                for name in ("phase_unit", "unit_tile", "tile_segment", "segment_entry")
            },
            **{name: cut(self.limit, np.int32) for name in ("segment_id", "entry_id", "source")},
            "value": cut(self.limit, np.float32),
        }
        pointers = {name: array.ctypes.data for name, array in self._scratch_arrays.items()}
        return ScratchStruct(capacity=self.limit, **pointers)

    def build(self, nest: LoopNest) -> Plan:
        """The plan of these loops.

        Raises :class:`WastefulError` with the reason if it would list more than
        ``padding_limit`` times the nonzeros (or rows, or columns, whichever are most), and
        :class:`MemoryError` if the arena is full.
        """
        self._refuse_hopeless(nest)
        layout = LayoutStruct(
            level=(ctypes.c_int64 * 4)(*(SPARSE_LEVELS.index(name) for name in nest.levels)),
            dense=(ctypes.c_int64 * 4)(*(nest.dense[name] for name in nest.levels)),
            shift_i=nest.rows.bit_length() - 1,
            shift_k=SINGLE_PANEL_SHIFT if nest.cols is None else nest.cols.bit_length() - 1,
            parallel=nest.levels.index(nest.parallel),
            block=nest.blocks,
        )
        struct = PlanStruct()
        begin = time.perf_counter()
        status = kernels().plan_build(
            ctypes.byref(self._matrix),
            ctypes.byref(layout),
            ctypes.byref(self._scratch),
            ctypes.byref(struct),
        )
        if status:
            raise WastefulError(self._reason("more"))
        arrays = self._keep(struct)
        return Plan(struct, arrays, time.perf_counter() - begin)

    def _keep(self, struct: PlanStruct) -> dict[str, Array]:
        """Copy what a plan uses of the scratch into arrays of its own."""
        ids = struct.tiles if struct.block_rows else struct.entries
        sizes = {
            "phase_unit": struct.phases + 1,
            "unit_tile": struct.units + 1,
            "tile_segment": struct.tiles + 1,
            "segment_entry": struct.segments + 1,
            "segment_id": struct.units if struct.block_rows else struct.segments,
            "entry_id": ids,
            "source": struct.entries,
            "value": struct.entries,
        }
        if struct.block_rows:
            sizes |= {"tile_segment": 0, "segment_entry": 0}
        arrays: dict[str, Array] = {}
        for name, size in sizes.items():
            room = PREFETCH_ROOM if name == "entry_id" else 0
            kept = self._arena.array(size + room, self._scratch_arrays[name].dtype)
            kept[:size] = self._scratch_arrays[name][:size]
            kept[size:] = 0
            setattr(struct, name, kept.ctypes.data)
            arrays[name] = kept[:size]
        return arrays

    def _refuse_hopeless(self, nest: LoopNest) -> None:
        """Reject before packing what dense outer levels alone make too large."""
        rows, cols = max(1, self.matrix.rows), max(1, self.matrix.cols)
        panels = 1 if nest.cols is None else -(-cols // nest.cols)
        extents = {
            "i1": -(-rows // nest.rows),
            "i0": min(nest.rows, rows),
            "k1": panels,
            "k0": -(-cols // panels),
        }
        listed = 1
        for level in nest.levels:
            if not nest.dense[level]:
                return
            listed *= extents[level]
            if listed > self.limit:
                raise WastefulError(self._reason(f"at least {listed:.3g}"))

    def _reason(self, amount: str) -> str:
        return (
            f"lists {amount} coordinates, the limit is {self.limit} "
            f"({self.padding_limit:g} x the nonzeros, rows or columns)"
        )
