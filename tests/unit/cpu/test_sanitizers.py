"""Kernels and planner under the address and undefined-behaviour sanitizers."""

import os
import shutil
import subprocess
import sys

import pytest

from cognate.native import find_compiler

SCRIPT = r"""
import ctypes
import numpy as np
import scipy.sparse
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms.cpu import arena, library

library.FLAGS = (*library.FLAGS, "-O0", "-fsanitize=address,undefined",
                 "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
libc = ctypes.CDLL(None)
libc.posix_memalign.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]


class Heap(arena.Arena):
    # Every array in an allocation of its own, exactly as long as it is.
    def __init__(self):
        pass

    def array(self, shape, dtype):
        kind = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        address = ctypes.c_void_p()
        assert libc.posix_memalign(ctypes.byref(address), 64, max(size, 1)) == 0
        memory = (ctypes.c_byte * size).from_address(address.value)
        return np.frombuffer(memory, dtype=np.uint8).view(kind).reshape(shape)

    def mark(self):
        return 0

    def release(self, mark=0):
        pass


from cognate.platforms.cpu.engine import Engine
from cognate.platforms.cpu.loops import LoopNest
from cognate.platforms.cpu.plans import WastefulError
from cognate.platforms.cpu.spaces import space_of

checked = 0
cases = [(37, 53, 0.1), (1, 90, 0.5), (70, 1, 1.0), (60, 60, 0.0), (130, 41, 0.02)]
for rows, cols, density in cases:
    pattern = scipy.sparse.random_array((rows, cols), density=density, rng=np.random.default_rng(7))
    matrix = SparseMatrix.from_scipy(pattern, "random")
    for name in ("spmm", "sddmm"):
        for width in (20, 64):
            operation = get_operation(name, width)
            schedules = space_of("cpu-full", operation).sample(40, seed=rows)
            schedules += space_of("cpu-core", operation).sample(40, seed=rows)
            with Engine(matrix, operation, [-1, -1], Heap(), padding_limit=30.0) as engine:
                for schedule in schedules:
                    try:
                        plan = engine.planner.build(LoopNest.of(schedule))
                    except WastefulError:
                        continue
                    assert engine.check(engine.task(schedule, plan)).wrong == 0, str(schedule)
                    checked += 1
print("checked", checked)
"""

FAULTY = r"""
import ctypes
from pathlib import Path
from cognate.native import load_library
import sys
code = load_library([Path(sys.argv[1])], ["-fsanitize=address,undefined", "-g"])
code.overrun()
"""


def sanitizer():
    """The address sanitizer's runtime, which must be loaded before Python."""
    compiler = find_compiler()
    asked = [compiler.path, "-print-file-name=libasan.so"]
    path = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return path if os.path.isabs(path) and os.path.exists(path) else None


def run(script, tmp_path, *arguments):
    environment = {
        **os.environ,
        "LD_PRELOAD": sanitizer() or "",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "COGNATE_CACHE": str(tmp_path),
    }
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


needs_sanitizer = pytest.mark.skipif(
    not shutil.which("cc") or not sanitizer(), reason="the compiler has no address sanitizer"
)


@pytest.mark.slow
@needs_sanitizer
def test_a_sample_of_the_space_is_clean(tmp_path):
    outcome = run(SCRIPT, tmp_path)
    assert outcome.returncode == 0, outcome.stderr[-3000:]
    assert int(outcome.stdout.split()[-1]) > 700


@needs_sanitizer
def test_the_sanitizer_is_at_work(tmp_path):
    source = tmp_path / "overrun.c"
    source.write_text(
        "#include <stdlib.h>\n"
        "void overrun(void) { volatile char *p = malloc(8); p[8] = 1; free((void *)p); }\n"
    )
    outcome = run(FAULTY, tmp_path, str(source))
    assert outcome.returncode != 0
    assert "heap-buffer-overflow" in outcome.stderr
