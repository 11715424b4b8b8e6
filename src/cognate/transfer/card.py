"""The model card, in words."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cognate.operations import Operation
from cognate.platforms import Platform


def card_text(
    platform: Platform, operation: Operation, card: Mapping[str, Any], curve: pd.DataFrame
) -> str:
    """The model card, in Markdown."""
    calibration = card["calibration"]
    error = (
        f"{calibration['inside']:.0%} of the time ratios of held-out matrices lay between "
        f"{np.exp(calibration['low']):.2f} and {np.exp(calibration['high']):.2f} times what was "
        "promised."
        if calibration
        else "No held-out matrix had times to compare promises with."
    )
    rows = [" | ".join(f"{v:.3g}" for v in row) for row in curve.to_numpy(dtype=float)]
    return "\n".join(
        [
            f"# {platform.name}, {operation.name} with {operation.width} dense columns",
            "",
            f"Ranks the {platform.space(operation).product_size} schedules of {platform.name} "
            f"({platform.kind}) for a sparse matrix. Method: {card['method']}, seed "
            f"{card['seed']}, {card['samples']} samples.",
            "",
            f"* Trained on, in this order: {', '.join(card['shots'])}.",
            f"* Judged on, never trained on: {', '.join(card['held_out'])}.",
            f"* {error}",
            "* Good for matrices like those trained on, on this platform only, at this width.",
            "",
            "## Speed-up over the default on held-out matrices (geometric mean)",
            "",
            "| " + " | ".join(curve.columns) + " |",
            "|" + " --- |" * len(curve.columns),
            *(f"| {row} |" for row in rows),
            "",
        ]
    )
