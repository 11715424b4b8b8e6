"""What the machine allows: bandwidth by working set, gathers, arithmetic."""

from dataclasses import dataclass

import numpy as np

from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms.cpu import CpuPlatform
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.library import kernels
from cognate.platforms.cpu.threads import Threads

TRIES = 5
PASS_BYTES = 128 << 20
SMALLEST_SET = 16 << 10
STEPS = 15
"""Up to 256 MiB a thread."""


@dataclass
class Limits:
    """Rates of all threads together."""

    working_sets: list[int]
    """Bytes, each twice the one before: from the nearest caches to main memory."""
    read_rates: list[float]
    """Bytes a second at which a working set of this size, or of any larger one, was read."""
    flops_per_second: float

    @classmethod
    def measure(cls, platform: CpuPlatform) -> "Limits":
        """Best of a few tries each. What a cache holds is seen, not read from its label: a
        virtual machine may be told of a cache that it shares with others."""
        threads = len(platform.processors)
        sets = [SMALLEST_SET * threads << step for step in range(STEPS)]
        data = Arena(sets[-1]).array(sets[-1] // 4, np.float32)
        data[:] = 0
        rates = []
        with Threads(platform.processors):
            for size in sets:
                passes = max(1, PASS_BYTES // size)
                read = [
                    kernels().read_rate(data.ctypes.data, size // 4, passes) for _ in range(TRIES)
                ]
                rates.append(max(read))
            flops = max(kernels().multiply_rate(threads) for _ in range(TRIES))
        return cls(sets, rates, flops).best_of()

    def best_of(self, *others: "Limits") -> "Limits":
        """The higher rates of measurements that others on the machine may have disturbed."""
        all_rates = [limits.read_rates for limits in (self, *others)]
        best = np.max(all_rates, axis=0)
        best = np.maximum.accumulate(best[::-1])[::-1]
        flops = max(limits.flops_per_second for limits in (self, *others))
        return Limits(self.working_sets, best.tolist(), flops)

    def seconds(self, working_set: int) -> float:
        """Least time to read a working set, at the rate of the next smaller one measured."""
        place = int(np.searchsorted(self.working_sets, working_set, side="right")) - 1
        return working_set / self.read_rates[max(place, 0)]


@dataclass
class Bound:
    """Least seconds of one case, by what bounds it."""

    compulsory_seconds: float
    """Every operand and the result once, at the rate of a working set of that size."""
    arithmetic_seconds: float
    gather_seconds: float
    """Reading the dense row of every entry in CSR order, and nothing else: measured. A schedule
    that reuses rows in caches or fetches them ahead can be faster than this."""
    share: float
    """Of the best time, how much the larger of the first two explains."""


def bound(
    matrix: SparseMatrix, operation: Operation, limits: Limits, platform: CpuPlatform, best: float
) -> Bound:
    """The roofline of a case."""
    compulsory = operation.compulsory_bytes(matrix)
    memory = limits.seconds(compulsory)
    arithmetic = operation.flops(matrix) / limits.flops_per_second
    gather = gather_seconds(matrix, operation.width, platform)
    return Bound(memory, arithmetic, gather, max(memory, arithmetic) / best)


def gather_seconds(matrix: SparseMatrix, width: int, platform: CpuPlatform) -> float:
    """Least time in which all threads read the dense rows that the entries name."""
    platform.arena.release()
    floats = -(-width // 16) * 16
    dense = platform.arena.array((matrix.cols, floats), np.float32)
    dense[:] = 0
    with Threads(platform.processors):
        rates = [
            kernels().gather_rate(dense.ctypes.data, matrix.columns.ctypes.data, matrix.nnz, floats)
            for _ in range(TRIES)
        ]
    return float(4.0 * matrix.nnz * floats / max(rates))
