"""What every workflow script does around its one library call."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cognate.config import parse_config
from cognate.errors import CognateError
from cognate.study import Study

KEEP_GOING = "COGNATE_KEEP_GOING"
"""Set to 1 by the workflow under ``--keep-going``, for jobs here and on a cluster."""


@contextmanager
def job(snakemake: Any) -> Iterator[Study]:
    """Yield the study of a workflow job; log to the job's log file.

    A :class:`CognateError` ends the process with status 1 and its message, without a
    traceback, on standard error and in the log. Any other exception goes through.
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=log,
        filemode="w",
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(message)s",
        force=True,
    )
    try:
        yield Study(parse_config(snakemake.config))
    except CognateError as error:
        logging.getLogger("cognate").error("%s", error)
        print(f"{snakemake.rule}: {error}", file=sys.stderr)
        sys.exit(1)
    except Exception:
        logging.getLogger("cognate").exception("%s failed", snakemake.rule)
        raise
