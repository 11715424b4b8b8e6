"""A copy of the checkout in which the real workflow runs."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
COPIED = ("Snakefile", "config.yaml", "config", "workflow", "profiles", "envs", "src")
SECONDS_AT_MOST = 600


@dataclass(frozen=True)
class Checkout:
    """A copy of the repository's sources in which a study can run."""

    folder: Path
    configfile: str = "config/smoke.yaml"

    @property
    def results(self) -> Path:
        return self.folder / "results" / "smoke"

    def command(self, *words: str) -> list[str]:
        base = [sys.executable, "-m", "snakemake", "--configfile", self.configfile, "--cores", "2"]
        return [*base, *words]

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.folder / "src")}

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run snakemake to its end; standard output and error together in ``stdout``."""
        return subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_AT_MOST,
            check=False,
        )

    def planned(self, *words: str) -> set[str]:
        """Names of the rules that a dry run would run, ``all`` left out."""
        outcome = self.run("--dry-run", *words)
        assert outcome.returncode == 0, outcome.stdout
        if "Nothing to be done" in outcome.stdout:
            return set()
        lines = outcome.stdout.split("\n")
        start = next(i for i, line in enumerate(lines) if line.startswith("job "))
        rules = set()
        for line in lines[start + 2 :]:
            if not line.strip() or line.startswith("total"):
                break
            rules.add(line.split()[0])
        return rules - {"all"}

    def run_until(self, reached: Callable[[], bool], number: signal.Signals) -> int:
        """Start the study and send a signal to all of its processes once ``reached``."""
        with subprocess.Popen(
            self.command(),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            deadline = time.monotonic() + SECONDS_AT_MOST
            while not reached():
                assert process.poll() is None, "the study ended before the stage was reached"
                assert time.monotonic() < deadline, "the stage was not reached"
                time.sleep(0.05)
            os.killpg(process.pid, number)
            return process.wait(SECONDS_AT_MOST)


def copy_checkout(folder: Path) -> Checkout:
    folder.mkdir(parents=True)
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignore)
        else:
            shutil.copy(source, folder / name)
    return Checkout(folder)


def simulated_tables(checkout: Checkout) -> dict[str, pd.DataFrame]:
    """Samples of simulated platforms by file, which every run must reproduce exactly."""
    folder = checkout.results / "samples" / "spade"
    return {
        str(path.relative_to(folder)): pd.read_parquet(path).drop(
            columns="reorder_seconds", errors="ignore"
        )
        for path in sorted(folder.rglob("*.parquet"))
    }
