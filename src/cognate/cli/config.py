"""``cognate config``: check a configuration, print its schema."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Check a study's configuration or print its JSON schema.")


@app.command()
def check(path: Annotated[Path, typer.Argument(help="A YAML file.")]) -> None:
    """Say what a configuration asks for, or what is wrong with it.

    Example: cognate config check config/paper.yaml
    """
    from cognate.config import load_config
    from cognate.study import Study

    study = Study(load_config(path))
    splits = study.matrices["split"].value_counts()
    typer.echo(
        f"{path}: {len(study.matrices)} matrices "
        f"({splits['train']} train, {splits['validation']} validation, {splits['test']} test) in "
        f"{len(study.batches)} batches; {', '.join(study.config.operations)}; "
        f"{study.config.source.name} to {', '.join(study.target_names)}; "
        f"{len(study.methods)} methods, {sum(len(study.runs(m)) for m in study.methods)} runs"
    )


@app.command()
def schema() -> None:
    """Print the JSON schema of configuration files.

    Example: cognate config schema > config/schema.json
    """
    from cognate.config import json_schema

    typer.echo(json_schema(), nl=False)


@app.command()
def reference() -> None:
    """Print every key with its type, default and meaning, as a Markdown table.

    Example: cognate config reference
    """
    from cognate import config

    typer.echo(config.reference(), nl=False)
