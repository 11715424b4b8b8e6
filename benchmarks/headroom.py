"""How much choosing a schedule is worth on a SPADE machine: the table behind its choice.

``python benchmarks/headroom.py --machine spade-16 [--width 256] [--nnz 90000 600000]
[--folder MTX_FOLDER] [--output FOLDER]``

Simulates all 256 schedules for the training matrices of the embedded corpus, or for the .mtx
files of a folder, and prints by operation: the oracle's speed-up over the default and over
the one best schedule (chosen on the same matrices, and on all others), and what the oracle
loses when one parameter is fixed. Matrices that FOLDER holds already are not repeated.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.files import replacing
from cognate.matrices import directory, embedded
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.splits import embedded_split
from cognate.operations import OPERATION_NAMES, get_operation
from cognate.platforms.spade import SpadePlatform


def training_names(least: int, most: int) -> list[str]:
    part, table = embedded_split(), embedded.catalogue().set_index("name")
    fits = (table["nnz"] >= least) & (table["nnz"] <= most) & (part[table.index] == "train")
    return list(table.index[fits])


def matrices(arguments: argparse.Namespace) -> Iterator[tuple[str, SparseMatrix | None]]:
    """Name and, unless its results are there, matrix."""

    def is_done(name: str) -> bool:
        return all(result_file(arguments, name, op).exists() for op in OPERATION_NAMES)

    if arguments.folder is None:
        for name in training_names(*arguments.nnz):
            yield name, None if is_done(name) else embedded.build(name)
    else:
        for name in directory.matrix_files(arguments.folder):
            matrix = None if is_done(name) else directory.load(arguments.folder, name, "pattern")
            if matrix is None or arguments.nnz[0] <= matrix.nnz <= arguments.nnz[1]:
                yield name, matrix


def result_file(arguments: argparse.Namespace, name: str, operation: str) -> Path:
    stem = f"{arguments.machine}-{arguments.width}-{operation}"
    return Path(arguments.output) / stem / f"{name}.parquet"


def simulate(arguments: argparse.Namespace, name: str, matrix: SparseMatrix) -> None:
    platform = SpadePlatform(arguments.machine, threads=arguments.threads)
    for operation_name in OPERATION_NAMES:
        operation = get_operation(operation_name, arguments.width)
        start = time.perf_counter()
        table = platform.evaluate(matrix, operation, list(platform.space(operation)))
        took = time.perf_counter() - start
        with replacing(result_file(arguments, name, operation_name)) as temporary:
            table.to_parquet(temporary, index=False)
        print(f"{name:32} {operation_name:6} {matrix.nnz:9} nonzeros {took:7.1f} s", flush=True)


def gain(logs: NDArray[np.float64]) -> float:
    return float(np.exp(logs.mean()))


def report(seconds: NDArray[np.float64], operation_name: str, width: int) -> None:
    """``seconds``: (matrices, schedules)."""
    space = SpadePlatform().space(get_operation(operation_name, width))
    schedules = list(space)
    loss = np.log(seconds / seconds.min(axis=1, keepdims=True))
    fixed = int(loss.mean(axis=0).argmin())
    others = (loss.sum(axis=0) - loss) / max(1, len(loss) - 1)
    unseen = loss[np.arange(len(loss)), others.argmin(axis=1)]
    print(f"\n{operation_name}, {len(loss)} matrices")
    print(f"  oracle over default          {gain(loss[:, space.default.schedule_id]):.3f}")
    print(f"  oracle over best fixed       {gain(loss[:, fixed]):.3f}  ({schedules[fixed]})")
    print(f"  the same, chosen on others   {gain(unseen):.3f}")
    print(f"  worst case of the fixed one  {np.exp(loss[:, fixed].max()):.2f}")
    print(f"  different winners            {len(set(seconds.argmin(axis=1)))}")
    for parameter in space.parameters:
        held = [
            gain(loss[:, [s[parameter.name] == value for s in schedules]].min(axis=1))
            for value in parameter.values
        ]
        print(f"  {parameter.name:8} fixed at its best value  {min(held):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machine", default="spade-16")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--nnz", type=int, nargs=2, default=(90_000, 600_000))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("results/headroom"))
    arguments = parser.parse_args()
    names = []
    for name, matrix in matrices(arguments):
        names.append(name)
        if matrix is not None:
            simulate(arguments, name, matrix)
    for operation in OPERATION_NAMES:
        tables = [pd.read_parquet(result_file(arguments, name, operation)) for name in names]
        report(np.array([table["seconds"] for table in tables]), operation, arguments.width)


if __name__ == "__main__":
    main()
