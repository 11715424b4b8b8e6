"""Name the schedule to use for a matrix on a platform, say why, and check it if asked."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from cognate.errors import ModelError, PlatformError, ScheduleError
from cognate.gains import Calibration
from cognate.learning.physics import tiling
from cognate.learning.ranker import Ranker, Scores, load_ranker
from cognate.learning.store import load_model
from cognate.matrices.matrix import SparseMatrix
from cognate.models import shipped_model
from cognate.operations import Operation, get_operation
from cognate.platforms import Platform, get_platform
from cognate.schedules import Schedule, ScheduleSpace

SCORED = 4096
"""Schedules of a larger space that are looked at."""


@dataclass(frozen=True)
class Gain:
    """A speed-up over the default schedule, as expected from matrices held out in training."""

    expected: float
    low: float
    high: float
    inside: float
    """Share of held-out schedules whose error lay between the ends."""


@dataclass(frozen=True)
class Effect:
    """What one parameter contributes to a recommendation."""

    parameter: str
    value: str
    default: str
    factor: float
    """Predicted slowdown if this parameter alone went back to its default."""


@dataclass(frozen=True)
class Choice:
    """One recommended schedule."""

    rank: int
    schedule_id: int
    schedule: str
    gain: Gain | None
    """None if the model carries no calibration."""
    why: tuple[Effect, ...]
    seconds: float | None = None
    """With ``verify``: its true time, NaN if it could not run …"""
    true_gain: float | None = None
    """… and the default's time over it."""


