"""An idealised Sextans: a streaming SpMM machine with scratchpads and no caches.

    python sextans.py matrix.npz --width 256 --window 8192 --slice 8 --rows 65536 \
        --order panel --deal cyclic --double 0

prints the time in seconds. Exit code 3: the schedule does not fit the scratchpads.

The machine is modelled after Sextans (Song et al., FPGA 2022) as other work idealises it for
comparison: every transfer is a full-speed stream, control costs nothing but a fixed start-up of
each tile. A is cut into tiles of ``rows`` × ``window``. A tile needs the rows of B that belong to
its window, ``slice`` dense columns wide, in the B scratchpad, and accumulates into the C
scratchpad. All dense columns are done in width / slice passes, each of which streams A again.

* ``order panel``: C stays on chip while the windows of a row panel go by; B is streamed again for
  each panel. ``order window``: a window of B stays while row panels go by; C is read and written
  for each window.
* ``deal``: rows go to the processing elements in turn (cyclic) or in blocks.
* ``double 1``: the next window is loaded while the present one is used, at half the capacity.

A processing element takes one nonzero a cycle for 8 dense columns; nonzeros of one row must be
RAW_CYCLES apart (the accumulator's latency), whatever their order.
"""

import argparse
import sys

import numpy as np

ELEMENTS = 256
LANES = 8
CLOCK_HZ = 0.8e9
BYTES_PER_SECOND = 304e9
B_BYTES = 1 << 20
C_BYTES = 4 << 20
RAW_CYCLES = 8
TILE_CYCLES = 100
ENTRY_BYTES = 8


def main() -> int:
    """Print the time of one run; the exit code."""
    choice = parse_arguments()
    with np.load(choice.matrix) as stored:
        rows, cols = (int(extent) for extent in stored["shape"])
        pointers, columns = stored["row_pointers"], stored["columns"]
    if len(columns) == 0:
        print("the matrix has no nonzeros: nothing to time", file=sys.stderr)
        return 3
    panel_rows, window = min(choice.rows, rows), min(choice.window, cols)
    slice_width = min(choice.slice, choice.width)
    needed_b = window * slice_width * 4 * (1 + choice.double)
    needed_c = panel_rows * slice_width * 4
    if needed_b > B_BYTES or needed_c > C_BYTES:
        print(
            f"needs {needed_b >> 10} KiB for B and {needed_c >> 10} KiB for C; "
            f"there are {B_BYTES >> 10} and {C_BYTES >> 10}",
            file=sys.stderr,
        )
        return 3
    tile, nonzeros, steps = work_of_tiles(
        pointers, columns, panel_rows, window, cols, choice.deal == "cyclic"
    )
    seconds = time_of_pass(tile, nonzeros, steps, rows, cols, panel_rows, window, choice)
    print(seconds * -(-choice.width // slice_width))
    return 0


def work_of_tiles(
    pointers: np.ndarray,
    columns: np.ndarray,
    panel_rows: int,
    window: int,
    cols: int,
    cyclic: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids of the tiles that hold nonzeros, their nonzeros, and the steps of the slowest element."""
    row = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    column_panel = columns // window
    starts = np.flatnonzero(
        np.r_[True, (np.diff(row) != 0) | (np.diff(column_panel) != 0)]
    )  # runs of nonzeros in one row and window
    count = np.diff(np.r_[starts, len(columns)])
    row, column_panel = row[starts], column_panel[starts].astype(np.int64)
    tile = (row // panel_rows) * -(-cols // window) + column_panel
    inside = row % panel_rows
    element = inside % ELEMENTS if cyclic else inside * ELEMENTS // panel_rows
    key = tile * ELEMENTS + element
    order = np.argsort(key, kind="stable")
    key, count = key[order], count[order]
    first = np.flatnonzero(np.r_[True, np.diff(key) != 0])
    load = np.add.reduceat(count, first)
    longest_row = np.maximum.reduceat(count, first)
    steps = np.maximum(load, (longest_row - 1) * RAW_CYCLES + 1)
    tile_of_element = key[first] // ELEMENTS
    first_of_tile = np.flatnonzero(np.r_[True, np.diff(tile_of_element) != 0])
    return (
        tile_of_element[first_of_tile],
        np.add.reduceat(load, first_of_tile),
        np.maximum.reduceat(steps, first_of_tile),
    )


def time_of_pass(
    tile: np.ndarray,
    nonzeros: np.ndarray,
    steps: np.ndarray,
    rows: int,
    cols: int,
    panel_rows: int,
    window: int,
    choice: argparse.Namespace,
) -> float:
    """Seconds of one pass over the dense columns of a slice."""
    slice_width = min(choice.slice, choice.width)
    windows = -(-cols // window)
    panel, column_panel = tile // windows, tile % windows
    tile_rows = np.minimum(panel_rows, rows - panel * panel_rows)
    tile_cols = np.minimum(window, cols - column_panel * window)
    b_seconds = tile_cols * slice_width * 4 / BYTES_PER_SECOND
    c_seconds = tile_rows * slice_width * 4 / BYTES_PER_SECOND
    a_seconds = nonzeros * ENTRY_BYTES / BYTES_PER_SECOND
    compute_seconds = (steps * -(-slice_width // LANES) + TILE_CYCLES) / CLOCK_HZ
    if choice.order == "panel":
        once = np.unique(panel, return_index=True)[1]
        extra_seconds = c_seconds[once].sum()
    else:
        _, first = np.unique(column_panel, return_index=True)
        loads = np.zeros(len(tile), dtype=bool)
        loads[first] = True
        b_seconds = np.where(loads, b_seconds, 0.0)
        _, touched_first = np.unique(panel, return_index=True)
        extra_seconds = 2 * c_seconds.sum() - c_seconds[touched_first].sum()
    if choice.double:
        tiles_seconds = np.maximum(compute_seconds, a_seconds + b_seconds).sum()
    else:
        tiles_seconds = (b_seconds + np.maximum(compute_seconds, a_seconds)).sum()
    return float(tiles_seconds + extra_seconds)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("matrix", help="a matrix in cognate's .npz form")
    parser.add_argument("--width", type=int, required=True, help="dense columns K")
    parser.add_argument("--window", type=int, default=8192, help="columns of A in a tile")
    parser.add_argument("--slice", type=int, default=8, help="dense columns of a pass")
    parser.add_argument("--rows", type=int, default=65536, help="rows of A in a tile")
    parser.add_argument("--order", choices=["panel", "window"], default="panel")
    parser.add_argument("--deal", choices=["cyclic", "block"], default="cyclic")
    parser.add_argument("--double", type=int, choices=[0, 1], default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
