"""What the CPU benchmark claims is computed here; the claims are checked on made-up cases."""

import importlib.util
import json
import math
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "benchmarks" / "cpu_report.py"


@pytest.fixture(scope="module")
def report():
    spec = importlib.util.spec_from_file_location("cpu_report", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def case(matrix, schedules, peers, best):
    return {
        "matrix": matrix,
        "operation": "spmm",
        "width": 128,
        "nnz": 1000,
        "best_seconds": best,
        "best_schedule": "a",
        "default_seconds": 3 * best,
        "median_seconds": 2 * best,
        "agreement": 0.9,
        "tau_of_two_sweeps": math.nan,
        "peers": peers,
        "missing": {"mkl": "not installed"},
        "schedules": schedules,
        "limits": {"share": 0.5, "gather_seconds": best},
    }


@pytest.fixture
def cases():
    return [
        case("one", {"a": 1.0, "b": 2.0, "c": 1.2, "d": 0.9}, {"x": 2.0, "y": 4.0}, 1.0),
        case("two", {"a": 4.0, "b": 2.0, "c": 2.2, "d": None}, {"x": 1.0}, 2.0),
    ]


def test_ratios_are_to_the_best_peer(report, cases):
    found = report.summary(cases)
    assert found["geomean_best_over_best_peer"] == pytest.approx(math.sqrt(2.0 * 0.5))
    assert found["worst_best_over_best_peer"] == 0.5
    assert found["worst_case"] == "two-spmm-128"
    assert found["geomean_default_over_best"] == pytest.approx(3)
    assert found["peers_missing"] == ["mkl"]
    json.dumps(found, allow_nan=False)


def test_best_fixed_is_allowed_everywhere_and_compared_with_the_oracle(report, cases):
    fixed = report.summary(cases)["best_fixed"]["spmm-128"]
    assert fixed["schedule"] == "c"
    assert fixed["geomean_loss"] == pytest.approx(math.sqrt(1.2 / 0.9 * 2.2 / 2.0))
    assert fixed["worst_matrix"] == "one"
    assert fixed["distinct_winners"] == 2
    assert fixed["mean_tau_between_matrices"] == pytest.approx(-1)


def test_report_has_a_table_and_a_picture(report, cases, tmp_path):
    report.write_report(cases, report.summary(cases), tmp_path)
    table = (tmp_path / "table.md").read_text().splitlines()
    assert len({line.count("|") for line in table}) == 1
    assert len(table) == 4
    assert (tmp_path / "ratios.svg").stat().st_size > 1000
    assert json.loads((tmp_path / "summary.json").read_text())["cases"] == 2
