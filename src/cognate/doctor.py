"""Check that this machine can run a study, and say what to do where it cannot."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cognate.errors import CognateError
from cognate.native import cache_folder, find_compiler
from cognate.platforms import get_platform, platform_names
from cognate.platforms.cpu.cores import granted_cores
from cognate.provenance import processor_name

GIB = 1 << 30
STUDY_MEMORY_GIB = 6
STUDY_DISK_GIB = 2


@dataclass(frozen=True)
class Check:
    """One thing looked at. ``ok`` is None where it only limits what can be done."""

    name: str
    ok: bool | None
    finding: str


def diagnose() -> list[Check]:
    """Run every check; none raises."""
    return list(_checks())


def _checks() -> Iterator[Check]:
    yield Check(
        "python",
        sys.version_info >= (3, 11),
        f"{sys.version.split()[0]} at {sys.executable}"
        + ("" if sys.version_info >= (3, 11) else "; 3.11 or newer is needed"),
    )
    yield _compiler()
    machine_cores = os.cpu_count() or 1
    yield Check(
        "cores",
        True,
        f"{granted_cores()} granted to this process (affinity and quota) of {machine_cores}, "
        f"{processor_name()}",
    )
    yield _memory()
    yield _cache()
    for name in platform_names():
        yield _platform(name)


def _compiler() -> Check:
    try:
        compiler = find_compiler()
    except CognateError as error:
        return Check("compiler", False, str(error))
    finding = f"{compiler.version} at {compiler.path}"
    if compiler.openmp:
        return Check("compiler", True, finding + ", OpenMP works")
    return Check(
        "compiler", None, finding + ", without OpenMP: kernels cannot be measured; install libgomp"
    )


def _memory() -> Check:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    limit = _cgroup_memory_limit()
    usable = min(total, limit / GIB) if limit else total
    finding = f"{usable:.1f} GiB"
    if usable < STUDY_MEMORY_GIB:
        return Check("memory", None, f"{finding}; the default study wants {STUDY_MEMORY_GIB} GiB")
    return Check("memory", True, finding)


def _cgroup_memory_limit() -> int | None:
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        return int(text) if text.isdigit() else None
    return None


def _cache() -> Check:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free / GIB
    except OSError as error:
        return Check(
            "cache", False, f"{folder} cannot be written ({error.strerror}); set COGNATE_CACHE"
        )
    if free < STUDY_DISK_GIB:
        return Check(
            "cache", None, f"{folder} has {free:.1f} GiB free; {STUDY_DISK_GIB} are wanted"
        )
    return Check("cache", True, f"{folder}, {free:.0f} GiB free")


def _platform(name: str) -> Check:
    try:
        platform = get_platform(name)
        reason = platform.skip()
    except CognateError as error:
        return Check(f"platform {name}", None, str(error))
    if reason:
        return Check(f"platform {name}", None, f"cannot run: {reason}")
    return Check(f"platform {name}", True, f"{platform.kind}, ready")
