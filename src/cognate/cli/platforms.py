"""``cognate platform``, ``cognate schedules``, ``cognate simulate`` and ``cognate measure``."""

import json
from pathlib import Path
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
    open_platform,
    table_json,
)
from cognate.errors import PlatformError

if TYPE_CHECKING:
    from cognate.matrices import SparseMatrix
    from cognate.operations import Operation
    from cognate.platforms import Platform

app = typer.Typer(help="Look at a platform's schedules.", no_args_is_help=True)
platform_app = typer.Typer(help="List platforms and check one of your own.", no_args_is_help=True)

ScheduleOption = Annotated[
    list[str] | None,
    typer.Option("--schedule", help="'name=value …'; the rest by default. Repeatable."),
]


@platform_app.command("list")
def list_platforms(as_json: JsonOption = False) -> None:
    """List the installed platforms.

    Example: cognate platform list
    """
    from cognate.errors import CognateError
    from cognate.platforms import get_platform, platform_names

    rows = []
    for name in platform_names():
        try:
            found = get_platform(name)
            row = {"platform": name, "kind": str(found.kind), "state": found.skip() or "ready"}
        except CognateError as error:
            row = {"platform": name, "kind": "", "state": str(error)}
        rows.append(row)
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        typer.echo(f"{row['platform']:<20}{row['kind']:<12}{row['state']}")


@platform_app.command()
def check(
    platform: Annotated[str, typer.Argument(help="An installed platform, or a YAML file.")],
    matrix: Annotated[
        list[str] | None, typer.Option(help="Evaluate this matrix. Repeatable.")
    ] = None,
    width: WidthOption = 64,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the conformance suite on a platform; status 1 if something is wrong, in words.

    Example: cognate platform check spade
    """
    from cognate.platforms.conformance import check_platform

    found = open_platform(platform, setting)
    matrices = [find_matrix(name) for name in matrix or []]
    findings = check_platform(found, matrices, width=width)
    problems = [f for f in findings if f.is_problem]
    if as_json:
        typer.echo(json.dumps([vars(f) for f in findings]))
    else:
        for finding in findings:
            typer.echo(f"{'WRONG' if finding.is_problem else 'note':<7}{finding}")
        verdict = f"{len(problems)} problems" if problems else "keeps its contract"
        typer.echo(f"{found.name}: {verdict}")
    if problems:
        raise typer.Exit(1)


@app.command("list")
def list_(
    platform: PlatformOption = "spade",
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the parameters of a platform's schedule space and its named schedules.

    Example: cognate schedules list --platform spade --op sddmm
    """
    from cognate.operations import get_operation

    found = open_platform(platform, setting)
    chosen = get_operation(operation, width)
    space = found.space(chosen)
    baselines = {name: str(s) for name, s in found.baselines(chosen).items()}
    if as_json:
        parameters = [vars(parameter) for parameter in space.parameters]
        content = {"space": space.name, "parameters": parameters, "baselines": baselines}
        typer.echo(json.dumps(content))
        return
    typer.echo(f"{space.name}: {space.product_size} combinations")
    for parameter in space.parameters:
        values = ", ".join(map(str, parameter.values))
        typer.echo(f"  {parameter.name:<12}{values}   (default {parameter.default})")
        if parameter.meaning:
            typer.echo(f"  {'':<12}{parameter.meaning}")
    for name, text in baselines.items():
        typer.echo(f"{name}: {text}")


@app.command()
def show(
    schedule: Annotated[str, typer.Argument(help="'name=value …'")],
    platform: PlatformOption = "cpu",
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a schedule means, as a loop nest in pseudo-C where the platform can.

    Example: cognate schedules show "rp=32 cp=all" --platform spade
    """
    from cognate.operations import get_operation

    found = open_platform(platform, setting)
    chosen = get_operation(operation, width)
    point = found.space(chosen).parse(schedule)
    explanation = found.explain(point, chosen)
    if as_json:
        content = {"schedule_id": point.schedule_id, **point.as_dict(), "meaning": explanation}
        typer.echo(json.dumps(content))
        return
    typer.echo(f"{point.schedule_id}: {point}")
    typer.echo(explanation)


def simulate(
    matrix: MatrixArgument,
    platform: PlatformOption = "spade",
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    schedule: ScheduleOption = None,
    source: SourceOption = None,
    folder: FolderOption = None,
    machine: Annotated[
        str | None,
        typer.Option(help="Machine of the spade platform: a name, or a YAML file of values."),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(help="Draw how busy each element is over time to this .svg, .png or .pdf."),
    ] = None,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Simulate schedules of a matrix and print time, traffic and what bounds them.

    Example: cognate simulate mycielskian12 --op spmm --schedule "rp=256 cp=all"
    """
    from cognate.operations import get_operation

    found = find_matrix(matrix, source, folder)
    kernel = get_operation(operation, width)
    chosen = open_platform(
        platform, [*(setting or []), *([f"machine={machine}"] if machine else [])]
    )
    if timeline:
        _draw_timeline(found, chosen, kernel, schedule, timeline)
    _evaluate(found, chosen, "simulated", kernel, schedule, as_json)


def measure(
    matrix: MatrixArgument,
    platform: PlatformOption = "cpu",
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    schedule: ScheduleOption = None,
    source: SourceOption = None,
    folder: FolderOption = None,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Time schedules of a matrix on real hardware.

    Example: cognate measure mycielskian12 --op spmm
    """
    from cognate.operations import get_operation

    found = find_matrix(matrix, source, folder)
    kernel = get_operation(operation, width)
    _evaluate(found, open_platform(platform, setting), "measured", kernel, schedule, as_json)


def _evaluate(
    matrix: "SparseMatrix",
    platform: "Platform",
    kind: str,
    operation: "Operation",
    schedules: list[str] | None,
    as_json: bool,
) -> None:
    if platform.kind != kind:
        other = "measure" if kind == "simulated" else "simulate"
        raise PlatformError(f"platform {platform.name} is {platform.kind}; use 'cognate {other}'")
    reason = platform.skip()
    if reason:
        raise PlatformError(f"platform {platform.name} cannot run here: {reason}")
    space = platform.space(operation)
    chosen = [space.parse(text) for text in schedules or [str(space.default)]]
    table = platform.evaluate(matrix, operation, chosen)
    if as_json:
        table.insert(0, "schedule", [str(s) for s in chosen])
        typer.echo(table_json(table))
        return
    for point, values in zip(chosen, table.to_dict("records"), strict=True):
        row = {str(name): value for name, value in values.items()}
        typer.echo(platform.report(matrix, operation, point, row) + "\n")


def _draw_timeline(
    matrix: "SparseMatrix",
    platform: "Platform",
    operation: "Operation",
    schedules: list[str] | None,
    path: Path,
) -> None:
    from cognate.platforms.spade import SpadePlatform, timeline
    from cognate.platforms.spade.picture import draw_timeline

    if not isinstance(platform, SpadePlatform):
        raise PlatformError(f"platform {platform.name} has no timeline; only SPADE's simulator has")
    space = platform.space(operation)
    chosen = [space.parse(text) for text in schedules or [str(space.default)]]
    if len(chosen) > 1:
        raise PlatformError("--timeline draws one schedule; give one --schedule")
    draw_timeline(timeline(matrix, operation, chosen[0], platform.hardware), str(chosen[0]), path)
