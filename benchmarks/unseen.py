"""Learn from one finished study, choose for the matrices of another, whose times are known.

    python benchmarks/unseen.py TRAIN.yaml TEST.yaml --operation spmm --output unseen-spmm.csv

Both are configurations of studies that were run, with one target of the same settings and
the same dense width. Methods learn as in the first study, from its training matrices alone;
every matrix of the second is judged. Prints a line a method, and writes a row a method, seed and
matrix: speed-ups over the default of the first choice, of the best of five, and of the oracle.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from cognate.config import load_config
from cognate.learning.methods import get_method, pretrain
from cognate.learning.ranker import Ranker, SourceModel
from cognate.learning.shots import choose_shots
from cognate.learning.task import Task
from cognate.stages.inputs import StoredMatrices, read_samples
from cognate.study import Study

METHODS = ("best-fixed", "zero-shot", "no-transfer", "waco-fa", "waco-fm", "xgboost")
METHODS += ("cognate", "cognate-tiles")
GAINS = ["top1", "top5", "oracle"]
RESAMPLES = 2000


def training_task(study: Study, operation: str) -> Task:
    """What the study's methods learn from, less shots and seed."""
    train, validation = study.names("train"), study.names("validation")
    source_name, target_name = study.config.source.name, study.target_names[0]
    source = read_samples(study, source_name, operation, "train", "validation")
    return Task(
        operation=study.operation(operation),
        source=study.platform(source_name),
        target=study.platform(target_name),
        matrices=StoredMatrices(study),
        source_train=source[source["matrix"].isin(train)],
        source_validation=source[source["matrix"].isin(validation)],
        target_train=read_samples(study, target_name, operation, "train"),
        shot_matrices=(),
        samples_per_shot=study.config.learning.samples_per_shot,
        seed=0,
        effort=study.config.learning.effort,
    )


def judged(ranker: Ranker, matrices: StoredMatrices, truth: pd.DataFrame) -> Iterator[dict]:
    """Speed-ups over the default on each matrix; what did not run counts as the default."""
    space = ranker.platform.space(ranker.operation)
    for name, rows in truth.groupby("matrix"):
        seconds = rows.set_index("schedule_id")["seconds"]
        default = seconds[space.default.schedule_id]
        scores = ranker.scores(matrices[str(name)], [space.at(int(i)) for i in seconds.index])
        chosen = seconds.fillna(default).to_numpy()[np.argsort(scores, kind="stable")]
        times = (chosen[0], chosen[:5].min(), seconds.min())
        yield {"matrix": name} | dict(zip(GAINS, default / np.array(times), strict=True))


def run(train: Study, test: Study, operation: str, seeds: int, shots: int) -> pd.DataFrame:
    """Every method and seed on every matrix of ``test``."""
    truth = read_samples(test, test.target_names[0], operation, "train", "validation", "test")
    matrices, task = StoredMatrices(test), training_task(train, operation)
    known = sorted(task.target_train["matrix"].unique())
    tables = []
    for seed in range(seeds):
        chosen = choose_shots("random", known, task.matrices, shots, seed)
        part = replace(task, shot_matrices=chosen, seed=seed)
        sources: dict[str, SourceModel] = {}
        for name in METHODS:
            method = get_method(name)
            wanted = method.source_configuration
            if wanted and wanted not in sources:
                sources[wanted] = pretrain(part, wanted, seed)
            ranker = method.fit(part, sources[wanted] if wanted else None)
            rows = pd.DataFrame(judged(ranker, matrices, truth))
            tables.append(rows.assign(method=name, seed=seed))
            means = np.exp(np.log(rows[GAINS]).mean())
            print(f"seed {seed} {name:14}", *(f"{g} {means[g]:.3f}" for g in GAINS), flush=True)
    return pd.concat(tables, ignore_index=True)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Geometric means by method, intervals over matrices, shares of oracle and of headroom."""
    logs = table.assign(**{gain: np.log(table[gain]) for gain in GAINS})
    by_matrix = logs.groupby(["method", "matrix"])[GAINS].mean()
    fixed, random = by_matrix.loc["best-fixed", "top1"], np.random.default_rng(0)
    records = []
    for method in METHODS:
        part = by_matrix.loc[method]
        drawn = random.integers(len(part), size=(RESAMPLES, len(part)))
        low, high = np.quantile(part["top1"].to_numpy()[drawn].mean(axis=1), [0.025, 0.975])
        gained, there = part["top1"].mean() - fixed.mean(), part["oracle"].mean() - fixed.mean()
        better = part["top1"] - fixed
        records.append(
            {
                "method": method,
                **np.exp(part.mean()),
                "top1_low": np.exp(low),
                "top1_high": np.exp(high),
                "oracle_share_top1": np.exp(part["top1"].mean() - part["oracle"].mean()),
                "headroom_share": gained / there,
                "wins": int((better > 1e-9).sum()),
                "losses": int((better < -1e-9).sum()),
            }
        )
    return pd.DataFrame(records)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("train", type=Path, help="configuration of the study to learn from")
    parser.add_argument("test", type=Path, help="configuration of the study to judge on")
    parser.add_argument("--operation", default="spmm", help="spmm or sddmm")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--output", type=Path, help="CSV file of all rows")
    arguments = parser.parse_args()
    train, test = (Study(load_config(path)) for path in (arguments.train, arguments.test))
    targets = [study.sampling(study.target_names[0]) for study in (train, test)]
    if targets[0] != targets[1]:
        parser.error(f"the studies' targets differ: {targets[0]} and {targets[1]}")
    table = run(train, test, arguments.operation, arguments.seeds, arguments.shots)
    if arguments.output:
        table.to_csv(arguments.output, index=False)
    print(summary(table).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
