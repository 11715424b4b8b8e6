"""Samples that were not made alike are refused, with what differs."""

from pathlib import Path
from typing import Any

import pytest

from cognate.errors import SamplesError
from cognate.stages.inputs import require_same_origin


def measured(**changes: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "kind": "measured",
        "space_fingerprint": "abc",
        "environment": {"processor": "Epyc 7763"},
        "description": {"threads": 64, "compiler": "cc: gcc 12", "flags": ["-O3"]},
    }
    for key, value in changes.items():
        inside = next((m for m in metadata.values() if isinstance(m, dict) and key in m), metadata)
        inside[key] = value
    return metadata


def files(*metadata: dict[str, Any]) -> dict[Path, dict[str, Any]]:
    return {
        Path(f"samples/cpu/spmm/batch{number}.parquet"): entry
        for number, entry in enumerate(metadata)
    }


def test_files_that_were_made_alike_pass() -> None:
    require_same_origin(files())
    require_same_origin(files(measured(), measured(), measured()))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"processor": "Xeon 8480"}, "processor 'Epyc 7763' against 'Xeon 8480'"),
        ({"threads": 32}, "threads '64' against '32'"),
        ({"compiler": "cc: clang 14"}, "compiler 'cc: gcc 12' against 'cc: clang 14'"),
        ({"flags": ["-O2"]}, "flags"),
        ({"space_fingerprint": "def"}, "schedule space 'abc' against 'def'"),
    ],
)
def test_a_mixture_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SamplesError) as raised:
        require_same_origin(files(measured(), measured(), measured(**changes)))
    message = str(raised.value)
    assert told in message
    assert "2 files are like samples/cpu/spmm/batch0.parquet, 1 like samples/cpu/spmm/batch2" in (
        message
    )


def test_a_simulated_platform_runs_on_any_processor() -> None:
    one, other = measured(), measured(processor="Xeon 8480", threads=2)
    one["kind"] = other["kind"] = "simulated"
    require_same_origin(files(one, other))
