"""The CPU platform against libraries and against the machine's limits.

    python benchmarks/cpu.py --quick --json     under 45 s, one JSON object as the last line
    python benchmarks/cpu.py --output results   all cases, table and picture; resumes

Each case (matrix, operation, dense width) is surveyed with a sample of ``cpu-core``; then its
best schedules and all peers that are installed take turns, and the least time of each counts.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cognate.matrices import directory
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import OPERATION_NAMES, Operation, get_operation
from cognate.platforms.cpu import CpuPlatform
from cognate.platforms.cpu.engine import Engine
from cognate.platforms.cpu.loops import LoopNest
from cognate.platforms.cpu.protocol import kendall
from cognate.schedules import Schedule
from cpu_cases import FULL, QUICK, build
from cpu_limits import Limits, bound
from cpu_peers import PEERS, Peer
from cpu_report import summary, write_report

FINALISTS = 3
"""Schedules of a survey that meet the peers."""
VISIT_SECONDS = 0.004
REAL_ENTRIES = (10_000, 2_000_000)
"""Stored entries of the real matrices that are run, largest first."""


@dataclass
class Effort:
    """How thorough a run is."""

    schedules: int
    survey_seconds: float
    rounds: int
    widths: tuple[int, ...]
    twice: bool = False
    """Survey a second time, to say how far two sweeps agree."""


QUICK_EFFORT = Effort(schedules=60, survey_seconds=1.0, rounds=4, widths=(128,))
FULL_EFFORT = Effort(schedules=100, survey_seconds=6.0, rounds=10, widths=(32, 128, 256))


@dataclass
class Case:
    """What was measured of one matrix, operation and width."""

    matrix: str
    operation: str
    width: int
    shape: tuple[int, int]
    nnz: int
    best_seconds: float = float("nan")
    best_schedule: str = ""
    default_seconds: float = float("nan")
    median_seconds: float = float("nan")
    agreement: float = float("nan")
    survey_seconds: float = float("nan")
    tau_of_two_sweeps: float = float("nan")
    plan_seconds: float = float("nan")
    peers: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    schedules: dict[str, float | None] = field(default_factory=dict)
    """Surveyed seconds by schedule, None where rejected."""
    limits: dict[str, float] = field(default_factory=dict)


def chosen_schedules(platform: CpuPlatform, operation: Operation, count: int) -> list[Schedule]:
    """The baselines and a sample: the same for every matrix."""
    chosen = dict.fromkeys(platform.baselines(operation).values())
    chosen.update(dict.fromkeys(platform.space(operation).sample(count, seed=1)))
    return list(chosen)


def run_case(
    platform: CpuPlatform, matrix: SparseMatrix, operation: Operation, peers: list[Peer],
    effort: Effort, limits: Limits,
) -> Case:  # fmt: skip
    """Survey, then let finalists and peers take turns."""
    case = Case(matrix.name, operation.name, operation.width, matrix.shape, matrix.nnz)
    schedules = chosen_schedules(platform, operation, effort.schedules)
    begin = time.perf_counter()
    table = platform.evaluate(matrix, operation, schedules)
    case.survey_seconds = time.perf_counter() - begin
    failed = table[table["status"] == "failed"]
    if len(failed):
        sys.exit(f"{matrix.name}: wrong results: {failed['reason'].iloc[0]}")
    good = table[table["status"] == "ok"]
    if effort.twice:
        case.tau_of_two_sweeps = repeat_sweep(matrix, operation, schedules, table, effort)
    case.median_seconds = float(good["seconds"].median())
    case.agreement = float(good["agreement"].iloc[0])
    case.plan_seconds = float(good["plan_seconds"].sum())
    case.schedules = {
        str(schedule): None if np.isnan(seconds) else float(seconds)
        for schedule, seconds in zip(schedules, table["seconds"], strict=True)
    }
    finalists = [schedules[i] for i in good["seconds"].nsmallest(FINALISTS).index]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.npz"
        matrix.save(path)
        ready = []
        for peer in peers:
            reason = peer.load(path, operation)
            if reason:
                case.missing[peer.name] = reason
            else:
                ready.append(peer)
        contest(case, platform, matrix, operation, finalists, ready, effort.rounds)
    case.limits = asdict(bound(matrix, operation, limits, platform, case.best_seconds))
    return case


def repeat_sweep(
    matrix: SparseMatrix, operation: Operation, schedules: list[Schedule], first: pd.DataFrame,
    effort: Effort,
) -> float:  # fmt: skip
    """Kendall's tau between the first sweep and a second one, in other memory and order."""
    platform = CpuPlatform(budget_seconds=effort.survey_seconds, seed=1)
    second = platform.evaluate(matrix, operation, schedules)
    both = first["seconds"].notna() & second["seconds"].notna()
    return kendall(first["seconds"][both].to_numpy(), second["seconds"][both].to_numpy())


