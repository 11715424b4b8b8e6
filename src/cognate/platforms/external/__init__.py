"""Platforms of one's own, described by a YAML file: a table of times or a command to run.

``cognate.platforms.get_platform("my.yaml")`` opens one. May import the contracts of platforms
and what lies below them. The file's keys: ``docs/adding.md``.
"""

from pathlib import Path
from typing import Any

from cognate.errors import PlatformError
from cognate.platforms.external.command import CommandPlatform
from cognate.platforms.external.description import read_description
from cognate.platforms.external.platform import ExternalPlatform
from cognate.platforms.external.table import TablePlatform

__all__ = ["CommandPlatform", "ExternalPlatform", "TablePlatform", "open_external"]


def open_external(path: Path | str, **settings: Any) -> ExternalPlatform:
    """The platform that a YAML file describes; :class:`PlatformError` says what is wrong in it.

    ``settings`` are those of :class:`CommandPlatform` (cache, parallel …).
    """
    file = Path(path)
    description = read_description(file)
    base = TablePlatform if description.times else CommandPlatform
    declared = {
        "name": description.name,
        "kind": description.kind,
        "sample_cost": description.sample_cost,
        "specific_parameters": description.specific_parameters,
        "__doc__": f"The platform described by {file.name}.",
    }
    try:
        platform: ExternalPlatform = type(base.__name__, (base,), declared)(
            description, file, **settings
        )
    except TypeError as error:
        raise PlatformError(f"{file}: {error}") from error
    return platform
