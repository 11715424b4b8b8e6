"""Read what earlier stages wrote, for stages that learn."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from cognate.errors import MatrixError, SamplesError
from cognate.matrices import SparseMatrix
from cognate.platforms import samples
from cognate.study import Study

MATRICES_IN_MEMORY = 32


class StoredMatrices(Mapping[str, SparseMatrix]):
    """The study's matrices by name, loaded when asked for, a few kept in memory."""

    def __init__(self, study: Study, folder: Path):
        self._batches = study.matrices["batch"]
        self._folder = folder
        self._load = lru_cache(MATRICES_IN_MEMORY)(self._read)

    def _read(self, name: str) -> SparseMatrix:
        return SparseMatrix.load(self._folder / str(self._batches[name]) / f"{name}.npz")

    def __getitem__(self, name: str) -> SparseMatrix:
        if name not in self._batches.index:
            raise MatrixError(f"{name} is not a matrix of this study")
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._batches.index)

    def __len__(self) -> int:
        return len(self._batches)


def read_samples(study: Study, paths: Sequence[Path], names: Sequence[str]) -> pd.DataFrame:
    """The samples of these matrices, sorted, less the matrices that a stage had to leave out.

    Raises :class:`SamplesError` for a matrix that is absent without a recorded reason, and
    for files of another configuration, another schedule space or other hardware.
    """
    tables, described = [], {}
    absent: set[str] = set()
    for path in paths:
        table, metadata = samples.read(path)
        _require_settings(study, metadata, path)
        described[path] = metadata
        absent.update(metadata["missing"], metadata["unbuilt"])
        tables.append(table)
    require_same_origin(described)
    joined = pd.concat([t for t in tables if len(t)] or tables[:1], ignore_index=True)
    lost = sorted(set(names) - set(joined["matrix"]) - absent)
    if lost:
        raise SamplesError(
            f"no samples of {', '.join(lost)} in {paths[0].parent}; delete that folder and run "
            "again"
        )
    chosen = joined[joined["matrix"].isin(set(names))]
    return chosen.sort_values(["matrix", "schedule_id"], ignore_index=True)


def require_same_origin(described: Mapping[Path, Mapping[str, Any]]) -> None:
    """Raise :class:`SamplesError` if files, by their metadata, were not made alike.

    Times are comparable only from one kind of processor with as many threads and one compiler.
    """
    origins: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for path, metadata in described.items():
        origins.setdefault(tuple(_origin(metadata).items()), []).append(path)
    if len(origins) < 2:
        return
    (first, some), (second, others) = sorted(origins.items(), key=lambda i: -len(i[1]))[:2]
    differences = "; ".join(
        f"{what} {mine!r} against {theirs!r}"
        for (what, mine), (_, theirs) in zip(first, second, strict=True)
        if mine != theirs
    )
    rare = min(some, others, key=len)
    raise SamplesError(
        f"samples that cannot be compared: {differences}. {len(some)} files are like {some[0]}, "
        f"{len(others)} like {others[0]}; delete those of one kind ({rare[0].parent}) and run "
        "again; on a cluster, name one type of node for 'measure' in the profile"
    )


def _origin(metadata: Mapping[str, Any]) -> dict[str, str]:
    """What must agree between the files of one platform and operation, by name."""
    origin = {"schedule space": metadata["space_fingerprint"]}
    if metadata["kind"] == "measured":
        description = metadata["description"]
        origin["processor"] = metadata["environment"]["processor"]
        for what in ("threads", "compiler", "flags"):
            origin[what] = str(description.get(what, ""))
    return origin


def _require_settings(study: Study, metadata: Mapping[str, Any], path: Path) -> None:
    wanted = study.sampling(metadata["platform"])
    stored = metadata["settings"]
    changed = [key for key in wanted if wanted[key] != stored.get(key)]
    if changed:
        raise SamplesError(
            f"{path}: was sampled under another configuration ("
            + ", ".join(f"{key}: {stored.get(key)} instead of {wanted[key]}" for key in changed)
            + "); delete it and run again, or choose another results folder"
        )
