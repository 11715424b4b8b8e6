"""Train a cost model on lists of sampled schedules, a list a matrix."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from cognate.errors import ModelError
from cognate.learning.configuration import ModelConfiguration
from cognate.learning.encoding import SHAPE_NAMES, Sampled, shape_statistics
from cognate.learning.model import CostModel, MatrixInput, ScheduleInput
from cognate.learning.pattern import LAYERS, Pyramid, build_pyramid, join
from cognate.learning.profile import PATTERN_NAMES, pattern_statistics
from cognate.learning.ranker import CURVE_COLUMNS, Scores
from cognate.learning.ranking import LOSSES, kendall_tau
from cognate.learning.tiles import pool_pattern
from cognate.matrices.matrix import SparseMatrix
from cognate.platforms.platform import Progress


class PatternStore:
    """Pyramids and statistics of matrices, made once for each pattern and configuration."""

    def __init__(self, limit: int = 512):
        self._limit = limit
        self._kept: dict[tuple[str, str, str, int], tuple[Pyramid, Tensor]] = {}

    def inputs(
        self, configuration: ModelConfiguration, matrices: Sequence[SparseMatrix]
    ) -> MatrixInput:
        """What the pattern encoder takes for these matrices."""
        found = [self._of(configuration, matrix) for matrix in matrices]
        return MatrixInput(join([f[0] for f in found]), torch.stack([f[1] for f in found]))

    def _of(
        self, configuration: ModelConfiguration, matrix: SparseMatrix
    ) -> tuple[Pyramid, Tensor]:
        layers = LAYERS.get(configuration.encoder, ())
        kind = configuration.statistics
        key = (matrix.pattern_hash, configuration.encoder, kind, configuration.sites)
        if key not in self._kept:
            pooled = pool_pattern(matrix, configuration.sites)
            known = shape_statistics(matrix) if kind == "shape" else pattern_statistics(matrix)
            statistics = np.append(known, np.float32(pooled.shift))
            entry = build_pyramid(pooled, layers), torch.from_numpy(statistics)
            if len(self._kept) >= self._limit:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = entry
        return self._kept[key]


STATISTICS = {"shape": len(SHAPE_NAMES) + 1, "pattern": len(PATTERN_NAMES) + 1}
"""Numbers of a matrix, and the shift of the grid that its pattern was pooled to."""

PATTERNS = PatternStore()


@dataclass(frozen=True)
class Lists:
    """Training data: for each matrix its schedules and their log seconds."""

    matrices: tuple[SparseMatrix, ...]
    schedules: Tensor
    """Shape (matrices, longest, input width)."""
    log_seconds: Tensor
    """Shape (matrices, longest)."""
    mask: Tensor
    """Shape (matrices, longest): which entries are there."""

    def part(self, chosen: Sequence[int]) -> "Lists":
        """These matrices only."""
        index = torch.tensor(chosen)
        return Lists(
            tuple(self.matrices[i] for i in chosen),
            self.schedules[index],
            self.log_seconds[index],
            self.mask[index],
        )


def make_lists(sampled: Sequence[Sampled], schedule_input: ScheduleInput) -> Lists:
    """Samples as padded tensors."""
    if not sampled:
        raise ModelError("there are no samples to train on; collect some first")
    schedules = [schedule_input(s.matrix, s.schedules) for s in sampled]
    times = [torch.from_numpy(s.log_seconds).float() for s in sampled]
    pad = torch.nn.utils.rnn.pad_sequence
    return Lists(
        tuple(s.matrix for s in sampled),
        pad(schedules, batch_first=True),
        pad(times, batch_first=True),
        pad([torch.ones(len(t), dtype=torch.bool) for t in times], batch_first=True),
    )


@dataclass(frozen=True)
class Plan:
    """How long and how fast to train."""

    phase: str
    epochs: int
    learning_rate: float
    frozen: tuple[str, ...] = ()
    patience: int = 0
    """Epochs without a better validation τ before stopping; 0: all epochs, and the last model."""


def train(
    model: CostModel,
    lists: Lists,
    validation: Lists | None,
    plan: Plan,
    seed: int,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Train ``model`` in place; returns one row an epoch (:data:`CURVE_COLUMNS`).

    With a validation set and patience, the weights of the best epoch are kept.
    """
    configuration = model.configuration
    model.freeze(plan.frozen)
    weights = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(
        weights, lr=plan.learning_rate, weight_decay=configuration.weight_decay
    )
    step = min(configuration.matrices_per_step, len(lists.matrices))
    steps_an_epoch = -(-len(lists.matrices) // step)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, plan.epochs * steps_an_epoch)
    random = np.random.default_rng([seed, 7])
    fixed = _embed(model, lists.matrices) if "pattern" in plan.frozen else None
    best, best_state, since, rows = -np.inf, None, 0, []
    for epoch in range(plan.epochs):
        start, losses = time.perf_counter(), []
        order = random.permutation(len(lists.matrices))
        for first in range(0, len(order), step):
            chosen = order[first : first + step].tolist()
            losses.append(_step(model, optimiser, weights, lists.part(chosen), chosen, fixed))
            decay.step()
        tau = mean_tau(model, validation) if validation is not None else float("nan")
        seconds = time.perf_counter() - start
        rows.append((epoch, plan.phase, float(np.mean(losses)), tau, seconds))
        if progress:
            progress(epoch + 1, plan.epochs)
        if plan.patience and validation is not None:
            since += 1
            if tau > best:
                best, since = tau, 0
                best_state = {k: v.clone() for k, v in model.state_dict().items()}
            if since >= plan.patience:
                break
    if best_state is not None:
        model.load_state_dict(best_state)
    return pd.DataFrame(rows, columns=list(CURVE_COLUMNS))


def _step(
    model: CostModel,
    optimiser: torch.optim.Optimizer,
    weights: list[torch.nn.Parameter],
    lists: Lists,
    chosen: list[int],
    fixed: Tensor | None,
) -> float:
    if fixed is None:
        embeddings = model.embed(PATTERNS.inputs(model.configuration, lists.matrices))
    else:
        embeddings = fixed[chosen]
    scores = model(embeddings, lists.schedules)
    loss = LOSSES[model.configuration.loss](scores, lists.log_seconds, lists.mask)
    if not torch.isfinite(loss):
        raise ModelError(
            "training diverged; lower the learning rate, or look for extreme times in the samples"
        )
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(weights, 1.0)
    optimiser.step()
    return float(loss.detach())


def _embed(model: CostModel, matrices: Sequence[SparseMatrix]) -> Tensor:
    with torch.no_grad():
        return model.embed(PATTERNS.inputs(model.configuration, matrices))


def mean_tau(model: CostModel, lists: Lists) -> float:
    """Kendall's τ of the model's ranking, averaged over matrices."""
    with torch.no_grad():
        scores = model(_embed(model, lists.matrices), lists.schedules)
        return float(kendall_tau(scores, lists.log_seconds, lists.mask).mean())


def predict(model: CostModel, matrix: SparseMatrix, schedules: Tensor) -> Scores:
    """Scores of one matrix's schedules, shape (n,)."""
    with torch.no_grad():
        scores = model(_embed(model, [matrix]), schedules[None])[0]
    return np.asarray(scores.numpy(), dtype=np.float64)
