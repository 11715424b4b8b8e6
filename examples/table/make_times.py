"""Make times.csv anew: stands in for the laboratory where one's board is.

    python make_times.py > times.csv

The times come from the streaming machine of ../sextans at half its bandwidth and clock, each
taken three times with a spread of one percent, as a measurement would have.
"""

import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "sextans"))
import sextans

from cognate.matrices import embedded

MATRICES = {"train": 6, "test": 4}
WIDTH, PANEL_ROWS = 64, 8192


def main() -> None:
    """Print the table."""
    sextans.CLOCK_HZ, sextans.BYTES_PER_SECOND = 0.3e9, 152e9
    random = np.random.default_rng(0)
    print("matrix,nnz,window,slice,order,deal,time,status,reason")
    for name in names():
        matrix = embedded.build(name)
        for window, width, order, deal in product(
            (1024, 8192), (8, 32), ("panel", "window"), ("cyclic", "block")
        ):
            choice = SimpleNamespace(slice=width, width=WIDTH, order=order, double=0)
            rows, columns = min(PANEL_ROWS, matrix.rows), min(window, matrix.cols)
            work = sextans.work_of_tiles(
                matrix.row_pointers, matrix.columns, rows, columns, matrix.cols, deal == "cyclic"
            )
            one_pass = sextans.time_of_pass(*work, matrix.rows, matrix.cols, rows, columns, choice)
            microseconds = 1e6 * one_pass * (WIDTH // width)
            for spread in random.normal(1, 0.01, 3):
                fields = (name, matrix.nnz, window, width, order, deal)
                print(*fields, f"{microseconds * spread:.5g}", "ok", "", sep=",")


def names() -> list[str]:
    """Small matrices of the embedded corpus, from both sides of its split."""
    from cognate.matrices.splits import embedded_split

    table = embedded.catalogue().set_index("name")
    small = table[(table["nnz"] > 15_000) & (table["nnz"] < 250_000)]
    parts = embedded_split().loc[small.index]
    return [
        n for part, count in MATRICES.items() for n in sorted(parts.index[parts == part])[:count]
    ]


if __name__ == "__main__":
    main()
