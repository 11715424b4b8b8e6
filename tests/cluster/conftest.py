"""Start a Slurm of one node once; ``make test-cluster`` installs it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workflow.checkouts import Checkout, copy_checkout

from .site import Site


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with the machine's own cores and no accounting."""
    if not shutil.which("slurmctld"):
        pytest.skip("Slurm is not installed; run 'make test-cluster'")
    root = tmp_path_factory.mktemp("slurm")
    site = Site.start(root)
    try:
        yield site
    finally:
        site.stop()


@pytest.fixture
def site(slurm: Site) -> Iterator[Site]:
    """The site, with an empty queue."""
    yield slurm
    slurm.cancel_all()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh checkout without results."""
    return copy_checkout(tmp_path / "checkout")


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with a smoke study that was run on this machine without Slurm."""
    checkout = copy_checkout(tmp_path_factory.mktemp("local") / "checkout")
    outcome = checkout.run()
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    return checkout
