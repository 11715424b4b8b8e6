"""What runs a kernel under a schedule, measured or simulated.

One folder a platform. May import matrices, operations, schedules and native; knows nothing
of learning and never imports torch.
"""

from cognate.platforms.draw import draw_schedules
from cognate.platforms.platform import Machine, Platform, get_platform, platform_names

__all__ = ["Machine", "Platform", "draw_schedules", "get_platform", "platform_names"]
