"""Every error that a user can cause or meet, in one small hierarchy.

Raised where the fact is known, shown once at the boundary (the command line, a workflow
script). A message names the thing, says what is wrong and what to do about it.
"""


class CognateError(Exception):
    """Base of all errors that are shown to the user as one message, without a traceback."""


class ConfigError(CognateError):
    """The configuration file does not describe a study that can run."""


class MatrixError(CognateError):
    """A matrix cannot be read, built or used."""


class DownloadError(CognateError):
    """A file could not be fetched, or is not what its registry says."""


class ScheduleError(CognateError):
    """A schedule's text, values or index do not belong to its space."""


class PlatformError(CognateError):
    """A platform is unknown, cannot run here, or broke its contract."""


class NativeError(CognateError):
    """C code could not be compiled or loaded."""


class SamplesError(CognateError):
    """A table of samples is missing, malformed or does not fit its use."""


class ModelError(CognateError):
    """A model cannot be trained, stored, loaded or applied."""


class ClusterError(CognateError):
    """The batch system cannot run the study as its profile says."""


class CrashError(CognateError):
    """Native code ended the process that worked on a matrix."""
