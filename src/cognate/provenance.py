"""What a number was made with: hardware, software, code and configuration."""

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import cognate

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "torch", "xgboost", "xgboost-cpu", "snakemake")


def environment() -> dict[str, Any]:
    """Processor, operating system, Python, library versions and code version, JSON-ready."""
    return {
        "processor": processor_name(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "cognate": cognate.__version__,
        "commit": code_commit(),
        "packages": _versions(),
    }


def processor_name() -> str:
    """Model name of the processor as the system reports it."""
    described = Path("/proc/cpuinfo")
    for line in described.read_text().splitlines() if described.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def code_commit() -> str:
    """Commit of the checkout this package runs from, ``+`` if it has changes, or ``unknown``."""
    folder = Path(cognate.__file__).parent

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")) != folder.parent.parent:
            return "unknown"
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "src")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
