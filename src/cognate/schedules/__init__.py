"""Schedules and the spaces they are points of.

May import numpy, pandas and :mod:`cognate.errors`; knows nothing of a particular platform.
"""

from cognate.schedules.comparable import SLOT_NAMES, Slots
from cognate.schedules.space import Parameter, Schedule, ScheduleSpace

__all__ = ["SLOT_NAMES", "Parameter", "Schedule", "ScheduleSpace", "Slots"]
