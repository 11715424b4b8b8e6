"""The C simulator against its rules in plain Python, line by line."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms.spade.machine import load_machine
from cognate.platforms.spade.native import CMachine
from cognate.platforms.spade.simulator import as_c, simulate_work
from cognate.platforms.spade.space import Work
from cognate.platforms.spade.tiles import tile

Reference = runpy.run_path(str(Path(__file__).with_name("spade_reference.py")))["Reference"]


@st.composite
def machines(draw):
    """Small machines: every cache has a power of two of sets, at least 8 of them."""

    def choose(*values):
        return draw(st.sampled_from(values))

    return load_machine(
        "spade-224",
        {
            "pes": choose(1, 2, 3, 5),
            "pes_per_l2": choose(1, 2, 4),
            "assignment": choose("dynamic", "static"),
            "vector_registers": choose(16, 64),
            "reservation_stations": choose(8, 32),
            "sparse_load_queue": choose(1, 3, 6),
            "l1_bytes": choose(8, 16) * 64 * 4,
            "victim_bytes": choose(0, 8, 16) * 64 * 2,
            "l2_bytes": choose(0, 8, 32) * 64 * 20,
            "l2_gb_s": choose(20.0, 166.4),
            "llc_bytes": choose(0, 16, 64) * 64 * 12,
            "llc_gb_s": choose(50.0, 9318.0),
            "channels": choose(1, 2, 4, 16),
            "bandwidth_gb_s": choose(3.0, 20.0, 300.0),
            "quantum_ns": choose(20, 100),
            "link_ns": choose(0, 60, 480),
        },
    )


@st.composite
def matrices(draw):
    rows, cols = draw(st.integers(1, 60)), draw(st.integers(1, 60))
    entries = draw(st.integers(0, 400))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    coordinates = (random.integers(rows, size=entries), random.integers(cols, size=entries))
    stored = scipy.sparse.coo_array((np.ones(entries), coordinates), shape=(rows, cols))
    return SparseMatrix.from_scipy(stored, "random")


def reference_machine(machine):
    c_machine = as_c(machine)
    return SimpleNamespace(**{name: getattr(c_machine, name) for name, _ in CMachine._fields_})


@settings(deadline=None, max_examples=150)
@given(
    machine=machines(),
    matrix=matrices(),
    operation=st.sampled_from(["spmm", "sddmm"]),
    lines=st.sampled_from([1, 2, 4, 8]),
    slices=st.sampled_from([1, 2]),
    panel_rows=st.sampled_from([1, 4, 16, 64]),
    panel_cols=st.sampled_from([8, 32, 60]),
    columns_outer=st.booleans(),
    bypass=st.booleans(),
)
def test_time_and_counts_agree_with_plain_python(
    machine, matrix, operation, lines, slices, panel_rows, panel_cols, columns_outer, bypass
):
    tiling = tile(matrix, panel_rows, panel_cols, columns_outer)
    width = 16 * lines
    work = Work(False, columns_outer, panel_cols, panel_rows, width, bypass)
    run = simulate_work(machine, tiling, matrix, get_operation(operation, width * slices), work)
    slow = Reference(
        reference_machine(machine), tiling, operation, *matrix.shape, lines, bypass, slices
    )
    picoseconds = slow.run()
    assert round(run.seconds * 1e12) == picoseconds
    for name in ("sparse_read", "r_read", "c_read", "r_written", "output_read", "output_written"):
        assert run.lines[name] == slow.counts[name], name
