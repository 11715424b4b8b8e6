"""The drawn pattern has the densities that a dense count has."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from cognate.cli.main import app
from cognate.cli.show import SHADES, density_grid, drawing
from cognate.matrices import SparseMatrix


def random_matrix(rows, cols, density, seed):
    random = np.random.default_rng(seed)
    array = scipy.sparse.random_array((rows, cols), density=density, rng=random)
    return SparseMatrix.from_scipy(array, "m")


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 40), st.floats(0, 1), st.integers(1, 12), st.integers(1, 12)
)
def test_densities_are_those_of_the_dense_matrix(rows, cols, density, lines, columns):
    matrix = random_matrix(rows, cols, density, 0)
    shares = density_grid(matrix, lines, columns)
    lines, columns = min(lines, rows), min(columns, cols)
    dense = np.zeros((rows, cols))
    row = np.repeat(np.arange(rows), np.diff(matrix.row_pointers))
    dense[row, matrix.columns] = 1
    line, column = np.arange(rows) * lines // rows, np.arange(cols) * columns // cols
    expected = [
        [dense[line == i][:, column == j].mean() for j in range(columns)] for i in range(lines)
    ]
    assert shares == pytest.approx(np.array(expected))


def test_text_is_as_dark_as_the_matrix_is_dense():
    shape = (64, 128)
    dense = np.zeros(shape)
    dense[:32, :64] = 1
    dense[40, 100] = 1
    lines = drawing(SparseMatrix.from_scipy(scipy.sparse.csr_array(dense), "m"))
    assert lines[1] == "|" + SHADES[-1] * 32 + " " * 32 + "|"
    assert lines[21][1 + 50] == SHADES[1]
    assert len(lines) == 35
    assert "0.25" in lines[-1]


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 4), (5, 5)])
def test_an_empty_matrix_is_drawn_empty(shape, tmp_path):
    matrix = SparseMatrix.from_scipy(scipy.sparse.csr_array(shape), "m")
    assert drawing(matrix)[-1] == "no entries"
    matrix.save(tmp_path / "m.npz")
    png = tmp_path / "m.png"
    outcome = CliRunner().invoke(app, ["show", str(tmp_path / "m.npz"), "--png", str(png)])
    assert outcome.exit_code == 0, outcome.exception
    assert Image.open(png).format == "PNG"


def test_a_picture_is_written(tmp_path):
    png = tmp_path / "m.png"
    outcome = CliRunner().invoke(app, ["show", "Trefethen_500", "--png", str(png)])
    assert outcome.exit_code == 0
    assert Image.open(png).width > 300
