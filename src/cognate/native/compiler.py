"""Find a C compiler, build a shared library once per content, load it."""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cognate.errors import NativeError
from cognate.files import cache_folder

DEFAULT_FLAGS = ("-O3", "-march=native", "-std=gnu11", "-fno-math-errno", "-fno-trapping-math")


@dataclass(frozen=True)
class Compiler:
    """A C compiler that works here."""

    path: str
    version: str
    openmp: bool
    """Whether a program with OpenMP compiles, links and loads."""


@cache
def find_compiler() -> Compiler:
    """The compiler named by ``CC``, else ``cc``, ``gcc`` or ``clang`` on the path.

    Raises :class:`NativeError` if there is none.
    """
    named = os.environ.get("CC")
    for candidate in [named] if named else ["cc", "gcc", "clang"]:
        path = shutil.which(candidate)
        if path:
            version = subprocess.run(
                [path, "--version"], capture_output=True, text=True, check=False
            ).stdout.split("\n", 1)[0]
            return Compiler(path, version, _openmp_works(path))
    raise NativeError(
        f"no C compiler found ({named or 'cc, gcc, clang'}); install one, for example "
        "'apt-get install gcc', or set CC; 'cognate doctor' shows what is missing"
    )


def load_library(
    sources: Sequence[Path], flags: Sequence[str] = (), openmp: bool = False
) -> ctypes.CDLL:
    """Compile ``sources`` (``.c`` files; ``.h`` files count for the cache) and load the result.

    A library is built once per content: sources, flags, compiler and processor make its key,
    so processes and machines that share a cache folder never load each other's code by
    mistake. It is written beside its name and renamed, so a killed build leaves nothing.
    """
    compiler = find_compiler()
    if openmp and not compiler.openmp:
        raise NativeError(
            f"{compiler.path} cannot build OpenMP programs; install libgomp or set CC to a "
            "compiler that can; 'cognate doctor' shows what is missing"
        )
    all_flags = [*DEFAULT_FLAGS, *(["-fopenmp"] if openmp else []), *flags]
    key = hashlib.sha256()
    for part in [compiler.path, compiler.version, _processor(), *all_flags]:
        key.update(part.encode() + b"\0")
    for source in sources:
        key.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    units = [source for source in sources if source.suffix == ".c"]
    target = cache_folder() / "native" / f"{units[0].stem}-{key.hexdigest()[:24]}.so"
    if not target.exists():
        _build(compiler, units, all_flags, target)
    try:
        return ctypes.CDLL(str(target))
    except OSError:
        # A damaged entry (a full disk, a bad copy): build it again once.
        _build(compiler, units, all_flags, target)
        return ctypes.CDLL(str(target))


def _build(compiler: Compiler, units: list[Path], flags: list[str], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".build-") as folder:
        built = Path(folder) / target.name
        command = [compiler.path, *flags, "-shared", "-fPIC", "-o", str(built)]
        command += [*map(str, units), "-lm"]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
        if outcome.returncode:
            raise NativeError(
                f"{compiler.path} failed on {', '.join(u.name for u in units)}:\n"
                + outcome.stderr[-2000:]
            )
        built.replace(target)


def _openmp_works(path: str) -> bool:
    program = "#include <omp.h>\nint probe(void) { return omp_get_max_threads(); }\n"
    with tempfile.TemporaryDirectory(prefix="cognate-probe-") as folder:
        source, built = Path(folder) / "probe.c", Path(folder) / "probe.so"
        source.write_text(program)
        command = [path, "-fopenmp", "-shared", "-fPIC", "-o", str(built), str(source)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return False
        try:
            return int(ctypes.CDLL(str(built)).probe()) > 0
        except OSError:
            return False


@cache
def _processor() -> str:
    """Processor architecture and feature flags: code for one may crash on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        features = next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        features = platform.processor()
    return f"{platform.machine()} {features}"
