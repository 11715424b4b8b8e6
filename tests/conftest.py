"""What all tests share."""

import pytest


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name a case with bytes by its argument: compressed bytes differ from run to run."""
    return argname if isinstance(val, bytes) else None
