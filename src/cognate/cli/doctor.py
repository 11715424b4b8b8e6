"""``cognate doctor``."""

import json
from dataclasses import asdict
from typing import Annotated

import typer


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False,
) -> None:
    """Check that this machine can run a study; status 1 if it cannot.

    Example: cognate doctor
    """
    from cognate.doctor import diagnose

    checks = diagnose()
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        marks = {True: "ok", None: "limit", False: "FAIL"}
        width = max(len(check.name) for check in checks)
        for check in checks:
            typer.echo(f"{marks[check.ok]:<6}{check.name:<{width}}  {check.finding}")
    if any(check.ok is False for check in checks):
        raise typer.Exit(1)
