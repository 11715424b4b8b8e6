"""The smoke study through both cluster profiles equals a local run."""

import re

import pandas as pd
import pytest

from tests.workflow.checkouts import Checkout, simulated_tables

from .site import PROFILES, ClusterStudy, Site

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("profile", PROFILES)
def test_smoke_study_equals_a_local_run(
    profile: str, site: Site, checkout: Checkout, local: Checkout
) -> None:
    before = set(site.states())
    study = ClusterStudy(checkout, site, profile)
    outcome = study.run()
    assert outcome.returncode == 0, outcome.stdout[-8000:]

    ours, theirs = simulated_tables(checkout), simulated_tables(local)
    assert ours.keys() == theirs.keys()
    for name, table in theirs.items():
        assert table.to_csv().encode() == ours[name].to_csv().encode(), name
    for name in ("matrices", "choices", "rules", "parameters", "missing"):
        expected = (local.results / "tables" / f"{name}.csv").read_bytes()
        assert (checkout.results / "tables" / f"{name}.csv").read_bytes() == expected, name
    columns = ["target", "operation", "method", "speedup_top1", "speedup_top5"]
    headlines = [pd.read_csv(c.results / "tables/headline.csv")[columns] for c in (checkout, local)]
    certain = ["default", "random", "best-fixed", "oracle"]
    one, other = (h[h["method"].isin(certain)].reset_index(drop=True) for h in headlines)
    pd.testing.assert_frame_equal(one, other)

    submitted = {n: s for n, s in site.states().items() if n not in before}
    assert set(submitted.values()) == {"COMPLETED"}
    figures_and_tables = len(list((checkout.results / "figures").glob("*.svg")))
    assert figures_and_tables > 10
    counts = dict(re.findall(r"^(\w+)\s+(\d+)$", outcome.stdout, re.MULTILINE))
    # Figures, tables and the summary are few submissions: those that wait for the same jobs.
    together = ("figure_", "table_", "summary", "all", "total")
    single = sum(int(n) for rule, n in counts.items() if not rule.startswith(together))
    assert single < len(submitted) <= single + 3
    assert "Nothing to be done" in checkout.run("--dry-run").stdout


@pytest.mark.parametrize("profile", PROFILES)
def test_measuring_jobs_have_the_node_for_themselves(
    profile: str, site: Site, checkout: Checkout
) -> None:
    study = ClusterStudy(checkout, site, profile)
    before = set(site.states())
    target = "results/smoke/samples/cpu/spmm/validation000.parquet"
    outcome = study.run("--", target)
    assert outcome.returncode == 0, outcome.stdout[-8000:]
    new = max(set(site.states()) - before)
    described = site.ask("scontrol", "-o", "show", "job", str(new))
    assert "OverSubscribe=NO" in described


def test_without_accounting_the_run_ends_at_once_with_what_to_do(
    site: Site, checkout: Checkout
) -> None:
    before = set(site.states())
    study = ClusterStudy(checkout, site, "slurm")
    outcome = study.run("--slurm-status-command", "sacct")
    assert outcome.returncode != 0
    assert "this Slurm keeps no accounting" in outcome.stdout
    assert "set 'slurm-status-command: squeue'" in outcome.stdout
    assert "Traceback" not in outcome.stdout
    outcome = study.run("--slurm-init-seconds-before-status-checks", "7200")
    assert outcome.returncode != 0
    assert "at most 1200" in outcome.stdout
    assert set(site.states()) == before
