"""Published against simulated times of SPADE, side by side.

``python benchmarks/validation.py [--quick] [--json] [--output FOLDER] [--only PATTERN …]
[--source WORD …]``

Runs are kept in FOLDER/runs.json and not repeated, so the whole (about an hour of one core)
can be done in pieces; the table and the picture show what is there. ``--quick`` is
mycielskian17 alone without its searches; its matrix takes 6 GiB of memory to make.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from cognate.files import replacing, write_text
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import get_operation
from cognate.platforms.spade import load_machine
from cognate.platforms.spade.simulator import simulate_work
from cognate.platforms.spade.space import Work
from cognate.platforms.spade.tiles import Tiling, tile
from validation_patterns import PATTERNS, build
from validation_published import Case, cases

SENSITIVE = (
    *("simd_cycles", "l1_ways", "l2_ns", "llc_ns", "lookup_ns", "dram_ns", "l2_gb_s", "llc_gb_s"),
    *("channels", "quantum_ns", "sparse_load_queue"),
)
"""Assumed values of spade-224 that are halved and doubled."""


class Runs:
    """Simulated times, made when asked for and kept in a file."""

    def __init__(self, folder: Path, quick: bool):
        self.folder = folder
        self.quick = quick
        self.file = folder / "runs.json"
        self.known: dict[str, float] = {}
        if self.file.exists():
            self.known = json.loads(self.file.read_text())
        self.matrix: SparseMatrix | None = None
        self.tiling: tuple[Any, Tiling] | None = None

    def __call__(
        self,
        pattern: str,
        operation: str,
        width: int,
        rp: int = 256,
        cp: int | str = "all",
        barrier: int = 0,
        bypass: int = 0,
        machine: str = "spade-224",
        **changes: Any,
    ) -> float:
        """Seconds; see :class:`validation_published.Time`."""
        matrix = self.load(pattern)
        panel_cols = matrix.cols if cp == "all" else min(int(cp), matrix.cols)
        outer = bool(barrier) and panel_cols < matrix.cols
        work = Work(False, outer, panel_cols, rp, width, bool(bypass))
        hardware = load_machine(machine, changes)
        key = f"{pattern} {operation} {work} {hardware}"
        if key not in self.known:
            layout = (pattern, *work.layout)
            if self.tiling is None or self.tiling[0] != layout:
                self.tiling = (layout, tile(matrix, rp, panel_cols, outer))
            run = simulate_work(
                hardware, self.tiling[1], matrix, get_operation(operation, width), work
            )
            self.known[key] = run.seconds
            write_text(self.file, json.dumps(self.known, indent=0))
        return self.known[key]

    def load(self, pattern: str) -> SparseMatrix:
        """The matrix, from FOLDER if it was made before."""
        if self.matrix is None or self.matrix.name != pattern:
            self.matrix = self.tiling = None
            file = self.folder / "matrices" / f"{pattern}.npz"
            if not file.exists():
                build(pattern).save(file)
            self.matrix = SparseMatrix.load(file)
        return self.matrix


def wanted(case: Case, patterns: list[str], quick: bool) -> bool:
    if quick:
        cheap = case.source in ("HotTiles VI", "Figure 11")
        return case.pattern == "MYC" and (cheap or case.source == "Opt/Base")
    return case.pattern in patterns


def deviation(case: Case, simulated: float) -> float:
    """In percent; for changes in percent the difference of the factors that they mean."""
    if case.unit == "%":
        return 100 * ((1 + simulated / 100) / (1 + case.published / 100) - 1)
    return 100 * (simulated / case.published - 1)


def table_of(runs: Runs, chosen: list[Case]) -> pd.DataFrame:
    rows = []
    for case in sorted(chosen, key=lambda case: case.pattern):
        simulated = case.compute(runs)
        rows.append((case.source, case.pattern, case.label, case.unit, case.published,
                     round(simulated, 3), round(deviation(case, simulated), 1)))  # fmt: skip
        print(*rows[-1], sep="  ", flush=True)
    columns = ["source", "pattern", "case", "unit", "published", "simulated", "deviation_percent"]
    return pd.DataFrame(rows, columns=columns).sort_values(["source", "pattern"], kind="stable")


def sensitivity(runs: Runs, pattern: str) -> pd.DataFrame:
    """Time of SPADE Base and of the row panel 64 when an assumed value is halved or doubled."""
    base = load_machine().values
    schedules = {"base": {}, "rp=64": {"rp": 64}, "bypass": {"bypass": 1}}
    rows = []
    for field in SENSITIVE:
        for factor in (0.5, 2):
            value = type(base[field])(base[field] * factor)
            row: dict[str, Any] = {"field": field, "value": value}
            for label, schedule in schedules.items():
                changed = runs(pattern, "spmm", 32, **schedule, **{field: value})
                row[label] = round(100 * (changed / runs(pattern, "spmm", 32, **schedule) - 1), 1)
            rows.append(row)
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame, path: Path) -> None:
    """Published against simulated, one panel a source."""
    sources = list(table["source"].unique())
    figure, axes = plt.subplots(2, -(-len(sources) // 2), figsize=(12, 7), squeeze=False)
    for axis, source in zip(axes.flat, sources, strict=False):
        part = table[table["source"] == source]
        for pattern, rows in part.groupby("pattern"):
            axis.plot(rows["published"], rows["simulated"], "o", label=pattern, alpha=0.7)
        span = np.array([part[["published", "simulated"]].min().min(),
                         part[["published", "simulated"]].max().max()])  # fmt: skip
        axis.plot(span, span, "k-", linewidth=0.8)
        axis.set(title=f"{source}, {part['unit'].iloc[0]}", xlabel="published", ylabel="simulated")
        axis.legend(fontsize=7)
    figure.tight_layout()
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="mycielskian17 alone")
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    parser.add_argument("--output", type=Path, default=Path("results/validation"))
    parser.add_argument("--only", nargs="+", choices=PATTERNS, default=list(PATTERNS))
    parser.add_argument("--source", nargs="+", default=[""], help="sources that contain a word")
    parser.add_argument("--sensitivity", action="store_true", help="vary the assumed values")
    arguments = parser.parse_args()
    runs = Runs(arguments.output, arguments.quick)
    chosen = [
        case
        for case in cases()
        if wanted(case, arguments.only, arguments.quick)
        and any(word in case.source for word in arguments.source)
    ]
    table = table_of(runs, chosen)
    print(table.to_string(index=False))
    with replacing(arguments.output / "validation.csv") as temporary:
        table.to_csv(temporary, index=False)
    draw(table, arguments.output / "validation.png")
    if arguments.sensitivity:
        for pattern in arguments.only:
            print(f"\n{pattern}: change of time in percent")
            print(sensitivity(runs, pattern).to_string(index=False))
    if arguments.json:
        print(json.dumps(summary(table)))


def summary(table: pd.DataFrame) -> dict[str, Any]:
    """The numbers of mycielskian17 by name, and the mean absolute deviation of each source."""
    myc = table[table["pattern"] == "MYC"]
    result: dict[str, Any] = {
        f"hottiles_myc17_{row['unit']}": row["simulated"]
        for _, row in myc[myc["source"] == "HotTiles VI"].iterrows()
    }
    for source, name in (("Opt/Base", "opt_base"), ("Figure 11", "figure_11")):
        for _, row in myc[myc["source"] == source].iterrows():
            result[f"myc_{name}_{row['case'].replace(' ', '_')}"] = row["simulated"]
    for source, rows in table.groupby("source"):
        result[f"deviation_percent {source}"] = round(rows["deviation_percent"].abs().mean(), 1)
    return result


if __name__ == "__main__":
    main()
