"""The models that ship with the package: one a platform and operation, with its card.

``<platform>-<operation>.safetensors`` ranks a platform's schedules, ``source-<operation>`` is what
was learnt from the source platform, to start from on new hardware. The workflow's target ``ship``
makes them.
"""

from importlib import resources
from pathlib import Path

from cognate.errors import ModelError


def shipped_model(name: str) -> Path:
    """The file of a shipped model, e.g. ``spade-spmm``; :class:`ModelError` if there is none."""
    path = Path(str(resources.files("cognate.models") / f"{name}.safetensors"))
    if not path.is_file():
        there = ", ".join(shipped_names()) or "none"
        raise ModelError(
            f"no model {name!r} ships with cognate (there are: {there}); train one with "
            "'cognate transfer' and name it with --shots-model"
        )
    return path


def shipped_names() -> list[str]:
    """Names of all shipped models."""
    folder = Path(str(resources.files("cognate.models")))
    return sorted(path.stem for path in folder.glob("*.safetensors"))
