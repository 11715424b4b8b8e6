"""What a configuration asks for: matrices, batches, platforms, models and runs, as plain data.

The workflow is expanded from this when it is parsed, so a dry run shows the whole study.
"""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd

from cognate.config import Config, Split
from cognate.errors import ConfigError, MatrixError
from cognate.evaluation.methods import dependence
from cognate.evaluation.study_data import Plan
from cognate.learning.methods import get_method
from cognate.matrices.matrix import SparseMatrix
from cognate.matrices.sources import list_matrices, load_matrix
from cognate.matrices.splits import embedded_split, split
from cognate.operations import Operation, get_operation
from cognate.platforms import Platform, get_platform


@dataclass(frozen=True, order=True)
class Run:
    """One training of a method: how much it sees and which random draws it uses."""

    shots: int
    source_matrices: int
    seed: int


class Study:
    """A configuration, resolved against the installed matrices, platforms and methods."""

    def __init__(self, config: Config):
        self.config = config
        self.platform = cache(self._platform)

    @cached_property
    def matrices(self) -> pd.DataFrame:
        """One row a matrix, index ``name``: group, kind, family, rows, cols, nnz, split, batch."""
        chosen = self.config.matrices
        table = list_matrices(chosen.source, chosen.folder, chosen.values, **self._selection())
        if len(table) < 3:
            raise MatrixError(
                f"the configuration selects {len(table)} matrices; a study needs at least three "
                "(one each to train, validate and test on); relax 'matrices'"
            )
        table = table.set_index("name").sort_index()
        table["split"] = self._split(table)
        for part in ("train", "validation", "test"):
            if not (table["split"] == part).any():
                raise ConfigError(
                    f"matrices.split leaves no matrix to {part}; select more families or "
                    "change its shares or seed"
                )
        table["batch"] = _batches(table, chosen.batch_nnz)
        return table

    @cached_property
    def batches(self) -> dict[str, list[str]]:
        """Batch names to the matrices that share a job."""
        groups = self.matrices.groupby("batch", sort=True).groups
        return {str(batch): sorted(map(str, names)) for batch, names in groups.items()}

    def names(self, *splits: str) -> list[str]:
        """Names of the matrices in these parts of the split, sorted."""
        return sorted(self.matrices.index[self.matrices["split"].isin(splits)])

    def batches_of(self, *splits: str) -> list[str]:
        """Batches that hold a matrix of these parts of the split."""
        return sorted(set(self.matrices.loc[self.names(*splits), "batch"]))

    def sampled_batches(self, platform: str) -> list[str]:
        """Batches that a platform is sampled on: the source only where models learn from it,
        unless ``evaluation.source_on_test`` asks for more."""
        if platform == self.config.source.name and not self.config.evaluation.source_on_test:
            return self.batches_of("train", "validation")
        return list(self.batches)

    def load(self, name: str) -> SparseMatrix:
        """Read, build or fetch one matrix of the study."""
        row = self.matrices.loc[name]
        chosen = self.config.matrices
        matrix = load_matrix(
            chosen.source, name, chosen.folder, values=chosen.values, offline=chosen.offline
        )
        if (matrix.rows, matrix.cols) != (row["rows"], row["cols"]):
            raise MatrixError(
                f"{name}: has {matrix.rows} × {matrix.cols}, its source said "
                f"{row['rows']} × {row['cols']}"
            )
        return matrix

    def operation(self, name: str) -> Operation:
        """An operation at the study's dense width."""
        return get_operation(name, self.config.width)

    def sampling(self, name: str) -> dict[str, Any]:
        """What a platform's samples depend on, beside the matrices and the code."""
        choice = self.config.platform_choice(name).model_dump(mode="json")
        return choice | {"width": self.config.width, "seed": self.config.seed}

    @property
    def target_names(self) -> list[str]:
        """Names in results of the target platforms."""
        return [choice.name for choice in self.config.targets]

    @property
    def platform_names(self) -> list[str]:
        """Names in results of all platforms, the source first."""
        return [self.config.source.name, *self.target_names]

    @property
    def plan(self) -> Plan:
        """What belongs to this study in its results folder."""
        batches = {name: frozenset(self.sampled_batches(name)) for name in self.platform_names}
        return Plan(batches, frozenset(self.source_models), self.source_size)

    @cached_property
    def source_size(self) -> int:
        """Number of matrices that source models may train on."""
        return len(self.names("train"))

    @cached_property
    def methods(self) -> list[str]:
        """Every method that an experiment names, in order of first mention."""
        experiments = self.config.learning.experiments.values()
        return list(dict.fromkeys(m for e in experiments for m in e.methods))

    def runs(self, method: str) -> list[Run]:
        """All runs that the experiments ask of a method, each once.

        A method that learns from shots alone has no run without shots; what a method does not
        depend on is not varied.
        """
        return sorted(set(self._runs(method)))

    def _runs(self, method: str) -> Iterator[Run]:
        depends = dependence(method)
        for experiment in self.config.learning.experiments.values():
            if method not in experiment.methods:
                continue
            sizes = {self.source_size if s == "all" else s for s in experiment.source_matrices}
            most = max(*experiment.shots, *sizes)
            if most > self.source_size:
                raise ConfigError(
                    f"learning.experiments asks for up to {most} shots or source matrices, but "
                    f"the training split has {self.source_size}; select more matrices"
                )
            seeds = self.config.learning.seeds[: experiment.seeds]
            yield from (
                Run(shots, size, seed)
                for shots in (experiment.shots if depends.shots else (0,))
                for size in (sizes if depends.source else (self.source_size,))
                for seed in (seeds if depends.seed else (0,))
                if shots > 0 or not depends.needs_shots
            )

    @cached_property
    def source_models(self) -> dict[tuple[str, int, int], str]:
        """(configuration, number of source matrices, seed) of every source model to train.

        The value is the name of one method that needs it.
        """
        models: dict[tuple[str, int, int], str] = {}
        for method in self.methods:
            configuration = get_method(method).source_configuration
            if configuration:
                for run in self.runs(method):
                    models[configuration, run.source_matrices, run.seed] = method
        return models

    def source_matrices(self, size: int, seed: int) -> list[str]:
        """``size`` training matrices; for one seed, smaller sets are parts of larger ones."""
        names = self.names("train")
        order = np.random.default_rng(seed).permutation(len(names))
        return sorted(names[i] for i in order[:size])

    def _platform(self, name: str) -> Platform:
        """The platform that results call ``name``, with the study's settings, made once."""
        choice = self.config.platform_choice(name)
        return get_platform(choice.platform, **choice.settings)

    def _selection(self) -> dict[str, Any]:
        rules = {"names", "kinds", "groups", "families", "rows", "nnz", "count", "seed"}
        return self.config.matrices.model_dump(include=rules)

    def _split(self, table: pd.DataFrame) -> pd.Series:
        """The stored split for the embedded corpus, unless the configuration asks for another."""
        chosen = self.config.matrices.split
        if self.config.matrices.source == "embedded" and chosen == Split():
            return embedded_split().loc[table.index]
        fractions = {"train": chosen.train, "validation": chosen.validation}
        fractions["test"] = 1 - sum(fractions.values())
        drawn = split(table.reset_index(), fractions, chosen.by, chosen.seed)
        return drawn.set_axis(table.index)


def _batches(table: pd.DataFrame, batch_nnz: int) -> pd.Series:
    """A batch name for each matrix; large ones are alone, others share by a hash of the name.

    A batch holds matrices of one part of the split, so that a platform need not be sampled
    on parts that nothing asks for. The hash keeps a matrix in its batch when others come or
    go, until their total doubles.
    """
    batch = pd.Series(table.index, index=table.index, name="batch", dtype=object)
    small = table[table["nnz"] < batch_nnz]
    for part, members in small.groupby("split"):
        buckets = 1 << max(0, math.ceil(math.log2(max(1.0, members["nnz"].sum() / batch_nnz))))
        for name in members.index:
            batch[name] = f"{part}{zlib.crc32(str(name).encode()) % buckets:03d}"
    return batch
