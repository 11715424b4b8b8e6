"""Draw a figure, compute a table or write the summary of a finished study."""

from pathlib import Path

from cognate.config import Config
from cognate.evaluation.study_data import StudyData
from cognate.figures import FIGURES, TABLES
from cognate.figures.save import save, write_table
from cognate.figures.specs import Place
from cognate.figures.summary import summary
from cognate.files import write_text


def draw_figure(config: Config, name: str, place: Place, stem: Path) -> None:
    """Draw a registered figure to ``stem`` with the endings svg, png and csv."""
    figure, table = FIGURES[name].draw(StudyData(config.results, config), **place)
    save(figure, table, stem)


def compute_table(config: Config, name: str, place: Place, path: Path) -> None:
    """Compute a registered table and write it as CSV."""
    write_table(TABLES[name].compute(StudyData(config.results, config), **place), path)


def write_summary(config: Config, path: Path) -> None:
    """Write the study's one-page abstract as Markdown."""
    write_text(path, summary(StudyData(config.results, config)))
