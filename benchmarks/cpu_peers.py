"""Libraries that compute the same, each in a process of its own, driven over pipes.

A peer prepares once for a matrix (that is not timed) and then runs on request. Operands are
aligned to 64 bytes for all of them: with numpy's own 16 they are up to 1.6 times slower.
"""

import contextlib
import ctypes
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation, get_operation

Floats = NDArray[np.float32]
Runner = Callable[[], Any]
HERE = Path(__file__).parent
CHECKED = 200
"""Rows (or entries) of the result that are compared with the reference."""


class Unavailable(Exception):
    """A peer that is not installed, or does not offer the operation."""


def aligned(shape: tuple[int, ...], source: Floats | None = None) -> Floats:
    """An array on a cache line of its own, with the content of ``source``."""
    count = int(np.prod(shape))
    memory = np.zeros(count + 16, dtype=np.float32)
    first = -(memory.ctypes.data // 4) % 16
    array = memory[first : first + count].reshape(shape)
    if source is not None:
        array[:] = source
    return array


def prepare_scipy(matrix: SparseMatrix, operation: Operation, operands: list[Floats]) -> Runner:
    if operation.name != "spmm":
        raise Unavailable("scipy has no SDDMM")
    sparse = matrix.to_scipy()
    return lambda: sparse @ operands[0]


def prepare_torch(matrix: SparseMatrix, operation: Operation, operands: list[Floats]) -> Runner:
    try:
        import torch
    except ImportError as error:
        raise Unavailable("torch is not installed") from error
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    sparse = torch.sparse_csr_tensor(
        torch.from_numpy(matrix.row_pointers.astype(np.int32)),
        torch.from_numpy(matrix.columns.copy()),
        torch.from_numpy(matrix.values.copy()),
        size=matrix.shape,
    )
    if operation.name == "spmm":
        dense = torch.from_numpy(operands[0])
        out = torch.from_numpy(aligned((matrix.rows, operation.width)))

        def multiply() -> Any:
            torch.addmm(out, sparse, dense, beta=0, alpha=1, out=out)
            return out.numpy()

        return multiply
    ones = torch.sparse_csr_tensor(
        sparse.crow_indices(), sparse.col_indices(), torch.ones(matrix.nnz), size=matrix.shape
    )
    left, right = (torch.from_numpy(operand) for operand in operands)

    def sample() -> Any:  # without the factor A, which it does not offer
        return torch.sparse.sampled_addmm(ones, left, right.T, beta=0, alpha=1).values().numpy()

    return sample


def _mkl_library() -> Path:
    for file in importlib.metadata.files("mkl") or []:
        if file.name.startswith("libmkl_rt.so"):
            return Path(str(file.locate())).resolve()
    raise Unavailable("mkl has no libmkl_rt.so")


def prepare_mkl(matrix: SparseMatrix, operation: Operation, operands: list[Floats]) -> Runner:
    if operation.name != "spmm":
        raise Unavailable("MKL has no SDDMM")
    try:
        from sparse_dot_mkl import dot_product_mkl
    except (ImportError, OSError) as error:
        raise Unavailable(f"sparse_dot_mkl: {error}") from error
    out = aligned((matrix.rows, operation.width))
    sparse = _int32(matrix)
    return lambda: dot_product_mkl(sparse, operands[0], out=out, out_scalar=0.0)


def _int32(matrix: SparseMatrix) -> Any:
    import scipy.sparse

    parts = (matrix.values, matrix.columns, matrix.row_pointers.astype(np.int32))
    return scipy.sparse.csr_matrix(parts, shape=matrix.shape)


class _Description(ctypes.Structure):
    """``struct matrix_descr`` of a general matrix."""

    _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int)]


