"""The two things that learning makes, a source model and a ranker, and how each is stored."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cognate.errors import ModelError
from cognate.learning.store import Tensors, load_model, save_model
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms import Platform
from cognate.schedules import Schedule

Scores = NDArray[np.float64]

CURVE_COLUMNS = ("epoch", "phase", "loss", "validation_tau", "seconds")

_KINDS = {
    "fixed": "cognate.learning.baselines:FixedRanker",
    "random": "cognate.learning.baselines:RandomRanker",
    "boosted": "cognate.learning.boosted:BoostedRanker",
    "tiles": "cognate.learning.tiled:TiledRanker",
    "neural": "cognate.learning.neural:NeuralRanker",
    "neural-source": "cognate.learning.neural:NeuralSource",
    "tiles-source": "cognate.learning.tiled:TiledSource",
}
"""Where the class of each stored kind is, so that reading a model imports what it needs only."""


def empty_curves() -> pd.DataFrame:
    """Training curves of something that was not trained by epochs."""
    return pd.DataFrame({name: [] for name in CURVE_COLUMNS})


class Stored(ABC):
    """Something that is kept as tensors and a JSON card, for one platform and operation."""

    kind: ClassVar[str]

    def __init__(self, platform: Platform, operation: Operation):
        self.platform = platform
        self.operation = operation
        self.curves = empty_curves()

    @abstractmethod
    def state(self) -> tuple[Tensors, dict[str, Any]]:
        """Tensors, and the JSON-ready settings that :meth:`from_state` needs beside them."""

    @classmethod
    @abstractmethod
    def from_state(
        cls, platform: Platform, operation: Operation, tensors: Tensors, settings: dict[str, Any]
    ) -> "Stored":
        """Undo :meth:`state`."""

    def save(self, path: Path | str, **card: Any) -> None:
        """Write a safetensors file at ``path`` and a JSON card beside it (suffix ``.json``).

        ``card`` is whatever else should be known of the model (data hash, metrics, seed).
        """
        tensors, settings = self.state()
        own = {
            "kind": self.kind,
            "platform": self.platform.name,
            "operation": self.operation.name,
            "width": self.operation.width,
            "space": self.platform.space(self.operation).fingerprint,
            "settings": settings,
            "curves": self.curves.to_dict("records"),
        }
        save_model(path, tensors, {**card, **own})


class Ranker(Stored):
    """Scores the schedules of one platform and operation on any matrix."""

    @abstractmethod
    def scores(self, matrix: SparseMatrix, schedules: Sequence[Schedule]) -> Scores:
        """Shape (n,): lower means expected to be faster; comparable within one matrix only."""


class SourceModel(Stored):
    """What was learnt from the source platform, to be passed to :meth:`Method.fit`."""


def load_stored(path: Path | str, platform: Platform, operation: Operation) -> Stored:
    """Read a ranker or source model for this platform and operation.

    Raises :class:`ModelError` if the file is damaged, of another platform, operation or
    width, or if the platform's schedule space has changed since it was trained.
    """
    tensors, card = load_model(path)
    try:
        kind, settings = card["kind"], card["settings"]
        expected = {
            "platform": platform.name,
            "operation": operation.name,
            "width": operation.width,
            "space": platform.space(operation).fingerprint,
        }
        for what, value in expected.items():
            if card[what] != value:
                raise ModelError(
                    f"was trained for {what} {card[what]}, not {value}; train it again"
                )
        module, _, name = _KINDS[kind].partition(":")
        stored: Stored = getattr(import_module(module), name).from_state(
            platform, operation, tensors, settings
        )
        stored.curves = pd.DataFrame(card["curves"], columns=list(CURVE_COLUMNS))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{path}: is not a model of this version ({error!r})") from error
    return stored


def load_ranker(path: Path | str, platform: Platform, operation: Operation) -> Ranker:
    """:func:`load_stored` for a ranker."""
    stored = load_stored(path, platform, operation)
    if not isinstance(stored, Ranker):
        raise ModelError(f"{path}: is a {stored.kind} model, not a ranker; fine-tune it first")
    return stored


def load_source_model(path: Path | str, platform: Platform, operation: Operation) -> SourceModel:
    """:func:`load_stored` for a source model; ``platform`` is the source."""
    stored = load_stored(path, platform, operation)
    if not isinstance(stored, SourceModel):
        raise ModelError(f"{path}: is a {stored.kind} model, not a source model")
    return stored
