"""``cognate matrices``: what there is, what it looks like, and to have it here."""

import json
from pathlib import Path
from typing import Annotated

import typer

from cognate.cli.options import (
    FolderOption,
    JsonOption,
    MatrixArgument,
    SourceOption,
    find_matrix,
    table_json,
)

app = typer.Typer(help="List, describe and fetch matrices.", no_args_is_help=True)


@app.command("list")
def list_(
    source: Annotated[str, typer.Option(help="embedded, suitesparse or directory.")] = "embedded",
    folder: FolderOption = None,
    kind: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    group: Annotated[str | None, typer.Option(help="Only this group.")] = None,
    nnz_min: Annotated[int | None, typer.Option(help="Least number of entries.")] = None,
    nnz_max: Annotated[int | None, typer.Option(help="Greatest number of entries.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List matrices of a source with size, kind and family.

    Example: cognate matrices list --source suitesparse --kind "circuit simulation problem"
    """
    from cognate.matrices.sources import list_matrices

    table = list_matrices(
        source,
        folder=folder,
        kinds=(kind,) if kind else (),
        groups=(group,) if group else (),
        nnz=(nnz_min, nnz_max),
    )
    typer.echo(table_json(table) if as_json else table.to_string(index=False))


@app.command()
def show(
    matrix: MatrixArgument,
    source: SourceOption = None,
    folder: FolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the statistics of one matrix; 'cognate show' draws it as well.

    Example: cognate matrices show mycielskian12
    """
    from cognate.matrices.statistics import statistics

    found = find_matrix(matrix, source, folder)
    facts = {"name": found.name, "group": found.group, "kind": found.kind, **statistics(found)}
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        typer.echo(f"{name:<28}{value:.4g}" if isinstance(value, float) else f"{name:<28}{value}")


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Names in the SuiteSparse collection.")],
    output: Annotated[
        Path | None, typer.Option(help="Also store each as NAME.npz in this folder.")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Only what is in the cache.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Download matrices of the SuiteSparse collection into the cache, verified by their hash.

    Example: cognate matrices fetch cora west0479
    """
    from cognate.matrices import suitesparse
    from cognate.progress import progress

    if not offline:
        with progress("fetch", "matrices") as advance:
            suitesparse.prefetch(names, advance)
    rows = []
    for name in names:
        path = suitesparse.fetch(name, offline)
        if output:
            path = output / f"{name}.npz"
            suitesparse.load(name, offline=offline).save(path)
        rows.append({"name": name, "path": str(path), "bytes": path.stat().st_size})
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        typer.echo(f"{row['name']:<28}{row['bytes']:>12} bytes  {row['path']}")
