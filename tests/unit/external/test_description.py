"""A platform file is read whole or refused with the mistake's place and remedy."""

import copy

import pytest
import yaml

from cognate.errors import PlatformError
from cognate.operations import get_operation
from cognate.platforms import get_platform
from cognate.platforms.external.description import read_description

GOOD = {
    "name": "board",
    "kind": "simulated",
    "sample_cost": 10,
    "operations": ["spmm"],
    "machine": {"workers": 8, "bytes_per_second": "3e10", "flops_per_second": 1e11},
    "parameters": [
        {"name": "tile", "values": [8, 64, "all"], "default": 64},
        {"name": "walk", "values": ["rows", "cols"], "default": "rows"},
        {"name": "unroll", "values": [1, 4], "default": 1},
    ],
    "forbid": [{"when": {"tile": "all", "walk": "cols"}, "reason": "one tile has one order"}],
    "slots": {
        "rows_per_tile": "tile",
        "cols_per_tile": {"parameter": "tile", "values": {8: 16, 64: 128, "all": "all"}},
        "width_per_slice": 4,
        "columns_outer": {"parameter": "walk", "values": {"rows": False, "cols": True}},
    },
    "command": {"run": "true {matrix} {schedule}"},
}


def changed(**changes):
    """GOOD with values set at dotted paths; None deletes."""
    content = copy.deepcopy(GOOD)
    for path, value in changes.items():
        node = content
        *parents, last = path.split("__")
        for part in parents:
            node = node[int(part)] if part.isdigit() else node[part]
        if value is None:
            del node[last]
        else:
            node[last] = value
    return content


def write(folder, content):
    path = folder / "board.yaml"
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


def test_space_slots_and_machine_are_as_described(tmp_path, scattered):
    platform = get_platform(str(write(tmp_path, GOOD)))
    operation = get_operation("spmm", 32)
    space = platform.space(operation)
    assert (platform.name, platform.kind, platform.sample_cost) == ("board", "simulated", 10)
    assert platform.specific_parameters == ("unroll",)
    assert len(list(space)) == 12 - 2
    chosen = [space.parse("tile=8 walk=cols"), space.parse("tile=all")]
    slots = platform.slots(scattered, operation, chosen)
    assert slots.rows_per_tile.tolist() == [8, scattered.rows]
    assert slots.cols_per_tile.tolist() == [16, scattered.cols]
    assert slots.width_per_slice.tolist() == [4, 4]
    assert slots.columns_outer.tolist() == [True, False]
    assert platform.machine().bytes_per_second == 3e10


def test_an_operation_that_is_not_named_is_refused(tmp_path):
    platform = get_platform(str(write(tmp_path, GOOD)))
    with pytest.raises(PlatformError, match="does not compute sddmm, only spmm"):
        platform.space(get_operation("sddmm", 32))


MISTAKES = {
    "extra_key": (changed(colour="red"), "colour"),
    "bad_name": (changed(name="My Board"), "name"),
    "bad_kind": (changed(kind="imagined"), "kind"),
    "no_machine": (changed(machine=None), "machine"),
    "no_bandwidth": (changed(machine__bytes_per_second=0), "machine.bytes_per_second"),
    "no_values": (changed(parameters__0__values=[]), "parameters.0.values"),
    "yaml_truth": (changed(parameters__2__values=[True, 4]), "put it in quotes"),
    "float_value": (changed(parameters__2__values=[1, 1.5]), "put it in quotes"),
    "default_absent": (changed(parameters__0__default=7), "hold the default"),
    "twice": (changed(parameters__1__name="tile"), "same name"),
    "forbid_unknown": (changed(forbid__0__when={"tile": 9}), "forbid: tile=9"),
    "slot_unknown": (changed(slots__rows_per_tile="tyle"), "tyle is neither"),
    "slot_text": (changed(slots__rows_per_tile="walk"), "number of at least 1"),
    "slot_incomplete": (
        changed(slots__cols_per_tile={"parameter": "tile", "values": {8: 16}}),
        "no number for tile=64",
    ),
    "outer_number": (changed(slots__columns_outer="tile"), "true or false"),
    "both": (changed(times={"file": "x.csv"}), "not both"),
    "neither": (changed(command=None), "not both"),
    "cycles": (changed(command__unit="cycles"), "clock_hz"),
    "placeholder": (changed(command__run="sim {matrix} {tyle}"), "{tyle} is unknown"),
    "no_matrix": (changed(command__run="sim {schedule}"), "must pass the matrix"),
    "unpassed": (changed(command__run="sim {matrix} {tile} {walk}"), "does not pass unroll"),
    "empty_run": (changed(command__run=""), "run is empty"),
    "bad_pattern": (changed(command__pattern="(["), "not a regular expression"),
    "two_groups": (changed(command__pattern="(a)(b)"), "one group"),
    "timeout": (changed(command__timeout_seconds=0), "timeout_seconds"),
    "measured_parallel": (
        {**changed(command__parallel=2), "kind": "measured"},
        "measured runs alone",
    ),
    "reserved": (changed(parameters__2__name="matrix"), "cannot be called matrix"),
    "not_yaml": ("name: [", "not valid YAML"),
    "a_list": ("- 1", "mapping"),
}


@pytest.mark.parametrize(("content", "words"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_is_named_with_the_file(tmp_path, content, words):
    path = write(tmp_path, content)
    with pytest.raises(PlatformError) as caught:
        read_description(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_all_mistakes_come_at_once(tmp_path):
    path = write(tmp_path, changed(kind="imagined", name="My Board"))
    with pytest.raises(PlatformError) as caught:
        read_description(path)
    assert len(str(caught.value).splitlines()) == 2


def test_a_missing_file_and_an_unknown_setting_are_errors(tmp_path):
    with pytest.raises(PlatformError, match="cannot be read"):
        get_platform(str(tmp_path / "none.yaml"))
    with pytest.raises(PlatformError, match="paralel"):
        get_platform(str(write(tmp_path, GOOD)), paralel=2)
