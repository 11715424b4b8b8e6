"""``cognate study``: run the workflow and make its report."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer


def study(
    configfile: Annotated[
        Path, typer.Option(help="The study's configuration.", exists=True, dir_okay=False)
    ] = Path("config.yaml"),
    cores: Annotated[str, typer.Option(help="Number of cores, or 'all'.")] = "all",
    directory: Annotated[
        Path, typer.Option(help="Checkout of cognate.", exists=True, file_okay=False)
    ] = Path(),
) -> None:
    """Run a whole study: every table, figure and the report.

    The same as 'snakemake --cores N all' and then 'snakemake --report'; use snakemake itself
    for single figures, clusters and everything else.

    Example: cognate study --configfile config/smoke.yaml --cores 2
    """
    from cognate.config import load_config
    from cognate.errors import ConfigError

    if not (directory / "Snakefile").is_file():
        raise ConfigError(
            f"{directory.resolve()} has no Snakefile; run this in a checkout of cognate "
            "or name it with --directory"
        )
    results = directory / load_config(configfile).results
    base = [sys.executable, "-m", "snakemake", "--directory", str(directory)]
    base += ["--snakefile", str(directory / "Snakefile"), "--configfile", str(configfile)]
    view = ["--logger", "rich"] if sys.stderr.isatty() else ["--quiet", "rules", "host", "reason"]
    _run([*base, "--cores", cores, *view, "--", "all"])
    report = results / "report.html"
    _run([*base, "--cores", "1", "--quiet", "all", "--report", str(report.resolve())])
    typer.echo(
        f"Done.\n  summary  {results / 'summary.md'}\n  tables   {results / 'tables'}\n"
        f"  figures  {results / 'figures'}\n  report   {report} (open in a browser)"
    )


def _run(command: list[str]) -> None:
    status = subprocess.run(command, check=False).returncode
    if status:
        typer.echo(
            "cognate: the workflow stopped; the message above and the logs folder say why. "
            "Run the same command again to go on from where it stopped.",
            err=True,
        )
        raise typer.Exit(130 if status in (-2, 130) else 1)
