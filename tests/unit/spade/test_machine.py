"""Machine descriptions: every value has a source, impossible machines are refused."""

import pytest

from cognate.errors import PlatformError
from cognate.platforms.spade.machine import describe_machine, load_machine, machine_names


@pytest.mark.parametrize("name", machine_names())
def test_every_shipped_machine_loads_and_names_its_sources(name):
    machine = load_machine(name)
    fields = describe_machine(name)
    assert machine.name == name
    assert set(fields) == set(machine.values) - {"name"}
    assert all(len(entry["source"]) > 5 for entry in fields.values())


def test_paper_values_of_the_full_machine():
    machine = load_machine("spade-224")
    assert machine.pes * 4 * 16 * 2 * machine.vector_registers // 16 == 224 * 512
    assert machine.flops_per_second == pytest.approx(224 * 32 * 0.8e9)
    assert machine.llc_bytes == 84 * 2**20


def test_scaled_machines_scale_everything_that_is_shared():
    base = load_machine("spade-224")
    for factor in (2, 4, 8):
        scaled = load_machine(f"spade-{224 * factor}")
        for field in ("pes", "llc_bytes", "llc_gb_s", "channels", "bandwidth_gb_s"):
            assert getattr(scaled, field) == pytest.approx(factor * getattr(base, field))
        assert scaled.l2_bytes == base.l2_bytes


def test_file_may_build_on_a_shipped_machine(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("based_on: spade-224\npes: 8\nlink_ns: {value: 5, source: measured}\n")
    machine = load_machine(str(file), {"clock_ghz": 1.6})
    assert (machine.name, machine.pes, machine.link_ns, machine.clock_ghz) == ("mine", 8, 5, 1.6)
    assert describe_machine(str(file))["link_ns"]["source"] == "measured"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("based_on: spade-224\npes: [1]\n", "number"),
        ("based_on: spade-224\npes: {value: 1}\n", "source"),
        ("pes: 1\n", "not given"),
        ("- 1\n", "mapping"),
        ("pes: {value\n", "YAML"),
    ],
)
def test_bad_files_are_refused(tmp_path, content, message):
    file = tmp_path / "bad.yaml"
    file.write_text(content)
    with pytest.raises(PlatformError, match=message):
        load_machine(str(file))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"l1_ways": 128, "l1_bytes": 128 * 64}, "ways"),
        ({"l2_ns": 1}, "latencies"),
        ({"assignment": "random"}, "dynamic or static"),
        ({"dirty_low_percent": 50}, "dirty"),
        ({"vector_registers": 1}, "at least 2"),
        ({"vector_registers": 65}, "64"),
        ({"sparse_load_queue": 100}, "64"),
        ({"quantum_ns": 0.1}, "quantum"),
        ({"pes": 10**6}, "65536"),
        ({"pes": True}, "number"),
        ({"pes": 1.5}, "number"),
        ({"bandwidth_gb_s": 1e9}, "channel"),
        ({"clock_ghz": -1}, "positive"),
    ],
)
def test_impossible_machines_are_refused(override, message):
    with pytest.raises(PlatformError, match=message):
        load_machine("spade-224", override)


def test_missing_file_is_named():
    with pytest.raises(PlatformError, match=r"nowhere\.yaml"):
        load_machine("nowhere.yaml")
