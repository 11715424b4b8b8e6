"""What goes wrong on the way is told, survived, and leaves nothing behind."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from .checkouts import Checkout, copy_checkout, simulated_tables
from .tiny import CONFIG, MATRICES, configure, samples, tables, tiny_study, write_matrix

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system, needs root")


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A file system in memory at ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def kill_once(script: Path) -> None:
    """Make a workflow script kill its own process, the first time that it runs."""
    text = script.read_text()
    script.write_text(
        "import os, pathlib, signal\n"
        "killed = pathlib.Path('killed')\n"
        "if not killed.exists():\n"
        "    killed.touch()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n" + text
    )


def corrupt_a_file(study: Checkout) -> None:
    """m0 lacks its last lines."""
    path = study.folder / "files" / "m0.mtx"
    path.write_text("\n".join(path.read_text().split("\n")[:-20]))


def break_simulator(study: Checkout) -> None:
    """The simulator crashes on m3 and has an error on m6."""
    source = study.folder / "src/cognate/platforms/spade/platform.py"
    call = "        outcome = sweep("
    text = source.read_text()
    assert text.count(call) == 1
    fault = (
        "        if matrix.name == 'm3':\n"
        "            import ctypes\n"
        "            ctypes.string_at(0)\n"
        "        if matrix.name == 'm6':\n"
        "            raise ZeroDivisionError('of no use')\n"
    )
    source.write_text(text.replace(call, fault + call))


def test_a_bad_matrix_stops_the_study_with_its_name(checkout: Checkout) -> None:
    study = tiny_study(checkout)
    corrupt_a_file(study)
    outcome = study.run(*tables(study, "headline"))
    assert outcome.returncode != 0
    assert "build_matrices: files/m0.mtx: " in outcome.stdout
    assert "Traceback" not in outcome.stdout
    write_matrix(study, "m0")
    break_simulator(study)
    outcome = study.run("--", "results/smoke/samples/spade/spmm/train000.parquet")
    assert outcome.returncode != 0
    assert "simulate: m3: the process that worked on it died (SIGSEGV)" in outcome.stdout


def test_kept_going_the_study_ends_and_names_what_is_missing(checkout: Checkout) -> None:
    study = tiny_study(checkout)
    corrupt_a_file(study)
    break_simulator(study)
    wanted = tables(study, "headline", "missing", "matrices")
    outcome = study.run("--keep-going", *wanted)
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    folder = study.results / "tables"
    missing = pd.read_csv(folder / "missing.csv").set_index("matrix")
    assert dict(missing["stage"]) == {"m0": "build_matrices", "m3": "simulate", "m6": "simulate"}
    assert "files/m0.mtx" in missing.loc["m0", "reason"]
    assert "SIGSEGV" in missing.loc["m3", "reason"]
    assert missing.loc["m6", "reason"] == "ZeroDivisionError: of no use"
    assert set(pd.read_csv(folder / "matrices.csv")["matrix"]) == set(MATRICES) - {"m0"}
    for path in (study.results / "samples" / "spade").rglob("*.parquet"):
        assert not set(pd.read_parquet(path)["matrix"]) & set(missing.index)
    assert "Nothing to be done" in study.run(*wanted).stdout

    write_matrix(study, "m0")
    again = missing.loc["m0", "file"]
    outcome = study.run("--force", "--", again)
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    assert study.run("--keep-going", *wanted).returncode == 0
    assert set(pd.read_csv(folder / "missing.csv")["matrix"]) == {"m3", "m6"}


def test_a_killed_job_is_tried_again(checkout: Checkout) -> None:
    study = tiny_study(checkout)
    kill_once(study.folder / "workflow/scripts/sample.py")
    outcome = study.run(*samples(study))
    assert outcome.returncode != 0
    (study.folder / "killed").unlink()
    outcome = study.run("--retries", "1", *samples(study))
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    assert {m for t in simulated_tables(study).values() for m in t["matrix"]} == set(MATRICES)


@needs_root
def test_a_full_disk_is_told_and_the_study_goes_on_when_there_is_room(checkout: Checkout) -> None:
    study = tiny_study(checkout)
    with mounted(study.results, "size=64k"):
        outcome = study.run(*samples(study))
        assert outcome.returncode != 0
        assert "No space left on device; make room on the disk" in outcome.stdout
        assert "Traceback" not in outcome.stdout
        left = [p for p in study.results.rglob("*") if ".tmp" in p.name]
        assert left == []
        remount(study.results, "size=64m")
        outcome = study.run(*samples(study))
        assert outcome.returncode == 0, outcome.stdout[-8000:]
        sampled = {m for t in simulated_tables(study).values() for m in t["matrix"]}
        assert sampled == set(MATRICES)


@needs_root
def test_a_cache_that_cannot_be_written_is_done_without(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tiny_study(checkout)
    with mounted(tmp_path / "cache", "size=1m,ro") as cache:
        monkeypatch.setenv("COGNATE_CACHE", str(cache))
        outcome = study.run(*samples(study))
        assert outcome.returncode == 0, outcome.stdout[-8000:]
        assert list(cache.iterdir()) == []


def test_two_studies_share_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNATE_CACHE", str(tmp_path / "cache"))
    studies = [tiny_study(copy_checkout(tmp_path / name)) for name in ("one", "two")]
    with ThreadPoolExecutor() as threads:
        outcomes = list(threads.map(lambda study: study.run(*samples(study)), studies))
    for outcome in outcomes:
        assert outcome.returncode == 0, outcome.stdout[-8000:]
    one, two = map(simulated_tables, studies)
    assert one.keys() == two.keys()
    for name, table in one.items():
        pd.testing.assert_frame_equal(table, two[name])
    assert [p.name for p in (tmp_path / "cache").rglob("*") if p.name.startswith(".build")] == []


def test_results_of_an_older_configuration_are_rebuilt_or_refused(checkout: Checkout) -> None:
    study = tiny_study(checkout)
    wanted = tables(study, "headline", "matrices")
    assert study.run(*wanted).returncode == 0

    configure(study, width=64)
    assert {"measure", "simulate", "rank", "evaluate"} <= study.planned(*wanted)
    (study.results / "evaluation" / "spade-spmm.parquet").unlink()
    (study.results / "tables" / "headline.csv").unlink()
    outcome = study.run("--rerun-triggers", "mtime", *wanted)
    assert outcome.returncode != 0
    assert "was sampled under another configuration (width: 32 instead of 64)" in outcome.stdout

    fewer = CONFIG["matrices"] | {"names": MATRICES[:8], "batch_nnz": 3000}
    configure(study, matrices=fewer)
    outcome = study.run(*wanted)
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    table = pd.read_csv(study.results / "tables" / "matrices.csv")
    assert set(table["matrix"]) == set(MATRICES[:8])
    headline = pd.read_csv(study.results / "tables" / "headline.csv")
    assert set(headline["matrices"]) == {int((table["split"] == "test").sum())}
