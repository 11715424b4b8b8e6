"""What a neural cost model is made of and how it is trained: every ablation is one of these."""

import dataclasses
from dataclasses import dataclass, fields
from typing import Literal, get_args

from cognate.errors import ModelError

Encoder = Literal["waco", "deep", "none"]
Statistics = Literal["shape", "pattern"]
Latent = Literal["ae", "vae", "pca", "padded", "augmented", "none"]
Predictor = Literal["mlp", "gru", "attention"]
Loss = Literal["pairwise", "listwise"]
PARTS = ("pattern", "mapper", "predictor")


@dataclass(frozen=True)
class ModelConfiguration:
    """A cost model and its training; see ``docs/method.md`` for where each choice is from."""

    encoder: Encoder = "deep"
    """Pattern encoder: WACO's 14 layers of 32 channels, growing channels, or no pattern."""
    statistics: Statistics = "pattern"
    """Numbers beside the encoder: rows, columns and entries as in WACO, or all statistics."""
    mapper: Literal["slots", "none"] = "slots"
    """Comparable slots, or every parameter left to the latent encoder."""
    latent: Latent = "ae"
    """How platform-specific parameters enter: an autoencoder, a variational one, principal
    components, one block shared by both platforms (``padded``: WACO+FM), one block a platform
    beside copies of the slots (``augmented``: WACO+FA), or not at all."""
    predictor: Predictor = "mlp"
    loss: Loss = "listwise"
    latent_size: int = 16
    embedding_size: int = 64
    sites: int = 2048
    """Active sites beyond which a pattern is pooled to a coarser grid."""
    learning_rate: float = 2e-3
    epochs: int = 40
    patience: int = 10
    """Epochs without a better validation τ after which training stops."""
    matrices_per_step: int = 4
    weight_decay: float = 1e-4
    tune_frozen: tuple[str, ...] = ("pattern",)
    """Parts that fine-tuning leaves as the source taught them."""
    tune_learning_rate: float = 3e-3
    tune_epochs: int = 60

    def __post_init__(self) -> None:
        for name, kind in _CHOICES.items():
            if getattr(self, name) not in get_args(kind):
                raise ModelError(
                    f"{name}={getattr(self, name)} is unknown; "
                    f"choose from {', '.join(get_args(kind))}"
                )
        unknown = set(self.tune_frozen) - set(PARTS)
        if unknown:
            raise ModelError(f"tune_frozen={unknown.pop()} is unknown; parts: {', '.join(PARTS)}")

    def changed(self, text: str) -> "ModelConfiguration":
        """With the changes written ``name=value,name=value``; several parts join with ``+``."""
        values: dict[str, object] = {}
        for word in filter(None, text.split(",")):
            name, equals, value = word.partition("=")
            known = {f.name for f in fields(self)}
            if not equals or name not in known:
                raise ModelError(f"{word!r} is not name=value with a name of {sorted(known)}")
            values[name] = _parse(name, value, getattr(self, name))
        return dataclasses.replace(self, **values)  # type: ignore[arg-type]

    def source_part(self) -> "ModelConfiguration":
        """The same with fine-tuning's settings at their defaults: what pre-training depends on."""
        defaults = {f.name: f.default for f in fields(self) if f.name.startswith("tune_")}
        return dataclasses.replace(self, **defaults)  # type: ignore[arg-type]

    def difference(self, base: "ModelConfiguration") -> str:
        """The text that :meth:`changed` makes of ``base`` into this; empty for equals."""
        words = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != getattr(base, field.name):
                written = "+".join(value) if isinstance(value, tuple) else str(value)
                words.append(f"{field.name}={written}")
        return ",".join(words)


_CHOICES = {
    "encoder": Encoder,
    "statistics": Statistics,
    "mapper": Literal["slots", "none"],
    "latent": Latent,
    "predictor": Predictor,
    "loss": Loss,
}


def _parse(name: str, text: str, present: object) -> object:
    if isinstance(present, tuple):
        return tuple(filter(None, text.split("+")))
    try:
        return type(present)(text)  # type: ignore[call-arg]
    except ValueError as error:
        raise ModelError(f"{name}={text} is not a number") from error


BASES = {
    "cognate": ModelConfiguration(),
    "waco-fa": ModelConfiguration(encoder="waco", statistics="shape", latent="augmented"),
    "waco-fm": ModelConfiguration(encoder="waco", statistics="shape", latent="padded"),
}


def parse_configuration(text: str) -> ModelConfiguration:
    """The configuration written ``base`` or ``base:name=value,…``, e.g. ``cognate:latent=pca``."""
    base, _, changes = text.partition(":")
    if base not in BASES:
        raise ModelError(f"configuration {base!r} is unknown; choose from {', '.join(BASES)}")
    return BASES[base].changed(changes)


def source_name(text: str) -> str:
    """The name of the source model that a configuration starts from, the same for all that
    differ in fine-tuning only."""
    base = text.partition(":")[0]
    difference = parse_configuration(text).source_part().difference(BASES[base].source_part())
    return f"{base}:{difference}" if difference else base
