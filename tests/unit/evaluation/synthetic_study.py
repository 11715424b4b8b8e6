"""A small results folder that keeps the contract, with times and rankings made up by formula."""

from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse

from cognate.config import Config, parse_config
from cognate.evaluation import evaluate
from cognate.evaluation.experiments import expected_runs
from cognate.evaluation.methods import dependence
from cognate.matrices.matrix import SparseMatrix
from cognate.platforms import Machine, Platform, samples
from cognate.schedules import Parameter, ScheduleSpace, Slots

SPACE = ScheduleSpace(
    "toy",
    [
        Parameter("row_panel", (4, 32, 256), 256),
        Parameter("column_panel", (64, 1024, "all"), "all"),
        Parameter("barrier", (0, 1), 0),
    ],
)
DEFAULT = SPACE.default.schedule_id
NOISE = {
    "best-fixed": 0.0,
    "zero-shot": 0.35,
    "no-transfer": 0.25,
    "full-target": 0.04,
    "waco-fa": 0.22,
    "waco-fm": 0.2,
    "xgboost": 0.15,
    "cognate": 0.1,
    "cognate-tiles": 0.05,
}
METHODS = ["default", "random", *NOISE, "oracle"]
KINDS = ("road network", "circuit", "graph", "structural", "optimisation")


class ToyPlatform(Platform):
    """A platform whose samples are written by :func:`write_study`, never evaluated."""

    name = "toy"
    kind = "simulated"
    sample_cost = 1.0
    specific_parameters = ("barrier",)

    def __init__(self, sample_cost: float = 1.0):
        self.sample_cost = sample_cost

    def space(self, operation):
        return SPACE

    def slots(self, matrix, operation, schedules):
        rows, cols = (
            np.array([10**9 if s[name] == "all" else s[name] for s in schedules])
            for name in ("row_panel", "column_panel")
        )
        outer = np.array([s["barrier"] == 1 for s in schedules])
        width = np.full(len(schedules), operation.width)
        return Slots.clipped(matrix, operation.width, rows, cols, width, outer)

    def machine(self):
        return Machine(4, (1 << 15, 1 << 20), 1e10, 1e11)

    def evaluate(self, matrix, operation, schedules, progress=None):
        raise AssertionError("samples of the toy platform are written, not taken")


class ToyEntryPoint:
    """Stands in for an installed platform."""

    def load(self):
        return ToyPlatform


def toy_config(**changes) -> Config:
    """A study of toys; ``changes`` replace whole sections or ``experiments``."""
    experiments = changes.pop("experiments", {"headline": {"methods": METHODS, "shots": [5]}})
    content = {
        "name": "toy",
        "matrices": {"source": "embedded"},
        "source": {"platform": "toy", "label": "cpu", "schedules": 8},
        "targets": [{"platform": "toy", "label": "spade", "settings": {"sample_cost": 1000}}],
        "learning": {"seeds": [0, 1], "samples_per_shot": 10, "experiments": experiments},
        "evaluation": {"bootstrap": 200},
    }
    return parse_config(content | changes)


def write_study(folder: Path, config: Config, count: int = 24, seed: int = 0) -> None:
    """Write a whole results folder for ``config``: two thirds of ``count`` matrices to test."""
    matrices = _matrices(count, seed)
    (folder / "tables").mkdir(parents=True)
    matrices.to_csv(folder / "tables" / "matrices.csv", index=False)
    for row in matrices.to_dict("records"):
        pattern = scipy.sparse.coo_array((row["rows"], row["cols"]))
        SparseMatrix.from_scipy(pattern, row["matrix"]).save(
            folder / "matrices" / "batch0000" / f"{row['matrix']}.npz"
        )
    for operation in config.operations:
        _write_samples(folder, config, "cpu", operation, matrices, seed + 1)
        table = _write_samples(folder, config, "spade", operation, matrices, seed)
        rankings = make_rankings(config, matrices, table, seed)
        evaluate.write(
            evaluate.evaluate(
                rankings,
                table,
                matrices,
                target="spade",
                operation=operation,
                default_schedule=DEFAULT,
                samples_per_shot=config.learning.samples_per_shot,
                source_samples_per_matrix=8,
            ),
            folder / "evaluation" / f"spade-{operation}.parquet",
        )
        _write_curves(folder, operation)


def make_rankings(config, matrices, table, seed=0) -> pd.DataFrame:
    """Rankings of every run that the experiments list, on the test matrices."""
    train = list(matrices.loc[matrices["split"] == "train", "matrix"])
    runs = pd.concat(
        expected_runs(e, config.learning.seeds, len(train))
        for e in config.learning.experiments.values()
    ).drop_duplicates()
    test = list(matrices.loc[matrices["split"] == "test", "matrix"])
    logs = np.log(table.pivot(index="matrix", columns="schedule_id", values="seconds"))
    return pd.DataFrame(
        [
            {**run, "matrix": name} | _ranking(run, name, logs, train)
            for run in runs.to_dict("records")
            for name in test
        ]
    )


