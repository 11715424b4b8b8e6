import gzip
import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest
from collection_server import serving

from cognate.errors import DownloadError
from cognate.matrices import suitesparse
from cognate.matrices.refresh import DATA, refresh

PATH = "/files/ssstats.csv"
LINES = [
    "3",
    "31-Oct-2026 00:00:00",
    "HB,1138_bus,1138,1138,4054,1,0,0,1,1,1,power network problem,4054",
    "Grund,bayer10,13436,13436,71594,1,0,0,0,0.01,0.004,chemical process simulation problem,1",
    "New,mhd,10,20,30,0,0,1,0,0.5,0.25,electromagnetics problem,30",
]


def test_renews_the_snapshot_through_ssgetpy(tmp_path: Path) -> None:
    with serving() as server:
        server.files[PATH] = "\n".join(LINES).encode()
        assert refresh(tmp_path, mirror=server.url) == 3
    table = pd.read_csv(tmp_path / "suitesparse_index.csv.gz").set_index("name")
    assert list(table.reset_index()[list(suitesparse.index_table())]) == list(
        suitesparse.index_table()
    )
    assert table.loc["1138_bus", ["rows", "nnz", "entries"]].tolist() == [1138, 4054, 4054]
    assert table.loc["bayer10", "entries"] == 94926  # explicit zeros, from the old snapshot
    assert table.loc["mhd", ["is_real", "is_2d_3d", "pattern_symmetry"]].tolist() == [0, 1, 0.5]
    about = json.loads((tmp_path / "suitesparse_index.json").read_text())
    assert about["matrices"] == 3


@pytest.mark.parametrize("behaviour", ["503", "404"])
def test_an_error_page_is_not_an_index(tmp_path: Path, behaviour: str) -> None:
    with serving() as server:
        server.behaviour = behaviour
        with pytest.raises(DownloadError, match=f"the index cannot be read: .*{behaviour}"):
            refresh(tmp_path, mirror=server.url)
    assert list(tmp_path.iterdir()) == []


def test_the_stored_snapshot_is_the_described_one() -> None:
    about = json.loads((DATA / "suitesparse_index.json").read_text())
    table = gzip.decompress((DATA / "suitesparse_index.csv.gz").read_bytes())
    assert hashlib.sha256(table).hexdigest() == about["sha256_of_table"]
    assert len(suitesparse.index()) == about["matrices"]
