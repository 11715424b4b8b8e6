"""``cognate transfer``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from cognate.cli.options import (
    FolderOption,
    JsonOption,
    OperationOption,
    SettingOption,
    WidthOption,
    open_platform,
    parse_settings,
    plain,
)


def transfer(
    platform: Annotated[str, typer.Option(help="A YAML file, or an installed platform.")],
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    shots: Annotated[int, typer.Option(min=1, help="Matrices to sample and train on.")] = 5,
    held_out: Annotated[int, typer.Option(min=1, help="Matrices to sample and judge on.")] = 6,
    samples: Annotated[int, typer.Option(min=2, help="Schedules sampled of each shot.")] = 100,
    draws: Annotated[
        int, typer.Option(min=1, help="Choices among the shots that the curve averages over.")
    ] = 5,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the result; default: transfer/PLATFORM.")
    ] = None,
    method: Annotated[str, typer.Option(help="Learning method.")] = "cognate-tiles",
    source_model: Annotated[
        Path | None, typer.Option(help="Source model to start from; default: the shipped one.")
    ] = None,
    source: Annotated[str, typer.Option(help="embedded, suitesparse or directory.")] = "embedded",
    folder: FolderOption = None,
    nnz_min: Annotated[int, typer.Option(help="Least number of entries.")] = 20_000,
    nnz_max: Annotated[int, typer.Option(help="Greatest number of entries.")] = 300_000,
    plan_only: Annotated[
        bool, typer.Option("--plan", help="Only say which matrices to sample, in which order.")
    ] = False,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Learn a platform from a few samples: plan, collect, fine-tune, judge, write it all down.

    An interrupted call goes on where it stopped. The folder receives model.safetensors with its
    card, card.md, curve.csv, curve.svg and the samples.

    Example: cognate transfer --platform examples/sextans/sextans.yaml --shots 5
    """
    from cognate.operations import get_operation
    from cognate.transfer import make_plan
    from cognate.transfer import transfer as learn
    from cognate.transfer.picture import draw_curve

    found = open_platform(platform, setting)
    kernel = get_operation(operation, width)
    plan = make_plan(found, kernel, shots, held_out, source, folder, (nnz_min, nnz_max))
    if plan_only:
        _print_plan(plan.shots, plan.held_out, as_json)
        return
    outcome = learn(
        found,
        kernel,
        plan,
        output or Path("transfer") / found.name,
        samples_per_shot=samples,
        method=method,
        source_model=source_model,
        settings=parse_settings(setting),
        draws=draws,
    )
    draw_curve(outcome.curve, found.name, outcome.folder / "curve.svg")
    if as_json:
        content = {
            "model": str(outcome.model),
            "shots": plan.shots,
            "held_out": plan.held_out,
            "curve": outcome.curve.to_dict("records"),
        }
        typer.echo(json.dumps(plain(content)))
        return
    _print_plan(plan.shots, plan.held_out, as_json=False)
    typer.echo("\nSpeed-up over the default on the held-out matrices (geometric mean):")
    typer.echo(outcome.curve.to_string(index=False, float_format="{:.3f}".format))
    typer.echo(f"\nUse it: cognate recommend MATRIX --platform {platform} --op {operation} "
               f"--width {width} --shots-model {outcome.model}")  # fmt: skip


def _print_plan(shots: tuple[str, ...], held_out: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"shots": shots, "held_out": held_out}))
        return
    typer.echo(f"Sample and train on, most informative first: {', '.join(shots)}")
    typer.echo(f"Sample and judge on: {', '.join(held_out)}")
