"""Work in a child process: results, failures by name, crashes, want of memory."""

import faulthandler
import os
import signal
from collections.abc import Callable

import pytest

from cognate.errors import CrashError, MatrixError
from cognate.stages.isolation import KEEP_GOING, attempt_each, isolated, reason_of

NAMES = ["a", "b", "c", "d"]


def failing(at: str, how: Callable[[], object]) -> Callable[[str], str]:
    def work(name: str) -> str:
        if name == at:
            how()
        return name.upper()

    return work


def refuse() -> None:
    raise MatrixError("b: holds\n  nonsense")


def crash() -> None:
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGSEGV)


def starve() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fill_disk() -> None:
    raise OSError(28, "No space left on device")


def divide() -> None:
    raise ZeroDivisionError("by nothing")


def leave() -> None:
    os._exit(3)


@pytest.fixture
def kept_going(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEEP_GOING, "1")


def test_results_come_in_order_from_another_process() -> None:
    outcomes = list(isolated(NAMES, lambda name: (name.upper(), os.getpid())))
    assert [name for name, _ in outcomes] == NAMES
    assert [value for _, (value, _) in outcomes] == ["A", "B", "C", "D"]
    assert os.getpid() not in {process for _, (_, process) in outcomes}
    assert list(isolated([], str.upper)) == []


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        (refuse, MatrixError, "holds"),
        (crash, CrashError, r"b: .* died \(SIGSEGV\)"),
        (leave, CrashError, r"b: .* died \(exit status 3\)"),
        (starve, MemoryError, "b: the process was killed"),
        (divide, ZeroDivisionError, "by nothing"),
        (fill_disk, OSError, "No space left"),
    ],
)
def test_the_first_failure_is_raised(how, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        attempt_each("work", NAMES, failing("b", how))


@pytest.mark.usefixtures("kept_going")
@pytest.mark.parametrize("at", NAMES)
@pytest.mark.parametrize("how", [refuse, crash, leave, divide])
def test_kept_going_all_others_are_done(how, at: str) -> None:
    results, missing = attempt_each("work", NAMES, failing(at, how))
    assert results == {name: name.upper() for name in NAMES if name != at}
    assert list(missing) == [at]
    assert missing[at]


@pytest.mark.usefixtures("kept_going")
@pytest.mark.parametrize(("how", "error"), [(starve, MemoryError), (fill_disk, OSError)])
def test_what_is_no_fault_of_the_matrix_is_raised_all_the_same(how, error) -> None:
    with pytest.raises(error):
        attempt_each("work", NAMES, failing("b", how))


def test_an_abandoned_child_ends() -> None:
    outcomes = isolated(NAMES, lambda name: os.getpid())
    _, process = next(outcomes)
    outcomes.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_reason_is_one_line_without_the_name() -> None:
    assert reason_of("b", MatrixError("b: holds\n  nonsense")) == "holds nonsense"
    assert reason_of("b", ZeroDivisionError("x")) == "ZeroDivisionError: x"
