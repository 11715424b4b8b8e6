"""Options that several commands share, and what they turn into."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cognate.errors import PlatformError

if TYPE_CHECKING:
    import pandas as pd

    from cognate.matrices import SparseMatrix
    from cognate.platforms import Platform


def _platform_names(incomplete: str) -> list[str]:
    from cognate.platforms import platform_names

    return [name for name in platform_names() if name.startswith(incomplete)]


def _operation_names(incomplete: str) -> list[str]:
    return [name for name in ("spmm", "sddmm") if name.startswith(incomplete)]


def _matrix_names(incomplete: str) -> list[str]:
    from cognate.matrices import embedded

    return [name for name in embedded.catalogue()["name"] if name.startswith(incomplete)]


PlatformOption = Annotated[
    str,
    typer.Option(help="An installed platform, or a YAML file.", autocompletion=_platform_names),
]
OperationOption = Annotated[
    str, typer.Option("--op", help="spmm or sddmm.", autocompletion=_operation_names)
]
WidthOption = Annotated[int, typer.Option(min=1, help="Dense columns K.")]
MatrixArgument = Annotated[
    str,
    typer.Argument(help="A .mtx, .mtx.gz or .npz file, or a name.", autocompletion=_matrix_names),
]
SourceOption = Annotated[
    str | None,
    typer.Option(
        help="Where a name is looked up: embedded, suitesparse or directory; default: the first "
        "two of these, in this order."
    ),
]
FolderOption = Annotated[Path | None, typer.Option(help="Folder, for --source directory.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SettingOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Platform setting 'name=value' (YAML value). Repeatable."),
]


def find_matrix(name: str, source: str | None = None, folder: Path | None = None) -> "SparseMatrix":
    """The matrix in a file, or of this name in ``source``, else embedded or in SuiteSparse."""
    from cognate.matrices import embedded, suitesparse
    from cognate.matrices.sources import open_matrix

    if source is None:
        elsewhere = name not in embedded.names() and name in set(suitesparse.catalogue()["name"])
        source = "suitesparse" if elsewhere else "embedded"
    return open_matrix(name, source=source, folder=folder)


def open_platform(name: str, settings: list[str] | None) -> "Platform":
    """The platform, with settings written ``name=value``."""
    from cognate.platforms import get_platform

    return get_platform(name, **parse_settings(settings))


def parse_settings(settings: list[str] | None) -> dict[str, Any]:
    """Settings written ``name=value``, each value in YAML."""
    import yaml

    values = {}
    for setting in settings or []:
        key, equals, text = setting.partition("=")
        if not equals:
            raise PlatformError(f"--set {setting}: is not of the form name=value")
        try:
            values[key] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise PlatformError(f"--set {setting}: is not a YAML value") from error
    return values


def table_json(table: "pd.DataFrame") -> str:
    """A table as a JSON list of rows, numbers in full precision."""
    columns = {str(name): column.tolist() for name, column in table.items()}
    rows = zip(*columns.values(), strict=True)
    return json.dumps([plain(dict(zip(columns, row, strict=True))) for row in rows])


def plain(content: Any) -> Any:
    """The same with None for numbers that JSON does not have."""
    if isinstance(content, dict):
        return {key: plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content
