"""A finished smoke study: what is there, and what is run again after a change."""

import os
import re
from pathlib import Path

import pandas as pd

from .checkouts import Checkout


def published(finished: Checkout) -> set[str]:
    return {
        p.name for folder in ("figures", "tables") for p in (finished.results / folder).glob("*")
    }


def touch_code(path: Path) -> str:
    """Change a source file in a way that its meaning stays; returns the old text."""
    old = path.read_text()
    comment = "\n/* changed */\n" if path.suffix in (".c", ".h") else "\n# changed\n"
    path.write_text(old + comment)
    return old


def test_everything_is_published(finished: Checkout) -> None:
    names = published(finished)
    assert {"headline.csv", "matrices.csv", "headroom.csv"} <= names
    pictures = [n.removesuffix(".svg") for n in names if n.endswith(".svg")]
    assert pictures
    assert all({f"{n}.png", f"{n}.csv"} <= names for n in pictures)
    assert "smoke" in (finished.results / "summary.md").read_text()


def test_headline_is_consistent(finished: Checkout) -> None:
    table = pd.read_csv(finished.results / "tables" / "headline.csv")
    by_method = table.set_index(["target", "operation", "method"]).sort_index()
    for target, operation in {(t, o) for t, o, _ in by_method.index}:
        rows = by_method.loc[target, operation]
        assert abs(rows.loc["default", "speedup_top1"] - 1) < 1e-9
        assert abs(rows.loc["oracle", "oracle_share_top1"] - 1) < 1e-9
        assert (rows["speedup_top1"] <= rows.loc["oracle", "speedup_top1"] + 1e-9).all()
        assert (rows["speedup_top5"] >= rows["speedup_top1"] - 1e-9).all()


def test_second_run_does_nothing(finished: Checkout) -> None:
    assert "Nothing to be done" in finished.run().stdout


def test_a_deleted_figure_is_remade_alone(finished: Checkout) -> None:
    name = "speedup_spade_spmm"
    (finished.results / "figures" / f"{name}.svg").unlink()
    assert finished.planned() == {f"figure_{name}"}
    outcome = finished.run(f"figures/{name}")
    assert outcome.returncode == 0, outcome.stdout
    assert finished.planned() == set()


def test_changed_simulator_is_simulated_again_and_cpu_not_measured_again(
    finished: Checkout,
) -> None:
    path = finished.folder / "src/cognate/platforms/spade/simulator.c"
    old = touch_code(path)
    planned = finished.planned()
    path.write_text(old)
    assert {"simulate", "rank", "evaluate", "table_headline", "summary"} <= planned
    assert not planned & {"build_matrices", "measure", "pretrain"}
    assert finished.planned() == set()


def test_changed_figure_is_drawn_again_alone(finished: Checkout) -> None:
    path = finished.folder / "src/cognate/figures/speedups.py"
    old = touch_code(path)
    planned = finished.planned()
    path.write_text(old)
    assert {"figure_speedup_spade_spmm", "figure_per_matrix_spade_sddmm"} <= planned
    assert "figure_headroom_spade_spmm" not in planned
    assert not planned & {"build_matrices", "measure", "simulate", "pretrain", "rank", "evaluate"}


def test_changed_seed_of_training_samples_nothing(finished: Checkout) -> None:
    path = finished.folder / "config/smoke.yaml"
    old = path.read_text()
    path.write_text(old.replace("seeds: [0]", "seeds: [1]"))
    planned = finished.planned()
    path.write_text(old)
    assert {"pretrain", "rank", "evaluate"} <= planned
    assert not planned & {"build_matrices", "measure", "simulate"}


def test_every_rule_left_a_log_and_a_benchmark(finished: Checkout) -> None:
    logs = {
        p.relative_to(finished.folder / "logs") for p in (finished.folder / "logs").rglob("*.log")
    }
    stages = {path.parts[0] for path in logs}
    assert {"build_matrices", "measure", "simulate", "pretrain", "rank", "evaluate"} <= stages
    assert all((finished.folder / "logs" / p).with_suffix(".tsv").exists() for p in logs)


def test_report_works_offline(finished: Checkout, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    outcome = finished.run("--report", str(report))
    assert outcome.returncode == 0, outcome.stdout
    text = report.read_text()
    assert "speedup_spade_spmm" in text
    loaded = re.findall(r"<(?:script|link)[^>]+(?:src|href)=\"(https?://[^\"]+)", text)
    assert loaded == []


def test_same_samples_give_byte_equal_tables_after_training_again(finished: Checkout) -> None:
    folder = finished.results / "tables"
    names = ["headline.csv", "headroom.csv", "comparisons.csv", "accuracy.csv", "checks.csv"]
    before = {name: (folder / name).read_bytes() for name in names}
    learnt = [
        *(finished.results / "models" / "spmm").iterdir(),
        *(finished.results / "rankings" / "spade" / "spmm").iterdir(),
    ]
    assert len(learnt) > 6
    for path in [*learnt, *(folder / name for name in names)]:
        os.unlink(path)
    outcome = finished.run()
    assert outcome.returncode == 0, outcome.stdout
    assert {name: (folder / name).read_bytes() for name in names} == before
