"""Graph layers on the CPU with a recommended schedule, its overhead included.

Two workloads on a square matrix ``A`` with K features a node:

* ``gcn``: two layers ``relu(A·(X·W))`` (Kipf and Welling 2017): two SpMM, two dense products.
* ``gat``: one attention layer: ``S = A ∘ (Q·Kᵀ)``, leaky ReLU and softmax over each row,
  ``S·V``: one SDDMM, one SpMM, three dense products (after Veličković et al. 2018, with
  dot-product scores).

Sparse kernels are timed by the platform, whose protocol checks their results; everything
else, equal for all variants, is timed here. A variant's time is the sum of its parts.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.errors import MatrixError, PlatformError
from cognate.evaluation.metrics import geometric_mean
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation, get_operation
from cognate.platforms import Platform
from cognate.schedules import Schedule

VARIANTS = ("torch.sparse", "default", "recommended")
KERNELS = {"gcn": {"spmm": 2}, "gat": {"sddmm": 1, "spmm": 1}}
"""How often each workload runs each sparse kernel."""
DENSE_PRODUCTS = {"gcn": 2, "gat": 3}
_SLOPE = 0.2
"""Of the leaky ReLU, as in GAT."""


@dataclass(frozen=True)
class Recommendation:
    """A schedule for a matrix and the seconds that featurising and ranking took."""

    schedule: Schedule
    seconds: float


Recommend = Callable[[SparseMatrix, Operation], Recommendation]


def suitable(matrices: pd.DataFrame, count: int) -> list[str]:
    """``count`` square test matrices, spread evenly over their numbers of nonzeros."""
    square = matrices[(matrices["split"] == "test") & (matrices["rows"] == matrices["cols"])]
    names = list(square.sort_values(["nnz", "matrix"])["matrix"])
    places = np.unique(np.linspace(0, len(names) - 1, min(count, len(names))).round().astype(int))
    return [names[place] for place in places] if names else []


def measure(
    platform: Platform, path: Path, width: int, recommend: Recommend, rounds: int = 9
) -> pd.DataFrame:
    """Times of both workloads on one stored square matrix, one row a workload and variant.

    Columns: matrix, nnz, workload, variant; ``kernel_seconds`` and ``dense_seconds`` of one
    run; ``once_seconds``, what must be done once before (the layout of ``A`` for the
    schedule, and for ``recommended`` featurising and ranking); ``read_seconds``, equal for
    all. Medians of ``rounds`` runs after one that is not counted.

    Raises :class:`MatrixError` unless the matrix is square, :class:`PlatformError` if the
    platform does not measure or its default schedule does not run.
    """
    if platform.kind != "measured":
        raise PlatformError(f"{platform.name}: end-to-end times need a measured platform")
    read_seconds = _median_seconds(lambda: SparseMatrix.load(path), rounds=3)
    matrix = SparseMatrix.load(path)
    if matrix.rows != matrix.cols:
        raise MatrixError(f"{matrix.name}: a graph layer needs a square matrix")
    threads = platform.machine().workers
    kernels = {
        name: _kernel_times(platform, matrix, get_operation(name, width), recommend)
        | {"torch.sparse": (_torch_kernel(matrix, name, width, threads, rounds), 0.0)}
        for name in ("spmm", "sddmm")
    }
    product, activation, softmax = _dense_times(matrix, width, threads, rounds)
    rows = []
    for workload, counts in KERNELS.items():
        dense = DENSE_PRODUCTS[workload] * product
        dense += 2 * activation if workload == "gcn" else softmax
        for variant in VARIANTS:
            used = {name: kernels[name][variant] for name in counts}
            rows.append(
                {
                    "matrix": matrix.name,
                    "nnz": matrix.nnz,
                    "workload": workload,
                    "variant": variant,
                    "kernel_seconds": sum(counts[name] * used[name][0] for name in counts),
                    "dense_seconds": dense,
                    "once_seconds": sum(once for _, once in used.values()),
                    "read_seconds": read_seconds,
                }
            )
    return pd.DataFrame(rows)


def summarise(table: pd.DataFrame, runs: Sequence[int] = (1, 10, 100, 1000)) -> pd.DataFrame:
    """Geometric-mean speed-ups of each variant over default and torch.sparse, by workload.

    ``kernel_over_…`` compare the sparse kernels, ``run_over_…`` whole runs, and
    ``after_N_over_…`` N runs with all that is done once. ``break_even_runs`` is the median
    number of runs after which the variant has overtaken the default, infinite if never.
    """
    records = []
    for workload, rows in table.groupby("workload", sort=False):
        parts = _parts(rows)
        totals = {"kernel": parts["kernel"], "run": parts["run"]}
        totals |= {f"after_{n}": parts["once"] + n * parts["run"] for n in runs}
        for variant in VARIANTS:
            record: dict[str, Any] = {"workload": workload, "variant": variant}
            for reference, short in (("default", "default"), ("torch.sparse", "torch")):
                for name, total in totals.items():
                    ratio = total[reference] / total[variant]
                    record[f"{name}_over_{short}"] = geometric_mean(ratio)
            once = (parts["once"][variant] - parts["once"]["default"]).clip(lower=0)
            saved = parts["run"]["default"] - parts["run"][variant]
            paid = (once / saved.where(saved > 0)).fillna(np.inf)
            record["break_even_runs"] = 0.0 if variant == "default" else float(paid.median())
            record["matrices"] = len(once)
            records.append(record)
    return pd.DataFrame(records)


def _parts(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Seconds in kernels, in a whole run and once before, each by matrix and variant."""
    rows = rows.assign(run_seconds=rows["kernel_seconds"] + rows["dense_seconds"])
    return {
        name: rows.pivot(index="matrix", columns="variant", values=f"{name}_seconds")
        for name in ("kernel", "run", "once")
    }


