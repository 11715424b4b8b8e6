from pathlib import Path

import pytest

from cognate.files import replacing, write_text


def test_success_replaces_and_leaves_nothing_beside(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.txt"
    write_text(target, "one")
    write_text(target, "two")
    assert target.read_text() == "two"
    assert list(target.parent.iterdir()) == [target]


def test_failure_keeps_the_old_content(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    write_text(target, "old")
    with pytest.raises(KeyboardInterrupt), replacing(target) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
