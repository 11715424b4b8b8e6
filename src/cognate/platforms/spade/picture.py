"""A picture of how busy the elements are over time."""

from pathlib import Path

import numpy as np

from cognate.errors import PlatformError
from cognate.files import replacing
from cognate.platforms.spade.simulator import Timeline

FORMATS = (".svg", ".png", ".pdf")


def draw_timeline(timeline: Timeline, title: str, path: Path) -> None:
    """Draw each element's occupation as a row of a map, and the mean of all above it.

    ``path`` ends in .svg, .png or .pdf; :class:`PlatformError` otherwise.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if path.suffix not in FORMATS:
        raise PlatformError(f"--timeline {path}: the name must end in {', '.join(FORMATS)}")
    elements, bins = timeline.busy.shape
    microseconds = 1e6 * timeline.seconds_per_bin * np.arange(bins + 1)
    figure = Figure(figsize=(6.5, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    mean, each = figure.subplots(2, 1, sharex=True, height_ratios=[1, 3])
    mean.stairs(timeline.busy.mean(axis=0), microseconds, fill=True, color="#0072B2")
    mean.set(ylim=(0, 1), ylabel="mean", title=title)
    image = each.pcolormesh(
        microseconds, np.arange(elements + 1), timeline.busy, vmin=0, vmax=1, cmap="viridis",
        rasterized=True,
    )  # fmt: skip
    each.set(xlabel="time (µs)", ylabel="element")
    figure.colorbar(image, ax=each, label="share of time issuing vector operations")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format=path.suffix[1:])
