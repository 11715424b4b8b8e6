"""What the machine is: read from the kernel where it says so, measured where it does not."""

import contextlib
import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cognate.files import write_text
from cognate.native import cache_folder
from cognate.platforms.cpu.arena import Arena
from cognate.platforms.cpu.cores import group_folders
from cognate.platforms.cpu.library import kernels
from cognate.platforms.cpu.threads import Threads
from cognate.platforms.platform import Machine
from cognate.provenance import processor_name

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
FALLBACK_CACHE_BYTES = (32 << 10, 1 << 20)
GROUP_MEMORY_FILES = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)
PROBE_REPEATS = 5
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def cache_bytes(folder: Path = CACHES) -> tuple[int, ...]:
    """Capacity of each data or unified cache of the first processor, nearest first."""
    found: dict[int, int] = {}
    for index in sorted(folder.glob("index*")):
        try:
            kind = (index / "type").read_text().strip()
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        if kind in ("Data", "Unified"):
            found[level] = int(size.rstrip("KMG")) * _UNITS.get(size[-1], 1)
    return tuple(found[level] for level in sorted(found)) or FALLBACK_CACHE_BYTES


def free_memory_bytes() -> int:
    """Memory that could be used without swapping, within the control group's limit."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    return min([free, *(limit_bytes(folder) for folder in group_folders("memory"))])


def limit_bytes(folder: Path) -> int:
    """What a control group (version 1 or 2) still grants; very much without a limit."""
    for limit, usage in GROUP_MEMORY_FILES:
        with contextlib.suppress(OSError, ValueError):
            return int((folder / limit).read_text()) - int((folder / usage).read_text())
    return sys.maxsize


def huge_pages() -> str:
    """The kernel's setting for transparent huge pages."""
    try:
        text = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    except OSError:
        return "unknown"
    return text[text.index("[") + 1 : text.index("]")] if "[" in text else text.strip()


def machine(processors: Sequence[int]) -> Machine:
    """Balance points of these processors; rates are measured once and kept in the cache."""
    caches = cache_bytes()
    identity = json.dumps([platform.node(), processor_name(), list(processors), caches])
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    path = cache_folder() / "machines" / f"{name}.json"
    try:
        rates = json.loads(path.read_text())
        bandwidth, flops = float(rates["bytes_per_second"]), float(rates["flops_per_second"])
    except (OSError, ValueError, KeyError):
        bandwidth, flops = measure_rates(processors, caches)
        content = {"bytes_per_second": bandwidth, "flops_per_second": flops}
        with contextlib.suppress(OSError):  # a read-only home: measured again next time
            write_text(path, json.dumps(content))
    return Machine(len(processors), caches, bandwidth, flops)


def measure_rates(processors: Sequence[int], caches: Sequence[int]) -> tuple[float, float]:
    """Main-memory bytes and floating-point operations a second, the best of a few tries."""
    floats = max(64 << 20, 4 * max(caches)) // 4
    data = Arena(4 * floats).array(floats, np.float32)
    data[:] = 0
    with Threads(processors):
        reads = [kernels().read_rate(data.ctypes.data, floats, 1) for _ in range(PROBE_REPEATS)]
        flops = [kernels().multiply_rate(len(processors)) for _ in range(PROBE_REPEATS)]
    return max(reads), max(flops)
