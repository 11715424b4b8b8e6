"""Accumulators must stay in registers: in memory, kernels are twice as slow."""

import re
import shutil
import subprocess

import pytest

from cognate.native.compiler import DEFAULT_FLAGS, find_compiler
from cognate.platforms.cpu.library import FLAGS, KERNELS


def disassembly(source, tmp_path):
    built = tmp_path / "unit.o"
    command = [find_compiler().path, *DEFAULT_FLAGS, *FLAGS, "-c", str(KERNELS / source)]
    subprocess.run([*command, "-o", str(built)], check=True)
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(built)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.findall(r"^[0-9a-f]+ <(\w+)>:\n(.*?)(?:\n\n|\Z)", listing, re.MULTILINE | re.DOTALL)
    return dict(found)


def has_wide_vectors():
    asked = [find_compiler().path, "-march=native", "-dM", "-E", "-xc", "/dev/null"]
    macros = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return "__AVX512F__" in macros


@pytest.mark.skipif(
    not shutil.which("objdump") or not has_wide_vectors(),
    reason="needs objdump and a processor with 32 vector registers",
)
@pytest.mark.parametrize("source", ["spmm.c", "sddmm.c"])
def test_no_vector_arithmetic_on_the_stack(source, tmp_path):
    functions = disassembly(source, tmp_path)
    kernels = {
        n: t for n, t in functions.items() if n.startswith(("row_", "block_", "dot_", "piece"))
    }
    assert len(kernels) >= (45 if source == "spmm.c" else 8)
    for name, text in kernels.items():
        arithmetic = [line for line in text.splitlines() if "vfmadd" in line]
        assert arithmetic, name
        assert not [line for line in arithmetic if re.search(r"%r[sb]p", line)], name
