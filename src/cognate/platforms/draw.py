"""Draw the schedules that are sampled on a matrix."""

import zlib
from typing import Literal

from cognate.operations import Operation
from cognate.platforms.platform import Platform
from cognate.schedules import Schedule


def draw_schedules(
    platform: Platform, operation: Operation, count: int | Literal["all"], draw: str
) -> list[Schedule]:
    """The platform's named baselines, then random schedules until there are ``count``.

    Equal texts ``draw`` give equal schedules. ``"all"`` gives the whole space by id.
    """
    space = platform.space(operation)
    if count == "all":
        return list(space)
    chosen = {s.schedule_id: s for s in platform.baselines(operation).values()}
    for schedule in space.sample(count, zlib.crc32(draw.encode())):
        if len(chosen) >= count:
            break
        chosen.setdefault(schedule.schedule_id, schedule)
    return list(chosen.values())
