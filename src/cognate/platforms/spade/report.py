"""A report of one simulated schedule for people to read."""

from collections.abc import Mapping
from typing import Any

from cognate.platforms.spade.native import LEVELS, TRAFFICS

_MEANING = {
    "issue": "issuing vector operations",
    "dependence": "an earlier operation on the same output row",
    "sparse": "the sparse stream",
    "l1": "L1 or victim cache",
    "l2": "L2",
    "llc": "last-level cache",
    "dram": "memory, queueing included",
    "barrier": "other elements at a barrier",
    "imbalance": "other elements at the end",
    "flush": "writing back at the end",
}


def describe(report: Mapping[str, Any]) -> str:
    """Time and rates, then where element time, cache accesses and memory traffic went."""
    lines = [
        f"{report['matrix']}  {report['rows']} × {report['cols']}, {report['nnz']} nonzeros",
        f"{report['operation']} with {report['width']} dense columns on {report['machine']}",
        f"schedule {report['schedule_id']}: {report['schedule']}",
        "",
        f"time        {1e6 * report['seconds']:12.2f} µs  ({report['cycles']} cycles)",
        f"rate        {report['gflops']:12.1f} GFLOP/s",
        f"memory      {report['bandwidth_gb_s']:12.1f} GB/s",
        f"bound by    {report['bound']:>12}",
        "",
        "element time spent on",
    ]
    lines += [
        f"  {100 * report[f'{cause}_share']:5.1f} %  {meaning}"
        for cause, meaning in _MEANING.items()
        if report[f"{cause}_share"] >= 0.0005
    ]
    lines += ["", "hits and misses, in lines"]
    for level in LEVELS:
        hits, misses = report[f"{level}_hits"], report[f"{level}_misses"]
        if hits + misses:
            share = 100 * hits / (hits + misses)
            lines.append(f"  {level:6} {hits:14} {misses:14}  {share:5.1f} % hits")
    lines += ["", "memory traffic, in bytes"]
    lines += [
        f"  {name.replace('_', ' '):16} {report[f'{name}_bytes']:16}"
        for name in TRAFFICS
        if report[f"{name}_bytes"]
    ]
    return "\n".join(lines)


def loop_nest(values: Mapping[str, Any], operation: str, width: int) -> str:
    """A schedule as a loop nest in pseudo-C; ``values`` are its parameters."""
    split, cp = values.get("split", "all"), values["cp"]
    statement = {
        "spmm": "C[i, k] += A[i, j] * B[j, k]",
        "sddmm": "C[i, j] += A[i, j] * B[i, k] * D[j, k]",
    }[operation]
    panels = [f"parallel for each panel of {values['rp']} rows"]
    if cp != "all":
        columns = f"for each panel of {cp} columns"
        panels = [f"{columns}  // then a barrier", *panels] if values["barrier"] else [
            *panels, columns]  # fmt: skip
    loops = [] if split == "all" else [f"for each slice of {split} dense columns  // in turn"]
    loops += [*panels, "for each nonzero (i, j) of the tile, by rows", "for k of the slice"]
    lines = ["reorder rows and columns  // once"] if values.get("reorder") else []
    lines += [f"{'  ' * depth}{loop}" for depth, loop in enumerate(loops)]
    lines.append(f"{'  ' * len(loops)}{statement}  // K = {width}")
    if values["bypass"]:
        row_operand = "C" if operation == "spmm" else "B"
        lines.append(f"{row_operand} goes around the caches")
    return "\n".join(lines)
