"""Store a figure with its numbers, and tables, so that equal content gives equal bytes."""

from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cognate.files import replacing

DOTS_PER_INCH = 300


def save(figure: Figure, table: pd.DataFrame, stem: Path | str) -> None:
    """Write ``stem.svg``, ``stem.png`` and ``stem.csv``, each atomically, without dates."""
    folder, name = Path(stem).parent, Path(stem).name
    FigureCanvasAgg(figure)
    with mpl.rc_context({"svg.hashsalt": "cognate"}):
        with replacing(folder / f"{name}.svg") as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
        with replacing(folder / f"{name}.png") as temporary:
            figure.savefig(temporary, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    write_table(table, folder / f"{name}.csv")


def write_table(table: pd.DataFrame, path: Path | str) -> None:
    """Write a table as CSV, atomically: six significant digits, empty cells for NaN."""
    with replacing(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")
