"""A Slurm site where a run would wait for ever is noticed at the start."""

import pytest

from cognate.cluster import require_job_status, status_problem
from cognate.errors import ClusterError


def configuration(accounting: str, age: str) -> str:
    return (
        "Configuration data as of 2026-01-01T00:00:00\n"
        "AccountingStorageHost   = localhost\n"
        f"AccountingStorageType   = {accounting}\n"
        f"MinJobAge               = {age}\n"
    )


@pytest.mark.parametrize("command", ["sacct", "squeue"])
def test_with_accounting_both_work(command: str) -> None:
    assert (
        status_problem(configuration("accounting_storage/slurmdbd", "2 sec"), command, 40) is None
    )


@pytest.mark.parametrize("accounting", ["accounting_storage/none", "(null)/none"])
def test_without_accounting_sacct_is_refused(accounting: str) -> None:
    problem = status_problem(configuration(accounting, "300 sec"), "sacct", 40)
    assert problem is not None
    assert "slurm-status-command: squeue" in problem
    assert "profiles/cluster-generic" in problem


def test_without_accounting_squeue_works_where_ended_jobs_stay_visible() -> None:
    site = configuration("accounting_storage/none", "300 sec")
    assert status_problem(site, "squeue", 100) is None
    problem = status_problem(site, "squeue", 101)
    assert problem is not None
    assert "at most 100" in problem


def test_a_machine_without_slurm_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="scontrol show config"):
        require_job_status("squeue", 10)
