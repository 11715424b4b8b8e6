"""A Slurm of one node for tests, and studies that run on it."""

import os
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.workflow.checkouts import Checkout

SCRIPTS = Path(__file__).parent
SECONDS_AT_MOST = 900
SLURM = ["--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "3"]
"""The node keeps no accounting."""
PROFILES = {"slurm": SLURM, "cluster-generic": ["--seconds-between-status-checks", "2"]}


@dataclass(frozen=True)
class Site:
    """A running Slurm."""

    root: Path
    variables: dict[str, str]

    @classmethod
    def start(cls, root: Path, **settings: str) -> "Site":
        ports = {"SLURM_CTLD_PORT": str(free_port()), "SLURM_D_PORT": str(free_port())}
        outcome = subprocess.run(
            [SCRIPTS / "slurm-up.sh", root],
            env={**os.environ, **ports, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert outcome.returncode == 0, outcome.stderr
        exported = shlex.split(outcome.stdout.replace("export ", ""))
        variables = dict(word.split("=", 1) for word in exported)
        variables["PATH"] = f"{root.resolve()}/bin:{os.environ['PATH']}"
        return cls(root.resolve(), variables)

    def stop(self) -> None:
        subprocess.run([SCRIPTS / "slurm-down.sh", self.root], check=True)

    def ask(self, *command: str) -> str:
        """The output of a Slurm command."""
        outcome = subprocess.run(
            command,
            env={**os.environ, **self.variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return outcome.stdout

    def states(self) -> dict[int, str]:
        """Every job that was ever submitted, and how it stands."""
        lines = self.ask("squeue", "--states=all", "-h", "-o", "%i %T").split("\n")
        return {int(number): state for number, state in (line.split() for line in lines if line)}

    def kill(self, daemon: str) -> None:
        """``kill -9`` a daemon, slurmd or slurmctld."""
        folder = {"slurmd": "d", "slurmctld": "ctld"}[daemon]
        os.kill(int((self.root / folder / f"{daemon}.pid").read_text()), signal.SIGKILL)

    def restart(self, daemon: str) -> None:
        self.ask(daemon, "-f", str(self.root / "slurm.conf"))

    def mend(self) -> None:
        """What an operator does when a controller came back with an old state: it starts a job
        that still runs a second time, drains the node for that and holds the job."""
        for line in self.ask("sinfo", "-h", "-N", "-o", "%n %t").splitlines():
            node, state = line.split()
            if state.startswith("dra"):
                self.ask("scontrol", "update", f"node={node}", "state=resume")
        for line in self.ask("squeue", "-h", "-o", "%i %r").splitlines():
            number, reason = line.split(maxsplit=1)
            if "held" in reason:
                self.ask("scontrol", "release", number)

    def cancel_all(self) -> None:
        self.ask("scancel", "--user", str(os.getuid()))
        wait_for(lambda: not self.ask("squeue", "-h"), "the queue is not empty")


@dataclass(frozen=True)
class ClusterStudy:
    """A checkout whose study runs on a site through one of the repository's profiles."""

    checkout: Checkout
    site: Site
    profile: str

    def command(self, *words: str) -> list[str]:
        base = self.checkout.command()
        base[base.index("--cores") : base.index("--cores") + 2] = []
        profile = ["--workflow-profile", f"profiles/{self.profile}"]
        return [*base, *profile, "--latency-wait", "10", *PROFILES[self.profile], *words]

    def environment(self) -> dict[str, str]:
        return {**self.checkout.environment(), **self.site.variables}

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words),
            cwd=self.checkout.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run to the end; standard output and error together in ``stdout``."""
        return finish(self.start(*words))

    def unlock(self) -> None:
        self.checkout.run("--unlock")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def finish(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    try:
        output, _ = process.communicate(timeout=SECONDS_AT_MOST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        raise AssertionError(f"the study did not end:\n{output[-8000:]}") from None
    return subprocess.CompletedProcess(process.args, process.returncode, output)


def wait_for(reached: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS_AT_MOST
    while not reached():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)
