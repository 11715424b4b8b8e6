"""Everything a finished study has stored, read when it is first asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from cognate.config import Config
from cognate.errors import SamplesError
from cognate.evaluation import evaluate, experiments, headroom
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation, get_operation
from cognate.platforms import Platform, get_platform, samples

IDENTITY = ("matrix", "group", "kind", "family", "split", "pattern_hash")
"""Columns of the table of matrices that hold text."""


@dataclass(frozen=True)
class Plan:
    """What a study asks for; other files in its folder are of an earlier configuration."""

    batches: Mapping[str, frozenset[str]]
    """The batches that each platform is sampled on."""
    source_models: frozenset[tuple[str, int, int]]
    """Configuration, number of source matrices and seed."""
    source_size: int
    """Number of matrices that source models may train on."""


class StudyData:
    """The tables of a results folder, each read once.

    Every method raises :class:`SamplesError`, naming the file, for what is not there.
    """

    def __init__(self, results_folder: Path | str, config: Config, plan: Plan | None = None):
        """Without a plan, every file in the folder is taken to belong to the study."""
        self.folder = Path(results_folder)
        self.config = config
        self._plan = plan
        self.samples = cache(self._samples)
        self.evaluation = cache(self._evaluation)
        self.experiment = cache(self._experiment)
        self.headroom = cache(self._headroom)
        self.platform = cache(self._platform)
        self.curves = cache(self._curves)

    @property
    def targets(self) -> list[str]:
        """Names in results of the target platforms."""
        return [choice.name for choice in self.config.targets]

    @property
    def operations(self) -> list[str]:
        """Names of the study's operations."""
        return list(self.config.operations)

    @property
    def scopes(self) -> list[tuple[str, str]]:
        """Every pair of target and operation."""
        return [(target, operation) for target in self.targets for operation in self.operations]

    @cached_property
    def matrices(self) -> pd.DataFrame:
        """One row a matrix: identity, split, shape and statistics of its pattern."""
        path = self.folder / "tables" / "matrices.csv"
        _require(path)
        table = pd.read_csv(path, keep_default_na=False, dtype=dict.fromkeys(IDENTITY, str))
        for column in table.columns.difference(list(IDENTITY)):
            table[column] = pd.to_numeric(table[column], errors="coerce")
        return table

    def names(self, split: str) -> list[str]:
        """Names of the matrices in one part of the split, sorted."""
        return sorted(self.matrices.loc[self.matrices["split"] == split, "matrix"])

    def evaluated(self, target: str, operation: str) -> list[str]:
        """Names of the test matrices less those that sampling had to leave out, sorted."""
        return sorted(set(self.names("test")) - self.missing(target, operation))

    def missing(self, platform: str, operation: str) -> set[str]:
        """Names of the matrices that sampling had to leave out; why: ``tables/missing.csv``."""
        about = self.metadata(platform, operation)
        return {name for metadata in about for name in metadata.get("missing", ())}

    def left_out(self) -> pd.DataFrame:
        """Every matrix that a stage had to leave out, with the reason; usually none."""
        path = self.folder / "tables" / "missing.csv"
        columns = ["matrix", "stage", "reason"]
        return pd.read_csv(path, dtype=str) if path.is_file() else pd.DataFrame(columns=columns)

    def matrix(self, name: str) -> SparseMatrix:
        """One stored matrix."""
        found = sorted((self.folder / "matrices").glob(f"*/{name}.npz"))
        if not found:
            raise SamplesError(f"{self.folder}: matrix {name} is not stored; build it first")
        return SparseMatrix.load(found[0])

    def metadata(self, platform: str, operation: str) -> list[dict[str, Any]]:
        """What each file of samples says about its making."""
        return [samples.read(path)[1] for path in self._sample_files(platform, operation)]

    def end_to_end(self) -> pd.DataFrame:
        """Times of graph layers, as :func:`cognate.evaluation.end_to_end.measure` gives them."""
        path = self.folder / "end_to_end.parquet"
        _require(path)
        return pd.read_parquet(path)

    def operation(self, name: str) -> Operation:
        """An operation at the study's dense width."""
        return get_operation(name, self.config.width)

    def default_schedule(self, target: str, operation: str) -> int:
        """The id of a platform's default schedule."""
        space = self.platform(target).space(self.operation(operation))
        return space.default.schedule_id

    def parameters(self, platform: str, operation: str) -> list[str]:
        """Names of the parameters of a platform's schedules."""
        space = self.platform(platform).space(self.operation(operation))
        return [parameter.name for parameter in space.parameters]

    def runs(self, experiment: str) -> pd.DataFrame:
        """Every run of an experiment; :class:`SamplesError` if the study has no such one."""
        known = self.config.learning.experiments
        if experiment not in known:
            raise SamplesError(
                f"the study has no experiment {experiment!r}; it has {', '.join(known)}"
            )
        size = self._plan.source_size if self._plan else len(self.names("train"))
        return experiments.expected_runs(known[experiment], self.config.learning.seeds, size)

    @property
    def usual_shots(self) -> int:
        """The number of shots of the headline experiment (the first above 0, if it has several)."""
        shots = self.config.learning.experiments["headline"].shots
        return next((count for count in shots if count > 0), 0)

    def _samples(self, platform: str, operation: str) -> pd.DataFrame:
        tables = [samples.read(path)[0] for path in self._sample_files(platform, operation)]
        return pd.concat(tables, ignore_index=True).sort_values(
            ["matrix", "schedule_id"], kind="stable", ignore_index=True
        )

    def _sample_files(self, platform: str, operation: str) -> list[Path]:
        folder = self.folder / "samples" / platform / operation
        found = sorted(folder.glob("*.parquet"))
        if self._plan:
            found = [path for path in found if path.stem in self._plan.batches[platform]]
        if not found:
            raise SamplesError(f"{folder}: there are no samples; sample the platform first")
        return found

    def _evaluation(self, target: str, operation: str) -> pd.DataFrame:
        path = self.folder / "evaluation" / f"{target}-{operation}.parquet"
        _require(path)
        return evaluate.read(path)

    def _experiment(self, name: str, target: str, operation: str) -> pd.DataFrame:
        """Rows of an experiment; complete, or :class:`SamplesError`.

        With ``fixed_seconds``, of the schedule that is best on the shots, and
        ``trained_seconds``, of the one that is best on all training matrices.
        """
        table, runs = self.evaluation(target, operation), self.runs(name)
        rows = experiments.select(table, runs)
        experiments.require_complete(rows, runs, self.evaluated(target, operation))
        rows = experiments.with_fixed(rows, table, self.usual_shots)
        trained = self.headroom(target, operation).set_index("matrix")["fixed_seconds"]
        return rows.assign(trained_seconds=rows["matrix"].map(trained))

    def _headroom(self, target: str, operation: str) -> pd.DataFrame:
        """Default, fixed and best seconds of every matrix of a target."""
        return headroom.headroom_by_matrix(
            self.samples(target, operation),
            self.matrices,
            self.default_schedule(target, operation),
        )

    def _platform(self, name: str) -> Platform:
        choice = self.config.platform_choice(name)
        return get_platform(choice.platform, **choice.settings)

    def _curves(self) -> pd.DataFrame:
        found = sorted((self.folder / "models").glob("*/*.curve.parquet"))
        if not found:
            raise SamplesError(f"{self.folder / 'models'}: there are no training curves")
        curves = pd.concat([pd.read_parquet(path) for path in found], ignore_index=True)
        if self._plan is None:
            return curves
        models = curves[["configuration", "source_matrices", "seed"]].itertuples(index=False)
        planned = [tuple(model) in self._plan.source_models for model in models]
        return curves[planned].reset_index(drop=True)


def _require(path: Path) -> None:
    if not path.is_file():
        raise SamplesError(f"{path}: does not exist; run the stage that makes it first")
