"""``cognate show``: a matrix's pattern and statistics, in the terminal or as a picture."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from cognate.cli.options import FolderOption, JsonOption, MatrixArgument, SourceOption, find_matrix

if TYPE_CHECKING:
    from cognate.matrices import SparseMatrix

SHADES = " .:-=+*#%@"
COLUMNS, LINES = 64, 32
PIXELS = 512


def show(
    matrix: MatrixArgument,
    png: Annotated[Path | None, typer.Option(help="Draw to this PNG file instead.")] = None,
    source: SourceOption = None,
    folder: FolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw a matrix's pattern with its densities, and print its statistics.

    Example: cognate show mycielskian9 --png mycielskian9.png
    """
    from cognate.matrices.statistics import statistics

    found = find_matrix(matrix, source, folder)
    facts = statistics(found)
    if png:
        draw_png(found, png)
    if as_json:
        density = density_grid(found, LINES, COLUMNS).tolist()
        typer.echo(json.dumps({"name": found.name, **facts, "density_grid": density}))
        return
    title = f"{found.name}: {found.rows} × {found.cols}, {found.nnz} entries"
    typer.echo(f"{title}, {found.kind}" if found.kind else title)
    typer.echo(f"drawn to {png}" if png else "\n".join(drawing(found)))
    pairs = [f"{name:<20}{value:<12.4g}" for name, value in facts.items()]
    for start in range(0, len(pairs), 2):
        typer.echo("  ".join(pairs[start : start + 2]).rstrip())


def density_grid(matrix: "SparseMatrix", lines: int, columns: int) -> NDArray[np.float64]:
    """Shape (lines, columns) or less: the share of stored entries in each cell of the pattern."""
    lines, columns = min(lines, max(1, matrix.rows)), min(columns, max(1, matrix.cols))
    row = np.repeat(np.arange(matrix.rows), np.diff(matrix.row_pointers))
    line = row * lines // max(1, matrix.rows)
    column = matrix.columns.astype(np.int64) * columns // max(1, matrix.cols)
    counts = np.bincount(line * columns + column, minlength=lines * columns)
    heights = np.bincount(np.arange(matrix.rows) * lines // max(1, matrix.rows), minlength=lines)
    widths = np.bincount(np.arange(matrix.cols) * columns // max(1, matrix.cols), minlength=columns)
    area = np.maximum(1, heights[:, None] * widths[None, :])
    shares: NDArray[np.float64] = counts.reshape(lines, columns) / area
    return shares


def drawing(matrix: "SparseMatrix") -> list[str]:
    """The pattern as text; darker signs are denser, on a logarithmic scale that is printed."""
    shares = density_grid(matrix, LINES, COLUMNS)
    levels, steps = _levels(shares)
    frame = "+" + "-" * shares.shape[1] + "+"
    lines = ["|" + "".join(SHADES[level] for level in row) + "|" for row in levels]
    legend = "  ".join(f"'{SHADES[i + 1]}' {edge:.2g}" for i, edge in enumerate(steps))
    return [frame, *lines, frame, f"density from: {legend}" if len(steps) else "no entries"]


def draw_png(matrix: "SparseMatrix", path: Path) -> None:
    """The pattern as a picture with a colour bar of densities."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    from cognate.files import replacing

    shares = density_grid(matrix, PIXELS, PIXELS)
    figure = Figure(figsize=(5.5, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    dense = np.ma.masked_equal(shares, 0)
    norm = LogNorm(dense.min(), max(dense.max(), dense.min() * 1.01)) if matrix.nnz else None
    extent = (0.0, float(max(1, matrix.cols)), float(max(1, matrix.rows)), 0.0)
    image = axes.imshow(
        dense, norm=norm, cmap="viridis_r", extent=extent, aspect="auto", interpolation="nearest"
    )
    figure.colorbar(image, label="share of entries that are stored")
    axes.set(title=matrix.name, xlabel="column", ylabel="row")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")


def _levels(shares: NDArray[np.float64]) -> tuple[NDArray[np.int64], list[float]]:
    """A level of 0 (nothing) to 9 for each cell, and the density where each level starts."""
    stored = shares[shares > 0]
    if not len(stored):
        return np.zeros(shares.shape, dtype=np.int64), []
    low, high = float(stored.min()), float(stored.max())
    count = len(SHADES) - 1 if high > low else 1
    steps = np.geomspace(low, high, count + 1)[:-1]
    levels = np.searchsorted(steps * (1 - 1e-9), shares, side="right")
    return levels.astype(np.int64), steps.tolist()
