"""Train one source model."""

from pathlib import Path

from cognate.files import replacing
from cognate.learning.methods import pretrain as pretrain_configuration
from cognate.learning.task import Task
from cognate.progress import progress
from cognate.stages.inputs import StoredMatrices, read_samples
from cognate.study import Study


def pretrain(
    study: Study,
    operation_name: str,
    configuration: str,
    size: int,
    seed: int,
    model: Path,
    curve: Path,
) -> None:
    """Learn a configuration from ``size`` source matrices; write the model and its curve."""
    wanted, validation = study.source_matrices(size, seed), study.names("validation")
    source = study.config.source.name
    table = read_samples(study, source, operation_name, "train", "validation")
    sampled = set(table["matrix"])
    chosen = [name for name in wanted if name in sampled]
    target = study.platform(study.target_names[0])
    task = Task(
        operation=study.operation(operation_name),
        source=study.platform(source),
        target=target,
        matrices=StoredMatrices(study),
        source_train=table[table["matrix"].isin(chosen)],
        source_validation=table[table["matrix"].isin(validation)],
        target_train=table.iloc[:0],
        shot_matrices=(),
        samples_per_shot=study.config.learning.samples_per_shot,
        seed=seed,
        effort=study.config.learning.effort,
    )
    with progress(f"pretrain {configuration}", "epochs") as advance:
        learnt = pretrain_configuration(task, configuration, seed, advance)
    learnt.save(model, source_matrices=chosen, seed=seed, config_hash=study.config.config_hash)
    curves = learnt.curves.assign(
        operation=operation_name, configuration=configuration, source_matrices=size, seed=seed
    )
    with replacing(curve) as temporary:
        curves.to_parquet(temporary, index=False)
