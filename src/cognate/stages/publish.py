"""Draw a figure, compute a table or write the summary of a finished study."""

from pathlib import Path

from cognate.evaluation.study_data import StudyData
from cognate.figures import FIGURES, TABLES
from cognate.figures.save import save, write_table
from cognate.figures.specs import Place
from cognate.figures.summary import summary
from cognate.files import write_text
from cognate.study import Study


def _data(study: Study) -> StudyData:
    return StudyData(study.config.results, study.config, study.plan)


def draw_figure(study: Study, name: str, place: Place, stem: Path) -> None:
    """Draw a registered figure to ``stem`` with the endings svg, png and csv."""
    figure, table = FIGURES[name].draw(_data(study), **place)
    save(figure, table, stem)


def compute_table(study: Study, name: str, place: Place, path: Path) -> None:
    """Compute a registered table and write it as CSV."""
    write_table(TABLES[name].compute(_data(study), **place), path)


def write_summary(study: Study, path: Path) -> None:
    """Write the study's one-page abstract as Markdown."""
    write_text(path, summary(_data(study)))
