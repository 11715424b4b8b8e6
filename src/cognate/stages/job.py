"""What every workflow script does around its one library call."""

import errno
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cognate.config import parse_config
from cognate.errors import CognateError
from cognate.study import Study


@contextmanager
def job(snakemake: Any) -> Iterator[Study]:
    """Yield the study of a workflow job; log to the job's log file.

    A :class:`CognateError`, a full disk or want of memory ends the process with status 1 and
    one message, without a traceback, on standard error and in the log. Any other exception
    goes through.
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
    except (CognateError, MemoryError, OSError) as error:
        message = _message(error)
        logging.getLogger("cognate").error("%s", message)
        print(f"{snakemake.rule}: {message}", file=sys.stderr)
        sys.exit(1)
    except Exception:
        logging.getLogger("cognate").exception("%s failed", snakemake.rule)
        raise


def _message(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return f"out of memory: {error}; run it with more, see docs/cluster.md"
    if isinstance(error, OSError):
        remedy = _REMEDIES.get(error.errno or 0, "see that it can be read and written")
        return f"{error.filename or 'a file'}: {error.strerror or error}; {remedy} and run again"
    return str(error)


_REMEDIES = {
    errno.ENOSPC: "make room on the disk (every finished file is complete)",
    errno.EDQUOT: "make room within your quota (every finished file is complete)",
    errno.EROFS: "choose a folder that can be written",
}
