"""What the machine allows: bandwidth by cache level, gathers, arithmetic."""

from dataclasses import dataclass

import numpy as np

from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms.cpu import CpuPlatform
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.hardware import cache_bytes
from cognate.platforms.cpu.library import kernels
from cognate.platforms.cpu.threads import Threads

TRIES = 5
PASS_BYTES = 256 << 20


@dataclass
class Limits:
    """Rates of all threads together."""

    level_bytes: list[int]
    """Largest working set of each level, nearest first; the last is main memory."""
    level_rates: list[float]
    """Bytes a second read from each."""
    flops_per_second: float

    @classmethod
    def measure(cls, platform: CpuPlatform) -> "Limits":
        """Best of a few tries each."""
        threads, caches = len(platform.processors), cache_bytes()
        private = [size * threads for size in caches[:-1]]
        sizes = [*private, caches[-1]]
        regions = [size // 2 for size in sizes] + [max(64 << 20, 8 * caches[-1])]
        data = Arena(max(regions)).array(max(regions) // 4, np.float32)
        data[:] = 0
        with Threads(platform.processors):
            rates = []
            for region in regions:
                passes = max(1, PASS_BYTES // region)
                read = [
                    kernels().read_rate(data.ctypes.data, region // 4, passes) for _ in range(TRIES)
                ]
                rates.append(max(read))
            flops = max(kernels().multiply_rate(threads) for _ in range(TRIES))
        return cls([*sizes, 1 << 62], rates, flops)

    def rate(self, working_set: int) -> float:
        """Bytes a second of the level that a working set fits in."""
        level = next(i for i, size in enumerate(self.level_bytes) if working_set <= size)
        return self.level_rates[level]


@dataclass
class Bound:
    """Least seconds of one case, by what bounds it."""

    compulsory_seconds: float
    """Every operand and the result once, at the rate of the level that holds them."""
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
    memory = compulsory / limits.rate(compulsory)
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