def _kernel_times(
    platform: Platform, matrix: SparseMatrix, operation: Operation, recommend: Recommend
) -> dict[str, tuple[float, float]]:
    """Seconds of the kernel and of preparing it, under default and recommended schedule.

    A recommended schedule that is rejected counts as the default.
    """
    found = recommend(matrix, operation)
    default = platform.space(operation).default
    wanted = {s.schedule_id: s for s in (default, found.schedule)}
    table = platform.evaluate(matrix, operation, list(wanted.values())).set_index("schedule_id")
    if table.loc[default.schedule_id, "status"] != "ok":
        raise PlatformError(
            f"{platform.name}: the default schedule does not run on {matrix.name}: "
            f"{table['reason'][default.schedule_id]}"
        )
    chosen = found.schedule.schedule_id
    if table.loc[chosen, "status"] != "ok":
        chosen = default.schedule_id
    layout = table["plan_seconds"] if "plan_seconds" in table else table["seconds"] * 0
    seconds = table["seconds"]
    return {
        "default": (float(seconds[default.schedule_id]), float(layout[default.schedule_id])),
        "recommended": (float(seconds[chosen]), float(layout[chosen]) + found.seconds),
    }


def _torch_kernel(
    matrix: SparseMatrix, operation: str, width: int, threads: int, rounds: int
) -> float:
    """Median seconds of torch's own kernel on CSR with 32-bit indices."""
    import torch

    torch.set_num_threads(threads)
    operands = [torch.from_numpy(part) for part in get_operation(operation, width).operands(matrix)]
    sparse = torch.sparse_csr_tensor(
        torch.from_numpy(matrix.row_pointers.astype(np.int32)),
        torch.from_numpy(matrix.columns.copy()),
        torch.from_numpy(matrix.values.copy()),
        size=matrix.shape,
        check_invariants=False,
    )
    with torch.inference_mode():
        if operation == "spmm":
            return _median_seconds(lambda: sparse @ operands[0], rounds)
        left, right = operands[0], operands[1].T
        return _median_seconds(
            lambda: torch.sparse.sampled_addmm(sparse, left, right, beta=0), rounds
        )


def _dense_times(
    matrix: SparseMatrix, width: int, threads: int, rounds: int
) -> tuple[float, float, float]:
    """Median seconds of one dense product, of its ReLU, and of the softmax over the rows."""
    import torch

    torch.set_num_threads(threads)
    random = torch.Generator().manual_seed(0)
    features = torch.randn(matrix.rows, width, generator=random)
    weights = torch.randn(width, width, generator=random)
    scores = np.random.default_rng(0).standard_normal(matrix.nnz, dtype=np.float32)
    with torch.inference_mode():
        product = _median_seconds(lambda: features @ weights, rounds)
        activation = _median_seconds(lambda: torch.relu(features), rounds)
    softmax = _median_seconds(lambda: row_softmax(matrix, scores), rounds)
    return product, activation, softmax


def row_softmax(matrix: SparseMatrix, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Softmax, after a leaky ReLU, of the stored entries of each row; shape (nnz,)."""
    lengths = np.diff(matrix.row_pointers)
    starts = matrix.row_pointers[:-1][lengths > 0]
    lengths = lengths[lengths > 0]
    leaky = np.where(scores > 0, scores, _SLOPE * scores).astype(np.float32)
    if not len(starts):
        return leaky
    shifted = np.exp(leaky - np.repeat(np.maximum.reduceat(leaky, starts), lengths))
    result: NDArray[np.float32] = shifted / np.repeat(np.add.reduceat(shifted, starts), lengths)
    return result


def _median_seconds(run: Callable[[], object], rounds: int) -> float:
    run()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return float(np.median(times))
