"""Times from a table: found again exactly, or refused with the line."""

import numpy as np
import pytest
import yaml
from tests.unit.external.test_description import changed

from cognate.errors import PlatformError
from cognate.operations import get_operation
from cognate.platforms import get_platform
from cognate.platforms.conformance import check_platform
from cognate.platforms.samples import validate

SPMM = get_operation("spmm", 64)
HEADER = "matrix,tile,walk,unroll,time\n"
ROWS = HEADER + "scattered,8,rows,1,2.5\nscattered,all,rows,4,0.5\nother,8,rows,1,7\n"


def platform_of(folder, table, **changes):
    changes.setdefault("times", {"file": "times.csv", "width": 64})
    content = changed(command=None, **changes)
    (folder / "board.yaml").write_text(yaml.safe_dump(content))
    (folder / "times.csv").write_text(table)
    return get_platform(str(folder / "board.yaml"))


def evaluated(platform, matrix, *texts, operation=SPMM):
    space = platform.space(operation)
    table = platform.evaluate(matrix, operation, [space.parse(text) for text in texts])
    validate(table.assign(matrix=matrix.name), "test")
    return table


def test_times_are_found_and_the_rest_is_failed(tmp_path, scattered):
    platform = platform_of(tmp_path, ROWS)
    table = evaluated(platform, scattered, "tile=all unroll=4", "tile=64", "tile=8")
    assert table["seconds"].tolist()[::2] == [0.5, 2.5]
    assert table["status"].tolist() == ["ok", "failed", "ok"]
    assert "times.csv has no time" in table["reason"][1]
    assert platform.answers_for(SPMM) == ("scattered", "other")
    assert platform.answers_for(get_operation("spmm", 128)) == ()


def test_another_matrix_or_width_has_no_times(tmp_path, scattered):
    platform = platform_of(tmp_path, ROWS)
    alien = type(scattered).from_scipy(scattered.to_scipy(), "alien")
    assert evaluated(platform, alien, "tile=8")["status"].tolist() == ["failed"]
    wide = evaluated(platform, scattered, "tile=8", operation=get_operation("spmm", 128))
    assert wide["status"].tolist() == ["failed"]


def test_units_statuses_and_schedule_texts(tmp_path, scattered):
    table = (
        "matrix,schedule,time,status,reason,width,operation\n"
        "scattered,tile=8,3000,ok,,64,spmm\n"
        "scattered,unroll=4,,rejected,too large,64,spmm\n"
        "scattered,tile=all,,failed,,64,spmm\n"
    )
    times = {"file": "times.csv", "unit": "cycles", "clock_hz": 1.5e9}
    platform = platform_of(tmp_path, table, times=times)
    found = evaluated(platform, scattered, "tile=8", "unroll=4", "tile=all")
    assert found["seconds"][0] == pytest.approx(2e-6)
    assert found["status"].tolist() == ["ok", "rejected", "failed"]
    assert found["reason"].tolist() == ["", "too large", "no reason was given"]


def test_repeats_of_a_measurement_become_their_median(tmp_path, scattered):
    table = HEADER + "".join(f"scattered,8,rows,1,{t}\n" for t in (5, 1, 2))
    content = platform_of(tmp_path, table, kind="measured")
    found = evaluated(content, scattered, "tile=8")
    assert found["seconds"][0] == 2
    assert found["listed"][0] == 3
    with pytest.raises(PlatformError, match="line 3: this schedule is listed before"):
        platform_of(tmp_path, table)


def test_a_matrix_of_another_size_is_not_believed(tmp_path, scattered):
    table = HEADER.replace("\n", ",nnz\n") + f"scattered,8,rows,1,2,{scattered.nnz + 1}\n"
    found = evaluated(platform_of(tmp_path, table), scattered, "tile=8")
    assert found["status"][0] == "failed"
    assert str(scattered.nnz) in found["reason"][0]
    table = table.replace(str(scattered.nnz + 1), str(scattered.nnz))
    assert evaluated(platform_of(tmp_path, table), scattered, "tile=8")["seconds"][0] == 2


MISTAKES = {
    "no_matrix": (ROWS.replace("matrix,", "name,", 1), "no column 'matrix'"),
    "no_time": (ROWS.replace("time", "seconds", 1), "no column 'time'"),
    "no_parameter": (ROWS.replace("walk", "order", 1), "no column 'walk'"),
    "bad_value": (ROWS.replace("all", "9"), "line 3: tile=9"),
    "forbidden": (ROWS.replace("all,rows", "all,cols"), "line 3: tile=all walk=cols"),
    "not_a_number": (ROWS.replace("2.5", "fast"), "line 2: time"),
    "negative": (ROWS.replace("0.5", "-1"), "line 3: time"),
    "infinite": (ROWS.replace("0.5", "inf"), "line 3: time"),
    "bad_status": (HEADER.replace("\n", ",status\n") + "m,8,rows,1,1,fine\n", "line 2: status"),
    "bad_operation": (HEADER.replace("\n", ",operation\n") + "m,8,rows,1,1,spmv\n", "line 2"),
    "bad_width": (HEADER.replace("\n", ",width\n") + "m,8,rows,1,1,wide\n", "line 2: width"),
    "empty_file": ("", "cannot be read as a table"),
}


@pytest.mark.parametrize(("table", "words"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_is_named_with_its_line(tmp_path, table, words):
    with pytest.raises(PlatformError) as caught:
        platform_of(tmp_path, table)
    assert words in str(caught.value)
    assert "times.csv" in str(caught.value)


def test_a_table_that_does_not_say_its_width_or_operation_is_refused(tmp_path):
    platform_of(tmp_path, ROWS)
    content = changed(command=None, operations=["spmm", "sddmm"], times={"file": "times.csv"})
    (tmp_path / "board.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(PlatformError, match="no column 'operation'"):
        get_platform(str(tmp_path / "board.yaml"))
    content["operations"] = ["spmm"]
    (tmp_path / "board.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(PlatformError, match="how many dense columns"):
        get_platform(str(tmp_path / "board.yaml"))


def test_identity_changes_with_the_table(tmp_path):
    first = platform_of(tmp_path, ROWS).describe()["content_hash"]
    assert platform_of(tmp_path, ROWS).describe()["content_hash"] == first
    assert platform_of(tmp_path, ROWS.replace("2.5", "2.6")).describe()["content_hash"] != first


def test_conformance_says_which_matrices_it_needs_and_uses_them(tmp_path, scattered):
    space = platform_of(tmp_path, ROWS).space(SPMM)
    lines = [f"scattered,{s['tile']},{s['walk']},{s['unroll']},{s.schedule_id + 1}" for s in space]
    platform = platform_of(tmp_path, HEADER + "\n".join(lines) + "\n")
    notes = check_platform(platform, operations=["spmm"], width=64)
    assert [n.is_problem for n in notes] == [False]
    assert "scattered" in str(notes[0])
    assert check_platform(platform, [scattered], operations=["spmm"], width=64) == []
    assert np.isclose(
        evaluated(platform, scattered, "")["seconds"][0], space.default.schedule_id + 1
    )
