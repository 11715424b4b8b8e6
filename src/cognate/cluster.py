"""Notice at the start of a run what would make it wait for ever on a Slurm site."""

import re
import subprocess

from cognate.errors import ClusterError

SECONDS_TO_ANSWER = 30
POLLS_TO_SEE_AN_END = 3
"""The executor trusts squeue only where a finished job stays visible for so many first polls."""


def require_job_status(command: str, first_poll_seconds: int) -> None:
    """Raise :class:`ClusterError` if ``command`` could never tell that a Slurm job has ended.

    ``command`` is the executor's status command, ``sacct`` or ``squeue``, and
    ``first_poll_seconds`` its time before the first question.
    """
    problem = status_problem(_slurm_configuration(), command, first_poll_seconds)
    if problem:
        raise ClusterError(problem)


def status_problem(configuration: str, command: str, first_poll_seconds: int) -> str | None:
    """Why ``command`` cannot follow jobs on the site that ``scontrol show config`` describes."""
    accounting = _setting(configuration, "AccountingStorageType") or "accounting_storage/none"
    if not accounting.endswith("/none"):
        return None
    age = int((_setting(configuration, "MinJobAge") or "0").split()[0])
    needed = POLLS_TO_SEE_AN_END * first_poll_seconds
    remedy = "use --workflow-profile profiles/cluster-generic, which needs no accounting"
    if age < needed:
        return (
            f"this Slurm keeps no accounting ({accounting}) and forgets a finished job after "
            f"{age} s (MinJobAge), so squeue needs slurm-init-seconds-before-status-checks of at "
            f"most {age // POLLS_TO_SEE_AN_END}, not {first_poll_seconds}; change it in "
            f"profiles/slurm/config.yaml, or {remedy}"
        )
    if command == "sacct":
        return (
            f"this Slurm keeps no accounting ({accounting}), so 'sacct' would never say that a "
            "job has ended; set 'slurm-status-command: squeue' in profiles/slurm/config.yaml, "
            f"or {remedy}"
        )
    return None


def _setting(configuration: str, name: str) -> str | None:
    found = re.search(rf"^{name}\s*=\s*(\S.*?)\s*$", configuration, re.MULTILINE)
    return found[1] if found else None


def _slurm_configuration() -> str:
    command = ["scontrol", "show", "config"]
    try:
        outcome = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS_TO_ANSWER, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClusterError(f"'scontrol show config' gave no answer: {error}") from error
    if outcome.returncode:
        raise ClusterError(
            f"'scontrol show config' failed: {(outcome.stderr or outcome.stdout).strip()}; "
            "run the workflow on a login node of the cluster"
        )
    return outcome.stdout
