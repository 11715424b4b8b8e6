"""How many processors this process may use: affinity and control-group quota together."""

import math
import os
from pathlib import Path

CGROUP_ROOT = Path("/sys/fs/cgroup")


def granted_processors() -> list[int]:
    """Numbers of the processors that this process may run on, at most as many as its quota.

    The quota of a container (control groups, version 1 or 2) is rounded down to whole
    processors: a thread more than that would be throttled while it is timed.
    """
    if hasattr(os, "sched_getaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
    else:
        allowed = list(range(os.cpu_count() or 1))
    quota = cgroup_quota()
    return allowed if quota is None else allowed[: max(1, math.floor(quota))]


def granted_cores() -> int:
    """How many processors this process may use."""
    return len(granted_processors())


def cgroup_quota(
    root: Path = CGROUP_ROOT, membership: Path = Path("/proc/self/cgroup")
) -> float | None:
    """Processors' worth of time that the process's control groups grant; None for no limit."""
    folders = group_folders("cpu", root, membership)
    return min((limit for folder in folders if (limit := _limit(folder))), default=None)


def group_folders(
    controller: str, root: Path = CGROUP_ROOT, membership: Path = Path("/proc/self/cgroup")
) -> list[Path]:
    """The control-group folders of this process and their parents, both hierarchy versions."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return []
    folders = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        base = root / controller if controllers else root
        own = base / path.lstrip("/")
        folders += [own, *(parent for parent in own.parents if parent.is_relative_to(base))]
    return folders


def _limit(folder: Path) -> float | None:
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
    except (OSError, ValueError):
        return None
    if quota == "max" or float(quota) <= 0:
        return None
    return float(quota) / float(period)
