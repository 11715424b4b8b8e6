"""``cognate export`` and ``cognate import``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cognate.cli.options import JsonOption

if TYPE_CHECKING:
    from cognate.archive import Manifest


def export(
    configfile: Annotated[
        Path, typer.Option(help="The study's configuration.", exists=True, dir_okay=False)
    ] = Path("config.yaml"),
    output: Annotated[Path, typer.Option(help="The archive to write.")] = Path("study.zip"),
    licence: Annotated[
        str | None, typer.Option(help="Licence of the matrices, where they are your own.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Pack a finished study's samples, splits, models and cards into one verifiable archive.

    Example: cognate export --configfile config/smoke.yaml --output smoke.zip
    """
    from cognate.archive import export_study
    from cognate.config import load_config

    _print(export_study(load_config(configfile), output, licence), output, as_json)


def import_(
    archive: Annotated[Path, typer.Argument(help="An archive of 'cognate export'.")],
    output: Annotated[
        Path | None, typer.Option(help="New folder to unpack to; without, only verify.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify an archive, file by file, and unpack it. Nothing in it is ever executed.

    Example: cognate import smoke.zip --output smoke
    """
    from cognate.archive import import_study

    _print(import_study(archive, output), output or archive, as_json)


def _print(manifest: "Manifest", place: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({**vars(manifest), "path": str(place)}))
        return
    typer.echo(
        f"{place}: study {manifest.study}, {len(manifest.files)} files, "
        f"{manifest.total_bytes / 1e6:.1f} MB, all as listed; by cognate {manifest.cognate_version}"
    )
    typer.echo(f"matrices: {manifest.licence}")
