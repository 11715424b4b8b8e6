"""Every figure and table has a caption that the report can render."""

import io
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest
from docutils.core import publish_parts
from snakemake.iocontainers import Params

from cognate.figures import FIGURES, TABLES

REPORT = Path(__file__).parents[3] / "workflow" / "report"
CONFIG = {"source": {"platform": "cpu"}, "targets": [{"platform": "spade", "label": "big"}]}
PLACE = {"target": "big", "operation": "spmm"}


def render(name: str, **params) -> str:
    template = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True).from_string(
        (REPORT / f"{name}.rst").read_text()
    )
    job = SimpleNamespace(config=CONFIG, params=Params(fromdict=params))
    complaints = io.StringIO()
    html = publish_parts(
        template.render(snakemake=job),
        writer="html",
        settings_overrides={"warning_stream": complaints},
    )["body"]
    assert complaints.getvalue() == ""
    return html


@pytest.mark.parametrize("spec", FIGURES.values(), ids=lambda spec: spec.name)
def test_figures_have_a_caption(spec):
    place = PLACE if spec.scope == "target-operation" else {}
    html = render(spec.name, figure=spec.name, place=place)
    assert "<strong>" in html
    if place:
        assert "SpMM on big" in html
    if "bootstrap" in html:
        assert "95 % bootstrap intervals" in html


@pytest.mark.parametrize("spec", TABLES.values(), ids=lambda spec: spec.name)
def test_tables_have_a_caption(spec):
    assert "<strong>" in render(spec.name, table=spec.name, place={})


def test_report_has_no_caption_without_its_figure_or_table():
    captions = {path.stem for path in REPORT.glob("*.rst")}
    assert captions == {*FIGURES, *TABLES, "missing", "workflow"}


def test_description_names_the_platforms():
    html = render("workflow")
    assert "<strong>cpu</strong>" in html
    assert "<strong>big</strong>" in html
