"""Graph layers: parts, sums and refusals. No assertion on measured times."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import synthetic_study

from cognate.errors import MatrixError, PlatformError
from cognate.evaluation import end_to_end
from cognate.evaluation.end_to_end import Recommendation
from cognate.matrices.matrix import SparseMatrix

FASTER = 3


class Timed(synthetic_study.ToyPlatform):
    """Schedules with given times: 2 s by default, 1 s for the recommended one."""

    kind = "measured"
    rejects = ()

    def evaluate(self, matrix, operation, schedules, progress=None):
        ids = [s.schedule_id for s in schedules]
        refused = [i in self.rejects for i in ids]
        seconds = [
            np.nan if no else 1.0 if i == FASTER else 2.0
            for i, no in zip(ids, refused, strict=True)
        ]
        return pd.DataFrame(
            {
                "schedule_id": ids,
                "seconds": seconds,
                "status": ["rejected" if no else "ok" for no in refused],
                "reason": ["too large" if no else "" for no in refused],
                "plan_seconds": 0.25,
            }
        )


def recommend(matrix, operation):
    return Recommendation(synthetic_study.SPACE.at(FASTER), 0.5)


@pytest.fixture
def path(tmp_path):
    pattern = scipy.sparse.random_array((50, 50), density=0.1, rng=0, dtype=np.float32)
    SparseMatrix.from_scipy(pattern, "m").save(tmp_path / "m.npz")
    return tmp_path / "m.npz"


def measured(platform, path):
    table = end_to_end.measure(platform, path, 16, recommend, rounds=2)
    return table.set_index(["workload", "variant"])


def test_kernel_and_preparation_times_are_those_of_the_platform(path):
    table = measured(Timed(), path)
    assert table.loc[("gcn", "default"), "kernel_seconds"] == 4.0
    assert table.loc[("gcn", "recommended"), "kernel_seconds"] == 2.0
    assert table.loc[("gat", "default"), "kernel_seconds"] == 4.0
    assert table.loc[("gat", "recommended"), "kernel_seconds"] == 2.0
    assert table.loc[("gcn", "recommended"), "once_seconds"] == 0.75
    assert table.loc[("gat", "recommended"), "once_seconds"] == 1.5
    assert table.loc[("gat", "default"), "once_seconds"] == 0.5
    assert table.loc[("gat", "torch.sparse"), "once_seconds"] == 0.0


def test_dense_parts_are_equal_for_all_variants(path):
    table = measured(Timed(), path)
    assert (table["dense_seconds"] > 0).all()
    assert (table.groupby("workload")["dense_seconds"].nunique() == 1).all()


def test_rejected_recommendation_counts_as_the_default(path):
    platform = Timed()
    platform.rejects = (FASTER,)
    table = measured(platform, path)
    assert table.loc[("gcn", "recommended"), "kernel_seconds"] == 4.0


def test_rejected_default_is_an_error(path):
    platform = Timed()
    platform.rejects = (synthetic_study.DEFAULT,)
    with pytest.raises(PlatformError, match="default schedule does not run on m: too large"):
        measured(platform, path)


def test_only_measured_platforms_and_square_matrices(path, tmp_path):
    with pytest.raises(PlatformError, match="need a measured platform"):
        measured(synthetic_study.ToyPlatform(), path)
    SparseMatrix.from_scipy(scipy.sparse.coo_array((3, 4)), "flat").save(tmp_path / "flat.npz")
    with pytest.raises(MatrixError, match="flat: a graph layer needs a square matrix"):
        measured(Timed(), tmp_path / "flat.npz")


def test_summary_has_known_ratios():
    rows = [
        ("torch.sparse", 4.0, 0.0),
        ("default", 2.0, 0.0),
        ("recommended", 1.0, 10.0),
    ]
    table = pd.DataFrame(
        {
            "matrix": "m",
            "workload": "gcn",
            "variant": variant,
            "kernel_seconds": kernel,
            "dense_seconds": 1.0,
            "once_seconds": once,
        }
        for variant, kernel, once in rows
    )
    found = end_to_end.summarise(table).set_index("variant").loc["recommended"]
    assert found["kernel_over_default"] == pytest.approx(2.0)
    assert found["run_over_default"] == pytest.approx(3 / 2)
    assert found["run_over_torch"] == pytest.approx(5 / 2)
    assert found["after_10_over_default"] == pytest.approx(30 / 30)
    assert found["after_100_over_default"] == pytest.approx(300 / 210)
    assert found["break_even_runs"] == pytest.approx(10.0)


def test_softmax_of_rows_is_that_of_the_dense_matrix():
    dense = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, -3.0, 0.0]])
    matrix = SparseMatrix.from_scipy(scipy.sparse.csr_array(dense), "m")
    scores = np.array([1.0, -5.0, 3.0], dtype=np.float32)
    leaky = np.array([1.0, -1.0])
    weights = np.exp(leaky) / np.exp(leaky).sum()
    assert end_to_end.row_softmax(matrix, scores) == pytest.approx([*weights, 1.0])


def test_empty_pattern_has_no_scores():
    matrix = SparseMatrix.from_scipy(scipy.sparse.coo_array((3, 3)), "m")
    assert len(end_to_end.row_softmax(matrix, np.empty(0, dtype=np.float32))) == 0


def test_suitable_matrices_are_square_tests_of_all_sizes():
    matrices = pd.DataFrame(
        {
            "matrix": [f"m{i}" for i in range(9)],
            "split": ["train", *["test"] * 8],
            "rows": 5,
            "cols": [5, 5, 5, 5, 5, 5, 5, 6, 5],
            "nnz": [1, 2, 3, 4, 5, 6, 7, 8, 9],
        }
    )
    assert end_to_end.suitable(matrices, 3) == ["m1", "m4", "m8"]
    assert len(end_to_end.suitable(matrices, 100)) == 7
    assert end_to_end.suitable(matrices.iloc[:1], 3) == []
