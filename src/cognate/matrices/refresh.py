"""Renew the index snapshot of the SuiteSparse collection: ``python -m cognate.matrices.refresh``.

For maintainers, online. The only use of ssgetpy, and in a process of its own: importing it
downloads the index without time-out or status check and writes to the home folder.
"""

import csv
import datetime
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cognate.errors import DownloadError
from cognate.files import replacing, write_text
from cognate.matrices.suitesparse import COLLECTION, index_table, server

DATA = Path(__file__).parent / "data"
SECONDS = 600

_PROGRAM = """
import json, sys
import requests

plain_get = requests.get

def checked_get(url, **options):
    response = plain_get(url.replace(sys.argv[1], sys.argv[2]), timeout=60, **options)
    response.raise_for_status()
    return response

requests.get = checked_get
import ssgetpy

fields = "group name rows cols nnz dtype is2d3d isspd psym nsym kind".split()
found = ssgetpy.search(limit=10**9)
json.dump([{field: getattr(matrix, field) for field in fields} for matrix in found], sys.stdout)
"""


def refresh(folder: Path = DATA, mirror: str | None = None) -> int:
    """Write a new snapshot and its description to ``folder``; returns the number of matrices.

    Explicit zeros, which ssgetpy does not report, are taken from the snapshot at hand for
    matrices whose other counts are unchanged. Raises :class:`DownloadError`, and then
    nothing is written.
    """
    source = mirror or server()
    matrices = _online_index(source)
    known: Any = index_table().set_index(["group", "name"])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        [
            "group",
            "name",
            "rows",
            "cols",
            "nnz",
            "is_real",
            "is_binary",
            "is_2d_3d",
            "is_positive_definite",
            "pattern_symmetry",
            "value_symmetry",
            "kind",
            "entries",
        ]
    )
    for matrix in matrices:
        entries = nnz = int(matrix["nnz"])
        key = (matrix["group"], matrix["name"])
        if key in known.index and known.at[key, "nnz"] == nnz:
            entries = int(known.at[key, "entries"])
        writer.writerow(
            [*key, matrix["rows"], matrix["cols"], nnz, int(matrix["dtype"] != "complex"),
             int(matrix["dtype"] == "binary"), int(matrix["is2d3d"]), int(matrix["isspd"]),
             f"{matrix['psym']:g}", f"{matrix['nsym']:g}", matrix["kind"], entries]
        )  # fmt: skip
    _store(folder, text.getvalue().encode(), source, len(matrices))
    return len(matrices)


def _online_index(source: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="cognate-index-") as home:
        command = [sys.executable, "-W", "ignore", "-c", _PROGRAM, COLLECTION, source]
        try:
            outcome = subprocess.run(
                command,
                env=os.environ | {"HOME": home, "APPDATA": home},
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DownloadError(f"{source}: the index did not come in {SECONDS} s") from error
    if outcome.returncode:
        reason = outcome.stderr.strip().rsplit("\n", 1)[-1]
        raise DownloadError(f"{source}: the index cannot be read: {reason}")
    found: list[dict[str, Any]] = json.loads(outcome.stdout)
    if not found:
        raise DownloadError(f"{source}: the index is empty")
    return found


def _store(folder: Path, table: bytes, source: str, count: int) -> None:
    with replacing(folder / "suitesparse_index.csv.gz") as temporary:
        temporary.write_bytes(gzip.compress(table, mtime=0))
    about = {
        "source": f"{source}/files/ssstats.csv",
        "dated": datetime.date.today().isoformat(),
        "matrices": count,
        "sha256_of_table": hashlib.sha256(table).hexdigest(),
    }
    write_text(folder / "suitesparse_index.json", json.dumps(about, indent=2) + "\n")


if __name__ == "__main__":
    print(f"{refresh()} matrices", file=sys.stderr)
