"""CostModel: pattern encoder + configuration mapper + latent encoder + predictor."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cognate.errors import ModelError
from cognate.learning.configuration import ModelConfiguration
from cognate.learning.encoding import OneHot, one_hot, specific_names
from cognate.learning.latent import LatentEncoder, make_latent_encoder
from cognate.learning.pattern import LAYERS, Batch, PatternEncoder
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.schedules import SLOT_NAMES, Schedule

BLOCK = 96
"""Columns that padded and augmented encodings keep for one platform's parameters."""

LATENT_KINDS = ("ae", "vae", "pca")

MAPPED = len(SLOT_NAMES) + 3
"""Columns of mapped slots: the slots, and how many panels and slices they make."""

MAPPED_CENTRE = torch.tensor([8.0, 12.0, 6.0, 0.5, 8.0, 2.0, 1.0])
MAPPED_SCALE = torch.tensor([4.0, 4.0, 2.0, 0.5, 4.0, 3.0, 2.0])
"""What they are usually like, so that they enter the mapper near 0 with spread near 1."""


def hidden_parameters(
    configuration: ModelConfiguration, platform: Platform, operation: Operation
) -> OneHot:
    """The parameters that enter beside the slots: specific ones, or all without a mapper."""
    space = platform.space(operation)
    if configuration.mapper == "none":
        return one_hot(space, [p.name for p in space.parameters])
    return one_hot(space, specific_names(platform, operation))


class ScheduleInput:
    """Turns a platform's schedules into what the model's mapper and predictor take."""

    def __init__(
        self,
        configuration: ModelConfiguration,
        platform: Platform,
        operation: Operation,
        latent: LatentEncoder | None,
        is_target: bool,
    ):
        self._configuration = configuration
        self._platform = platform
        self._operation = operation
        self._latent = latent
        self._is_target = is_target
        self._hidden = hidden_parameters(configuration, platform, operation)
        if configuration.latent in ("padded", "augmented") and self._hidden.width > BLOCK:
            raise ModelError(
                f"{platform.name}: {self._hidden.width} parameter values do not fit the "
                f"{BLOCK} columns of latent={configuration.latent}; use latent=ae"
            )

    def __call__(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Tensor:
        """Shape (n, input_width): mapped slots first, the rest after them."""
        slots = self._platform.slots(matrix, self._operation, schedules).features()
        extents = np.log2(np.maximum(1, [matrix.rows, matrix.cols, self._operation.width]))
        pieces = (extents - slots[:, :3]).astype(np.float32)
        mapped = torch.from_numpy(np.concatenate([slots, pieces], axis=1))
        mapped = (mapped - MAPPED_CENTRE) / MAPPED_SCALE
        if self._configuration.mapper == "none":
            mapped = torch.zeros_like(mapped)
        hidden = torch.from_numpy(self._hidden.encode(schedules))
        return torch.cat([mapped, self._rest(mapped, hidden)], dim=1)

    def _rest(self, mapped: Tensor, hidden: Tensor) -> Tensor:
        kind = self._configuration.latent
        if kind == "none":
            return hidden[:, :0]
        if kind == "padded":
            padded = hidden.new_zeros(len(hidden), BLOCK)
            if self._is_target:
                padded[:, : hidden.shape[1]] = hidden
            return padded
        if kind == "augmented":
            own = hidden.new_zeros(len(hidden), mapped.shape[1] + BLOCK)
            own[:, : mapped.shape[1]] = mapped
            own[:, mapped.shape[1] : mapped.shape[1] + hidden.shape[1]] = hidden
            blocks = [torch.zeros_like(own), own] if self._is_target else [own, own * 0]
            return torch.cat(blocks, dim=1)
        if self._latent is None:
            raise ModelError(f"latent={kind} needs the platform's latent encoder")
        codes: Tensor = self._latent(hidden)
        return codes


def rest_width(configuration: ModelConfiguration) -> int:
    """Columns of a schedule's input after the slots."""
    widths = {"none": 0, "padded": BLOCK, "augmented": 2 * (MAPPED + BLOCK)}
    return widths.get(configuration.latent, configuration.latent_size)


@dataclass(frozen=True)
class MatrixInput:
    """What the pattern encoder takes, for several matrices."""

    batch: Batch
    statistics: Tensor
    """Shape (matrices, statistics), standardised by the model."""


class CostModel(nn.Module):
    """Scores schedules on patterns; lower is faster."""

    def __init__(self, configuration: ModelConfiguration, statistics: int):
        super().__init__()
        size = configuration.embedding_size
        self.configuration = configuration
        self.centre = nn.Buffer(torch.zeros(statistics))
        self.scale = nn.Buffer(torch.ones(statistics))
        self.pattern = nn.ModuleDict()
        if configuration.encoder != "none":
            self.pattern["encoder"] = PatternEncoder(LAYERS[configuration.encoder], size)
            self.pattern["shape"] = _perceptron(statistics, 64, 32)
            self.pattern["matrix"] = _perceptron(size + 32, 2 * size, size)
        self.mapper = _perceptron(MAPPED, size, size)
        self.predictor = PREDICTORS[configuration.predictor](size, rest_width(configuration))

    def embed(self, inputs: MatrixInput) -> Tensor:
        """Shape (matrices, embedding_size)."""
        if not self.pattern:
            size = self.configuration.embedding_size
            return inputs.statistics.new_zeros(len(inputs.statistics), size)
        shape = self.pattern["shape"]((inputs.statistics - self.centre) / self.scale)
        seen = self.pattern["encoder"](inputs.batch)
        embedding: Tensor = self.pattern["matrix"](torch.cat([seen, shape], dim=1))
        return embedding

    def forward(self, embeddings: Tensor, schedules: Tensor) -> Tensor:
        """embeddings (lists, size), schedules (lists, n, input width) -> scores (lists, n)."""
        slots, rest = schedules[..., :MAPPED], schedules[..., MAPPED:]
        patterns = embeddings[:, None, :].expand(-1, schedules.shape[1], -1)
        scores: Tensor = self.predictor(patterns, self.mapper(slots), rest)
        return scores

    def standardise(self, statistics: Tensor) -> None:
        """Let the statistics of the training matrices have mean 0 and variance 1."""
        self.centre.copy_(statistics.mean(dim=0))
        self.scale.copy_(statistics.std(dim=0, correction=0).clamp(min=0.1))

    def freeze(self, parts: Sequence[str]) -> None:
        """Leave these parts (``pattern``, ``mapper``, ``predictor``) as they are in training."""
        for name in ("pattern", "mapper", "predictor"):
            getattr(self, name).requires_grad_(name not in parts)


class MlpPredictor(nn.Module):
    """Everything joined, then three layers."""

    def __init__(self, size: int, rest: int):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * size + rest, 128),
            nn.ReLU(),
            nn.Linear(128, 64),
            nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, pattern: Tensor, slots: Tensor, rest: Tensor) -> Tensor:
        """All (lists, n, ·) -> (lists, n)."""
        scores: Tensor = self.layers(torch.cat([pattern, slots, rest], dim=-1))
        return scores.squeeze(-1)


