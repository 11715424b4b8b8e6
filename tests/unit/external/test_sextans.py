"""The example's streaming machine against a count in plain loops, and what physics asks of it."""

import importlib.util
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cognate.platforms import get_platform

FOLDER = Path(__file__).parents[3] / "examples" / "sextans"
SPEC = importlib.util.spec_from_file_location("sextans", FOLDER / "sextans.py")
sextans = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(sextans)


def random_csr(rows, cols, density, seed):
    random = np.random.default_rng(seed)
    return scipy.sparse.random_array((rows, cols), density=density, rng=random, format="csr")


def in_loops(matrix, panel_rows, window, cyclic):
    """Nonzeros and steps of each tile, one nonzero at a time."""
    load = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    coordinates = matrix.tocoo()
    windows = -(-matrix.shape[1] // window)
    for row, col in zip(coordinates.row.tolist(), coordinates.col.tolist(), strict=True):
        inside = row % panel_rows
        element = inside % sextans.ELEMENTS if cyclic else inside * sextans.ELEMENTS // panel_rows
        load[(row // panel_rows) * windows + col // window][element][row] += 1
    tiles = {}
    for tile, elements in load.items():
        nonzeros = sum(sum(rows.values()) for rows in elements.values())
        steps = max(
            max(sum(rows.values()), (max(rows.values()) - 1) * sextans.RAW_CYCLES + 1)
            for rows in elements.values()
        )
        tiles[tile] = (nonzeros, steps)
    return tiles


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 60), st.integers(1, 60), st.floats(0.02, 1), st.integers(1, 60),
    st.integers(1, 60), st.booleans(), st.integers(0, 5),
)  # fmt: skip
def test_tiles_are_those_of_a_count_in_loops(rows, cols, density, panel, window, cyclic, seed):
    matrix = random_csr(rows, cols, density, seed)
    if matrix.nnz == 0:
        return
    panel, window = min(panel, rows), min(window, cols)
    counted = sextans.work_of_tiles(matrix.indptr, matrix.indices, panel, window, cols, cyclic)
    found = {tile: rest for tile, *rest in zip(*map(np.ndarray.tolist, counted), strict=True)}
    assert {tile: tuple(rest) for tile, rest in found.items()} == in_loops(
        matrix, panel, window, cyclic
    )


def pass_seconds(matrix, panel, window, **choice):
    options = {"slice": 8, "width": 64, "order": "panel", "double": 0, **choice}
    work = sextans.work_of_tiles(
        matrix.indptr, matrix.indices, panel, window, matrix.shape[1], True
    )
    return sextans.time_of_pass(*work, *matrix.shape, panel, window, SimpleNamespace(**options))


def test_one_tile_takes_its_streams_and_its_steps(monkeypatch):
    matrix = random_csr(32, 64, 0.2, 0)
    _, _, (steps,) = sextans.work_of_tiles(matrix.indptr, matrix.indices, 32, 64, 64, True)
    streams = (64 * 8 * 4 + 32 * 8 * 4) / sextans.BYTES_PER_SECOND
    compute = (steps + sextans.TILE_CYCLES) / sextans.CLOCK_HZ
    assert pass_seconds(matrix, 32, 64) == pytest.approx(streams + compute)
    monkeypatch.setattr(sextans, "BYTES_PER_SECOND", 1e6)
    everything = 64 * 8 * 4 + 32 * 8 * 4 + matrix.nnz * sextans.ENTRY_BYTES
    assert pass_seconds(matrix, 32, 64) == pytest.approx(everything / 1e6)


def test_loading_meanwhile_never_takes_longer_and_each_order_saves_its_operand():
    matrix = random_csr(400, 500, 0.05, 1)
    for order in ("panel", "window"):
        waiting = pass_seconds(matrix, 100, 50, order=order)
        assert pass_seconds(matrix, 100, 50, order=order, double=1) <= waiting
    flat, tall = random_csr(50, 5000, 0.2, 2), random_csr(5000, 50, 0.2, 2)
    many_panels = {o: pass_seconds(tall, 100, 50, order=o) for o in ("panel", "window")}
    many_windows = {o: pass_seconds(flat, 50, 100, order=o) for o in ("panel", "window")}
    assert many_panels["window"] < many_panels["panel"]
    assert many_windows["panel"] < many_windows["window"]


def test_the_described_platform_passes_every_parameter(tmp_path):
    """Each parameter of the file changes the time of some schedule, so none is lost on the way."""
    from cognate.matrices import SparseMatrix
    from cognate.operations import get_operation

    platform = get_platform(str(FOLDER / "sextans.yaml"), cache=str(tmp_path))
    spmm = get_operation("spmm", 64)
    array = random_csr(20_000, 9_000, 0.001, 3)
    matrix = SparseMatrix.from_scipy(array, "m")
    space = platform.space(spmm)
    base = space.parse("rows=8192 window=8192 slice=8")
    others = [space.schedule(**{**base.as_dict(), **change}) for change in (
        {"rows": 1024}, {"window": 1024}, {"slice": 32}, {"order": "window"}, {"deal": "block"},
        {"double": 1},
    )]  # fmt: skip
    table = platform.evaluate(matrix, spmm, [base, *others])
    assert set(table["status"]) == {"ok"}, table["reason"].tolist()
    assert (table["seconds"].iloc[1:] != table["seconds"].iloc[0]).all()
