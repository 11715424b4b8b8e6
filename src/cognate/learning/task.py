"""What a method is given: platforms, matrices, samples and which of them are the shots."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cognate.errors import ModelError
from cognate.learning.checks import check_samples
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform

FULL_TARGET_FACTOR = 20
"""An accelerator-specific model has this many times the samples (COGNATE: 5 % of its data)."""


@dataclass(frozen=True)
class Task:
    """Learn to rank the target's schedules from source samples and a few target matrices.

    Tables are samples tables (:mod:`cognate.platforms.samples`) of several matrices.
    """

    operation: Operation
    source: Platform
    target: Platform
    matrices: Mapping[str, SparseMatrix]
    """By the name that the tables' ``matrix`` column holds; may load on access."""
    source_train: pd.DataFrame
    source_validation: pd.DataFrame
    target_train: pd.DataFrame
    """All target samples of the training matrices; see :meth:`shots`, :meth:`full_target`."""
    shot_matrices: tuple[str, ...]
    samples_per_shot: int
    seed: int
    effort: float = 1.0
    """Scales the number of training steps; 1 is the tuned amount."""

    def shots(self) -> pd.DataFrame:
        """The target samples that few-shot methods may see.

        ``samples_per_shot`` schedules that ran, drawn by the seed, of each shot matrix (all
        that ran, where there are fewer).
        """
        missing = set(self.shot_matrices) - set(self.target_train["matrix"])
        if missing:
            raise ModelError(
                f"no samples of shot matrices {', '.join(sorted(missing))} on "
                f"{self.target.name}; collect them or choose other shots"
            )
        return self._draw(self.target_train, self.shot_matrices, self.samples_per_shot)

    def full_target(self) -> pd.DataFrame:
        """The samples of an accelerator-specific model: 20 × as many as the shots have.

        Spread over all training matrices as evenly as their number allows.
        """
        wanted = FULL_TARGET_FACTOR * max(1, len(self.shot_matrices)) * self.samples_per_shot
        names = list(dict.fromkeys(self.target_train["matrix"]))
        np.random.default_rng([self.seed, 20]).shuffle(names)
        names = names[: max(1, wanted // self.samples_per_shot)]
        return self._draw(self.target_train, tuple(names), -(-wanted // len(names)))

    def _draw(self, table: pd.DataFrame, names: tuple[str, ...], count: int) -> pd.DataFrame:
        groups = dict(iter(table[table["status"] == "ok"].groupby("matrix", sort=False)))
        drawn = []
        for name in names:
            rows = groups.get(name, table.iloc[:0]).sort_values("schedule_id")
            random = np.random.default_rng([self.seed, *name.encode()])
            chosen = random.choice(len(rows), min(count, len(rows)), replace=False)
            drawn.append(rows.iloc[np.sort(chosen)])
        result = pd.concat(drawn, ignore_index=True) if drawn else table.iloc[:0]
        if names:
            check_samples(result, self.target, self.operation, "target samples")
        return result
