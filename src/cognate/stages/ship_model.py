"""Train the small models that ship with the package, from a finished study's samples."""

from pathlib import Path

from cognate.errors import ModelError
from cognate.gains import calibrate, judge
from cognate.learning.methods import get_method, pretrain
from cognate.learning.ranker import Ranker, SourceModel
from cognate.learning.task import Task
from cognate.provenance import environment
from cognate.stages.inputs import StoredMatrices, read_samples
from cognate.study import Study

METHOD = "cognate-tiles:free=0"
"""Without the laws that know no physics, so that the file stays small."""
SAMPLES = 600
"""Of all training matrices together: the method keeps each, and the file must stay small."""
LARGEST_BYTES = 1_000_000
SEED = 0


def train_shipped_model(study: Study, target: str, operation: str, output: Path) -> None:
    """Train on all training matrices, calibrate on validation, judge on test; write and card it.

    ``target`` is any platform of the study; the source, which a study does not sample on test
    matrices, is judged on validation too. Reads the study's results folder.
    Raises :class:`ModelError` if the file would be too large to ship.
    """
    task = _task(study, target, operation)
    method = get_method(METHOD)
    source = pretrain(task, str(method.source_configuration), SEED)
    ranker = method.fit(task, source)
    is_source = target == study.config.source.name
    judged_on = "validation" if is_source else "test"
    validation = read_samples(study, target, operation, "validation")
    test = validation if is_source else read_samples(study, target, operation, "test")
    calibration = calibrate(ranker, task.matrices, validation)
    _save(
        ranker,
        output,
        study,
        target,
        method=METHOD,
        calibration=calibration.as_dict() if calibration else None,
        judged_on=judged_on,
        test=judge(ranker, task.matrices, test),
        samples=len(task.shots()),
    )


def train_shipped_source(study: Study, operation: str, output: Path) -> None:
    """Learn the study's source platform, to start from on new hardware; write and card it."""
    task = _task(study, study.config.source.name, operation)
    source = pretrain(task, str(get_method(METHOD).source_configuration), SEED)
    _save(source, output, study, study.config.source.name, samples=len(task.source_train))


def _task(study: Study, target: str, operation: str) -> Task:
    train, validation = study.names("train"), study.names("validation")
    source = read_samples(study, study.config.source.name, operation, "train", "validation")
    own = read_samples(study, target, operation, "train")
    return Task(
        operation=study.operation(operation),
        source=study.platform(study.config.source.name),
        target=study.platform(target),
        matrices=StoredMatrices(study),
        source_train=source[source["matrix"].isin(train)],
        source_validation=source[source["matrix"].isin(validation)],
        target_train=own,
        shot_matrices=tuple(sorted(own["matrix"].unique())),
        samples_per_shot=max(2, SAMPLES // max(1, own["matrix"].nunique())),
        seed=SEED,
        effort=study.config.learning.effort,
    )


def _save(
    model: Ranker | SourceModel, output: Path, study: Study, platform: str, **card: object
) -> None:
    settings = study.config.platform_choice(platform).settings
    model.save(
        output,
        platform_settings=settings,
        study=study.config.name,
        config_hash=study.config.config_hash,
        seed=SEED,
        trained_on=study.names("train"),
        environment=environment(),
        **card,
    )
    size = output.stat().st_size
    if size > LARGEST_BYTES:
        output.unlink()
        raise ModelError(f"{output}: {size} bytes are too many to ship (limit {LARGEST_BYTES})")
