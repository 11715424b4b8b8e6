"""Write a model as a safetensors file with a JSON card beside it, and read both back."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

import cognate
from cognate.errors import ModelError
from cognate.files import replacing, write_text

Tensors = Mapping[str, NDArray[Any]]


def card_path(path: Path | str) -> Path:
    """Where the card of the model at ``path`` lies."""
    return Path(path).with_suffix(".json")


def save_model(path: Path | str, tensors: Tensors, card: Mapping[str, Any]) -> None:
    """Write ``tensors`` to ``path`` and ``card`` beside it, each atomically, the card last.

    The card carries the code's version and the tensors' hash, by which :func:`load_model`
    sees that the two belong together.
    """
    content = save_tensors({name: np.ascontiguousarray(t) for name, t in tensors.items()})
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    signed = {
        **card,
        "cognate_version": cognate.__version__,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    write_text(card_path(path), json.dumps(signed, indent=1, sort_keys=True) + "\n")


def load_model(path: Path | str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The tensors and the card; :class:`ModelError` if either is missing, damaged or alien."""
    try:
        content = Path(path).read_bytes()
        card = json.loads(card_path(path).read_text(encoding="utf-8"))
        if card["sha256"] != hashlib.sha256(content).hexdigest():
            raise ModelError(f"{path}: does not belong to {card_path(path)}; train it again")
        return load_tensors(content), card
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise ModelError(f"{path}: cannot be read as a model ({error}); train it again") from error


def text_tensor(text: str | bytes) -> NDArray[np.uint8]:
    """Text as a tensor of its bytes."""
    return np.frombuffer(text.encode() if isinstance(text, str) else bytes(text), dtype=np.uint8)
