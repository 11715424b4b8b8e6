from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cognate.errors import SamplesError
from cognate.platforms import samples


def table(**changes: object) -> pd.DataFrame:
    columns: dict[str, object] = {
        "matrix": ["a", "a"],
        "schedule_id": np.array([0, 1]),
        "seconds": [1e-3, np.nan],
        "status": ["ok", "rejected"],
        "reason": ["", "too much padding"],
        "visits": [[1e-3, 2e-3], []],
    }
    return pd.DataFrame({**columns, **changes})


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    samples.write(table(), {"platform": "toy"}, path)
    content, metadata = samples.read(path)
    assert metadata == {"platform": "toy"}
    assert content["seconds"].tolist()[0] == 1e-3
    assert content["visits"].tolist()[0].tolist() == [1e-3, 2e-3]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": ["ok", "maybe"]}, "status"),
        ({"seconds": [1e-3, 1e-3]}, "seconds must be set exactly where"),
        ({"seconds": [-1.0, np.nan]}, "seconds"),
        ({"reason": ["", ""]}, "a reason must be given"),
        ({"schedule_id": np.array([0, 0])}, "not unique"),
    ],
)
def test_broken_contracts_are_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(SamplesError, match=message):
        samples.write(table(**changes), {}, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"not parquet")
    with pytest.raises(SamplesError, match="cannot be read"):
        samples.read(path)
    table().to_parquet(path)
    with pytest.raises(SamplesError, match="not a samples table written by cognate"):
        samples.read(path)
