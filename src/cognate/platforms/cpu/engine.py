"""Operands, threads and kernels of one matrix: build, run, check, time."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.library import TaskStruct, TruthStruct, kernels
from cognate.platforms.cpu.loops import BLOCK_SIZES, PLACES, LoopNest
from cognate.platforms.cpu.plans import Plan, Planner
from cognate.platforms.cpu.threads import Threads
from cognate.schedules import Schedule

VECTOR_FLOATS = 16
"""Dense rows are padded to a multiple of this, with zeros."""
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
"""The smallest float32 above zero: what a product that underflows may be off by."""
ROUND_OFF = 2.0**-24
"""Unit round-off of float32."""


@dataclass
class Task:
    """A schedule, ready to run."""

    struct: TaskStruct
    plan: Plan


class Check(NamedTuple):
    """What a checked run showed."""

    wrong: int
    """Elements that miss the reference by more than rounding allows."""
    seconds: float
    lost: float
    """Seconds that threads were kept from running."""


class Engine:
    """A context in which schedules of one matrix can be run; one a process at a time."""

    def __init__(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        processors: Sequence[int],
        arena: Arena,
        padding_limit: float = 8.0,
        real_time: bool = False,
    ):
        self.matrix = matrix
        self.operation = operation
        self._threads = Threads(processors, real_time)
        self._width = operation.width
        self._stride = -(-operation.width // VECTOR_FLOATS) * VECTOR_FLOATS
        arena.release()
        operands = operation.operands(matrix)
        self._operands = [self._copy(arena, operand) for operand in operands]
        self.planner = Planner(matrix, arena, padding_limit)
        if operation.name == "spmm":
            shape: tuple[int, ...] = (matrix.rows + max(BLOCK_SIZES), self._stride)
        else:
            shape = (self.planner.limit,)
        self._result = arena.array(shape, np.float32)
        self._poison(self._result.size if operation.name == "spmm" else 0)
        self._truth_arrays = _truth(matrix, operation, operands)
        self._truth = TruthStruct(*(array.ctypes.data for array in self._truth_arrays))

    def _copy(self, arena: Arena, operand: NDArray[np.float32]) -> NDArray[np.generic]:
        copy = arena.array((operand.shape[0] + max(BLOCK_SIZES), self._stride), np.float32)
        copy[: operand.shape[0], : self._width] = operand
        copy[: operand.shape[0], self._width :] = 0
        copy[operand.shape[0] :] = 0
        return copy

    def __enter__(self) -> "Engine":
        self._threads.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._threads.__exit__(*error)

    def task(self, schedule: Schedule, plan: Plan) -> Task:
        """The schedule on a plan that was built for its loops."""
        nest = LoopNest.of(schedule)
        chunk = schedule["chunk"]
        *left, right = self._operands
        struct = TaskStruct(
            plan=ctypes.addressof(plan.struct),
            left=left[0].ctypes.data if left else None,
            right=right.ctypes.data,
            result=self._result.ctypes.data,
            rows=self.matrix.rows,
            width=self._width,
            stride=self._stride,
            operation=0 if self.operation.name == "spmm" else 1,
            slice=min(nest.width or self._width, self._width),
            place=PLACES.index(nest.place_of_slices),
            chunk=0 if chunk == "static" else int(chunk),
            inner=int(nest.register),
            unroll=int(schedule["unroll"]),
            prefetch=int(schedule["prefetch"]),
            accumulate=self._accumulates(nest, plan),
            stream=schedule["store"] == "stream",
        )
        return Task(struct, plan)

    def _accumulates(self, nest: LoopNest, plan: Plan) -> bool:
        """Whether SpMM must clear C and add to it: some row is not written exactly once."""
        if self.operation.name != "spmm":
            return False
        if nest.blocks:
            return bool(plan.struct.units * nest.rows < self.matrix.rows)
        single_panel = nest.cols is None or nest.cols >= self.matrix.cols
        once = nest.segments_are_rows and single_panel
        return not (nest.register and once and plan.struct.segments == self.matrix.rows)

    def measure(self, task: Task, runs: int = 1, seconds: float = 0.0) -> tuple[float, float]:
        """Fastest of at least ``runs`` runs that fill at least ``seconds``.

        Returns its seconds, and the seconds a run that threads were kept from running.
        """
        lost = ctypes.c_double()
        fastest = kernels().measure(ctypes.byref(task.struct), runs, seconds, ctypes.byref(lost))
        return float(fastest), float(lost.value)

    def result(self, task: Task) -> NDArray[np.float32]:
        """What the task computes: (rows, width) for SpMM, (nnz,) in CSR order for SDDMM."""
        self.measure(task)
        if self.operation.name == "spmm":
            return np.array(self._result[: self.matrix.rows, : self._width], dtype=np.float32)
        source = task.plan.arrays["source"]
        present = source >= 0
        result = np.full(self.matrix.nnz, np.nan, dtype=np.float32)
        result[source[present]] = self._result[: len(source)][present]
        return result

    def probe(self) -> float:
        """Seconds of a fixed chain of arithmetic on every thread."""
        return float(kernels().probe())

    def check(self, task: Task) -> Check:
        """Run once and compare the whole result with the reference."""
        if self.operation.name == "sddmm":
            self._poison(task.plan.struct.entries)
        seconds, lost = self.measure(task)
        task_at, truth_at = ctypes.byref(task.struct), ctypes.byref(self._truth)
        wrong = int(kernels().check(task_at, truth_at, self.matrix.nnz))
        return Check(wrong, seconds, lost)

    def _poison(self, floats: int) -> None:
        kernels().poison(self._result.ctypes.data, floats)


def _truth(
    matrix: SparseMatrix, operation: Operation, operands: tuple[NDArray[np.float32], ...]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A reference result by scipy or numpy, and how far a float32 result may be from it.

    A sum of n products in any order is within γ(n) Σ|a||b| of the exact one, with
    γ(n) = n u / (1 - n u) (Higham, Accuracy and Stability of Numerical Algorithms, §3.1);
    more roundings cover factors, and twice the bound two float32 results. |B| < 1 bounds a
    row of SpMM, the Cauchy-Schwarz inequality an entry of SDDMM. Where products underflow, each
    may be off by the smallest number there is (§2.1 there, equation 2.8).
    """
    lengths = np.diff(matrix.row_pointers)
    if operation.name == "spmm":
        # In float32: half the memory of operation.reference, which counts for large C.
        reference: NDArray[np.float32] = matrix.to_scipy() @ operands[0]
        sums = abs(matrix.to_scipy()).astype(np.float64) @ np.ones(matrix.cols)
        return reference, _tolerance(lengths + 2, sums)
    left, right = (np.sqrt(np.einsum("ij,ij->i", part, part)) for part in operands)
    rows = np.repeat(np.arange(matrix.rows), lengths)
    scale = np.abs(matrix.values) * left[rows] * right[matrix.columns]
    reference = operation.reference(matrix, operands).astype(np.float32)
    return reference, _tolerance(np.asarray(operation.width + 3), scale.astype(np.float64))


def _tolerance(terms: NDArray[np.int64], scale: NDArray[np.float64]) -> NDArray[np.float32]:
    gamma = terms * ROUND_OFF / (1 - terms * ROUND_OFF)
    return (2 * (gamma * scale + terms * SMALLEST)).astype(np.float32)
