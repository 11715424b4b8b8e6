"""``cognate matrices``: what there is and what it looks like."""

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="List, describe and fetch matrices.", no_args_is_help=True)

SourceOption = Annotated[str, typer.Option(help="embedded, suitesparse or directory.")]
FolderOption = Annotated[Path | None, typer.Option(help="Folder, for --source directory.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_(
    source: SourceOption = "embedded",
    folder: FolderOption = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    nnz_min: Annotated[int, typer.Option(help="Least number of entries.")] = 0,
    nnz_max: Annotated[int | None, typer.Option(help="Greatest number of entries.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List matrices of a source with size, kind and family.

    Example: cognate matrices list --source suitesparse --kind "circuit simulation problem"
    """
    from cognate.matrices.sources import list_matrices

    table = list_matrices(
        source, folder=folder, kinds=(kind,) if kind else (), nnz_min=nnz_min, nnz_max=nnz_max
    )
    if as_json:
        typer.echo(table.to_json(orient="records"))
    else:
        typer.echo(table.to_string(index=False))


@app.command()
def show(
    matrix: Annotated[str, typer.Argument(help="A name, or a .mtx, .mtx.gz or .npz file.")],
    source: SourceOption = "embedded",
    folder: FolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the statistics of one matrix.

    Example: cognate matrices show mycielskian12
    """
    from cognate.matrices.sources import open_matrix
    from cognate.matrices.statistics import statistics

    found = open_matrix(matrix, source=source, folder=folder)
    facts = {"name": found.name, "group": found.group, "kind": found.kind, **statistics(found)}
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        typer.echo(f"{name:<28}{value:.4g}" if isinstance(value, float) else f"{name:<28}{value}")
