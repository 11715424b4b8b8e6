"""``cognate schedules``, ``cognate simulate`` and ``cognate measure``."""

from typing import Annotated, Any

import pandas as pd
import typer

from cognate.errors import PlatformError

app = typer.Typer(help="Look at a platform's schedules.", no_args_is_help=True)

PlatformOption = Annotated[str, typer.Option(help="Name of a platform.")]
OperationOption = Annotated[str, typer.Option("--op", help="spmm or sddmm.")]
WidthOption = Annotated[int, typer.Option(help="Dense columns K.")]
ScheduleOption = Annotated[
    list[str] | None,
    typer.Option("--schedule", help="'name=value …'; the rest by default. Repeatable."),
]
MatrixArgument = Annotated[str, typer.Argument(help="A .mtx, .mtx.gz, .npz file or a name.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SettingOption = Annotated[
    list[str] | None, typer.Option("--set", help="Platform setting 'name=value' (YAML value).")
]


@app.command("list")
def list_(
    platform: PlatformOption = "spade",
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    setting: SettingOption = None,
) -> None:
    """Print the parameters of a platform's schedule space and its named schedules.

    Example: cognate schedules list --platform spade --op sddmm
    """
    from cognate.operations import get_operation

    found = _platform(platform, setting)
    chosen = get_operation(operation, width)
    space = found.space(chosen)
    typer.echo(f"{space.name}: {space.product_size} combinations")
    for parameter in space.parameters:
        values = ", ".join(map(str, parameter.values))
        typer.echo(f"  {parameter.name:<12}{values}   (default {parameter.default})")
        if parameter.meaning:
            typer.echo(f"  {'':<12}{parameter.meaning}")
    for name, schedule in found.baselines(chosen).items():
        typer.echo(f"{name}: {schedule}")


@app.command()
def show(
    schedule: Annotated[str, typer.Argument(help="'name=value …'")],
    platform: PlatformOption = "cpu",
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    setting: SettingOption = None,
) -> None:
    """Print what a schedule means, as a loop nest in pseudo-C where the platform can.

    Example: cognate schedules show "order=ik chunk=8" --platform cpu
    """
    from cognate.operations import get_operation

    found = _platform(platform, setting)
    chosen = get_operation(operation, width)
    point = found.space(chosen).parse(schedule)
    typer.echo(f"{point.schedule_id}: {point}")
    typer.echo(found.explain(point, chosen))


def simulate(
    matrix: MatrixArgument,
    platform: PlatformOption = "spade",
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    schedule: ScheduleOption = None,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Simulate schedules of a matrix and print time, traffic and what bounds them.

    Example: cognate simulate mycielskian12 --op spmm --schedule "rp=256 cp=all"
    """
    _evaluate(matrix, platform, "simulated", operation, width, schedule, setting, as_json)


def measure(
    matrix: MatrixArgument,
    platform: PlatformOption = "cpu",
    operation: OperationOption = "spmm",
    width: WidthOption = 256,
    schedule: ScheduleOption = None,
    setting: SettingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Time schedules of a matrix on real hardware.

    Example: cognate measure mycielskian12 --op spmm
    """
    _evaluate(matrix, platform, "measured", operation, width, schedule, setting, as_json)


def _platform(name: str, settings: list[str] | None) -> Any:
    import yaml

    from cognate.platforms import get_platform

    values = {}
    for setting in settings or []:
        key, equals, text = setting.partition("=")
        if not equals:
            raise PlatformError(f"--set {setting}: is not of the form name=value")
        values[key] = yaml.safe_load(text)
    return get_platform(name, **values)


def _evaluate(
    matrix: str,
    platform_name: str,
    kind: str,
    operation_name: str,
    width: int,
    schedules: list[str] | None,
    settings: list[str] | None,
    as_json: bool,
) -> None:
    from cognate.matrices.sources import open_matrix
    from cognate.operations import get_operation

    platform = _platform(platform_name, settings)
    if platform.kind != kind:
        raise PlatformError(
            f"platform {platform_name} is {platform.kind}; "
            f"use 'cognate {'measure' if kind == 'simulated' else 'simulate'}'"
        )
    reason = platform.skip()
    if reason:
        raise PlatformError(f"platform {platform_name} cannot run here: {reason}")
    operation = get_operation(operation_name, width)
    space = platform.space(operation)
    chosen = [space.parse(text) for text in schedules or [str(space.default)]]
    table = platform.evaluate(open_matrix(matrix), operation, chosen)
    table.insert(0, "schedule", [str(s) for s in chosen])
    _print(table, as_json)


def _print(table: pd.DataFrame, as_json: bool) -> None:
    if as_json:
        typer.echo(table.to_json(orient="records"))
        return
    for _, row in table.iterrows():
        for name, value in row.items():
            shown = f"{value:.6g}" if isinstance(value, float) else value
            typer.echo(f"{name!s:<28}{shown}")
        typer.echo("")
