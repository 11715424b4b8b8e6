"""The top-level command and the boundary where errors become messages."""

import os
import sys
from typing import Annotated

import typer

import cognate
from cognate.cli import (
    archive,
    config,
    doctor,
    matrices,
    platforms,
    recommend,
    show,
    study,
    transfer,
)
from cognate.errors import CognateError

app = typer.Typer(
    name="cognate",
    help="Pick the fastest schedule for a sparse kernel on new hardware from a few samples.",
    epilog="Exit status: 0 done, 1 an error that the message explains, 2 wrong usage, "
    "130 interrupted. Tab completion: cognate --install-completion",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("recommend")(recommend.recommend)
app.command("transfer")(transfer.transfer)
app.command("show")(show.show)
app.command("simulate")(platforms.simulate)
app.command("measure")(platforms.measure)
app.command("study")(study.study)
app.command("export")(archive.export)
app.command("import")(archive.import_)
app.command("doctor")(doctor.doctor)
app.add_typer(matrices.app, name="matrices")
app.add_typer(platforms.platform_app, name="platform")
app.add_typer(platforms.app, name="schedules")
app.add_typer(config.app, name="config")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cognate {cognate.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a :class:`CognateError` becomes one message and status 1."""
    try:
        app()
    except CognateError as error:
        typer.echo(f"cognate: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