def toy_times(matrices: pd.DataFrame, seed: int) -> dict[str, np.ndarray]:
    """Seconds of every schedule of each matrix: the best row panel depends on the matrix."""
    rows = np.array([np.log2(s["row_panel"]) for s in SPACE])
    cols = np.array(
        [12 if s["column_panel"] == "all" else np.log2(s["column_panel"]) for s in SPACE]
    )
    barrier = np.array([s["barrier"] for s in SPACE])
    times = {}
    for place, row in enumerate(matrices.to_dict("records")):
        random = np.random.default_rng([seed, place])
        wanted_rows = 2 + 6 * row["gini"]
        wanted_cols = 6 + 6 * random.random()
        logs = (
            0.02 * (rows - wanted_rows) ** 2
            + 0.008 * (cols - wanted_cols) ** 2
            + barrier * random.normal(0.05, 0.15)
            + random.normal(0, 0.03, len(rows))
        )
        times[row["matrix"]] = 1e-9 * row["nnz"] * np.exp(logs)
    return times


def _matrices(count, seed):
    random = np.random.default_rng(seed)
    split = ["train" if i % 3 == 0 else "test" for i in range(count)]
    split[1] = "validation"
    nnz = (10 ** random.uniform(4, 6.3, count)).astype(int)
    return pd.DataFrame(
        {
            "matrix": [f"matrix_{i:03d}" for i in range(count)],
            "group": "toys",
            "kind": [KINDS[i % len(KINDS)] for i in range(count)],
            "family": [f"family_{i // 2}" for i in range(count)],
            "split": split,
            "rows": nnz // 8 + 300,
            "cols": nnz // 16 + 300,
            "nnz": nnz,
            "pattern_hash": [f"{i:016x}" for i in range(count)],
            "gini": random.random(count),
            "mean_row": np.full(count, 8.0),
        }
    )


def _write_samples(folder, config, platform, operation, matrices, seed):
    schedules = list(SPACE)
    parts = []
    for name, seconds in toy_times(matrices, seed + 10 * (operation == "sddmm")).items():
        part = SPACE.table(schedules)
        part.insert(0, "matrix", name)
        part["column_panel"] = part["column_panel"].astype(str)
        part["seconds"], part["status"], part["reason"] = seconds, "ok", ""
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    metadata = {
        "platform": platform,
        "operation": operation,
        "environment": {"processor": "toy processor", "packages": {"numpy": "2"}},
        "seconds_spent": dict.fromkeys(matrices["matrix"], 9.0),
    }
    samples.write(table, metadata, folder / "samples" / platform / operation / "batch0000.parquet")
    return table


def _ranking(run, name, logs, train):
    method, random = run["method"], None
    depends = dependence(method)
    key = [
        len(method),
        run["shots"] if depends.shots else 0,
        run["source_matrices"] if depends.source else 0,
        run["seed"] if depends.seed else 0,
        *name.encode(),
    ]
    random = np.random.default_rng(key)
    truth = logs.loc[name].to_numpy()
    shots = train[run["seed"] :][: run["shots"]] if depends.shots else []
    if method == "oracle":
        scores = truth
    elif method == "default":
        scores = (np.arange(len(truth)) != DEFAULT).astype(float)
    elif method == "random":
        scores = random.random(len(truth))
    elif method == "best-fixed":
        scores = logs.loc[shots].mean().to_numpy()
    else:
        noise = NOISE.get(method.partition(":")[0], 0.2) * (1 + 4 / (1 + run["shots"]))
        scores = truth + random.normal(0, noise, len(truth))
    order = np.argsort(scores, kind="stable")
    return {
        "order": logs.columns.to_numpy()[order],
        "predicted": scores[order],
        "predict_seconds": 1e-4,
        "fit_seconds": 1.0,
        "shot_matrices": shots,
    }


def _write_curves(folder, operation):
    target = folder / "models" / operation
    target.mkdir(parents=True)
    for configuration, level in (("cognate", 0.8), ("waco-fa", 0.6), ("cognate:latent=pca", 0.7)):
        for seed in (0, 1):
            epochs = np.arange(1, 31)
            random = np.random.default_rng(seed)
            tau = level * (1 - np.exp(-epochs / 6)) + random.normal(0, 0.01, 30)
            common = {
                "epoch": epochs,
                "seconds": 1.0,
                "operation": operation,
                "configuration": configuration,
                "source_matrices": 8,
                "seed": seed,
            }
            curve = pd.DataFrame(
                common | {"phase": "pre-train", "loss": 1 - tau, "validation_tau": tau}
            )
            slug = configuration.replace(":", "--").replace("=", "-")
            path = target / f"{slug}-n8-s{seed}.curve.parquet"
            curve.to_parquet(path, index=False)