class _TokenPredictor(nn.Module, ABC):
    """Pattern, slots and the rest as three tokens of one width."""

    def __init__(self, size: int, rest: int):
        super().__init__()
        self.rest = nn.Linear(rest, size) if rest else None
        self.head = _perceptron(size, 64, 1)

    def tokens(self, pattern: Tensor, slots: Tensor, rest: Tensor) -> Tensor:
        """Shape (lists · n, 3, size)."""
        third = self.rest(rest) if self.rest is not None else torch.zeros_like(slots)
        return torch.stack([pattern, slots, third], dim=-2).flatten(0, 1)

    @abstractmethod
    def mix(self, tokens: Tensor) -> Tensor:
        """Shape (lists · n, size)."""

    def forward(self, pattern: Tensor, slots: Tensor, rest: Tensor) -> Tensor:
        """All (lists, n, ·) -> (lists, n)."""
        mixed = self.mix(self.tokens(pattern, slots, rest))
        scores: Tensor = self.head(mixed)
        return scores.view(slots.shape[:-1])


class GruPredictor(_TokenPredictor):
    """A gated recurrent unit reads the tokens."""

    def __init__(self, size: int, rest: int):
        super().__init__(size, rest)
        self.gru = nn.GRU(size, size, batch_first=True)

    def mix(self, tokens: Tensor) -> Tensor:
        """The last state."""
        _, last = self.gru(tokens)
        state: Tensor = last[0]
        return state


class AttentionPredictor(_TokenPredictor):
    """One transformer layer of four heads over the tokens."""

    def __init__(self, size: int, rest: int):
        super().__init__(size, rest)
        self.layer = nn.TransformerEncoderLayer(
            size, 4, 2 * size, dropout=0.0, batch_first=True, norm_first=True
        )

    def mix(self, tokens: Tensor) -> Tensor:
        """The mean of the tokens."""
        mixed: Tensor = self.layer(tokens).mean(dim=-2)
        return mixed


PREDICTORS = {"mlp": MlpPredictor, "gru": GruPredictor, "attention": AttentionPredictor}


def _perceptron(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


def empty_latent(
    configuration: ModelConfiguration, platform: Platform, operation: Operation
) -> LatentEncoder | None:
    """An untrained latent encoder of the right kind, or None if the configuration has none."""
    if configuration.latent not in LATENT_KINDS:
        return None
    hidden = hidden_parameters(configuration, platform, operation)
    return make_latent_encoder(hidden, configuration.latent, configuration.latent_size)


def as_arrays(module: nn.Module, prefix: str) -> dict[str, NDArray[Any]]:
    """A module's tensors by name, each name after ``prefix.``."""
    return {f"{prefix}.{name}": t.detach().numpy() for name, t in module.state_dict().items()}


def from_arrays(module: nn.Module, prefix: str, tensors: dict[str, NDArray[Any]]) -> None:
    """Undo :func:`as_arrays`; :class:`ModelError` if the tensors are not this module's."""
    own = {
        name.removeprefix(f"{prefix}."): torch.from_numpy(np.array(t))
        for name, t in tensors.items()
        if name.startswith(f"{prefix}.")
    }
    try:
        module.load_state_dict(own)
    except RuntimeError as error:
        raise ModelError(f"the stored model does not fit its configuration: {error}") from error
