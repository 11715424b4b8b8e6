"""Run the real workflow on the smoke study, in a copy of the checkout."""

from pathlib import Path

import pytest

from .checkouts import Checkout, copy_checkout


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with a finished smoke study. Tests leave it finished."""
    checkout = copy_checkout(tmp_path_factory.mktemp("smoke") / "checkout")
    outcome = checkout.run()
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    return checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh checkout without results."""
    return copy_checkout(tmp_path / "checkout")