@dataclass(frozen=True)
class Recommendation:
    """The best schedules of a matrix, best first."""

    matrix: str
    rows: int
    cols: int
    nnz: int
    platform: str
    operation: str
    width: int
    model: str
    default: str
    choices: tuple[Choice, ...]
    tiles: Mapping[str, tuple[float, float]]
    """Tile statistics of the first choice and of the default."""
    seconds: float
    """Time to describe the matrix and rank the schedules."""
    default_seconds: float | None = None

    @property
    def best(self) -> Choice:
        """The first choice."""
        return self.choices[0]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def recommend(
    matrix: Any,
    operation: str = "spmm",
    platform: str | Platform = "spade",
    *,
    width: int = 256,
    top: int = 5,
    model: Path | str | None = None,
    verify: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Recommendation:
    """The ``top`` schedules for a matrix, best first, with the gain to expect over the default.

    ``matrix`` is a :class:`SparseMatrix` or any two-dimensional scipy sparse array. ``model`` is
    a ranker stored by ``cognate transfer``; without, the one that ships for the platform and
    operation. ``verify`` runs or simulates the default and the recommended schedules. A platform
    given by name has the settings that the model was trained with, changed by ``settings``.

    Raises a :class:`CognateError` for a matrix, platform or model that cannot be used.
    """
    if top < 1:
        raise ScheduleError(f"top = {top} must be at least 1")
    pattern = as_matrix(matrix)
    kernel = get_operation(operation, width)
    name = platform if isinstance(platform, str) else platform.name
    path = Path(model) if model else shipped_model(f"{name}-{operation}")
    card = load_model(path)[1]
    if isinstance(platform, str):
        trained_with = card.get("platform_settings", {}) if card["platform"] == platform else {}
        chosen = get_platform(platform, **{**trained_with, **(settings or {})})
    else:
        chosen = platform
    ranker = load_ranker(path, chosen, kernel)
    calibration = Calibration.from_card(card)
    started = time.perf_counter()
    default = chosen.space(kernel).default
    schedules = _candidates(chosen, kernel)
    scores = ranker.scores(pattern, schedules)
    order = np.argsort(scores, kind="stable")[:top]
    place = next(i for i, s in enumerate(schedules) if s == default)
    seconds = time.perf_counter() - started
    back = [_one_step_back(chosen.space(kernel), schedules[i]) for i in order]
    known = _all_scores(ranker, pattern, schedules, scores, back)
    choices = tuple(
        Choice(
            rank=rank,
            schedule_id=schedules[i].schedule_id,
            schedule=str(schedules[i]),
            gain=_gain(calibration, float(scores[place] - scores[i])),
            why=_effects(schedules[i], steps, known, calibration),
        )
        for rank, (i, steps) in enumerate(zip(order, back, strict=True), start=1)
    )
    found = Recommendation(
        matrix=pattern.name,
        rows=pattern.rows,
        cols=pattern.cols,
        nnz=pattern.nnz,
        platform=chosen.name,
        operation=operation,
        width=width,
        model=path.name,
        default=str(default),
        choices=choices,
        tiles=_tiles(chosen, kernel, pattern, schedules[order[0]], default),
        seconds=seconds,
    )
    return _verified(found, chosen, kernel, pattern) if verify else found


def as_matrix(matrix: Any) -> SparseMatrix:
    """A :class:`SparseMatrix` as it is, a scipy sparse array in canonical form, named "matrix"."""
    if isinstance(matrix, SparseMatrix):
        return matrix
    if not scipy.sparse.issparse(matrix):
        matrix = scipy.sparse.csr_array(np.asarray(matrix)) if np.ndim(matrix) == 2 else matrix
    return SparseMatrix.from_scipy(matrix, "matrix")


def _candidates(platform: Platform, operation: Operation) -> list[Schedule]:
    space = platform.space(operation)
    drawn = space.sample(SCORED, seed=0)
    return drawn if space.default in drawn else [space.default, *drawn]


def _gain(calibration: Calibration | None, difference: float) -> Gain | None:
    if calibration is None or not np.isfinite(difference):
        return None
    if difference == 0:
        return Gain(1.0, 1.0, 1.0, calibration.inside)
    return Gain(*calibration.gain(difference), calibration.inside)


def _one_step_back(space: ScheduleSpace, schedule: Schedule) -> dict[str, Schedule]:
    """By parameter that differs from the default: the schedule with it alone at its default."""
    steps: dict[str, Schedule] = {}
    for parameter in space.parameters:
        if schedule[parameter.name] != parameter.default:
            values = {**schedule.as_dict(), parameter.name: parameter.default}
            try:
                steps[parameter.name] = space.schedule(**values)
            except ScheduleError:
                continue
    return steps


def _all_scores(
    ranker: Ranker,
    matrix: SparseMatrix,
    schedules: Sequence[Schedule],
    scores: Scores,
    back: Sequence[Mapping[str, Schedule]],
) -> dict[int, float]:
    """Scores by id of the candidates and of the steps back, all of one call: a ranker's scores
    are comparable within one call only."""
    known = {s.schedule_id: s for s in schedules}
    steps = {s.schedule_id: s for one in back for s in one.values()}
    if not steps.keys() <= known.keys():
        schedules = list({**known, **steps}.values())
        scores = ranker.scores(matrix, schedules)
    return dict(zip((s.schedule_id for s in schedules), scores.tolist(), strict=True))


def _effects(
    schedule: Schedule,
    steps: Mapping[str, Schedule],
    known: Mapping[int, float],
    calibration: Calibration | None,
) -> tuple[Effect, ...]:
    """Parameters that differ from the default, the most decisive first."""
    slope = calibration.slope if calibration else 1.0
    score = known[schedule.schedule_id]
    effects = [
        Effect(
            name,
            str(schedule[name]),
            str(back[name]),
            float(np.exp(slope * (known[back.schedule_id] - score))),
        )
        for name, back in steps.items()
    ]
    return tuple(sorted(effects, key=lambda effect: -effect.factor))


def _tiles(
    platform: Platform,
    operation: Operation,
    matrix: SparseMatrix,
    best: Schedule,
    default: Schedule,
) -> dict[str, tuple[float, float]]:
    workers = platform.machine().workers
    slots = platform.slots(matrix, operation, [best, default])
    counted = tiling(matrix, operation.width, slots, workers)
    fair_share = max(1.0, matrix.nnz / workers)
    columns = {
        "rows of a tile": slots.rows_per_tile,
        "columns of a tile": slots.cols_per_tile,
        "dense columns at a time": slots.width_per_slice,
        "tiles with entries": counted.occupied,
        "entries of a tile": matrix.nnz / counted.occupied,
        "entries of a tile's row": matrix.nnz / counted.segments,
        "slowest worker over fair share": np.maximum(1.0, counted.makespan / fair_share),
    }
    return {name: (float(pair[0]), float(pair[1])) for name, pair in columns.items()}


def _verified(
    found: Recommendation, platform: Platform, operation: Operation, matrix: SparseMatrix
) -> Recommendation:
    """The same with true times of the default and of every choice."""
    reason = platform.skip()
    if reason:
        raise PlatformError(f"platform {platform.name} cannot run here: {reason}")
    space = platform.space(operation)
    ids = list(dict.fromkeys([space.default.schedule_id, *(c.schedule_id for c in found.choices)]))
    table = platform.evaluate(matrix, operation, [space.at(i) for i in ids])
    seconds = dict(zip(table["schedule_id"], table["seconds"].astype(float), strict=True))
    default_seconds = seconds[space.default.schedule_id]
    if not np.isfinite(default_seconds):
        raise PlatformError(f"the default schedule did not run: {table['reason'].iloc[0]}")
    fields: Sequence[Choice] = [
        Choice(
            **{
                **vars(choice),
                "seconds": seconds[choice.schedule_id],
                "true_gain": default_seconds / seconds[choice.schedule_id],
            }
        )
        for choice in found.choices
    ]
    return Recommendation(
        **{**vars(found), "choices": tuple(fields), "default_seconds": default_seconds}
    )


def model_path(name: str) -> Path:
    """The model that a user names: a file, or one of the shipped ones."""
    path = Path(name)
    if path.suffix == ".safetensors" or path.is_file():
        if not path.is_file():
            raise ModelError(f"{path}: there is no such model")
        return path
    return shipped_model(name)
