"""Interrupted studies go on; wrong input stops with one message."""

import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .checkouts import Checkout, simulated_tables

STAGES = ("build_matrices", "measure", "simulate", "pretrain", "rank", "evaluate", "figures")


def test_killed_in_every_stage_the_study_ends_with_the_same_tables(
    checkout: Checkout, finished: Checkout
) -> None:
    for position, stage in enumerate(STAGES):
        folder = checkout.folder / "logs" / stage
        number = signal.SIGINT if position % 2 else signal.SIGKILL

        def reached(folder: Path = folder) -> bool:
            return any(folder.glob("*.log"))

        checkout.run("--unlock")
        assert checkout.run_until(reached, number) != 0
        left = [p for p in (checkout.results).rglob("*") if p.suffix == ".html"]
        assert left == []
    checkout.run("--unlock")
    outcome = checkout.run()
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    expected, found = simulated_tables(finished), simulated_tables(checkout)
    assert expected.keys() == found.keys()
    for name, table in expected.items():
        pd.testing.assert_frame_equal(table, found[name])
    headline = pd.read_csv(checkout.results / "tables" / "headline.csv")
    reference = pd.read_csv(finished.results / "tables" / "headline.csv")
    for method in ("default", "random", "best-fixed", "oracle"):
        ours, theirs = (t[t["method"] == method] for t in (headline, reference))
        np.testing.assert_array_equal(ours["speedup_top1"], theirs["speedup_top1"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--config", "widht=3"], "widht: unknown key; did you mean 'width'"),
        (["--config", "width=0"], "width: Input should be greater than or equal to 1"),
        (["--config", 'matrices={"source":"directory","folder":"nowhere"}'], "nowhere"),
        (["--config", 'targets=[{"platform":"sapde"}]'], "'sapde' is unknown"),
    ],
)
def test_wrong_configuration_ends_with_one_message(
    checkout: Checkout, words: list[str], message: str
) -> None:
    outcome = checkout.run("--dry-run", *words)
    assert outcome.returncode != 0
    assert message in outcome.stdout
    assert "Traceback" not in outcome.stdout
    assert not checkout.results.exists()
