"""Parts that several figures share: rows of bars by method, intervals and legends."""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from cognate.figures.style import EDGE, INK, MethodStyle, error_bars

HEADROOM_LIMITS = (-1.0, 1.05)
"""Shares of the headroom beyond these are written instead of drawn."""
_HEIGHT = 0.66


def height_of(rows: int) -> float:
    """Inches of a figure with so many rows of bars."""
    return 0.95 + 0.22 * rows


def name_rows(axes: Axes, table: pd.DataFrame, styles: dict[str, MethodStyle]) -> None:
    """Write the methods' labels beside rows of bars, the first on top."""
    axes.set_yticks(range(len(table)), [styles[method].label for method in table["method"]])
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def speedup_bars(axes: Axes, table: pd.DataFrame, styles: dict[str, MethodStyle]) -> None:
    """Bars of top-1 speed-up from 1, diamonds of top-5, intervals on both."""
    _bars(axes, table["speedup_top1"], table, styles, base=1.0)
    places = np.arange(len(table))
    _whiskers(axes, table, "speedup_top1", places)
    _whiskers(axes, table, "speedup_top5", places - 0.3)
    axes.plot(table["speedup_top5"], places - 0.18, "d", color="white", zorder=4, **EDGE)
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def headroom_bars(axes: Axes, table: pd.DataFrame, styles: dict[str, MethodStyle]) -> None:
    """Bars of the share of headroom with intervals; circles of the strict share.

    What leaves the axis is written, or marked at its end.
    """
    low, high = HEADROOM_LIMITS
    share, strict = table["headroom_share_top1"], table["strict_share_top1"]
    _bars(axes, share.clip(low, high).fillna(0), table, styles, base=0.0)
    shown = share.between(low, high).to_numpy()
    _whiskers(axes, table[shown], "headroom_share_top1", np.flatnonzero(shown))
    for place in np.flatnonzero(~shown).tolist():
        value = float(share.iloc[place])
        text = "undefined" if math.isnan(value) else f"◂ {_percent(value)}"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(low + 0.03, place, text, va="center", fontsize=6.5, bbox=box)
    places = np.arange(len(table)) - 0.18
    inside = strict.between(low, high).to_numpy()
    axes.plot(strict[inside], places[inside], "o", color="white", zorder=4, **EDGE)
    for place in places[(strict < low).to_numpy() & shown]:
        axes.plot(low, place, "<", color="white", clip_on=False, **EDGE)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlim(low, high)
    axes.xaxis.set_major_formatter(lambda value, _: _percent(value))
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def dots(axes: Axes, table: pd.DataFrame, column: str, styles: dict[str, MethodStyle]) -> None:
    """A marker with its interval for every method, one a row."""
    bars = error_bars(table, column)
    for place, (method, value) in enumerate(zip(table["method"], table[column], strict=True)):
        style = styles[method]
        axes.errorbar(
            value,
            place,
            xerr=[[bars[0][place]], [bars[1][place]]],
            fmt=style.marker,
            color=style.colour,
            ecolor=INK,
            elinewidth=0.8,
            markersize=5,
            **EDGE,
        )
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def top_legend(axes: Axes) -> None:
    """A legend above the figure: top-1, top-5 and the reference lines of ``axes``."""
    lines, labels = axes.get_legend_handles_labels()
    bar = Patch(facecolor="#eeeeee", edgecolor=INK, linewidth=0.5)
    diamond, circle = (axes.plot([], [], m, color="white", **EDGE)[0] for m in "do")
    axes.get_figure(root=True).legend(  # type: ignore[union-attr]
        handles=[bar, diamond, circle, *lines],
        labels=["top-1", "top-5 (five runs)", "top-1, strict share", *labels],
        loc="outside upper center",
        ncols=5,
    )


def _bars(
    axes: Axes,
    values: pd.Series,
    table: pd.DataFrame,
    styles: dict[str, MethodStyle],
    base: float,
) -> None:
    for place, (method, value) in enumerate(zip(table["method"], values, strict=True)):
        axes.barh(
            place,
            value - base,
            left=base,
            height=_HEIGHT,
            color=styles[method].colour,
            hatch=styles[method].hatch,
            edgecolor=INK,
            linewidth=0.5,
        )


def _whiskers(axes: Axes, table: pd.DataFrame, column: str, places: np.ndarray) -> None:
    bars = error_bars(table, column)
    for width, colour in ((2.4, "white"), (0.9, INK)):
        axes.errorbar(
            table[column],
            places + 0.12,
            xerr=bars,
            fmt="none",
            ecolor=colour,
            elinewidth=width,
            capsize=2 if colour == INK else 0,
        )


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %".replace("-", "−")
