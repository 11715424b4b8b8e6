"""Speed of the learning engine, against dense convolution and against simulating.

    python benchmarks/learning.py --quick --json    under 45 s, one JSON object as the last line
    python benchmarks/learning.py                   the full sizes, with the aims beside

Matrices are generated; times to learn from are made up by a smooth law, because how long training
takes does not depend on what is learnt. Early stopping is off, so that every run does all epochs.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse
import torch

from cognate.learning.configuration import BASES
from cognate.learning.methods import get_method, pretrain
from cognate.learning.model import CostModel
from cognate.learning.pattern import INPUT_CHANNELS, LAYERS, Layer
from cognate.learning.ranker import SourceModel
from cognate.learning.task import Task
from cognate.learning.tiles import pool_pattern, tile_statistics
from cognate.learning.trainer import STATISTICS, PatternStore
from cognate.learning.view import tile_view
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms import Platform, get_platform

AIMS_SECONDS = {
    "pre-train cognate": 90,
    "fine-tune cognate": 10,
    "encode 1e6 entries": 0.150,
    "rank 1e5 entries, cognate": 0.020,
    "rank 1e5 entries, cognate-tiles": 0.020,
    "tile statistics 1e5 entries": 0.020,
    "tile statistics 1e6 entries": 0.300,
    "import for cognate": 3,
    "import for cognate-tiles": 3,
    "import for xgboost": 3,
}
TILINGS = ((4, 32, 256, 2048), (1024, 16384, 65536, 1 << 30))


@dataclass
class Sizes:
    """How much to train and how often to repeat."""

    matrices: int
    schedules: int
    entries: int
    shots: int
    repeats: int


QUICK = Sizes(matrices=10, schedules=50, entries=100_000, shots=3, repeats=3)
FULL = Sizes(matrices=40, schedules=100, entries=400_000, shots=5, repeats=9)


def skewed_matrix(name: str, entries: int, seed: int) -> SparseMatrix:
    random = np.random.default_rng(seed)
    rows = int(entries / 2 ** random.uniform(2, 6))
    cols = int(rows * 2 ** random.uniform(-1, 1))
    row = (rows * random.random(entries) ** random.uniform(1, 3)).astype(np.int64)
    near = (row * cols // rows + random.integers(0, 64, entries)) % cols
    col = np.where(random.random() < 0.5, near, random.integers(0, cols, entries))
    ones = np.ones(entries, dtype=np.float32)
    return SparseMatrix.from_scipy(scipy.sparse.coo_array((ones, (row, col)), (rows, cols)), name)


def made_up_samples(
    platform: Platform, matrices: dict[str, SparseMatrix], count: int, width: int
) -> pd.DataFrame:
    operation = get_operation("spmm", width)
    space = platform.space(operation)
    tables = []
    for position, (name, matrix) in enumerate(matrices.items()):
        schedules = space.sample(count, seed=position)
        slots = platform.slots(matrix, operation, schedules)
        seconds = matrix.nnz * 1e-9 * (
            1 + (np.log2(slots.rows_per_tile) - 5) ** 2 / 50
            + np.log2(slots.cols_per_tile) / np.log2(matrix.cols) * 3
        )  # fmt: skip
        table = space.table(schedules)
        tables.append(table.assign(matrix=name, seconds=seconds, status="ok", reason=""))
    return pd.concat(tables, ignore_index=True)


def make_task(sizes: Sizes) -> Task:
    names = [f"m{i}" for i in range(sizes.matrices)]
    matrices = {name: skewed_matrix(name, sizes.entries, i) for i, name in enumerate(names)}
    source, target = get_platform("cpu"), get_platform("spade")
    samples = made_up_samples(source, matrices, sizes.schedules, 256)
    return Task(
        operation=get_operation("spmm", 256),
        source=source,
        target=target,
        matrices=matrices,
        source_train=samples,
        source_validation=samples[samples["matrix"].isin(names[:4])],
        target_train=made_up_samples(target, matrices, sizes.schedules, 256),
        shot_matrices=tuple(names[: sizes.shots]),
        samples_per_shot=sizes.schedules,
        seed=0,
    )


def repeated(work: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each run after one that does not count."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds


def once(work: Callable[[], object]) -> tuple[object, list[float]]:
    start = time.perf_counter()
    made = work()
    return made, [time.perf_counter() - start]


def dense_layers(matrix: SparseMatrix, layers: tuple[Layer, ...], sites: int) -> Callable[[], None]:
    """The same convolutions over the whole grid, for comparison."""
    pooled = pool_pattern(matrix, sites)
    grid = torch.zeros(1, INPUT_CHANNELS, int(pooled.rows.max()) + 1, int(pooled.columns.max()) + 1)
    at = torch.from_numpy(pooled.rows).long(), torch.from_numpy(pooled.columns).long()
    grid[0, 0, at[0], at[1]] = 1.0
    channels, convolutions = INPUT_CHANNELS, []
    for layer in layers:
        convolutions.append(
            torch.nn.Conv2d(channels, layer.channels, layer.kernel, layer.stride, layer.kernel // 2)
        )
        channels = layer.channels

    def run() -> None:
        x = grid
        with torch.no_grad():
            for convolution in convolutions:
                x = torch.relu(convolution(x))

    return run


def import_seconds(modules: str) -> list[float]:
    code = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    return [float(run.stdout) for run in runs]


def measure(sizes: Sizes) -> dict[str, list[float]]:
    torch.set_num_threads(1)
    task = make_task(sizes)
    found: dict[str, list[float]] = {}
    method, tiles = get_method("cognate:patience=0"), get_method("cognate-tiles")
    source, found["pre-train cognate"] = once(
        lambda: pretrain(task, str(method.source_configuration), 0)
    )
    law, found["pre-train cognate-tiles"] = once(lambda: pretrain(task, "tiles", 0))
    assert isinstance(source, SourceModel)
    assert isinstance(law, SourceModel)
    get_method("cognate").fit(task, source)
    ranker, found["fine-tune cognate"] = once(lambda: method.fit(task, source))
    tiled, found["fine-tune cognate-tiles"] = once(lambda: tiles.fit(task, law))
    boosted, found["train xgboost"] = once(lambda: get_method("xgboost").fit(task))
    small, large = skewed_matrix("small", 100_000, 1000), skewed_matrix("large", 1_000_000, 1001)
    schedules = list(task.target.space(task.operation))
    for name, one in (("cognate", ranker), ("cognate-tiles", tiled), ("xgboost", boosted)):
        found[f"rank 1e5 entries, {name}"] = repeated(
            lambda one=one: one.scores(small, schedules), sizes.repeats  # type: ignore[attr-defined]
        )  # fmt: skip
    found["view 1e6 entries, cognate-tiles"] = repeated(
        lambda: tile_view(task.target, task.operation, large, schedules), sizes.repeats
    )
    configuration = BASES["cognate"]
    model = CostModel(configuration, STATISTICS[configuration.statistics])

    def encode(matrix: SparseMatrix) -> None:
        with torch.no_grad():
            model.embed(PatternStore().inputs(configuration, [matrix]))

    found["encode 1e6 entries"] = repeated(lambda: encode(large), sizes.repeats)
    found["encode 1e5 entries"] = repeated(lambda: encode(small), sizes.repeats)
    dense = dense_layers(small, LAYERS[configuration.encoder], configuration.sites)
    found["encode 1e5 entries, dense convolution"] = repeated(dense, sizes.repeats)
    for matrix in (small, large):
        found[f"tile statistics {'1e5' if matrix is small else '1e6'} entries"] = repeated(
            lambda m=matrix: tile_statistics(m, *TILINGS, 224), sizes.repeats
        )
    few = schedules[:: 16 if sizes is QUICK else 4]
    _, seconds = once(lambda: task.target.evaluate(small, task.operation, few))
    found["simulate 256 schedules of 1e5 entries"] = [seconds[0] * len(schedules) / len(few)]
    found["import for cognate"] = import_seconds("cognate.learning.neural")
    found["import for cognate-tiles"] = import_seconds("cognate.learning.tiled")
    found["import for xgboost"] = import_seconds("cognate.learning.boosted")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes, under 45 seconds")
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    arguments = parser.parse_args()
    found = measure(QUICK if arguments.quick else FULL)
    rows = {
        name: {
            "median_seconds": float(np.median(seconds)),
            "least_seconds": min(seconds),
            "most_seconds": max(seconds),
            "runs": len(seconds),
            "aim_seconds": AIMS_SECONDS.get(name),
        }
        for name, seconds in found.items()
    }
    print(f"{'what':44s} {'median':>9s} {'least':>9s} {'most':>9s} {'aim':>7s}  (seconds)")
    for name, row in rows.items():
        aim = f"{row['aim_seconds']:7.3f}" if row["aim_seconds"] else "       "
        numbers = (row["median_seconds"], row["least_seconds"], row["most_seconds"])
        print(f"{name:44s} " + " ".join(f"{n:9.4f}" for n in numbers) + f" {aim}")
    if arguments.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
