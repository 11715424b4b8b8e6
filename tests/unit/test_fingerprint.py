import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cognate import fingerprint as module
from cognate.fingerprint import fingerprint


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "toy"
    (root / "room").mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (root / "stage.py").write_text(
        "import numpy\n\ndef run():\n    from toy import helper\n    return helper\n"
    )
    (root / "helper.py").write_text("VALUE = 1\n")
    (root / "other.py").write_text("VALUE = 1\n")
    (root / "room" / "__init__.py").write_text("from . import inside\n")
    (root / "room" / "inside.py").write_text("")
    (root / "room" / "kernel.c").write_text("int x;\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "toy"]:
        del sys.modules[name]


def fresh(*roots: str) -> str:
    fingerprint.cache_clear()
    module._imports.cache_clear()
    module._origin.cache_clear()
    return fingerprint(*roots)


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ("stage.py", True),
        ("helper.py", True),
        ("other.py", False),
        ("room/inside.py", True),
        ("room/kernel.c", True),
    ],
)
def test_changes_with_what_is_reached_and_with_nothing_else(
    package: Path, changed: str, counts: bool
) -> None:
    before = fresh("toy.stage", "toy.room")
    assert fresh("toy.stage", "toy.room") == before
    path = package / changed
    path.write_text(path.read_text() + "\n\n")
    assert (fresh("toy.stage", "toy.room") != before) is counts


def test_stages_depend_on_their_own_platform_only() -> None:
    cpu = module._closure(("cognate.stages.sample", "cognate.platforms.cpu"))
    spade = module._closure(("cognate.stages.sample", "cognate.platforms.spade"))
    assert not any("spade" in name for name in cpu)
    assert not any("platforms.cpu" in name for name in spade)
    assert not any("learning" in name or "figures" in name for name in cpu | spade)
