"""What a figure or a table of the study is: its name, what it needs and how it is made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd
from matplotlib.figure import Figure

from cognate.config import Config

Need = Literal["matrices", "samples", "evaluation", "curves", "end_to_end"]
Scope = Literal["target-operation", "study"]
Place = dict[str, str]
"""``{"target": …, "operation": …}``, or empty for what covers the whole study."""
Drawing = tuple[Figure, pd.DataFrame]


def always(config: Config) -> bool:
    """For what every study can show."""
    return True


@dataclass(frozen=True)
class _Spec:
    name: str
    title: str
    category: str
    """Chapter of the report."""
    needs: tuple[Need, ...]
    scope: Scope = "study"
    experiment: str | None = None
    """Not offered by a study without this experiment."""
    applies: Callable[[Config], bool] = always
    """Further conditions on the configuration."""

    def file_name(self, target: str | None = None, operation: str | None = None) -> str:
        """Name of its files, without folder and ending."""
        if self.scope == "study":
            return self.name
        return f"{self.name}_{target}_{operation}"

    def places(self, config: Config) -> list[Place]:
        """Where this study offers it; none if it lacks what is needed."""
        known = config.learning.experiments
        if (self.experiment and self.experiment not in known) or not self.applies(config):
            return []
        if self.scope == "study":
            return [{}]
        return [
            {"target": choice.name, "operation": operation}
            for choice in config.targets
            for operation in config.operations
        ]


@dataclass(frozen=True, kw_only=True)
class FigureSpec(_Spec):
    """A figure: ``draw(study, **place)`` gives the picture and the numbers in it."""

    draw: Callable[..., Drawing]


@dataclass(frozen=True, kw_only=True)
class TableSpec(_Spec):
    """A table: ``compute(study, **place)``."""

    compute: Callable[..., pd.DataFrame]
