"""Figures over all cases of the CPU benchmark: ratios, headroom, table and picture."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from cognate.platforms.cpu.protocol import kendall

Case = dict[str, Any]


def geomean(values: Iterable[float]) -> float | None:
    """Geometric mean; None of nothing."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def over_best_peer(case: Case) -> float:
    """Best peer's time by ours: above 1, we are faster."""
    return float(min(case["peers"].values()) / case["best_seconds"])


def summary(cases: list[Case]) -> dict[str, Any]:
    """All that the benchmark claims, in one object."""
    ratios = {label(case): over_best_peer(case) for case in cases if case["peers"]}
    finite = [c["limits"]["share"] for c in cases if c["matrix"] == "fem"]
    taus = [t for t in (c["tau_of_two_sweeps"] for c in cases) if not math.isnan(t)]
    return {
        "geomean_best_over_best_peer": geomean(ratios.values()),
        "worst_best_over_best_peer": min(ratios.values(), default=None),
        "worst_case": min(ratios, key=ratios.__getitem__, default=""),
        "geomean_default_over_best": geomean(
            c["default_seconds"] / c["best_seconds"] for c in cases
        ),
        "median_median_over_best": float(
            np.median([c["median_seconds"] / c["best_seconds"] for c in cases])
        ),
        "fem_share_of_bound": max(finite, default=None),
        "median_tau_of_two_sweeps": float(np.median(taus)) if taus else None,
        "best_fixed": best_fixed(cases),
        "peers_missing": sorted({name for c in cases for name in c["missing"]} - peers_seen(cases)),
        "cases": len(cases),
    }


def label(case: Case) -> str:
    """Matrix, operation and width in one word."""
    return f"{case['matrix']}-{case['operation']}-{case['width']}"


def peers_seen(cases: list[Case]) -> set[str]:
    """Peers that ran at least once."""
    return {name for case in cases for name in case["peers"]}


def best_fixed(cases: list[Case]) -> dict[str, dict[str, Any]]:
    """By operation and width: the one schedule that is best on average, and what it loses."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[f"{case['operation']}-{case['width']}"].append(case)
    return {name: _fixed_of(group) for name, group in groups.items() if len(group) > 1}


def _fixed_of(group: list[Case]) -> dict[str, Any]:
    names = [n for n in group[0]["schedules"] if all(c["schedules"].get(n) for c in group)]
    times = np.array([[case["schedules"][name] for name in names] for case in group])
    oracle = np.array([min(t for t in case["schedules"].values() if t) for case in group])
    loss = times / oracle[:, None]
    mean = np.exp(np.log(loss).mean(axis=0))
    chosen = int(mean.argmin())
    pairs = [
        kendall(times[a], times[b]) for a in range(len(group)) for b in range(a + 1, len(group))
    ]
    return {
        "schedule": names[chosen],
        "geomean_loss": float(mean[chosen]),
        "worst_loss": float(loss[:, chosen].max()),
        "worst_matrix": group[int(loss[:, chosen].argmax())]["matrix"],
        "mean_tau_between_matrices": float(np.mean(pairs)),
        "distinct_winners": len({min(c["schedules"], key=_time_in(c)) for c in group}),
        "matrices": len(group),
    }


def _time_in(case: Case) -> Any:
    return lambda name: case["schedules"][name] or math.inf


def write_report(cases: list[Case], result: dict[str, Any], folder: Path) -> None:
    """``summary.json``, ``table.csv``, ``table.md`` and ``ratios.svg`` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(result, indent=2))
    peers = sorted(peers_seen(cases))
    heading = [
        "case",
        "best ms",
        "GF/s",
        "of bound",
        "gather",
        "default",
        "median",
        "tau",
        *peers,
        "schedule",
    ]
    rows = [[label(case), *_numbers(case, peers), case["best_schedule"]] for case in cases]
    (folder / "table.csv").write_text("\n".join(",".join(row) for row in [heading, *rows]) + "\n")
    lines = [heading, ["---"] * len(heading), *rows]
    (folder / "table.md").write_text("\n".join(f"| {' | '.join(row)} |" for row in lines) + "\n")
    _draw(cases, peers, folder / "ratios.svg")


def _numbers(case: Case, peers: list[str]) -> list[str]:
    best = case["best_seconds"]
    flops = 2 * case["nnz"] * case["width"] / best / 1e9
    over = [case["default_seconds"] / best, case["median_seconds"] / best]
    times = [case["peers"].get(name) for name in peers]
    return [
        f"{1e3 * best:.3f}",
        f"{flops:.0f}",
        f"{case['limits']['share']:.0%}",
        f"{case['limits']['gather_seconds'] / best:.2f}",
        *(f"{ratio:.2f}" for ratio in over),
        f"{case['agreement']:.2f}",
        *(f"{time / best:.2f}" if time else "" for time in times),
    ]


def _draw(cases: list[Case], peers: list[str], path: Path) -> None:
    """Every peer's time by ours, a row a case."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 0.22 * len(cases) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    for name in peers:
        points = [
            (c["peers"][name] / c["best_seconds"], y)
            for y, c in enumerate(cases)
            if name in c["peers"]
        ]
        axes.plot(*zip(*points, strict=True), "o", markersize=4, label=name)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(cases)), [label(case) for case in cases], fontsize=6)
    axes.invert_yaxis()
    axes.set_xlabel("time by that of the best schedule (above 1: slower)")
    axes.legend(fontsize=7)
    figure.savefig(path)
