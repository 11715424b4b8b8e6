"""The shots curve as a picture."""

from pathlib import Path

import pandas as pd

from cognate.files import replacing

LINES = {
    "oracle_speedup": ("best of all schedules", "--", "0.4"),
    "top5_speedup": ("best of five recommended", "-", "C0"),
    "top1_speedup": ("first recommended", "-", "C1"),
    "best_fixed_speedup": ("best fixed schedule", ":", "0.2"),
}


def draw_curve(curve: pd.DataFrame, platform: str, path: Path) -> None:
    """Draw mean speed-ups over the default against the number of shots, as SVG.

    The band is the range of the first recommended schedule over draws of the shots.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 3), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    for column, (label, style, colour) in LINES.items():
        axes.plot(curve["shots"], curve[column], style, color=colour, marker=".", label=label)
    ends = curve["top1_speedup_low"], curve["top1_speedup_high"]
    axes.fill_between(curve["shots"], *ends, color="C1", alpha=0.2, linewidth=0)
    matrices = int(curve["matrices"].max())
    axes.set(
        title=f"{platform}: {matrices} held-out matrices",
        xlabel="shots (sampled matrices)",
        ylabel="speed-up over the default",
        xticks=curve["shots"],
    )
    axes.legend(fontsize="small")
    with replacing(path) as temporary:
        figure.savefig(temporary, format="svg")
