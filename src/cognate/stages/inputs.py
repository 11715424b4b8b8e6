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

    def __init__(self, study: Study):
        self._batches = study.matrices["batch"]
        self._folder = Path(study.config.results) / "matrices"
        self._load = lru_cache(MATRICES_IN_MEMORY)(self._read)

    def _read(self, name: str) -> SparseMatrix:
        folder = self._folder / str(self._batches[name])
        if not folder.is_dir():
            raise MatrixError(f"{folder} is gone; make it again with 'snakemake {folder}'")
        return SparseMatrix.load(folder / f"{name}.npz")

    def __getitem__(self, name: str) -> SparseMatrix:
        if name not in self._batches.index:
            raise MatrixError(f"{name} is not a matrix of this study")
        return self._load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._batches.index)

    def __len__(self) -> int:
        return len(self._batches)


def read_samples(study: Study, platform: str, operation: str, *splits: str) -> pd.DataFrame:
    """Samples of the matrices in these parts of the split, sorted, less what was left out.

    Raises :class:`SamplesError` for a matrix that is absent without a recorded reason, and
    for files of another configuration, another schedule space or other hardware.
    """
    table, described = read_files(study, platform, operation, study.batches_of(*splits))
    absent = {
        name for about in described.values() for name in (*about["missing"], *about["unbuilt"])
    }
    names = set(study.names(*splits))
    lost = sorted(names - set(table["matrix"]) - absent)
    if lost:
        raise SamplesError(
            f"no samples of {', '.join(lost)} in {next(iter(described)).parent}; delete that "
            "folder and run again"
        )
    chosen = table[table["matrix"].isin(names)]
    return chosen.sort_values(["matrix", "schedule_id"], ignore_index=True)


def read_files(
    study: Study, platform: str, operation: str, batches: Sequence[str]
) -> tuple[pd.DataFrame, dict[Path, dict[str, Any]]]:
    """The joined samples of some batches, and by file what it says about its making.

    Raises :class:`SamplesError` for files of another configuration or that cannot be compared.
    """
    folder = Path(study.config.results) / "samples" / platform / operation
    tables, described = [], {}
    for path in (folder / f"{batch}.parquet" for batch in batches):
        table, described[path] = samples.read(path)
        _require_settings(study, described[path], path)
        tables.append(table)
    require_same_origin(described)
    joined = pd.concat([t for t in tables if len(t)] or tables[:1], ignore_index=True)
    return joined, described


def require_same_origin(described: Mapping[Path, Mapping[str, Any]]) -> None:
    """Raise :class:`SamplesError` if files, by their metadata, were not made alike.

    Times are comparable only from one kind of processor with as many threads and one compiler.
    """
    origins: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for path, metadata in described.items():
        origins.setdefault(tuple(origin(metadata).items()), []).append(path)
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


def origin(metadata: Mapping[str, Any]) -> dict[str, str]:
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
