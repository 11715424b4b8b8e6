import json

from cognate.platforms.cpu import CpuPlatform, hardware
from cognate.platforms.cpu.cores import granted_processors


def cache(folder, index, kind, level, size):
    entry = folder / f"index{index}"
    entry.mkdir()
    for name, text in {"type": kind, "level": level, "size": size}.items():
        (entry / name).write_text(f"{text}\n")


def test_cache_sizes_are_read_nearest_first(tmp_path):
    cache(tmp_path, 0, "Data", 1, "48K")
    cache(tmp_path, 1, "Instruction", 1, "32K")
    cache(tmp_path, 2, "Unified", 2, "1024K")
    cache(tmp_path, 3, "Unified", 3, "32M")
    assert hardware.cache_bytes(tmp_path) == (48 << 10, 1 << 20, 32 << 20)


def test_cache_sizes_have_a_fallback(tmp_path):
    assert hardware.cache_bytes(tmp_path / "missing") == hardware.FALLBACK_CACHE_BYTES


def test_rates_are_measured_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(hardware, "cache_folder", lambda: tmp_path)
    processors = granted_processors()[:1]
    first = hardware.machine(processors)
    (kept,) = (tmp_path / "machines").glob("*.json")
    assert json.loads(kept.read_text())["bytes_per_second"] == first.bytes_per_second
    assert first.workers == 1
    assert 1e8 < first.bytes_per_second < 1e13
    assert 1e8 < first.flops_per_second < 1e13
    monkeypatch.setattr(hardware, "measure_rates", lambda *_: (1.0, 1.0))
    assert hardware.machine(processors) == first
    kept.write_text("damaged")
    assert hardware.machine(processors).bytes_per_second == 1.0


def test_description_can_be_written_as_json():
    text = json.loads(json.dumps(CpuPlatform().describe()))
    assert text["processor"]
    assert text["cache_bytes"]


def test_memory_limits_of_control_groups(tmp_path):
    (tmp_path / "memory.max").write_text("max\n")
    assert hardware.limit_bytes(tmp_path) > 1 << 50
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert hardware.limit_bytes(tmp_path) == 2000
    assert 0 < hardware.free_memory_bytes() < 1 << 50
