"""The study on one page, every number taken from its tables."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from cognate.evaluation import headroom, summaries
from cognate.evaluation.cost import collection_cost
from cognate.evaluation.methods import BASELINES, base_name
from cognate.evaluation.study_data import StudyData
from cognate.figures.checks import checks
from cognate.figures.collection import costs_of
from cognate.figures.registry import FIGURES
from cognate.figures.speedups import first_setting
from cognate.figures.style import method_style

OPERATION_NAMES = {"spmm": "SpMM", "sddmm": "SDDMM"}
Row = dict[str, Any]
Rows = dict[str, Row]
"""Rows of the headline table by method."""

NOT_COMPARED = (*BASELINES, "full-target")
"""Methods that do not run for the best few-shot method: baselines, and 20 × the samples."""


def summary(study: StudyData) -> str:
    """A one-page abstract in Markdown; aims that are missed are said to be missed."""
    config, split = study.config, study.matrices["split"].value_counts()
    shots, seeds = (
        study.usual_shots,
        config.learning.seeds[: config.learning.experiments["headline"].seeds],
    )
    targets = _words(study.targets)
    lines = [
        f"# Study “{config.name}”",
        "",
        f"Methods that choose a schedule for a sparse kernel on {targets} are compared on "
        f"{split.get('test', 0)} test matrices that no method has seen, after learning from up to "
        f"{split.get('train', 0)} training matrices; near copies are never split between the two. "
        f"K = {config.width} dense columns, {shots} {_plural(shots, 'shot')} of "
        f"{config.learning.samples_per_shot} samples, {len(seeds)} {_plural(len(seeds), 'seed')}. "
        f"Means are geometric; brackets hold {100 * config.evaluation.confidence:g} % intervals "
        f"over {'families' if config.evaluation.resample == 'family' else 'matrices'} and seeds.",
        "",
    ]
    for target, operation in study.scopes:
        lines += _chapter(study, target, operation)
    lines += [_missing(study), "", _where(study), ""]
    return "\n".join(lines)


def _chapter(study: StudyData, target: str, operation: str) -> list[str]:
    rows = first_setting(study.experiment("headline", target, operation))
    records = summaries.headline(rows, study.config.evaluation, study.config.seed).to_dict(
        "records"
    )
    table: Rows = {str(row["method"]): {str(k): v for k, v in row.items()} for row in records}
    title = f"## {OPERATION_NAMES[operation]} on {target}"
    parts = [_headroom(study, target, operation), _table(table)]
    few_shot = [m for m in table if base_name(m) not in NOT_COMPARED]
    if few_shot:
        parts.append(_verdict({m: table[m] for m in few_shot}))
        parts.append(_transfer(study, rows, operation, table))
    return [title, "", *(line for part in parts if part for line in (part, ""))]


def _headroom(study: StudyData, target: str, operation: str) -> str:
    train = headroom.headroom(study.headroom(target, operation)).iloc[0]
    over = train["oracle_over_fixed"]
    if over >= headroom.AIM:
        verdict = f"which meets the aim of {headroom.AIM:.2f} ×: there is something to choose."
    else:
        verdict = (
            f"which **misses the aim of {headroom.AIM:.2f} ×**: one fixed schedule is nearly "
            "always right here, and differences between methods mean little."
        )
    return (
        f"**Headroom.** On the training matrices the best schedule of each matrix is "
        f"{train['oracle_over_default']:.2f} × faster than the default and {over:.2f} × faster "
        f"than the one schedule that is best on average, {verdict}"
    )


def _table(table: Rows) -> str:
    head = "| method | top-1 | top-5 | of oracle | of headroom | strictly | against best fixed |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    for row in table.values():
        cells = [
            method_style(str(row["method"])).label,
            _interval(row, "speedup_top1"),
            _interval(row, "speedup_top5"),
            f"{100 * row['oracle_share_top1']:.0f} %",
            _share(row["headroom_share_top1"]),
            _share(row["strict_share_top1"]),
            _against(row),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _verdict(few_shot: Rows) -> str:
    best = max(few_shot, key=lambda method: float(few_shot[method]["speedup_top1"]))
    row, label = few_shot[best], method_style(best).label
    adjusted = summaries.holm(np.array([r["p_value_fixed"] for r in few_shot.values()]))
    p_value = float(adjusted[list(few_shot).index(best)])
    start = (
        f"**Best few-shot method.** {label} reaches {_interval(row, 'speedup_top1')} over the "
        f"default with its first choice and {row['speedup_top5']:.2f} × with the best of five "
        f"(at most {row['speedup_max']:.2f} × and {row['speedup_max_top5']:.2f} ×)"
    )
    if not np.isfinite(row["headroom_share_top1"]):
        return f"{start}; the share of the headroom is undefined in this study."
    if row["headroom_share_top1"] <= 0:
        verdict = "but is **not faster than one fixed schedule** chosen from the same samples"
    elif p_value < 0.05:
        verdict = "and is faster than one fixed schedule chosen from the same samples"
    else:
        verdict = (
            "and is ahead of one fixed schedule chosen from the same samples, **but not by more "
            "than chance would explain**"
        )
    return (
        f"{start}, {verdict} ({row['wins_fixed']:.0f} wins, {row['losses_fixed']:.0f} losses, "
        f"{row['ties_fixed']:.0f} ties over matrices; p = {p_value:.2g} by Wilcoxon's test, "
        f"corrected for the choice among {len(few_shot)} methods). {_strictly(row)}"
    )


def _strictly(row: Row) -> str:
    """The same against the schedule that is best on all training matrices."""
    value = row["strict_share_top1"]
    known = "the one schedule that is best on all training matrices"
    if not np.isfinite(value):
        return f"On the test matrices {known} is the oracle, so nothing is left to gain there."
    if value <= 0:
        return (
            f"It is **not faster than {known}**, which a matrix-blind user with more samples has."
        )
    return f"Against {known} it reaches {_share(value)} of the headroom."


def _transfer(study: StudyData, rows: pd.DataFrame, operation: str, table: Rows) -> str:
    """What the paper's method gains from the source and loses against 20 × the samples."""
    if "cognate" not in table:
        return ""
    own = table["cognate"]["speedup_top1"]
    words = []
    if "no-transfer" in table:
        ratio = own / table["no-transfer"]["speedup_top1"]
        words.append(f"{_faster(ratio)} the same network without the source")
    if "full-target" in table:
        ratio = own / table["full-target"]["speedup_top1"]
        beta, seconds = costs_of(study, operation)
        costs = collection_cost(
            rows, study.config.evaluation, beta, seconds, study.config.source.name
        ).set_index("method")["cost"]
        cheaper = costs["full-target"] / costs["cognate"]
        words.append(
            f"{_faster(ratio)} the model trained on {cheaper:.1f} × the data-collection cost"
        )
    return f"**Transfer.** COGNATE's first choice is {_words(words)}." if words else ""


