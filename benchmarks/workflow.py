"""Cost of the workflow itself, by number of jobs: parse, dry run, schedule, and memory.

    python benchmarks/workflow.py            1e3, 1e4 and 5e4 jobs, about ten minutes
    python benchmarks/workflow.py 1000 3000  other sizes

The real rules of the default study run on as many matrices as the number of jobs needs, each a
batch of its own. Their stages do nothing: an executor of our own makes empty outputs, so that
what is left is Snakemake, the rules and the functions they call. Each phase is a process
of its own: parse (list the rules), dry run (all jobs, none run), schedule (every job once, in
groups as on a cluster), again (a second run, which finds nothing to do). Prints a row a phase:
jobs, seconds, processor seconds, these per thousand jobs, and the largest memory of the process.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
COPIED = ("Snakefile", "workflow", "profiles", "envs")
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--configfile", "study.yaml"]
CLUSTER = ["--workflow-profile", "profiles/slurm", "--executor", "noop", "--jobs", "100000"]
CLUSTER += ["--resources", "net=100000", "publish_slot=2", "--max-jobs-per-timespan", "10000/1s"]
PHASES = {
    "parse": ["--list-rules"],
    "dry run": [*CLUSTER, "--dry-run", "--quiet"],
    "schedule": [*CLUSTER, "--quiet"],
    "again": [*CLUSTER, "--quiet"],
}
JOBS_A_MATRIX = 4.3
"""Building, measuring both operations on the 65 % that are trained or tuned on, simulating both."""
MATRIX = "%%MatrixMarket matrix coordinate pattern general\n9 9 1\n1 1\n"


def prepare(folder: Path, jobs: int) -> None:
    """A checkout with a study that asks for about this many jobs."""
    for part in COPIED:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, folder / part)
    (folder / "files").mkdir()
    for number in range(round(jobs / JOBS_A_MATRIX)):
        (folder / "files" / f"m{number:05d}.mtx").write_text(MATRIX)
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["results"] = "results"
    config["matrices"] = {"source": "directory", "folder": "files", "batch_nnz": 1}
    (folder / "study.yaml").write_text(yaml.safe_dump(config))


def run(folder: Path, words: list[str]) -> tuple[str, float, float, float]:
    """Output, seconds, processor seconds and GiB of one snakemake process."""
    path = os.pathsep.join([str(ROOT / "benchmarks" / "noop"), str(ROOT / "src")])
    output = folder / "output.txt"
    with output.open("w") as stream:
        started = time.perf_counter()
        process = subprocess.Popen(
            [*SNAKEMAKE, *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    text = output.read_text()
    if status:
        raise SystemExit(f"snakemake failed: {text[-3000:]}")
    return text, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def benchmark(jobs: int) -> None:
    with tempfile.TemporaryDirectory(prefix="cognate-workflow-") as name:
        folder = Path(name)
        prepare(folder, jobs)
        planned, *_ = run(folder, [*CLUSTER, "--dry-run"])
        found = re.search(r"^total\s+(\d+)$", planned, re.MULTILINE)
        assert found, planned[-2000:]
        number = int(found[1])
        for phase, words in PHASES.items():
            _, seconds, busy, memory = run(folder, words)
            figures = f"{seconds:>8.1f} {busy:>8.1f} {1000 * busy / number:>8.2f} {memory:>8.2f}"
            print(f"{number:>7} {phase:<9} {figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    sizes = [1_000, 10_000, 50_000]
    parser.add_argument("jobs", nargs="*", type=int, default=sizes, help="sizes of the studies")
    arguments = parser.parse_args()
    print(f"{'jobs':>7} {'phase':<9} {'seconds':>8} {'cpu s':>8} {'cpu/1000':>8} {'GiB':>8}")
    for jobs in arguments.jobs:
        benchmark(jobs)


if __name__ == "__main__":
    main()
