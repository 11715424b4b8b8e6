import ctypes
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cognate.errors import NativeError
from cognate.native import compiler, load_library
from cognate.native.entries import is_intact

CODE = "int answer(void) { return 42; }\n"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("COGNATE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "answer.c"
    path.write_text(CODE)
    return path


@pytest.fixture
def fresh_compiler():
    compiler.find_compiler.cache_clear()
    yield
    compiler.find_compiler.cache_clear()


def libraries(tmp_path):
    return sorted((tmp_path / "cache" / "native").glob("*.so"))


def counting_compiler(tmp_path: Path, before: str = "") -> Path:
    """A compiler that writes a line for each call and then does the work."""
    real = compiler.find_compiler().path
    script = tmp_path / "counting-cc"
    script.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n{before}\nexec {real} "$@"\n')
    script.chmod(0o755)
    return script


def links(tmp_path: Path) -> int:
    calls = (tmp_path / "calls").read_text().splitlines()
    return sum("-shared" in call and "probe.so" not in call for call in calls)


def test_builds_once_and_loads(source, tmp_path):
    assert load_library([source]).answer() == 42
    (first,) = libraries(tmp_path)
    written = first.stat().st_mtime_ns
    assert load_library([source]).answer() == 42
    assert first.stat().st_mtime_ns == written


def test_key_depends_on_source_header_and_flags(source, tmp_path):
    header = tmp_path / "answer.h"
    header.write_text("/* one */\n")
    load_library([source, header])
    header.write_text("/* two */\n")
    load_library([source, header])
    load_library([source, header], ["-DX"])
    source.write_text(CODE.replace("42", "43"))
    assert load_library([source, header]).answer() == 43
    assert len(libraries(tmp_path)) == 4


def test_key_depends_on_the_processor(source, tmp_path, monkeypatch):
    load_library([source])
    monkeypatch.setattr(compiler, "_processor", lambda: "another machine")
    load_library([source])
    assert len(libraries(tmp_path)) == 2


@pytest.mark.parametrize("damage", [b"", b"not a library", None])
def test_damaged_entry_is_built_again(source, tmp_path, damage):
    load_library([source])
    (entry,) = libraries(tmp_path)
    whole = entry.read_bytes()
    entry.unlink()  # a new file: the old one is still mapped by this process
    entry.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert not is_intact(entry)
    assert load_library([source]).answer() == 42
    assert is_intact(entry)


def test_entry_without_checksum_does_not_count(source, tmp_path):
    load_library([source])
    (entry,) = libraries(tmp_path)
    Path(f"{entry}.sha256").unlink()
    assert not is_intact(entry)
    load_library([source])
    assert is_intact(entry)


LOAD = """
import sys
from pathlib import Path
from cognate.native import load_library
assert load_library([Path(sys.argv[1])]).answer() == 42
"""


def start_loader(source, tmp_path, cc):
    environment = {**os.environ, "CC": str(cc), "COGNATE_CACHE": str(tmp_path / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", LOAD, str(source)], env=environment, start_new_session=True
    )


def test_concurrent_builders_build_once(source, tmp_path):
    cc = counting_compiler(tmp_path, before="sleep 0.05")
    loaders = [start_loader(source, tmp_path, cc) for _ in range(4)]
    assert [loader.wait(60) for loader in loaders] == [0] * 4
    assert links(tmp_path) == 1
    assert len(libraries(tmp_path)) == 1


def test_killed_builder_leaves_nothing_in_the_way(source, tmp_path):
    slow = counting_compiler(tmp_path, before='case "$*" in *.o*) sleep 60;; esac')
    builder = start_loader(source, tmp_path, slow)
    native = tmp_path / "cache" / "native"
    deadline = time.monotonic() + 30
    while not list(native.glob(".build-*/")) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert list(native.glob(".build-*/"))
    os.killpg(builder.pid, signal.SIGKILL)
    builder.wait(30)
    assert libraries(tmp_path) == []
    slow.write_text(slow.read_text().replace("sleep 60", "true"))
    assert start_loader(source, tmp_path, slow).wait(60) == 0
    assert len(libraries(tmp_path)) == 1
    assert list(native.glob(".build-*")) == []


def test_missing_compiler_is_named(source, monkeypatch, fresh_compiler):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(NativeError, match=r"no-such-compiler.*install one"):
        load_library([source])


def test_refused_code_shows_the_compilers_words(source, tmp_path):
    source.write_text("int answer(void) { return missing_name; }\n")
    with pytest.raises(NativeError, match="missing_name"):
        load_library([source])
    assert libraries(tmp_path) == []
    assert list((tmp_path / "cache" / "native").glob(".build-*")) == []


def test_openmp_is_refused_where_it_does_not_work(source, monkeypatch):
    found = compiler.find_compiler()
    without = compiler.Compiler(found.path, found.version, openmp=False)
    monkeypatch.setattr(compiler, "find_compiler", lambda: without)
    with pytest.raises(NativeError, match="OpenMP"):
        load_library([source], openmp=True)


def test_unwritable_cache_falls_back_and_says_so(source, tmp_path, monkeypatch):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setenv("COGNATE_CACHE", str(in_the_way / "cache"))
    compiler._temporary_cache.cache_clear()
    with pytest.warns(RuntimeWarning, match="COGNATE_CACHE"):
        assert load_library([source]).answer() == 42


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder_falls_back(source, tmp_path):
    folder = tmp_path / "cache" / "native"
    folder.mkdir(parents=True)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    compiler._temporary_cache.cache_clear()
    with pytest.warns(RuntimeWarning, match="cannot be kept"):
        assert load_library([source]).answer() == 42


def test_read_only_folder_with_an_intact_entry_is_used(source, tmp_path, monkeypatch):
    load_library([source])

    def refuse(folder):
        raise AssertionError("an intact entry needs no writing")

    monkeypatch.setattr(compiler, "_writable_folder", refuse)
    assert isinstance(load_library([source]), ctypes.CDLL)
