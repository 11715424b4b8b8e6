"""A schedule in readable pseudo-C, so that a person can see what is run."""

from cognate.operations import Operation
from cognate.platforms.cpu.loops import LoopNest
from cognate.schedules import Schedule

INDENT = "    "


def describe_schedule(schedule: Schedule, operation: Operation) -> str:
    """The loop nest that a CPU schedule means for this operation, as pseudo-C.

    Loops over a single iteration (rows of a tile of one row, a single column panel or dense
    slice) are left out.
    """
    return "\n".join(_Writer(schedule, operation).lines())


class _Writer:
    def __init__(self, schedule: Schedule, operation: Operation):
        self.schedule = schedule
        self.nest = LoopNest.of(schedule)
        self.spmm = operation.name == "spmm"
        self.width = operation.width
        whole = self.nest.width is None or self.nest.width >= operation.width
        self.single = {
            "i0": self.nest.rows == 1,
            "k1": self.nest.cols is None,
            "k0": self.nest.cols == 1,
            "j1": whole,
        }

    def lines(self) -> list[str]:
        """Heading, loops from the outermost to the innermost, statement."""
        written = [f"// {self.schedule}", *self._heading()]
        registers = self._position_of_registers()
        closing: list[str] = []
        depth = 0
        for position, loop in enumerate(self.nest.order):
            if position == registers:
                written += [INDENT * depth + line for line in self._opening_statement()]
                closing = [INDENT * depth + line for line in self._closing_statement()]
            if self.single.get(loop, False):
                continue
            pragma = self._pragma(loop)
            if pragma:
                written.append(INDENT * depth + pragma)
            written.append(INDENT * depth + self._loop(loop))
            depth += 1
        written.append(INDENT * depth + self._statement())
        return written + closing

    def _heading(self) -> list[str]:
        nest = self.nest
        i = "i1" if nest.rows == 1 else f"i1 * {nest.rows} + i0"
        k = {None: "k0", 1: "k1"}.get(nest.cols, f"k1 * {nest.cols} + k0")
        j = "j0" if self.single["j1"] else f"j1 * {nest.width} + j0"
        operation = "C = A B" if self.spmm else "C = A o (B D')"
        return [f"// {operation}; i = {i}, k = {k}, j = {j}"]

    def _pragma(self, loop: str) -> str | None:
        if loop != self.nest.parallel:
            return None
        chunk = self.schedule["chunk"]
        kind = "static" if chunk == "static" else f"dynamic, {chunk}"
        outside = self.nest.levels[: self.nest.levels.index(loop)]
        barrier = f"  // then a barrier, for each {' and '.join(outside)}" if outside else ""
        return f"#pragma parallel for schedule({kind}){barrier}"

    def _loop(self, loop: str) -> str:
        if loop == "j1":
            return f"for (j1 = 0; j1 < {-(-self.width // (self.nest.width or 1))}; j1++)"
        if loop == "j0":
            slice_width = self.width if self.single["j1"] else self.nest.width
            vectors = "  // vectors" if self.nest.register else ""
            return f"for (j0 = 0; j0 < {slice_width}; j0++){vectors}"
        if not self.nest.dense[loop]:
            return f"for ({loop} in stored {_NOUNS[loop]})"
        split = self.nest.rows if loop[0] == "i" else self.nest.cols
        whole = "rows" if loop[0] == "i" else "cols"
        if loop[1] == "0":
            extent = str(split or whole)
        else:
            extent = whole if split == 1 else f"ceil({whole} / {split})"
        zeros = "  // absent ones stored as zeros" if loop == self.nest.levels[-1] else ""
        return f"for ({loop} = 0; {loop} < {extent}; {loop}++){zeros}"

    def _position_of_registers(self) -> int | None:
        """The position of the loop before which registers are set up, if any are."""
        if not self.nest.register:
            return None
        if self.nest.blocks:
            return self.nest.order.index("k1")
        return self.nest.order.index(self.nest.levels[-1] if self.spmm else "j0")

    def _opening_statement(self) -> list[str]:
        tile = min(self.nest.width or self.width, self.width)
        hints = []
        if int(self.schedule["unroll"]) > 1:
            hints.append(f"{self.schedule['unroll']} nonzeros a step")
        if int(self.schedule["prefetch"]):
            hints.append(f"dense rows prefetched {self.schedule['prefetch']} nonzeros ahead")
        note = f"  // {', '.join(hints)}" if hints else ""
        if self.nest.blocks:
            size = f"{self.nest.rows}][{tile if self.spmm else self.nest.cols}"
            return [f"register float sum[{size}] = {{0}};"]
        if self.spmm and self.nest.segments_are_rows:
            return [f"register float sum[{tile}] = {{0}};{note}"]
        if self.spmm:
            return [f"register float held[{tile}] = B[k, slice];{note}"]
        return [f"register float sum = 0;{note}"]

    def _closing_statement(self) -> list[str]:
        if not self.spmm:
            return [f"C[i, k] {'=' if self.single['j1'] else '+='} A[i, k] * sum;"]
        streamed = "  // around the caches" if self.schedule["store"] == "stream" else ""
        if self.nest.blocks:
            return [f"C[i, slice] = sum;{streamed}"]
        once = self.nest.writes_rows_once
        if self.nest.segments_are_rows:
            return [f"C[i, slice] {'=' if once else '+='} sum;{streamed}"]
        return []

    def _statement(self) -> str:
        if not self.nest.register:
            return _PLAIN[self.spmm]
        if not self.spmm:
            return "sum += B[i, j] * D[k, j];"
        if self.nest.blocks:
            return "sum[i0][j0] += A[i, k] * B[k, j];"
        if self.nest.segments_are_rows:
            return "sum[j0] += A[i, k] * B[k, j];"
        return "C[i, j] += A[i, k] * held[j0];"


_PLAIN = {True: "C[i, j] += A[i, k] * B[k, j];", False: "C[i, k] += A[i, k] * B[i, j] * D[k, j];"}
_NOUNS = {"i1": "row tiles", "i0": "rows", "k1": "column panels", "k0": "columns"}
