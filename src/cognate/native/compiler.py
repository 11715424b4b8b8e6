"""Find a C compiler, build a shared library once per content, load it."""

import atexit
import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cognate.errors import NativeError
from cognate.files import cache_folder, locked
from cognate.native.entries import is_intact, seal

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
    mistake. Of several processes that need it at once, one builds and the others wait. An
    entry that is damaged, or was left by a killed build, is built again. Where the cache
    cannot be written, a temporary folder serves this process, with a warning.

    Raises :class:`NativeError` if there is no compiler, or if it refuses the code.
    """
    compiler = find_compiler()
    if openmp and not compiler.openmp:
        raise NativeError(
            f"{compiler.path} cannot build OpenMP programs; install libgomp or set CC to a "
            "compiler that can; 'cognate doctor' shows what is missing"
        )
    all_flags = [*DEFAULT_FLAGS, *(["-fopenmp"] if openmp else []), *flags]
    units = [source for source in sources if source.suffix == ".c"]
    name = f"{units[0].stem}-{_key(compiler, all_flags, sources)}.so"
    kept = cache_folder() / "native" / name
    if is_intact(kept):
        return ctypes.CDLL(str(kept))
    target = _writable_folder(kept.parent) / name
    with locked(target.with_suffix(".lock")):
        if not is_intact(target):
            _build(compiler, units, all_flags, target)
    return ctypes.CDLL(str(target))


def _key(compiler: Compiler, flags: Sequence[str], sources: Sequence[Path]) -> str:
    key = hashlib.sha256()
    for part in [compiler.path, compiler.version, _processor(), *flags]:
        key.update(part.encode() + b"\0")
    for source in sources:
        key.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return key.hexdigest()[:24]


def _build(compiler: Compiler, units: list[Path], flags: list[str], target: Path) -> None:
    """Compile the units side by side, link, put library and checksum in place."""
    prefix = f".build-{target.stem}-"
    for abandoned in target.parent.glob(f"{prefix}*"):  # the lock is ours: its builder is dead
        shutil.rmtree(abandoned, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=prefix) as folder:
        objects = [Path(folder) / f"{position}.o" for position in range(len(units))]
        command = [compiler.path, *flags, "-fPIC", "-c"]
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            compiling = [
                workers.submit(_run, [*command, "-o", str(built), str(unit)], unit.name)
                for unit, built in zip(units, objects, strict=True)
            ]
            for outcome in compiling:
                outcome.result()
        linked = Path(folder) / target.name
        parts = [str(built) for built in objects]
        _run([compiler.path, *flags, "-shared", "-o", str(linked), *parts, "-lm"], target.stem)
        seal(linked, target)


def _run(command: list[str], what: str) -> None:
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    if outcome.returncode:
        raise NativeError(f"{command[0]} failed on {what}:\n{outcome.stderr[-2000:]}")


@cache
def _temporary_cache(reason: str) -> Path:
    """A folder that lives as long as the process."""
    folder = Path(tempfile.mkdtemp(prefix="cognate-native-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    warnings.warn(
        f"compiled code cannot be kept: {reason}; using {folder} for this process. "
        "Set COGNATE_CACHE to a folder that can be written",
        RuntimeWarning,
        stacklevel=2,
    )
    return folder


def _writable_folder(folder: Path) -> Path:
    """``folder`` if files can be made in it, else a temporary one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".probe-"):
            return folder
    except OSError as error:
        return _temporary_cache(f"{folder}: {error.strerror}")


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
