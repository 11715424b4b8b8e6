# Functions only: what rules need to name their inputs, parameters and resources.
import os
import re
import sys

from cognate import figures as registry
from cognate.cluster import require_job_status
from cognate.config import parse_config
from cognate.errors import CognateError
from cognate.fingerprint import fingerprint
from cognate.learning.methods import get_method
from cognate.stages.isolation import KEEP_GOING
from cognate.study import Study


def read_study(config):
    """The study of this configuration; a mistake ends the run with one message."""
    try:
        study = Study(parse_config(config))
        study.batches
        for method in study.methods:
            study.runs(method)
        return study
    except CognateError as error:
        sys.exit(f"{error}\nThe study was not started. Every key: config/README.md")


def prepare_run():
    """Tell jobs of --keep-going; stop where the batch system could never report an end."""
    os.environ[KEEP_GOING] = str(int(workflow.execution_settings.keep_going))
    chosen = workflow.executor_settings
    if type(chosen).__module__ == "snakemake_executor_plugin_slurm":
        try:
            require_job_status(
                chosen.status_command, chosen.init_seconds_before_status_checks
            )
        except CognateError as error:
            sys.exit(f"{error}\nThe study was not started. First run: docs/cluster.md")


def whole_machine(wildcards):
    """All cores of this run; on a cluster the profile's set-threads says how many."""
    return workflow._cores or 1


def one_of(names):
    """A wildcard constraint that matches these names only."""
    return "|".join(re.escape(str(name)) for name in names) or "none"


def slug(method):
    """A method's name as part of a file name."""
    return method.replace(":", "--").replace("=", "-")


def code_of(stage, *rooms):
    """Fingerprint of a stage's code: changes when the stage must run again."""
    return fingerprint(f"cognate.stages.{stage}", *rooms)


def source_code():
    """Fingerprint of the code of the study's source of matrices."""
    return code_of("build_matrices", f"cognate.matrices.{STUDY.config.matrices.source}")


def matrix_settings():
    """What a matrix depends on, beside its name."""
    return STUDY.config.matrices.model_dump(
        mode="json", include={"source", "folder", "values"}
    )


def home_of(platform):
    """The package of a platform's class, whose C sources and data count, or its module."""
    home = type(STUDY.platform(platform)).__module__
    return home.rpartition(".")[0] or home


def platform_code(wildcards):
    """Fingerprint of the sampling code and of one platform's code or described files."""
    described = getattr(STUDY.platform(wildcards.platform), "content_hash", "")
    return code_of("sample", home_of(wildcards.platform)) + described


def platform_settings(name):
    """What the samples of a platform depend on, beside the matrices."""
    return STUDY.sampling(name)


def is_measured(platform):
    """Whether a platform is measured on real hardware, so that its jobs run alone."""
    return STUDY.platform(platform).kind == "measured"


def growing(amount):
    """A resource that is doubled when the job is tried again, and so on."""
    return lambda wildcards, attempt: amount * attempt


def batch_megabytes(wildcards, input, attempt):
    """Memory of a job from the size of its batch, doubled when it is tried again."""
    nnz = STUDY.matrices.loc[STUDY.batches[wildcards.batch], "nnz"].max()
    return int(attempt * (1000 + nnz * 100 // 2**20))


def measuring_megabytes(wildcards, input, attempt):
    """The same with room for dense operands; a platform takes half of what it is granted."""
    members = STUDY.matrices.loc[STUDY.batches[wildcards.batch]]
    operands = 4 * STUDY.config.width * (members["rows"] + members["cols"]).max()
    return batch_megabytes(wildcards, input, attempt) + int(
        attempt * 2 * operands // 2**20
    )


def batch_minutes(wildcards, input, attempt):
    """Run time of a job from the size of its batch, doubled when it is tried again."""
    nnz = STUDY.matrices.loc[STUDY.batches[wildcards.batch], "nnz"].sum()
    return int(attempt * (10 + nnz // 100_000))


def learning_settings():
    """What training depends on, beside methods and samples."""
    return STUDY.config.learning.model_dump(
        mode="json", include={"samples_per_shot", "shot_selection", "effort"}
    )


def source_models(operation, method):
    """Source models that a method's runs start from, by 'size-seed' text."""
    configuration = get_method(METHODS[method]).source_configuration
    if configuration is None:
        return {}
    return {
        f"{run.source_matrices}-{run.seed}": f"{RESULTS}/models/{operation}/{slug(configuration)}"
        f"-n{run.source_matrices}-s{run.seed}.safetensors"
        for run in STUDY.runs(METHODS[method])
    }


def offered(specs):
    """What this study can publish: file name to (spec, place)."""
    return {
        spec.file_name(**place): (spec, place)
        for spec in specs.values()
        for place in spec.places(STUDY.config)
    }


def samples_of(targets, operations):
    """What says that the samples of these targets, and of the source, are there and alike."""
    return expand(
        f"{RESULTS}/samples/{{platform}}/{{operation}}.json",
        platform=[STUDY.config.source.name, *targets],
        operation=operations,
    )


def inputs_for(spec, place):
    """The files that a figure or table is made from, by what its spec needs."""
    targets = [place["target"]] if place else STUDY.target_names
    operations = [place["operation"]] if place else STUDY.config.operations
    files = {
        "matrices": [f"{RESULTS}/tables/matrices.csv"],
        "samples": samples_of(targets, operations),
        "evaluation": expand(
            f"{RESULTS}/evaluation/{{target}}-{{operation}}.parquet",
            target=targets,
            operation=operations,
        ),
        "curves": [
            f"{RESULTS}/models/{operation}/{slug(name)}-n{size}-s{seed}.curve.parquet"
            for name, size, seed in STUDY.source_models
            for operation in operations
        ],
        "end_to_end": (
            [f"{RESULTS}/end_to_end.parquet"]
            if STUDY.config.evaluation.end_to_end
            else []
        ),
    }
    return {need: files[need] for need in spec.needs}


def published_settings():
    """What figures and tables depend on, beside the tables they read."""
    return STUDY.config.model_dump(
        mode="json", include={"name", "evaluation", "targets", "source", "learning"}
    )


def tables_of(offered_tables):
    """Files of the offered tables."""
    return [f"{RESULTS}/tables/{name}.csv" for name in offered_tables]


def figures_of(offered_figures):
    """Files of the offered figures, one of the three formats each."""
    return [f"{RESULTS}/figures/{name}.svg" for name in offered_figures]
