"""What evaluation must know of a method by its name: what its choice depends on.

A method is called ``name`` or ``name:option=value``; the part before the colon decides.
"""

from dataclasses import dataclass

from cognate.learning.task import FULL_TARGET_FACTOR


@dataclass(frozen=True)
class Dependence:
    """What changes a method's ranking; unknown methods depend on everything."""

    shots: bool = True
    source: bool = True
    seed: bool = True
    needs_shots: bool = False
    """Whether the method does not exist without shots."""
    samples: int = 1
    """How many times the shots' samples it learns from."""


_DEPENDENCE = {
    "default": Dependence(shots=False, source=False, seed=False),
    "oracle": Dependence(shots=False, source=False, seed=False),
    "random": Dependence(shots=False, source=False),
    "best-fixed": Dependence(source=False, needs_shots=True),
    "no-transfer": Dependence(source=False, needs_shots=True),
    "xgboost": Dependence(source=False, needs_shots=True),
    "full-target": Dependence(source=False, samples=FULL_TARGET_FACTOR),
    "zero-shot": Dependence(shots=False),
}

BASELINES = ("default", "random", "best-fixed", "oracle")
"""Methods that learn nothing: the floor and the ceiling of every table."""


def base_name(method: str) -> str:
    """The method's name without its options."""
    return method.partition(":")[0]


def dependence(method: str) -> Dependence:
    """What the rankings of ``method`` depend on."""
    return _DEPENDENCE.get(base_name(method), Dependence())
