"""Two platforms with a known law of run time that share slots but not parameters."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cognate.learning.methods import get_method, pretrain
from cognate.learning.ranker import SourceModel
from cognate.learning.task import Task
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation, get_operation
from cognate.platforms import Machine, Platform
from cognate.platforms.platform import Progress
from cognate.schedules import Parameter, Schedule, ScheduleSpace, Slots


def random_matrix(name: str, rows: int, cols: int, nnz: int, seed: int) -> SparseMatrix:
    """A pattern with skewed rows and columns whose skew depends on the seed."""
    random = np.random.default_rng(seed)
    skew = random.uniform(0, 2.5)
    row = (rows * random.random(nnz) ** (1 + skew)).astype(np.int64)
    if random.random() < 0.5:
        col = (cols * random.random(nnz)).astype(np.int64)
    else:
        col = (row * cols // rows + random.integers(0, 40, nnz)) % cols
    coo = scipy.sparse.coo_array((np.ones(nnz), (row, col)), shape=(rows, cols))
    return SparseMatrix.from_scipy(coo, name)


class Synthetic(Platform):
    """Time = busiest worker's load + distinct columns of tiles + tiles, with own weights."""

    kind = "simulated"
    sample_cost = 1.0
    panel_weight: ClassVar[float]
    fetch_weight: ClassVar[float]
    row_values: ClassVar[tuple[int, ...]]
    specific: ClassVar[tuple[Parameter, ...]]

    def space(self, operation: Operation) -> ScheduleSpace:
        return ScheduleSpace(
            f"{self.name}-{operation.name}",
            [
                Parameter("rows", self.row_values, self.row_values[1]),
                Parameter("cols", (64, 512, "all"), "all"),
                Parameter("outer", (0, 1), 0),
                *self.specific,
            ],
        )

    def slots(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Slots:
        cols = [matrix.cols if s["cols"] == "all" else int(s["cols"]) for s in schedules]
        return Slots.clipped(
            matrix,
            operation.width,
            np.array([int(s["rows"]) for s in schedules]),
            np.array(cols),
            np.full(len(schedules), operation.width),
            np.array([bool(s["outer"]) for s in schedules]),
        )

    def busiest(self, where: np.ndarray) -> float:
        """Entries of the busiest of eight workers, who share row panels of a phase at a time.

        ``where`` has shape (2, nnz): row panel and phase of each entry.
        """
        loads = scipy.sparse.coo_array((np.ones(where.shape[1]), where)).toarray()
        return float(np.maximum(loads.max(axis=0), loads.sum(axis=0) / 8).sum())

    def machine(self) -> Machine:
        return Machine(8, (1 << 15, 1 << 18, 1 << 20), 1e10, 1e11)

    def specific_factor(self, matrix: SparseMatrix, schedule: Schedule) -> float:
        """What the platform's own parameters do to the time."""
        raise AssertionError

    def evaluate(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        schedules: Sequence[Schedule],
        progress: Progress | None = None,
    ) -> pd.DataFrame:
        slots = self.slots(matrix, operation, schedules)
        row = np.repeat(np.arange(matrix.rows), np.diff(matrix.row_pointers))
        seconds = []
        for panel, width, outer in zip(
            slots.rows_per_tile, slots.cols_per_tile, slots.columns_outer, strict=True
        ):
            where = np.stack([row // panel, matrix.columns // width if outer else 0 * row])
            tiles = np.unique(row // panel * (1 << 32) + matrix.columns // width)
            fetched = np.unique(row // panel * (1 << 32) + matrix.columns)
            load = self.panel_weight * self.busiest(where)
            waiting = 0.5 * len(tiles) if outer else 0.0
            seconds.append(load + self.fetch_weight * (len(fetched) + 4 * len(tiles)) / 8 + waiting)
        own = np.array([self.specific_factor(matrix, s) for s in schedules])
        table = self.space(operation).table(schedules)
        return table.assign(seconds=np.array(seconds) * own * 1e-9, status="ok", reason="")


class SyntheticSource(Synthetic):
    name = "synthetic-source"
    specific_parameters = ("unroll",)
    panel_weight, fetch_weight = 1.0, 1.0
    row_values = (1, 8, 64, 512)
    specific = (Parameter("unroll", (1, 2, 4), 1),)

    def specific_factor(self, matrix: SparseMatrix, schedule: Schedule) -> float:
        return {1: 1.2, 2: 1.0, 4: 1.1}[int(schedule["unroll"])]


class SyntheticTarget(Synthetic):
    name = "synthetic-target"
    specific_parameters = ("bypass", "mode")
    panel_weight, fetch_weight = 2.0, 0.7
    row_values = (4, 32, 256)
    specific = (Parameter("bypass", (0, 1), 0), Parameter("mode", ("a", "b"), "a"))

    def specific_factor(self, matrix: SparseMatrix, schedule: Schedule) -> float:
        bypass = 1.15 if schedule["bypass"] else 1.0
        return bypass * (0.9 if schedule["mode"] == "b" else 1.0)


def make_matrices(count: int, prefix: str, seed: int) -> dict[str, SparseMatrix]:
    """``count`` small matrices of different shapes."""
    random = np.random.default_rng(seed)
    matrices = {}
    for position in range(count):
        rows, cols = (int(v) for v in 2 ** random.uniform(8, 12, 2))
        name = f"{prefix}{position}"
        nnz = int(2 ** random.uniform(11, 14))
        matrices[name] = random_matrix(name, rows, cols, nnz, seed=1000 * seed + position)
    return matrices


def collect(
    platform: Platform, operation: Operation, matrices: dict[str, SparseMatrix], count: int
) -> pd.DataFrame:
    """Samples of ``count`` schedules of each matrix."""
    tables = []
    for position, (name, matrix) in enumerate(matrices.items()):
        schedules = platform.space(operation).sample(count, seed=position)
        table = platform.evaluate(matrix, operation, schedules)
        tables.append(table.assign(matrix=name))
    return pd.concat(tables, ignore_index=True)


def make_task(shots: int = 3, operation_name: str = "spmm", seed: int = 0) -> Task:
    """A small task on the synthetic platforms."""
    operation = get_operation(operation_name, 64)
    train, validation = make_matrices(12, "train", 1), make_matrices(4, "valid", 2)
    source, target = SyntheticSource(), SyntheticTarget()
    return Task(
        operation=operation,
        source=source,
        target=target,
        matrices={**train, **validation},
        source_train=collect(source, operation, train, 40),
        source_validation=collect(source, operation, validation, 40),
        target_train=collect(target, operation, train, 1000),
        shot_matrices=tuple(train)[:shots],
        samples_per_shot=40,
        seed=seed,
    )


@pytest.fixture(scope="session")
def task() -> Task:
    return make_task(shots=5)


@pytest.fixture(scope="session")
def task_maker() -> Callable[..., Task]:
    return make_task


@pytest.fixture(scope="session")
def test_matrices() -> dict[str, SparseMatrix]:
    return make_matrices(8, "test", 3)


@pytest.fixture(scope="session")
def truth(task: Task, test_matrices: dict[str, SparseMatrix]) -> dict[str, np.ndarray]:
    """Seconds of all target schedules on every test matrix, by ascending id."""
    table = collect(task.target, task.operation, test_matrices, 1000)
    return {name: rows["seconds"].to_numpy() for name, rows in table.groupby("matrix")}


@pytest.fixture(scope="session")
def sources(task: Task) -> dict[str, SourceModel]:
    """Source models of every method that needs one, by their configuration."""
    brief = dataclasses.replace(task, effort=0.5)
    names = {get_method(n).source_configuration for n in METHODS_WITH_SOURCE}
    return {name: pretrain(brief, name, seed=0) for name in names if name}


METHODS_WITH_SOURCE = ("cognate", "waco-fa", "waco-fm", "cognate-tiles")