def prepare_mkl_inspector(
    matrix: SparseMatrix, operation: Operation, operands: list[Floats]
) -> Runner:
    """MKL's inspector-executor interface, optimised for many products of this width."""
    if operation.name != "spmm":
        raise Unavailable("MKL has no SDDMM")
    try:
        mkl = ctypes.CDLL(str(_mkl_library()))
    except (importlib.metadata.PackageNotFoundError, OSError) as error:
        raise Unavailable(f"mkl: {error}") from error
    general, row_major, no_transpose = _Description(20, 40, 50), 101, 10
    start = matrix.row_pointers.astype(np.int32)
    handle = ctypes.c_void_p()
    pointers = [start.ctypes.data, start[1:].ctypes.data, matrix.columns.ctypes.data]
    status = mkl.mkl_sparse_s_create_csr(
        ctypes.byref(handle), 0, matrix.rows, matrix.cols,
        *map(ctypes.c_void_p, pointers), ctypes.c_void_p(matrix.values.ctypes.data),
    )  # fmt: skip
    status |= mkl.mkl_sparse_set_mm_hint(
        handle, no_transpose, general, row_major, operation.width, 1000
    )
    status |= mkl.mkl_sparse_optimize(handle)
    if status:
        raise Unavailable(f"MKL refuses the matrix (status {status})")
    out = aligned((matrix.rows, operation.width))
    multiply = mkl.mkl_sparse_s_mm
    multiply.argtypes = [
        ctypes.c_int, ctypes.c_float, ctypes.c_void_p, _Description, ctypes.c_int,
        ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_float, ctypes.c_void_p, ctypes.c_int,
    ]  # fmt: skip

    def run() -> Floats:
        multiply(
            no_transpose, 1.0, handle, general, row_major, operands[0].ctypes.data,
            operation.width, operation.width, 0.0, out.ctypes.data, operation.width,
        )  # fmt: skip
        return out

    run.kept = start  # type: ignore[attr-defined]
    return run


def prepare_numba(matrix: SparseMatrix, operation: Operation, operands: list[Floats]) -> Runner:
    try:
        import numba
    except ImportError as error:
        raise Unavailable("numba is not installed") from error
    numba.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    start, col, value = matrix.row_pointers, matrix.columns, matrix.values
    if operation.name == "spmm":
        out = aligned((matrix.rows, operation.width))

        @numba.njit(parallel=True, fastmath=True)
        def multiply(start, col, value, dense, out):  # type: ignore[no-untyped-def]
            width = dense.shape[1]
            for i in numba.prange(len(start) - 1):
                for j in range(width):
                    out[i, j] = 0
                e, end = start[i], start[i + 1]
                while e + 4 <= end:  # four nonzeros a pass: its fastest form
                    a0, a1, a2, a3 = value[e], value[e + 1], value[e + 2], value[e + 3]
                    k0, k1, k2, k3 = col[e], col[e + 1], col[e + 2], col[e + 3]
                    for j in range(width):
                        out[i, j] += (
                            a0 * dense[k0, j]
                            + a1 * dense[k1, j]
                            + a2 * dense[k2, j]
                            + a3 * dense[k3, j]
                        )
                    e += 4
                while e < end:
                    for j in range(width):
                        out[i, j] += value[e] * dense[col[e], j]
                    e += 1
            return out

        return lambda: multiply(start, col, value, operands[0], out)
    entries = np.empty(matrix.nnz, dtype=np.float32)

    @numba.njit(parallel=True, fastmath=True)
    def sample(start, col, value, left, right, out):  # type: ignore[no-untyped-def]
        for i in numba.prange(len(start) - 1):
            for e in range(start[i], start[i + 1]):
                total = np.float32(0)
                for j in range(left.shape[1]):
                    total += left[i, j] * right[col[e], j]
                out[e] = value[e] * total
        return out

    return lambda: sample(start, col, value, *operands, entries)


def prepare_taco(matrix: SparseMatrix, operation: Operation, operands: list[Floats]) -> Runner:
    from cognate.errors import NativeError
    from cognate.native import load_library

    try:
        library = load_library([HERE / "cpu_taco.c"], ["-ffast-math"], openmp=True)
    except NativeError as error:
        raise Unavailable(str(error)) from error
    start = matrix.row_pointers.astype(np.int32)
    shape = (matrix.rows, operation.width) if operation.name == "spmm" else (matrix.nnz,)
    out = aligned(shape)
    arrays = [start, matrix.columns, matrix.values, *operands, out]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    function = getattr(library, f"taco_{operation.name}")

    def run() -> Floats:
        function(ctypes.c_int64(matrix.rows), ctypes.c_int64(operation.width), *pointers)
        return out

    run.kept = arrays  # type: ignore[attr-defined]
    return run