def contest(
    case: Case, platform: CpuPlatform, matrix: SparseMatrix, operation: Operation,
    finalists: list[Schedule], peers: list[Peer], rounds: int,
) -> None:  # fmt: skip
    """Turn by turn, so that a slow minute of the machine meets everybody."""
    default = platform.space(operation).default
    finalists = list(dict.fromkeys([*finalists, default]))
    own = dict.fromkeys(map(str, finalists), float("inf"))
    case.peers = dict.fromkeys((peer.name for peer in peers), float("inf"))
    with Engine(matrix, operation, platform.processors, platform.arena) as engine:
        tasks = {
            str(schedule): engine.task(schedule, engine.planner.build(LoopNest.of(schedule)))
            for schedule in finalists
        }
        for _ in range(rounds):
            for name, task in tasks.items():
                own[name] = min(own[name], engine.measure(task, 2, VISIT_SECONDS)[0])
            for peer in peers:
                case.peers[peer.name] = min(case.peers[peer.name], peer.run(2, VISIT_SECONDS))
    case.best_schedule = min(own, key=own.__getitem__)
    case.best_seconds = own[case.best_schedule]
    case.default_seconds = own[str(default)]


def matrices(arguments: argparse.Namespace) -> list[SparseMatrix]:
    """Generated cases, then real ones of a folder."""
    names = arguments.cases or list(QUICK if arguments.quick else FULL)
    found = [build(name, arguments.quick) for name in names]
    if arguments.folder:
        table = directory.catalogue(arguments.folder)
        usable = table[table["nnz"].between(*REAL_ENTRIES)].nlargest(arguments.real, "nnz")
        found += [directory.load(arguments.folder, name, "pattern") for name in usable["name"]]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few and small cases")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--output", type=Path, help="folder for results, table and picture")
    parser.add_argument("--cases", nargs="*", help=f"of {', '.join(FULL)}")
    parser.add_argument("--widths", nargs="*", type=int, help="dense widths")
    parser.add_argument("--folder", type=Path, help="real matrices (.mtx, .mtx.gz)")
    parser.add_argument("--real", type=int, default=20, help="how many of them")
    parser.add_argument("--schedules", type=int, help="how many are surveyed a case")
    parser.add_argument("--seconds", type=float, help="budget of a survey")
    parser.add_argument("--twice", action="store_true", help="survey twice and compare")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after a case")
    arguments = parser.parse_args()
    begin = time.perf_counter()
    effort = replace(QUICK_EFFORT if arguments.quick else FULL_EFFORT, twice=arguments.twice)
    effort.schedules = arguments.schedules or effort.schedules
    effort.survey_seconds = arguments.seconds or effort.survey_seconds
    platform = CpuPlatform(budget_seconds=effort.survey_seconds)
    limits = Limits.measure(platform)
    peers = [Peer(name, len(platform.processors)) for name in PEERS]
    cases: list[dict[str, Any]] = []
    for matrix in matrices(arguments):
        if not arguments.quick:
            limits = limits.best_of(Limits.measure(platform))
        for width in arguments.widths or effort.widths:
            for name in OPERATION_NAMES:
                path = arguments.output and arguments.output / f"{matrix.name}-{name}-{width}.json"
                if path and path.exists():
                    cases.append(json.loads(path.read_text()))
                    continue
                if time.perf_counter() - begin > 60 * arguments.minutes:
                    continue
                case = asdict(
                    run_case(platform, matrix, get_operation(name, width), peers, effort, limits)
                )
                show(case)
                cases.append(case)
                if path:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(json.dumps(case))
    for peer in peers:
        peer.close()
    result = {**summary(cases), "limits": asdict(limits), "seconds": time.perf_counter() - begin}
    if arguments.output:
        write_report(cases, result, arguments.output)
    if arguments.json:
        print(json.dumps(result))


def show(case: dict[str, Any]) -> None:
    """One line a case."""
    name, seconds = min(case["peers"].items(), key=lambda item: item[1])
    print(
        f"{case['matrix']:>13} {case['operation']:5} K={case['width']:<3} "
        f"best {1e3 * case['best_seconds']:8.3f} ms  "
        f"{name} {seconds / case['best_seconds']:5.2f} x  "
        f"default {case['default_seconds'] / case['best_seconds']:5.2f} x  "
        f"of bound {case['limits']['share']:4.0%}  tau {case['agreement']:.2f}  "
        f"survey {case['survey_seconds']:.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
