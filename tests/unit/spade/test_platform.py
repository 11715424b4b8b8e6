"""SPADE as a platform: its contract, its rows, its errors."""

import numpy as np
import pytest
import scipy.sparse

from cognate.errors import PlatformError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms.platform import get_platform
from cognate.platforms.samples import validate
from cognate.platforms.spade import SpadePlatform, load_machine, simulate


def random_matrix(rows, cols, nnz, seed=0):
    random = np.random.default_rng(seed)
    coordinates = (random.integers(rows, size=nnz), random.integers(cols, size=nnz))
    return SparseMatrix.from_scipy(
        scipy.sparse.coo_array((np.ones(nnz), coordinates), shape=(rows, cols)), "random"
    )


MATRIX = random_matrix(3000, 5000, 20000)


@pytest.mark.parametrize("name", ["spmm", "sddmm"])
def test_all_256_schedules_get_a_valid_row(name):
    platform, operation = get_platform("spade", threads=2), get_operation(name, 64)
    schedules = list(platform.space(operation))
    table = platform.evaluate(MATRIX, operation, schedules)
    assert len(schedules) == 256
    assert list(table["schedule_id"]) == list(range(256))
    validate(table.assign(matrix="random"), "test")
    assert table["run"].nunique() < 256
    assert (table.groupby("run")["seconds"].nunique() == 1).all()


def test_results_do_not_depend_on_threads_or_company():
    operation = get_operation("spmm", 64)
    one, many = SpadePlatform(threads=1), SpadePlatform(threads=4)
    schedules = list(one.space(operation))[::3]
    first = one.evaluate(MATRIX, operation, schedules).drop(columns="reorder_seconds")
    second = many.evaluate(MATRIX, operation, schedules).drop(columns="reorder_seconds")
    assert first.equals(second)
    for row, schedule in list(enumerate(schedules))[::17]:
        report = simulate(MATRIX, operation, schedule, one.hardware)
        assert report.run.seconds == first["seconds"][row]


def test_slots_are_clipped_to_the_matrix():
    platform, operation = SpadePlatform(), get_operation("spmm", 64)
    space = platform.space(operation)
    slots = platform.slots(
        MATRIX, operation, [space.parse("rp=2048 cp=16384 barrier=1 split=32"), space.default]
    )
    assert list(slots.cols_per_tile) == [5000, 5000]
    assert list(slots.rows_per_tile) == [2048, 256]
    assert list(slots.width_per_slice) == [32, 64]
    assert not slots.columns_outer.any()


def test_isca_space_follows_the_width():
    platform = SpadePlatform(space="spade-isca")
    narrow = platform.space(get_operation("spmm", 32))
    wide = platform.space(get_operation("spmm", 128))
    assert narrow.parameters[1].values == (8192, 524288, "all")
    assert wide.parameters[1].values == (2048, 131072, "all")
    assert len(list(narrow)) == 4 * 4 * 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"machine": "spade-1"}, "unknown"),
        ({"space": "x"}, "unknown"),
        ({"overrides": {"pess": 3}}, "pess"),
        ({"overrides": {"pes": 0}}, "positive"),
        ({"overrides": {"llc_bytes": 1000}}, "sets"),
        ({"threads": -1}, "threads"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(PlatformError, match=message):
        get_platform("spade", **settings)


def test_width_must_be_whole_lines():
    platform = SpadePlatform()
    operation = get_operation("spmm", 40)
    with pytest.raises(PlatformError, match="multiple of 16"):
        platform.evaluate(MATRIX, operation, [platform.space(operation).default])


def test_report_is_readable_and_plain_data():
    operation = get_operation("sddmm", 32)
    space = SpadePlatform().space(operation)
    report = simulate(MATRIX, operation, space.default, load_machine())
    plain = report.as_dict()
    shares = sum(value for name, value in plain.items() if name.endswith("_share"))
    assert shares == pytest.approx(1)
    assert str(plain["cycles"]) in report.text()
    assert '"seconds"' in report.json()


def test_explanation_is_a_loop_nest():
    platform, operation = SpadePlatform(), get_operation("sddmm", 64)
    space = platform.space(operation)
    text = platform.explain(space.parse("cp=1024 barrier=1 split=32 bypass=1"), operation)
    order = [text.index(word) for word in ("slice of 32", "1024 columns", "256 rows", "nonzero")]
    assert order == sorted(order)
    assert "B goes around the caches" in text
    assert "columns" not in platform.explain(space.default, operation).split("rows")[0]