PEERS: dict[str, Callable[[SparseMatrix, Operation, list[Floats]], Runner]] = {
    "scipy": prepare_scipy,
    "torch": prepare_torch,
    "mkl": prepare_mkl,
    "mkl-inspector": prepare_mkl_inspector,
    "numba": prepare_numba,
    "taco": prepare_taco,
}


def serve(name: str) -> None:
    """Answer requests on standard input, one JSON object a line, until it ends."""
    runner: Runner = lambda: None  # noqa: E731
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "load" in request:
                matrix = SparseMatrix.load(request["load"])
                operation = get_operation(request["operation"], request["width"])
                operands = [aligned(o.shape, o) for o in operation.operands(matrix)]
                runner = PEERS[name](matrix, operation, operands)
                check(name, runner(), matrix, operation, operands)
                answer: dict[str, Any] = {"ready": True}
            else:
                answer = {"seconds": fastest(runner, request["runs"], request["seconds"])}
        except Unavailable as reason:
            answer = {"unavailable": str(reason)}
        print(json.dumps(answer), flush=True)


def fastest(runner: Runner, runs: int, seconds: float) -> float:
    """The least time of at least ``runs`` runs that fill ``seconds``."""
    best, begin, done = float("inf"), time.perf_counter(), 0
    while done < runs or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        runner()
        best = min(best, time.perf_counter() - start)
        done += 1
    return best


def check(
    name: str, result: Any, matrix: SparseMatrix, operation: Operation, operands: list[Floats]
) -> None:
    """Compare some rows or entries with the reference; :class:`Unavailable` if wrong."""
    random = np.random.default_rng(0)
    values = np.asarray(result)
    if operation.name == "spmm":
        rows = np.unique(random.integers(matrix.rows, size=CHECKED))
        expected = matrix.to_scipy()[rows].astype(np.float64) @ operands[0].astype(np.float64)
        wrong = np.abs(values[rows] - expected).max(initial=0) > 2e-3
    else:
        entries = np.unique(random.integers(matrix.nnz, size=CHECKED))
        row = np.searchsorted(matrix.row_pointers, entries, side="right") - 1
        left, right = operands[0][row], operands[1][matrix.columns[entries]]
        expected = np.einsum("ij,ij->i", left.astype(np.float64), right.astype(np.float64))
        if name != "torch":
            expected = expected * matrix.values[entries]
        wrong = np.abs(values.ravel()[entries] - expected).max() > 2e-3
    if wrong:
        raise Unavailable("its result is wrong")


class Peer:
    """A peer's process."""

    def __init__(self, name: str, threads: int):
        self.name = name
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads),
            "NUMBA_NUM_THREADS": str(threads),
            "OMP_PROC_BIND": "true",
            "KMP_BLOCKTIME": "0",  # idle threads must not spin beside other peers
        }
        with contextlib.suppress(importlib.metadata.PackageNotFoundError, Unavailable):
            library = _mkl_library()
            environment["MKL_RT"] = str(library)
            environment["LD_LIBRARY_PATH"] = str(library.parent)
        self._process = subprocess.Popen(
            [sys.executable, __file__, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def load(self, path: Path, operation: Operation) -> str | None:
        """Prepare for a stored matrix; why the peer cannot, or None."""
        answer = self._ask(load=str(path), operation=operation.name, width=operation.width)
        reason: str | None = answer.get("unavailable")
        return reason

    def run(self, runs: int, seconds: float) -> float:
        """The least time of some runs."""
        return float(self._ask(runs=runs, seconds=seconds)["seconds"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)

    def _ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            return {"unavailable": f"{self.name}'s process ended", "seconds": float("inf")}
        return answer


if __name__ == "__main__":
    serve(sys.argv[1])
