"""One function a figure, one a table, each from the tables of a study only.

May import matplotlib; knows nothing of models.
"""

from cognate.figures.registry import FIGURES, TABLES, offered_figures, offered_tables

__all__ = ["FIGURES", "TABLES", "offered_figures", "offered_tables"]
