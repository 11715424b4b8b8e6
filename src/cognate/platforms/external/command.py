"""A platform that runs somebody's program for every matrix and schedule."""

import hashlib
import json
import math
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import scipy.io

from cognate.errors import PlatformError
from cognate.files import write_text
from cognate.matrices.matrix import SparseMatrix
from cognate.native import cache_folder
from cognate.operations import Operation
from cognate.platforms.external.description import (
    PLACEHOLDER,
    CommandEntry,
    Description,
    file_hash,
    seconds_per_unit,
)
from cognate.platforms.external.platform import ExternalPlatform
from cognate.platforms.external.process import Outcome, Stopped, run
from cognate.platforms.platform import Progress
from cognate.schedules import Schedule

SHOWN = 200
"""Characters of a program's output that a reason quotes."""


@dataclass(frozen=True)
class Answer:
    """What the program said about one schedule; kept unless it failed."""

    status: str
    seconds: float = math.nan
    reason: str = ""
    run_seconds: float = 0.0
    """Wall time of the run that gave the answer."""
    attempts: int = 0


class CommandPlatform(ExternalPlatform):
    """Answers by running the file's ``command``, in the folder of the file.

    Every answer is written to ``cache`` (default: cognate's cache folder) as it comes, so an
    interrupted evaluation goes on where it stopped; failures are not kept and are tried again.
    An answer is found again for an equal pattern, operation, width, schedule, command and
    content of the files that the command names. ``parallel`` and ``timeout_seconds`` override
    the file's.
    """

    def __init__(
        self,
        description: Description,
        path: Path,
        cache: str | None = None,
        parallel: int | None = None,
        timeout_seconds: float | None = None,
    ):
        super().__init__(description, path)
        assert description.command is not None
        changes = {"parallel": parallel, "timeout_seconds": timeout_seconds}
        wanted = {name: value for name, value in changes.items() if value is not None}
        if any(not isinstance(v, int | float) or v <= 0 for v in wanted.values()):
            raise PlatformError(f"{path}: parallel and timeout_seconds must be positive numbers")
        if self.kind == "measured" and wanted.get("parallel", 1) != 1:
            raise PlatformError(f"{path}: parallel must be 1: what is measured runs alone")
        self.command: CommandEntry = description.command.model_copy(update=wanted)
        self._cache = Path(cache) if cache else cache_folder() / "external" / self.name
        self._file_hashes = dict(self._hash_files())
        self.content_hash = _digest([self.content_hash, self._file_hashes])

    def skip(self) -> str | None:
        """The program must be there."""
        program = self.command.words[0]
        if self._program() is None:
            return f"{program} is neither in {self.folder} nor on the path, or cannot be executed"
        return None

    def evaluate(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        schedules: Sequence[Schedule],
        progress: Progress | None = None,
    ) -> pd.DataFrame:
        """Run what is not in the cache; columns ``run_seconds`` and ``attempts`` say how."""
        answers = {s.schedule_id: self._kept(matrix, operation, s) for s in schedules}
        missing = [s for s in schedules if answers[s.schedule_id] is None]
        done = len(schedules) - len(missing)
        if missing:
            for schedule, answer in self._run_all(matrix, operation, missing):
                if answer.status != "failed":
                    self._keep(matrix, operation, schedule, answer)
                answers[schedule.schedule_id] = answer
                done += 1
                if progress:
                    progress(done, len(schedules))
        rows = [
            {"schedule_id": s.schedule_id, **asdict(answers[s.schedule_id] or Answer("failed"))}
            for s in schedules
        ]
        columns = ["schedule_id", "seconds", "status", "reason", "run_seconds", "attempts"]
        return pd.DataFrame(rows, columns=columns)

    def _run_all(
        self, matrix: SparseMatrix, operation: Operation, schedules: Sequence[Schedule]
    ) -> Iterator[tuple[Schedule, Answer]]:
        """Answers as they come; gives up after too many failures in a row."""
        stop, lock = threading.Event(), threading.Lock()
        failures: list[Answer] = []
        limit = self.command.give_up_after
        with _stored(matrix, self.command.words) as places:

            def work(schedule: Schedule) -> Answer:
                if len(failures) >= limit:
                    reason = f"not tried: {limit} runs in a row failed, the last: "
                    return Answer("failed", reason=reason + failures[-1].reason)
                answer = self._run_one(matrix, operation, schedule, places, stop)
                with lock:
                    if answer.status == "failed":
                        failures.append(answer)
                    elif len(failures) < limit:
                        failures.clear()
                return answer

            pool = ThreadPoolExecutor(self.command.parallel)
            try:
                futures = {pool.submit(work, schedule): schedule for schedule in schedules}
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)

    def _run_one(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        schedule: Schedule,
        places: Mapping[str, str],
        stop: threading.Event,
    ) -> Answer:
        values = {
            **places,
            "operation": operation.name,
            "width": str(operation.width),
            "schedule": str(schedule),
            "schedule_id": str(schedule.schedule_id),
            "rows": str(matrix.rows),
            "cols": str(matrix.cols),
            "nnz": str(matrix.nnz),
            "python": sys.executable,
            **{name: str(value) for name, value in schedule.as_dict().items()},
        }
        words = [PLACEHOLDER.sub(lambda m: values[m[1]], word) for word in self.command.words]
        answer = Answer("failed", reason="called off")
        for attempt in range(1, self.command.retries + 2):
            try:
                outcome = run(words, self.folder, self.command.timeout_seconds, stop)
            except Stopped:
                break
            except (OSError, ValueError) as error:
                return Answer("failed", reason=f"{words[0]} cannot be started: {error}")
            answer = Answer(*self._understood(outcome), outcome.seconds, attempt)
            if answer.status != "failed" or outcome.exit_code is None:
                break
        return answer

    def _understood(self, outcome: Outcome) -> tuple[str, float, str]:
        """Status, seconds and reason that the outcome of a run means."""
        last_error = _last_line(outcome.errors)
        code = outcome.exit_code
        if code is None:
            return "failed", math.nan, f"no answer within {self.command.timeout_seconds:g} s"
        if code in self.command.rejected_exit_codes:
            return "rejected", math.nan, last_error or f"exit code {code}"
        if code:
            ended = f"signal {-code}" if code < 0 else f"exit code {code}"
            return "failed", math.nan, f"{ended}: {last_error or 'no message'}"
        number = _number(outcome.output, self.command.pattern)
        if number is None:
            seen = _last_line(outcome.output) or "nothing"
            where = f"a match of {self.command.pattern!r}" if self.command.pattern else "a number"
            return "failed", math.nan, f"expected {where}, got: {seen}"
        seconds = number * seconds_per_unit(self.command)
        if not (math.isfinite(seconds) and seconds > 0):
            return "failed", math.nan, f"the time {number} is not a positive number"
        return "ok", seconds, ""

    def _program(self) -> str | None:
        program = self.command.words[0].replace("{python}", sys.executable)
        return shutil.which(program) or shutil.which(str(self.folder / program))

    def _hash_files(self) -> Iterator[tuple[str, str]]:
        """Files of the command and what they hold."""
        program = self._program()
        if program and self.command.words[0] != "{python}":
            yield self.command.words[0], file_hash(Path(program))
        for word in self.command.words[1:]:
            if not PLACEHOLDER.search(word) and (self.folder / word).is_file():
                yield word, file_hash(self.folder / word)
        for name in self.command.files:
            yield name, file_hash(self.folder / name)

    def _place(self, matrix: SparseMatrix, operation: Operation, schedule: Schedule) -> Path:
        kept = {"words", "pattern", "unit", "clock_hz", "rejected_exit_codes"}
        command = {name: getattr(self.command, name) for name in sorted(kept)}
        asked = [matrix.pattern_hash, operation.name, operation.width, schedule.as_dict()]
        key = _digest([command, self._file_hashes, asked])
        return self._cache / key[:2] / f"{key}.json"

    def _kept(
        self, matrix: SparseMatrix, operation: Operation, schedule: Schedule
    ) -> Answer | None:
        """The stored answer; None if there is none or it cannot be understood."""
        try:
            content = self._place(matrix, operation, schedule).read_text(encoding="utf-8")
            answer = Answer(**json.loads(content))
            sound = answer.status == "rejected" or (answer.status == "ok" and answer.seconds > 0)
        except (OSError, ValueError, TypeError):
            return None
        return answer if sound else None

    def _keep(
        self, matrix: SparseMatrix, operation: Operation, schedule: Schedule, answer: Answer
    ) -> None:
        write_text(self._place(matrix, operation, schedule), json.dumps(asdict(answer)))


@contextmanager
def _stored(matrix: SparseMatrix, words: Sequence[str]) -> Iterator[dict[str, str]]:
    """The matrix in the forms that the command asks for, in a folder that is then removed."""
    used = {name for word in words for name in PLACEHOLDER.findall(word)}
    with tempfile.TemporaryDirectory(prefix="cognate-") as folder:
        places = {}
        if "matrix" in used:
            places["matrix"] = str(Path(folder) / "matrix.mtx")
            scipy.io.mmwrite(
                places["matrix"], matrix.to_scipy().tocoo(), field="real", symmetry="general"
            )
        if "npz" in used:
            places["npz"] = str(Path(folder) / "matrix.npz")
            matrix.save(places["npz"])
        yield places


def _number(output: str, pattern: str | None) -> float | None:
    if pattern is None:
        text = _last_line(output)
    else:
        found = re.findall(pattern, output, re.MULTILINE)
        text = found[-1] if found else ""
    try:
        return float(text)
    except ValueError:
        return None


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:SHOWN] if lines else ""


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
