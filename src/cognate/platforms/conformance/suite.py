"""Run every check on a platform and collect what there is to say."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cognate.errors import CognateError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import OPERATION_NAMES, Operation, get_operation
from cognate.platforms.conformance.answers import check_answers
from cognate.platforms.conformance.declarations import (
    check_declarations,
    check_slots,
    check_space,
)
from cognate.platforms.conformance.probes import probe_matrices, wide_matrix
from cognate.platforms.platform import Platform

PROBE_WIDTH = 64
SCHEDULES_PER_PROBE = 6

Check = Callable[[], Iterator[str]]


@dataclass(frozen=True)
class Finding:
    """One thing that the suite has to say."""

    check: str
    """The part of the contract: identity, machine, space, slots, answers …"""
    operation: str
    """Empty where it does not matter."""
    text: str
    is_problem: bool = True
    """False for what only limits the check, such as a platform that cannot run here."""

    def __str__(self) -> str:
        where = f"{self.check} ({self.operation})" if self.operation else self.check
        return f"{where}: {self.text}"


def check_platform(
    platform: Platform,
    matrices: Sequence[SparseMatrix] = (),
    operations: Sequence[str] = OPERATION_NAMES,
    width: int = PROBE_WIDTH,
    schedules: int = SCHEDULES_PER_PROBE,
) -> list[Finding]:
    """Everything that is wrong with a platform, in words; never raises for the platform's fault.

    ``matrices`` are evaluated with ``schedules`` schedules each, at this dense width; without
    any, small generated ones are, among them an empty matrix and one with a single row. A
    platform that keeps its contract gives no finding with ``is_problem``.
    """
    findings = _run("identity", "", lambda: check_declarations(platform))
    offered = 0
    for name in operations:
        operation = get_operation(name, width)
        try:
            platform.space(operation)
        except CognateError as error:
            findings.append(Finding("space", name, f"not offered: {error}", is_problem=False))
            continue
        except Exception as error:
            findings.append(Finding("space", name, _raised(error)))
            continue
        offered += 1
        findings += _check_operation(platform, operation, matrices, schedules)
    if not offered:
        findings.append(Finding("space", "", "no operation is offered"))
    return findings


def assert_conforms(platform: Platform, **options: object) -> None:
    """Fail (AssertionError) with every problem that :func:`check_platform` finds."""
    problems = [str(f) for f in check_platform(platform, **options) if f.is_problem]  # type: ignore[arg-type]
    if problems:
        raise AssertionError(f"platform {platform.name}:\n" + "\n".join(problems))


def _check_operation(
    platform: Platform, operation: Operation, matrices: Sequence[SparseMatrix], schedules: int
) -> list[Finding]:
    name = operation.name
    findings = _run("space", name, lambda: check_space(platform, operation))
    if findings:
        return findings
    shapes = [*(matrices or probe_matrices()), wide_matrix()]
    findings += _run("slots", name, lambda: check_slots(platform, operation, shapes))
    try:
        reason = platform.skip()
        known = platform.answers_for(operation)
    except Exception as error:
        return [*findings, Finding("skip", name, _raised(error))]
    if reason is not None:
        if not isinstance(reason, str) or not reason:
            return [*findings, Finding("skip", name, "must give None or a reason in words")]
        text = f"answers were not checked: cannot run here: {reason}"
        return [*findings, Finding("answers", name, text, is_problem=False)]
    chosen = [m for m in matrices if known is None or m.name in known]
    if not matrices and known is None:
        chosen = probe_matrices()
    if known is not None and not chosen:
        some = ", ".join(known[:3]) or "no matrix at all"
        text = f"answers were not checked: it knows {some} only; check it with --matrix"
        return [*findings, Finding("answers", name, text, is_problem=False)]
    return findings + _run(
        "answers", name, lambda: check_answers(platform, operation, chosen, schedules)
    )


def _run(check: str, operation: str, problems: Check) -> list[Finding]:
    found: list[Finding] = []
    try:
        for text in problems():
            found.append(Finding(check, operation, re.sub(r"\s+", " ", text)))
    except Exception as error:
        found.append(Finding(check, operation, _raised(error)))
    return found


def _raised(error: Exception) -> str:
    return f"raised {type(error).__name__}: {error}"