def _missing(study: StudyData) -> str:
    table = checks(study, list(FIGURES.values()))
    missing = int(table["missing"].sum())
    out = sorted(set(study.left_out()["matrix"]))
    if out:
        return (
            f"**{len(out)} {'matrix is' if len(out) == 1 else 'matrices are'} left out** "
            f"({', '.join(out[:5])}{', …' if len(out) > 5 else ''}); `tables/missing.csv` says why."
        )
    if missing:
        return f"**{missing} rows are missing**; see `tables/checks.csv` before quoting anything."
    return f"All {len(table)} figures are complete: no row is missing (`tables/checks.csv`)."


def _where(study: StudyData) -> str:
    return (
        "How to read every table and figure: `docs/results.md`. Hardware, versions and the corpus: "
        f"`tables/environment.csv`. Configuration {study.config.config_hash}."
    )


def _interval(row: Row, column: str) -> str:
    return f"{row[column]:.2f} × [{row[f'{column}_low']:.2f}, {row[f'{column}_high']:.2f}]"


def _share(value: float) -> str:
    return f"{100 * value:.0f} %".replace("-", "−") if np.isfinite(value) else "undefined"


def _against(row: Row) -> str:
    if not np.isfinite(row["wins_fixed"]):
        return "—"
    return f"{row['wins_fixed']:.0f} / {row['losses_fixed']:.0f} / {row['ties_fixed']:.0f}"


def _faster(ratio: float) -> str:
    if abs(ratio - 1) < 0.005:
        return "as fast as that of"
    word = "faster" if ratio > 1 else "slower"
    return f"{max(ratio, 1 / ratio):.2f} × {word} than that of"


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _words(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
