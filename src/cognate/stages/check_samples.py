"""Check that the samples of a platform and operation belong together, before anything learns."""

import json
from pathlib import Path

from cognate.files import write_text
from cognate.stages.inputs import origin, read_files
from cognate.study import Study


def check_samples(study: Study, platform: str, operation: str, output: Path) -> None:
    """Write what the files have in common, and how many matrices and samples they hold.

    Raises :class:`SamplesError` if they were not made alike; later stages wait for this file
    instead of each of the many that it stands for.
    """
    table, described = read_files(study, platform, operation, study.sampled_batches(platform))
    summary = {
        "files": len(described),
        "matrices": int(table["matrix"].nunique()),
        "samples": len(table),
        "status": {str(k): int(n) for k, n in table["status"].value_counts().items()},
        "origin": origin(next(iter(described.values()))),
    }
    write_text(output, json.dumps(summary, indent=1) + "\n")
