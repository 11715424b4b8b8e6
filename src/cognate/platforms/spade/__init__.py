"""The SPADE accelerator: its schedules, its machines, and a simulator of them.

May import operations, matrices, schedules, native and the contracts of platforms; nothing of
learning. Start at :class:`SpadePlatform` for samples and :func:`simulate` for one report.
"""

from cognate.platforms.spade.machine import SpadeMachine, load_machine, machine_names
from cognate.platforms.spade.platform import SpadePlatform
from cognate.platforms.spade.simulator import Report, Timeline, simulate, timeline

__all__ = [
    "Report",
    "SpadeMachine",
    "SpadePlatform",
    "Timeline",
    "load_machine",
    "machine_names",
    "simulate",
    "timeline",
]
