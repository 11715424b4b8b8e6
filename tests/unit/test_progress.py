import logging

import pytest

from cognate.progress import progress


def test_logs_get_plain_lines_with_rate_at_start_and_end(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "cognate"), progress("sort", "matrices") as advance:
        for done in range(1001):
            advance(done, 1000)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("sort: 0/1000 matrices")
    assert lines[-1].startswith("sort: 1000/1000 matrices, ")
    assert len(lines) == 2
