"""The measured CPU platform: schedule spaces, layouts of A, kernels in C, the timer.

May import :mod:`cognate.native`, schedules, matrices and operations; nothing of learning.
"""

from cognate.platforms.cpu.cores import granted_cores
from cognate.platforms.cpu.describe import describe_schedule
from cognate.platforms.cpu.platform import CpuPlatform

__all__ = ["CpuPlatform", "describe_schedule", "granted_cores"]
