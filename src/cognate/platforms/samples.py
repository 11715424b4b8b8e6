"""The samples table: what a platform said about schedules on a matrix, with its environment."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
import pyarrow as arrow
import pyarrow.parquet as parquet

from cognate.errors import SamplesError
from cognate.files import replacing

STATUSES = ("ok", "rejected", "failed")

SCHEMA = pa.DataFrameSchema(
    {
        "matrix": pa.Column(str),
        "schedule_id": pa.Column("int64", pa.Check.ge(0)),
        "seconds": pa.Column("float64", pa.Check.gt(0), nullable=True),
        "status": pa.Column(str, pa.Check.isin(STATUSES)),
        "reason": pa.Column(str),
    },
    checks=[
        pa.Check(
            lambda table: table["seconds"].notna() == (table["status"] == "ok"),
            error="seconds must be set exactly where status is ok",
        ),
        pa.Check(
            lambda table: (table["reason"] == "") == (table["status"] == "ok"),
            error="a reason must be given exactly where status is not ok",
        ),
    ],
    unique=["matrix", "schedule_id"],
)

_METADATA_KEY = b"cognate"


def validate(table: pd.DataFrame, source: str) -> pd.DataFrame:
    """The table itself if it keeps the contract, else :class:`SamplesError` naming ``source``."""
    try:
        return SCHEMA.validate(table)
    except pa.errors.SchemaError as error:
        raise SamplesError(f"{source}: samples break their contract: {error}") from error


def write(table: pd.DataFrame, metadata: dict[str, Any], path: Path | str) -> None:
    """Write a valid samples table and its environment to parquet, atomically.

    A column that mixes numbers and text (a parameter's "all") is stored as text.
    """
    validate(table, str(path))
    content = arrow.Table.from_pandas(_of_one_type(table), preserve_index=False)
    stored = {**(content.schema.metadata or {}), _METADATA_KEY: json.dumps(metadata).encode()}
    with replacing(path) as temporary:
        parquet.write_table(content.replace_schema_metadata(stored), temporary)


def empty() -> pd.DataFrame:
    """A samples table without rows."""
    types = {str(name): column.dtype.type for name, column in SCHEMA.columns.items()}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in types.items()})


def _of_one_type(table: pd.DataFrame) -> pd.DataFrame:
    mixed = [c for c in table if table[c].dtype == object and table[c].map(type).nunique() > 1]
    return table.assign(**{str(column): table[column].map(str) for column in mixed})


def read(path: Path | str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The samples table at ``path`` and its environment."""
    try:
        content = parquet.read_table(path)
    except (OSError, arrow.ArrowInvalid) as error:
        raise SamplesError(f"{path}: cannot be read as a samples table: {error}") from error
    stored = (content.schema.metadata or {}).get(_METADATA_KEY)
    if stored is None:
        raise SamplesError(f"{path}: is not a samples table written by cognate")
    return validate(content.to_pandas(), str(path)), json.loads(stored)
