"""One look for all figures: width, type, and a colour, hatch and marker for every method."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from cognate.evaluation.methods import base_name

WIDTH = 6.75
"""Inches: the text width of a two-column page. Every figure has it."""

_RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.5,
    "errorbar.capsize": 2,
    "svg.hashsalt": "cognate",
    "figure.dpi": 100,
}

# Okabe and Ito's palette, told apart by colour-blind readers, and one olive of Tol's.
_ORANGE, _SKY, _GREEN, _YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
_BLUE, _VERMILION, _PURPLE, _OLIVE = "#0072B2", "#D55E00", "#CC79A7", "#999933"

INK = "#222222"
EDGE: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.6}
FIXED_LINE: dict[str, Any] = {"color": "#555555", "linestyle": (0, (4, 2)), "linewidth": 1.0}
ORACLE_LINE: dict[str, Any] = {"color": "#000000", "linestyle": (0, (1, 1.2)), "linewidth": 1.2}


@dataclass(frozen=True)
class MethodStyle:
    """How a method is called and drawn, everywhere."""

    label: str
    colour: str
    hatch: str = ""
    marker: str = "o"
    line: str = "-"


_STYLES = {
    "default": MethodStyle("default", "#bbbbbb", "", "|", ":"),
    "random": MethodStyle("random", "#dddddd", "....", "x", ":"),
    "best-fixed": MethodStyle("best fixed", "#777777", "////", "s", "--"),
    "zero-shot": MethodStyle("zero-shot", _SKY, "\\\\\\\\", "v", "--"),
    "no-transfer": MethodStyle("no transfer", _YELLOW, "xxxx", "^", "-."),
    "full-target": MethodStyle("full target (20 ×)", _PURPLE, "++++", "P", "--"),
    "waco-fa": MethodStyle("WACO+FA", _GREEN, "----", "<", "-."),
    "waco-fm": MethodStyle("WACO+FM", _OLIVE, "||||", ">", "-."),
    "xgboost": MethodStyle("XGBoost", _ORANGE, "ooo", "h", "--"),
    "cognate": MethodStyle("COGNATE", _VERMILION, "", "o", "-"),
    "cognate-tiles": MethodStyle("COGNATE-tiles", _BLUE, "", "D", "-"),
    "oracle": MethodStyle("oracle", "#000000", "", "*", ":"),
}
_UNKNOWN = MethodStyle("", "#8c6d5a", "**", "X", "-")
_VARIANT_HATCHES = ("////", "....", "xxxx", "\\\\\\\\", "++++", "----", "||||", "oo")
_VARIANT_MARKERS = ("s", "^", "v", "P", "<", ">", "h", "X")


def method_style(method: str) -> MethodStyle:
    """The style of a method; one with options has its base's colour and its options' text."""
    base = base_name(method)
    style = _STYLES.get(base, replace(_UNKNOWN, label=base))
    options = method.removeprefix(base).removeprefix(":")
    return replace(style, label=f"{style.label}, {_readable(options)}") if options else style


def kind_label(kind: str) -> str:
    """A kind of matrix in few words: the collection's "problem" at the end says nothing."""
    return kind.removesuffix(" problem") or "unknown"


def is_known(method: str) -> bool:
    """Whether the method is one of the study's own, with any options."""
    return base_name(method) in _STYLES


def method_styles(methods: Sequence[str]) -> dict[str, MethodStyle]:
    """Styles of methods shown together; options of one base get hatches and markers apart."""
    styles, count = {}, 0
    for method in methods:
        style = method_style(method)
        if ":" in method:
            turn = count % len(_VARIANT_HATCHES)
            style = replace(style, hatch=_VARIANT_HATCHES[turn], marker=_VARIANT_MARKERS[turn])
            count += 1
        styles[method] = style
    return styles


@contextmanager
def new_figure(
    height: float, columns: int = 1, rows: int = 1, **options: object
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yield a figure of the one width and its axes, row by row, in the study's style."""
    with mpl.rc_context(_RC):  # type: ignore[arg-type]
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)  # type: ignore[call-overload]
        yield figure, list(axes.ravel())


def reference_lines(axes: Axes, fixed: float, oracle: float, vertical: bool = False) -> None:
    """Mark what the schedule best on all training matrices and the oracle reach."""
    draw = axes.axvline if vertical else axes.axhline
    draw(fixed, label="best fixed (training)", zorder=1.5, **FIXED_LINE)
    draw(oracle, label="oracle", zorder=1.5, **ORACLE_LINE)


def error_bars(table: pd.DataFrame, column: str) -> list[list[float]]:
    """Distances from an estimate to the ends of its interval, as ``errorbar`` takes them."""
    below = (table[column] - table[f"{column}_low"]).clip(lower=0)
    above = (table[f"{column}_high"] - table[column]).clip(lower=0)
    return [below.tolist(), above.tolist()]


def _readable(options: str) -> str:
    return ", ".join(word.replace("=", " ") for word in options.split(","))


def apart(place: int, count: int) -> float:
    """Where the ``place``-th of ``count`` points of equal abscissa stands, from −½ to ½."""
    return place / (count - 1) - 0.5 if count > 1 else 0.0


_FINE = (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.7, 2, 2.5)
_MIDDLE = (0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10)
_COARSE = tuple(step * 10.0**power for power in range(-3, 6) for step in (1, 2, 5))


def ratio_axis(axis: Axis, low: float, high: float) -> None:
    """Make an axis logarithmic, with plain ratios such as ``1.5 ×`` as its ticks."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})  # type: ignore[attr-defined]
    span = high / low
    margin = max(span**0.06, 1.03)
    axis.axes.set(**{f"{axis.axis_name}lim": (low / margin, high * margin)})  # type: ignore[attr-defined]
    ticks = _FINE if span < 2.2 else _MIDDLE if span < 12 else _COARSE
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: f"{value:g} ×")


def legend_above(figure: Figure, axes: Axes, columns: int = 5) -> None:
    """One legend of what ``axes`` shows, above the whole figure, in rows of equal length."""
    handles, labels = axes.get_legend_handles_labels()
    rows = -(-len(labels) // columns)
    figure.legend(handles, labels, loc="outside upper center", ncols=-(-len(labels) // rows))
