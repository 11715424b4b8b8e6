"""``cognate recommend``."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from cognate.cli.options import (
    FolderOption,
    JsonOption,
    MatrixArgument,
    OperationOption,
    PlatformOption,
    SettingOption,
    SourceOption,
    WidthOption,
    find_matrix,
    parse_settings,
    plain,
)

if TYPE_CHECKING:
    from cognate.recommendation import Choice, Recommendation


def recommend(
    matrix: MatrixArgument,
    operation: OperationOption = "spmm",
    platform: PlatformOption = "spade",
    width: WidthOption = 256,
    top: Annotated[int, typer.Option(min=1, help="How many schedules to name.")] = 5,
    model: Annotated[
        str | None,
        typer.Option(
            "--shots-model", help="A model of 'cognate transfer' (.safetensors), not the shipped."
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Run or simulate the default and the recommended.")
    ] = False,
    source: SourceOption = None,
    folder: FolderOption = None,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Name the best schedules for a matrix, with the gain to expect over the default, and why.

    Example: cognate recommend mycielskian12 --op spmm --platform spade --top 3
    """
    from cognate.recommendation import model_path
    from cognate.recommendation import recommend as find

    found = find(
        find_matrix(matrix, source, folder),
        operation,
        platform,
        width=width,
        top=top,
        model=model_path(model) if model else None,
        verify=verify,
        settings=parse_settings(setting),
    )
    if as_json:
        typer.echo(json.dumps(plain(found.as_dict())))
    else:
        _print(found)


def _print(found: "Recommendation") -> None:
    typer.echo(
        f"{found.matrix}: {found.rows} × {found.cols}, {found.nnz} entries; {found.operation} with "
        f"{found.width} dense columns on {found.platform}\n"
    )
    inside = found.best.gain.inside if found.best.gain else 0
    interval = f"{inside:.0%} of cases" if inside else ""
    verified = "  true" if found.default_seconds else ""
    typer.echo(f"    gain  {interval:<16}{verified:<7} schedule")
    for choice in found.choices:
        typer.echo(f"{choice.rank:>2}  {_gain(choice)}  {choice.schedule}")
    typer.echo(f"    default: {found.default}")
    if found.default_seconds:
        typer.echo(f"    default takes {found.default_seconds:.4g} s")
    typer.echo("\nWhy the first, by the model:" if found.best.why else "\nIt is the default.")
    for effect in found.best.why:
        typer.echo(
            f"    {effect.parameter}={effect.value} instead of {effect.default}: "
            f"{effect.factor:.2f}× the time without it"
        )
    typer.echo(f"\n{'':<34}{'first':>12}{'default':>12}")
    for name, (best, default) in found.tiles.items():
        typer.echo(f"    {name:<30}{best:>12.6g}{default:>12.6g}")
    typer.echo(f"\n{found.seconds:.3f} s to describe the matrix and rank; model {found.model}")


def _gain(choice: "Choice") -> str:
    gain = choice.gain
    text = f"{gain.expected:5.2f}×" if gain else "     ?"
    text += f" {gain.low:5.2f}× to {gain.high:5.2f}×" if gain else " " * 17
    if choice.true_gain is not None:
        text += f" {choice.true_gain:5.2f}×" if choice.true_gain > 0 else " failed"
    return text
