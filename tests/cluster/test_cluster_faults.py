"""Killed, drained and starved on a cluster, a study still ends with the same tables."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from cognate.platforms.samples import read
from tests.workflow.checkouts import Checkout, simulated_tables
from tests.workflow.tiny import samples, tiny_study

from .site import PROFILES, ClusterStudy, Site, finish, wait_for

pytestmark = pytest.mark.cluster

SLOWLY = "import time\ntime.sleep(5)\n"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    """Simulated tables of the tiny study, from a local run."""
    from tests.workflow.checkouts import copy_checkout

    study = tiny_study(copy_checkout(tmp_path_factory.mktemp("tiny") / "checkout"))
    outcome = study.run(*samples(study))
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    return simulated_tables(study)


@pytest.fixture(params=PROFILES)
def study(request: pytest.FixtureRequest, site: Site, checkout: Checkout) -> ClusterStudy:
    """The tiny study; a sampling job takes at least five seconds."""
    tiny = tiny_study(checkout)
    script = tiny.folder / "workflow/scripts/sample.py"
    script.write_text(SLOWLY + script.read_text())
    return ClusterStudy(tiny, site, request.param)


def require_same(study: ClusterStudy, expected: dict[str, pd.DataFrame]) -> None:
    found = simulated_tables(study.checkout)
    assert found.keys() == expected.keys()
    for name, table in expected.items():
        pd.testing.assert_frame_equal(found[name], table)


def sampling(study: ClusterStudy) -> list[int]:
    """Processes that run the sampling script of this study."""
    folder = str(study.checkout.folder / ".snakemake" / "scripts")
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if any(w.startswith(folder) and w.endswith("sample.py") for w in words[1:2]):
            found.append(int(process.name))
    return found


@pytest.fixture
def running(study: ClusterStudy) -> Iterator[subprocess.Popen[str]]:
    """The study, started, at the moment when a sampling job runs."""
    process = study.start(*samples(study.checkout))
    wait_for(lambda: bool(sampling(study)) or process.poll() is not None, "no job was sampling")
    if process.poll() is not None:
        pytest.fail(finish(process).stdout[-8000:])
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_killed_workflow_goes_on(study: ClusterStudy, running, expected) -> None:
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    study.unlock()
    outcome = study.run(*samples(study.checkout))
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    require_same(study, expected)


def test_killed_job_is_submitted_again(study: ClusterStudy, running, expected) -> None:
    os.kill(sampling(study)[0], signal.SIGKILL)
    outcome = finish(running)
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    assert "FAILED" in study.site.states().values()
    require_same(study, expected)


@pytest.mark.parametrize("daemon", ["slurmd", "slurmctld"])
def test_killed_daemon_is_waited_for(daemon: str, study: ClusterStudy, running, expected) -> None:
    study.site.kill(daemon)
    time.sleep(5)
    study.site.restart(daemon)
    mending = threading.Event()
    helper = threading.Thread(target=mend_until, args=(study.site, mending))
    helper.start()
    try:
        outcome = finish(running)
    finally:
        mending.set()
        helper.join()
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    require_same(study, expected)


def mend_until(site: Site, done: threading.Event) -> None:
    while not done.wait(5):
        site.mend()


def test_drained_node_is_waited_for(study: ClusterStudy, running, expected) -> None:
    node = study.site.ask("sinfo", "-h", "-o", "%n").strip()
    study.site.ask("scontrol", "update", f"node={node}", "state=drain", "reason=test")
    time.sleep(10)
    assert running.poll() is None
    study.site.ask("scontrol", "update", f"node={node}", "state=resume")
    outcome = finish(running)
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    require_same(study, expected)


def test_out_of_memory_at_first_is_tried_with_more(study: ClusterStudy, expected) -> None:
    before = set(study.site.states())
    little = ["--set-resources", "simulate:mem_mb=20 if attempt == 1 else 2000"]
    outcome = study.run(*little, *samples(study.checkout))
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    states = [s for n, s in study.site.states().items() if n not in before]
    assert states.count("COMPLETED") == 6
    assert len(states) == 9
    require_same(study, expected)


def test_interrupted_run_leaves_no_job_behind(study: ClusterStudy, running) -> None:
    running.send_signal(signal.SIGINT)
    finish(running)
    wait_for(lambda: not study.site.ask("squeue", "-h"), "jobs were left in the queue")
    assert "COMPLETING" not in study.site.states().values()


def test_clock_that_goes_back_is_noticed_and_the_study_ends(
    checkout: Checkout, expected: dict[str, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tiny_study(checkout)
    built = ["--", *(f"results/smoke/matrices/{part}000" for part in ("train", "test"))]
    assert study.run(*built).returncode == 0
    with monkeypatch.context() as yesterday:
        yesterday.setenv("LD_PRELOAD", faketime_library())
        yesterday.setenv("FAKETIME", "-1d")
        yesterday.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        outcome = study.run(*samples(study))
    assert outcome.returncode != 0
    assert "clock skew" in outcome.stdout
    outcome = study.run(*samples(study))
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    found = simulated_tables(study)
    assert found.keys() == expected.keys()
    for name, table in expected.items():
        pd.testing.assert_frame_equal(found[name], table)
    for path in study.results.rglob("samples/*/*/*.parquet"):
        spent = read(path)[1]["seconds_spent"]
        assert all(0 <= seconds < 600 for seconds in spent.values())


def faketime_library() -> str:
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    if not found:
        pytest.skip("libfaketime is not installed; run 'make test-cluster'")
    return str(found[0])
