"""Speed of the SPADE simulator, next to a naive line-granular build of it.

``python benchmarks/simulator.py [--quick] [--json]``: processor time of one core, best of
three runs each. The last line of ``--json`` is one object. Without ``--quick`` it adds
mycielskian17 and a sweep with two threads, in elapsed time.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np

from cognate.matrices.generators.blocks import band, block_diagonal
from cognate.matrices.generators.formulas import mycielskian
from cognate.matrices.generators.graphs import rmat
from cognate.matrices.generators.tools import Csr, named_random, permutation
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms.spade import SpadePlatform, load_machine
from cognate.platforms.spade.native import library
from cognate.platforms.spade.simulator import Run, simulate_work
from cognate.platforms.spade.space import make_space, work_of
from cognate.platforms.spade.tiles import tile

SCHEDULES = (
    "rp=256 cp=all",
    "rp=32 cp=1024",
    "rp=256 cp=16384 barrier=1",
    "rp=32 cp=all bypass=1",
)
NAIVE = f'-DCACHE_HEADER="{Path(__file__).with_name("line_cache.h").resolve()}"'


def patterns(scale: float) -> dict[str, SparseMatrix]:
    """Banded, block and Kronecker matrices of about ``scale`` × 1e6 nonzeros."""
    random = named_random("simulator benchmark")
    size = int(95000 * scale)
    kron = rmat(16 if scale == 1 else 13, int(540_000 * scale), False, random)
    order = permutation(kron.shape[0], random)
    made: dict[str, Csr] = {
        "band": band(size, 5, 1.0, random),
        "block": block_diagonal(int(400 * scale), 40, 60, random),
        "kronecker": kron[order][:, order],
    }
    return {name: SparseMatrix.from_scipy(csr, name) for name, csr in made.items()}


def best_of(repeats: int, work: Callable[[], Run]) -> tuple[float, Run]:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run = work()
        times.append(time.process_time() - start)
    return min(times), run


def speed(matrix: SparseMatrix, width: int, repeats: int) -> tuple[float, list[Run]]:
    """Nonzeros a second over the schedules together, and their runs."""
    machine, operation = load_machine(), get_operation("spmm", width)
    space = make_space("spade", operation)
    seconds, runs = 0.0, []
    for text in SCHEDULES:
        work = work_of(space.parse(text), matrix, width)
        tiling = tile(matrix, work.panel_rows, work.panel_cols, work.columns_outer)
        took, run = best_of(
            repeats,
            lambda tiling=tiling, work=work: simulate_work(  # type: ignore[misc]
                machine, tiling, matrix, operation, work
            ),
        )
        seconds += took
        runs.append(run)
    return len(SCHEDULES) * matrix.nnz / seconds, runs


def compare_with_naive(repeats: int, say: Callable[[str], None]) -> float:
    """Geometric mean of our speed over the naive build's at K = 256; counts must agree."""
    naive, ratios = library(NAIVE), []
    for name, matrix in patterns(0.1).items():
        ours, our_runs = speed(matrix, 256, repeats)
        with patch("cognate.platforms.spade.simulator.library", return_value=naive):
            theirs, their_runs = speed(matrix, 256, 1)
        if our_runs != their_runs:
            sys.exit(f"{name}: the naive build counts differently")
        ratios.append(ours / theirs)
        say(f"{name:10} K=256  naive {theirs / 1e6:6.2f} M nonzeros/s, equal counts")
    return float(np.exp(np.mean(np.log(ratios))))


def sweep_seconds(matrix: SparseMatrix, threads: int) -> float:
    clock = time.process_time if threads == 1 else time.perf_counter
    platform, operation = SpadePlatform(threads=threads), get_operation("spmm", 256)
    start = clock()
    platform.evaluate(matrix, operation, list(platform.space(operation)))
    return clock() - start


def overhead_seconds() -> float:
    """Time of one simulation of a matrix with a single nonzero, tiling included."""
    csr = Csr((np.ones(1, np.float32), ([0], [0])), shape=(1, 1))
    matrix, operation = SparseMatrix.from_scipy(csr, "one"), get_operation("spmm", 256)
    machine, work = load_machine(), work_of(make_space("spade", operation).default, matrix, 256)

    def once() -> Run:
        return simulate_work(machine, tile(matrix, 1, 1, False), matrix, operation, work)

    return best_of(50, once)[0]


def mycielskian_seconds() -> float:
    matrix = SparseMatrix.from_scipy(mycielskian(17), "mycielskian17")
    machine, operation = load_machine(), get_operation("spmm", 32)
    work = work_of(make_space("spade", operation).default, matrix, 32)
    start = time.process_time()
    tiling = tile(matrix, work.panel_rows, work.panel_cols, work.columns_outer)
    simulate_work(machine, tiling, matrix, operation, work)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="under 45 seconds")
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    result: dict[str, float] = {}
    made, repeats = patterns(1), 3 if arguments.quick else 7
    for width in (32, 256):
        speeds = {name: speed(matrix, width, repeats)[0] for name, matrix in made.items()}
        for name, value in speeds.items():
            print(f"{name:10} K={width:3}  {value / 1e6:12.1f} M nonzeros/s")
        result[f"nnz_per_s_k{width}"] = min(speeds.values())
    result["times_naive_k256"] = compare_with_naive(repeats, print)
    result["overhead_s"] = overhead_seconds()
    print(f"one nonzero: {1e3 * result['overhead_s']:.3f} ms")
    result["sweep256_s"] = sweep_seconds(made["kronecker"], 1)
    print(f"256 schedules, kronecker, K=256, 1 thread: {result['sweep256_s']:.1f} s")
    if not arguments.quick:
        result["sweep256_2threads_s"] = sweep_seconds(made["kronecker"], 2)
        print(f"the same with 2 threads: {result['sweep256_2threads_s']:.1f} s")
        result["mycielskian17_s"] = mycielskian_seconds()
        print(f"mycielskian17 once, tiling included: {result['mycielskian17_s']:.1f} s")
    if arguments.json:
        print(json.dumps({name: round(value, 6) for name, value in result.items()}))


if __name__ == "__main__":
    main()
