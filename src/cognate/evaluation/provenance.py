"""What the numbers were made with, and that none of them is missing."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from cognate.config import Config


def environment(
    metadata: Mapping[tuple[str, str], list[dict[str, Any]]], matrices: pd.DataFrame, config: Config
) -> pd.DataFrame:
    """Section, item and value of everything that the study's numbers were made with.

    ``metadata`` holds, by platform and operation, what each file of samples says. Values that
    differ between files are all listed: a study sampled on two machines shows both.
    """
    records = [
        ("study", "name", config.name),
        ("study", "config_hash", config.config_hash),
        ("study", "operations", ", ".join(config.operations)),
        ("study", "dense width", str(config.width)),
        ("study", "seeds", ", ".join(map(str, config.learning.seeds))),
        ("study", "samples per shot", str(config.learning.samples_per_shot)),
        ("study", "shot selection", config.learning.shot_selection),
        ("corpus", "source", config.matrices.source),
        ("corpus", "matrices", str(len(matrices))),
        ("corpus", "families", str(matrices["family"].nunique())),
        ("corpus", "stored entries", str(int(matrices["nnz"].sum()))),
        ("corpus", "patterns", content_hash(matrices[["matrix", "pattern_hash"]])),
    ]
    for split, part in matrices.groupby("split"):
        records.append(("corpus", f"matrices to {split}", str(len(part))))
    for (platform, operation), files in metadata.items():
        values: dict[str, list[str]] = {}
        for file in files:
            content = {k: v for k, v in file.items() if k not in ("seconds_spent", "operation")}
            for item, value in _flat(content):
                known = values.setdefault(item, [])
                if value not in known:
                    known.append(value)
        section = f"samples of {platform}, {operation}"
        records += [(section, item, " | ".join(sorted(known))) for item, known in values.items()]
    return pd.DataFrame(records, columns=["section", "item", "value"])


def content_hash(*tables: pd.DataFrame) -> str:
    """Sixteen hex digits of the SHA-256 of the tables' contents, whatever their rows' order."""
    digest = hashlib.sha256()
    for table in tables:
        lines = table.to_csv(index=False, header=False, float_format="%.12g").splitlines()
        digest.update("\n".join([",".join(map(str, table.columns)), *sorted(lines)]).encode())
    return digest.hexdigest()[:16]


def _flat(content: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            written = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            yield f"{prefix}{key}", written
