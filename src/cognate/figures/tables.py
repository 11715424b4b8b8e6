"""The study's tables: each joins what one room of ``evaluation`` says about every scope."""

from collections.abc import Callable

import pandas as pd

from cognate.evaluation import headroom, importance, provenance, summaries
from cognate.evaluation.study_data import StudyData
from cognate.figures.collection import collection_table
from cognate.figures.overhead import overhead_table
from cognate.figures.parameters import schedule_times
from cognate.figures.similarity import similarity_table


def headline(study: StudyData) -> pd.DataFrame:
    """Speed-ups, shares, wins and losses of every method, target and operation."""
    return _summary(study, summaries.headline)


def comparisons(study: StudyData) -> pd.DataFrame:
    """Paired tests of every two methods of the headline experiment."""
    return _summary(study, summaries.comparisons)


def accuracy(study: StudyData) -> pd.DataFrame:
    """Ranking accuracy of every method."""
    return _accuracy(study, None)


def accuracy_by_kind(study: StudyData) -> pd.DataFrame:
    """Ranking accuracy and speed-up by the matrices' kind."""
    return _accuracy(study, "kind")


def accuracy_by_size(study: StudyData) -> pd.DataFrame:
    """Ranking accuracy and speed-up by decade of stored entries."""
    return _accuracy(study, "size")


def collection_cost(study: StudyData) -> pd.DataFrame:
    """Samples, cost and quality of every method that learns."""
    return pd.concat([collection_table(study, *scope) for scope in study.scopes], ignore_index=True)


def headroom_table(study: StudyData) -> pd.DataFrame:
    """Headroom by split, kind and size, of every target and operation."""
    return _each(study, lambda t, o: headroom.headroom(study.headroom(t, o)))


def headroom_matrices(study: StudyData) -> pd.DataFrame:
    """Default, fixed and oracle seconds of every matrix, target and operation."""
    return _each(study, lambda t, o: study.headroom(t, o).copy())


def parameters(study: StudyData) -> pd.DataFrame:
    """What each parameter of the target's schedules is worth."""
    return _each(study, lambda t, o: importance.importance(schedule_times(study, t, o)))


def choices(study: StudyData) -> pd.DataFrame:
    """How often the best schedules take each value, over all matrices and by kind."""
    return _each(
        study, lambda t, o: importance.choices(schedule_times(study, t, o), study.matrices)
    )


def rules(study: StudyData) -> pd.DataFrame:
    """One readable rule for each parameter, judged on the test matrices."""
    return _each(study, lambda t, o: importance.rules(schedule_times(study, t, o), study.matrices))


def similarity(study: StudyData) -> pd.DataFrame:
    """Rank correlation of source and target by matrix, with the gain of transfer."""
    return _each(study, lambda t, o: similarity_table(study, t, o))


def overhead(study: StudyData) -> pd.DataFrame:
    """Seconds to predict, and runs after which that has paid, of every method that learns."""
    return pd.concat([overhead_table(study, *scope) for scope in study.scopes], ignore_index=True)


def environment(study: StudyData) -> pd.DataFrame:
    """Hardware, versions, settings and corpus behind the numbers."""
    platforms = [study.config.source.name, *study.targets]
    metadata = {
        (platform, operation): study.metadata(platform, operation)
        for platform in platforms
        for operation in study.operations
    }
    return provenance.environment(metadata, study.matrices, study.config)


def _summary(study: StudyData, function: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    parts = [
        function(
            study.experiment("headline", *scope), study.config.evaluation, seed=study.config.seed
        )
        for scope in study.scopes
    ]
    return pd.concat(parts, ignore_index=True)


def _accuracy(study: StudyData, by: str | None) -> pd.DataFrame:
    return _summary(study, lambda rows, choice, seed: summaries.accuracy(rows, choice, by, seed))


def _each(study: StudyData, make: Callable[[str, str], pd.DataFrame]) -> pd.DataFrame:
    parts = []
    for target, operation in study.scopes:
        part = make(target, operation)
        part.insert(0, "target", target)
        part.insert(1, "operation", operation)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
