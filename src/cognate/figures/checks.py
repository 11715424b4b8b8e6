"""For every figure of the study: how many matrices and seeds, nothing missing, which inputs."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from cognate.evaluation.end_to_end import suitable
from cognate.evaluation.experiments import missing_rows, select
from cognate.evaluation.provenance import content_hash
from cognate.evaluation.study_data import StudyData
from cognate.figures.specs import FigureSpec, Place

TIMINGS = ["predict_seconds", "fit_seconds"]
"""Columns that time the learning machine: another run gives the same figures without them."""


def checks(study: StudyData, figures: Sequence[FigureSpec]) -> pd.DataFrame:
    """One row a figure: matrices, seeds, missing rows (must be 0) and a hash of its inputs.

    The hash is of the numbers that went in, not of files; timings of learning are left out.
    """
    hashes = _Hashes(study)
    return pd.DataFrame(
        [
            {"figure": spec.file_name(**place)}
            | _completeness(study, spec, place)
            | {
                "inputs": content_hash(
                    pd.DataFrame(hashes.of(spec, place), columns=["input", "hash"])
                )
            }
            for spec in figures
            for place in spec.places(study.config)
        ]
    )


def _completeness(study: StudyData, spec: FigureSpec, place: Place) -> dict[str, Any]:
    if spec.experiment:
        test = study.evaluated(place["target"], place["operation"])
        runs = study.runs(spec.experiment)
        rows = select(study.evaluation(place["target"], place["operation"]), runs)
        found = {"matrices": rows["matrix"].nunique(), "seeds": rows["seed"].nunique()}
        return found | {"missing": missing_rows(rows, runs, test)}
    if "end_to_end" in spec.needs:
        measured = set(study.end_to_end()["matrix"])
        asked = set(suitable(study.matrices, study.config.evaluation.end_to_end))
        return {"matrices": len(measured), "seeds": 0, "missing": len(asked - measured)}
    if "curves" in spec.needs:
        curves = study.curves()
        seeds = set(curves["seed"])
        missing = len(set(study.config.learning.seeds) - seeds)
        return {
            "matrices": int(curves["source_matrices"].max()),
            "seeds": len(seeds),
            "missing": missing,
        }
    sampled = set(study.samples(place["target"], place["operation"])["matrix"])
    return {
        "matrices": len(sampled),
        "seeds": 0,
        "missing": len(set(study.matrices["matrix"]) - sampled),
    }


class _Hashes:
    """Content hashes of a study's tables, each taken once."""

    def __init__(self, study: StudyData):
        self._study = study
        self._known: dict[tuple[str, ...], str] = {}

    def of(self, spec: FigureSpec, place: Place) -> list[tuple[str, str]]:
        """Names and hashes of what this figure is made from."""
        study = self._study
        scopes = [(place["target"], place["operation"])] if place else study.scopes
        parts: list[tuple[str, ...]] = []
        if "matrices" in spec.needs:
            parts.append(("matrices",))
        if "evaluation" in spec.needs:
            parts += [("evaluation", *scope) for scope in scopes]
        if "samples" in spec.needs:
            sources = [(study.config.source.name, operation) for _, operation in scopes]
            parts += [("samples", *scope) for scope in (*scopes, *sources)]
        for need in ("curves", "end_to_end"):
            if need in spec.needs:
                parts.append((need,))
        return [(" ".join(part), self._hash(part)) for part in sorted(set(parts))]

    def _hash(self, part: tuple[str, ...]) -> str:
        if part not in self._known:
            self._known[part] = content_hash(self._table(part))
        return self._known[part]

    def _table(self, part: tuple[str, ...]) -> pd.DataFrame:
        study, (name, *scope) = self._study, part
        if name == "matrices":
            return study.matrices
        if name == "evaluation":
            return study.evaluation(*scope).drop(columns=TIMINGS)
        if name == "samples":
            return study.samples(*scope)[["matrix", "schedule_id", "seconds", "status"]]
        if name == "end_to_end":
            return study.end_to_end()
        return study.curves().drop(columns="seconds")
