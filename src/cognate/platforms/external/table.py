"""A platform whose times were measured elsewhere and stand in a CSV file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cognate.errors import PlatformError, ScheduleError
from cognate.matrices.matrix import SparseMatrix
from cognate.operations import Operation
from cognate.platforms.external.description import Description, file_hash, seconds_per_unit
from cognate.platforms.external.platform import ExternalPlatform
from cognate.platforms.platform import Progress
from cognate.platforms.samples import STATUSES
from cognate.schedules import Schedule

_KEY = ["operation", "width", "matrix", "schedule_id"]


class TablePlatform(ExternalPlatform):
    """Answers from the table that the file's ``times`` names; ``failed`` for what is not there.

    Columns of the table: ``matrix``, ``time``, one for each parameter or one ``schedule``;
    optional ``operation``, ``width``, ``nnz`` (checked), ``status`` and ``reason``. Of a
    schedule that is listed several times, a measured platform takes the median.
    """

    def __init__(self, description: Description, path: Path):
        super().__init__(description, path)
        assert description.times is not None
        self._file = self.folder / description.times.file
        self.content_hash += file_hash(self._file)
        self._times = self._read()

    def answers_for(self, operation: Operation) -> tuple[str, ...]:
        """Matrices of the table, for this operation and width."""
        chosen = self._of(operation)
        return tuple(dict.fromkeys(chosen.index.get_level_values("matrix")))

    def evaluate(
        self,
        matrix: SparseMatrix,
        operation: Operation,
        schedules: Sequence[Schedule],
        progress: Progress | None = None,
    ) -> pd.DataFrame:
        """Look each schedule up."""
        ids = [s.schedule_id for s in schedules]
        try:
            known = self._of(operation).xs(matrix.name, level="matrix")
        except KeyError:
            known = self._times.iloc[:0].droplevel([0, 1, 2])
        wrong = known["nnz"].notna() & (known["nnz"] != matrix.nnz)
        rows = known.reindex(ids)
        absent = ~np.isin(ids, known.index)
        rows.loc[absent, "status"] = "failed"
        rows.loc[absent, "reason"] = (
            f"{self._file.name} has no time of this schedule on {matrix.name} "
            f"({operation.name}, {operation.width} columns)"
        )
        if wrong.any():
            there = int(known.loc[wrong, "nnz"].iloc[0])
            rows["status"], rows["seconds"] = "failed", np.nan
            rows["reason"] = (
                f"{self._file.name} has {there} entries in {matrix.name}, not {matrix.nnz}"
            )
        return pd.DataFrame(
            {
                "schedule_id": ids,
                "seconds": rows["seconds"].to_numpy(dtype=np.float64),
                "status": rows["status"].astype(str).to_numpy(),
                "reason": rows["reason"].astype(str).to_numpy(),
                "listed": rows["listed"].fillna(0).to_numpy(dtype=np.int64),
            }
        )

    def _of(self, operation: Operation) -> pd.DataFrame:
        keys = self._times.index
        chosen = (keys.get_level_values("operation") == operation.name) & (
            keys.get_level_values("width") == operation.width
        )
        return self._times[chosen].droplevel(["operation", "width"])

    def _read(self) -> pd.DataFrame:
        """The table, one row a (operation, width, matrix, schedule)."""
        try:
            table = pd.read_csv(self._file, keep_default_na=False, dtype=str)
        except (OSError, ValueError) as error:
            raise PlatformError(f"{self._file}: cannot be read as a table: {error}") from error
        for column in ("matrix", "time"):
            if column not in table:
                raise PlatformError(
                    f"{self._file}: has no column {column!r}; it has {', '.join(table.columns)}"
                )
        read = pd.DataFrame({"matrix": table["matrix"].str.strip()})
        read["schedule_id"] = self._schedule_ids(table)
        read["operation"] = self._operations(table)
        read["width"] = self._widths(table)
        read["status"] = table.get("status", pd.Series("ok", table.index)).replace("", "ok")
        self._refuse(~read["status"].isin(STATUSES), f"status must be {', '.join(STATUSES)}")
        ok = read["status"] == "ok"
        read["reason"] = table.get("reason", pd.Series("", table.index)).where(~ok, "")
        read["reason"] = read["reason"].mask(~ok & (read["reason"] == ""), "no reason was given")
        assert self.description.times is not None
        seconds = pd.to_numeric(table["time"], errors="coerce").astype(np.float64)
        seconds *= seconds_per_unit(self.description.times)
        self._refuse(ok & ~(np.isfinite(seconds) & (seconds > 0)), "time must be a positive number")
        read["seconds"] = seconds.where(ok)
        entries = pd.to_numeric(table["nnz"], "coerce") if "nnz" in table else np.nan
        read["nnz"] = entries
        return self._merged(read)

    def _merged(self, read: pd.DataFrame) -> pd.DataFrame:
        repeated = read.duplicated(_KEY)
        if self.kind == "simulated":
            self._refuse(repeated, "this schedule is listed before; a simulation has one time")
        groups = read.groupby(_KEY, sort=False)
        merged: pd.DataFrame = groups.agg(
            seconds=("seconds", "median"),
            status=("status", lambda s: "ok" if (s == "ok").any() else s.iloc[0]),
            reason=("reason", "first"),
            nnz=("nnz", "first"),
            listed=("seconds", "size"),
        )
        merged["reason"] = merged["reason"].where(merged["status"] != "ok", "")
        return merged

    def _schedule_ids(self, table: pd.DataFrame) -> list[int]:
        names = [p.name for p in self._space.parameters]
        if "schedule" not in table:
            missing = [name for name in names if name not in table]
            if missing:
                raise PlatformError(
                    f"{self._file}: has no column {missing[0]!r}; give a column for each "
                    "parameter, or one column 'schedule' with texts like 'a=1 b=2'"
                )
            pairs = [
                table[name].map(lambda value, n=name: f"{n}={value.strip()}") for name in names
            ]
            texts: Any = pd.concat(pairs, axis=1).agg(" ".join, axis=1) if len(table) else []
        else:
            texts = table["schedule"]
        ids: dict[str, int] = {}
        found = []
        for line, text in enumerate(texts, start=2):
            if text not in ids:
                try:
                    ids[text] = self._space.parse(text).schedule_id
                except ScheduleError as error:
                    raise PlatformError(f"{self._file}, line {line}: {error}") from error
            found.append(ids[text])
        return found

    def _operations(self, table: pd.DataFrame) -> Any:
        offered = self.description.operations
        if "operation" in table:
            self._refuse(
                ~table["operation"].isin(offered), f"operation must be {', '.join(offered)}"
            )
            return table["operation"]
        if len(offered) > 1:
            raise PlatformError(
                f"{self._file}: has no column 'operation', and {self.path} offers several; add it "
                "or name one operation there"
            )
        return offered[0]

    def _widths(self, table: pd.DataFrame) -> Any:
        assert self.description.times is not None
        if "width" in table:
            widths = pd.to_numeric(table["width"], errors="coerce")
            self._refuse(~(widths >= 1), "width must be a whole number")
            return widths.astype(np.int64)
        if self.description.times.width is None:
            raise PlatformError(
                f"{self._file}: says nowhere how many dense columns the times are for; add a "
                f"column 'width' or 'width:' under 'times' in {self.path}"
            )
        return self.description.times.width

    def _refuse(self, wrong: pd.Series, why: str) -> None:
        if wrong.any():
            raise PlatformError(f"{self._file}, line {int(np.argmax(wrong)) + 2}: {why}")
