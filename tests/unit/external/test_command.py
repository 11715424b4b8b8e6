"""A command as a platform: every way in which a program can end, kept answers, going on."""

import os
import time

import pytest
import yaml
from tests.unit.external.test_description import changed

from cognate.errors import PlatformError
from cognate.operations import get_operation
from cognate.platforms import get_platform
from cognate.platforms.conformance import check_platform
from cognate.platforms.samples import validate

SPMM = get_operation("spmm", 64)
COUNT = 'echo "$2" >> calls; '


def platform_of(folder, script, cache="cache", **changes):
    """A platform whose simulator is this shell script: $1 matrix, $2 schedule id, $3 unroll."""
    (folder / "sim.sh").write_text(script)
    command = {"run": "sh sim.sh {matrix} {schedule_id} {unroll} {width} {operation} {nnz}"}
    command |= {"timeout_seconds": 20, "retries": 0, **changes}
    (folder / "board.yaml").write_text(yaml.safe_dump(changed(command=command)))
    return get_platform(str(folder / "board.yaml"), cache=str(folder / cache))


def evaluated(platform, matrix, count=3, progress=None):
    schedules = platform.space(SPMM).sample(count, seed=1)
    table = platform.evaluate(matrix, SPMM, schedules, progress)
    assert table["schedule_id"].tolist() == [s.schedule_id for s in schedules]
    validate(table.assign(matrix=matrix.name), "test")
    return table


def calls(folder):
    path = folder / "calls"
    return len(path.read_text().split()) if path.exists() else 0


def test_the_number_that_is_printed_is_the_time(tmp_path, scattered):
    platform = platform_of(tmp_path, 'echo hello; echo "0.5$2"', parallel=2)
    table = evaluated(platform, scattered, 8)
    assert table["seconds"].tolist() == [float(f"0.5{i}") for i in table["schedule_id"]]


def test_the_program_gets_the_matrix_and_all_else(tmp_path, scattered):
    script = 'set -- $(grep -v % "$1" | head -1) "$4" "$5" "$6"; echo "$*" >&2; exit 3'
    table = evaluated(platform_of(tmp_path, script, rejected_exit_codes=[3]), scattered, 1)
    shape = f"{scattered.rows} {scattered.cols} {scattered.nnz}"
    assert table["reason"][0] == f"{shape} 64 spmm {scattered.nnz}"
    assert table["status"][0] == "rejected"


def test_a_pattern_and_a_unit_are_used(tmp_path, scattered):
    script = 'echo "cycles: 7 (warm-up)"; echo "cycles: 3000"; echo done'
    platform = platform_of(
        tmp_path, script, pattern=r"cycles: (\d+)", unit="cycles", clock_hz=1.5e9
    )
    assert evaluated(platform, scattered, 1)["seconds"][0] == pytest.approx(2e-6)


def test_a_parameter_goes_before_what_is_known_of_the_matrix(tmp_path, scattered):
    content = changed(
        parameters=[{"name": "rows", "values": [7, 9], "default": 7}],
        forbid=[],
        slots={"rows_per_tile": "rows"},
        command={"run": "echo {rows} {cols} {matrix}", "pattern": r"^(\d+) 500 "},
    )
    (tmp_path / "board.yaml").write_text(yaml.safe_dump(content))
    platform = get_platform(str(tmp_path / "board.yaml"), cache=str(tmp_path / "cache"))
    table = platform.evaluate(scattered, SPMM, list(platform.space(SPMM)))
    assert table["seconds"].tolist() == [7, 9]


BAD_ENDS = {
    "junk": ("echo 'no licence'", "expected a number, got: no licence"),
    "silence": ("true", "got: nothing"),
    "negative": ("echo -1", "not a positive number"),
    "zero": ("echo 0", "not a positive number"),
    "not_a_number": ("echo nan", "not a positive number"),
    "exit_code": ("echo 1; echo 'cannot open' >&2; exit 7", "exit code 7: cannot open"),
    "signal": ("kill -SEGV $$", "signal 11"),
    "binary": ("printf '\\377\\376\\n'", "expected a number"),
}


@pytest.mark.parametrize(("script", "words"), BAD_ENDS.values(), ids=BAD_ENDS)
def test_each_bad_end_is_a_failed_row_with_its_reason(tmp_path, scattered, script, words):
    table = evaluated(platform_of(tmp_path, script), scattered, 2)
    assert table["status"].tolist() == ["failed"] * 2
    assert words in table["reason"][0]


def test_a_run_over_the_limit_is_killed_with_its_children(tmp_path, scattered):
    platform = platform_of(tmp_path, "sleep 60 & echo $! > child; wait", timeout_seconds=0.5)
    table = evaluated(platform, scattered, 1)
    assert table["reason"][0] == "no answer within 0.5 s"
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not _is_running(child):
            break
        time.sleep(0.05)
    assert not _is_running(child)


def _is_running(process):
    try:
        with open(f"/proc/{process}/stat") as stream:
            return stream.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_children_that_outlive_the_program_neither_hold_it_up_nor_live_on(tmp_path, scattered):
    platform = platform_of(tmp_path, "sleep 60 & echo $! > child; echo 0.5")
    started = time.monotonic()
    assert evaluated(platform, scattered, 1)["seconds"][0] == 0.5
    assert time.monotonic() - started < 15
    assert not _is_running(int((tmp_path / "child").read_text()))


def test_endless_output_ends_at_the_limit_without_filling_memory(tmp_path, scattered):
    table = evaluated(platform_of(tmp_path, "yes", timeout_seconds=0.5), scattered, 1)
    assert table["reason"][0] == "no answer within 0.5 s"


def test_long_output_before_the_number_is_fine(tmp_path, scattered):
    table = evaluated(platform_of(tmp_path, "yes | head -200000; echo 2.5"), scattered, 1)
    assert table["seconds"][0] == 2.5


def test_a_failure_is_tried_again_as_often_as_asked(tmp_path, scattered):
    script = COUNT + '[ "$(wc -l < calls)" -ge 3 ] && echo 1.5'
    assert (
        evaluated(platform_of(tmp_path, script, retries=1), scattered, 1)["status"][0] == "failed"
    )
    os.remove(tmp_path / "calls")
    table = evaluated(platform_of(tmp_path, script, retries=2), scattered, 1)
    assert (table["status"][0], table["attempts"][0]) == ("ok", 3)


def test_answers_are_kept_and_failures_are_not(tmp_path, scattered):
    script = COUNT + '[ "$3" = 4 ] && exit 9; echo 1.5'
    first = evaluated(platform_of(tmp_path, script), scattered, 10)
    assert set(first["status"]) == {"ok", "failed"}
    second = evaluated(platform_of(tmp_path, script), scattered, 10)
    failed = (first["status"] == "failed").sum()
    assert calls(tmp_path) == 10 + failed
    ok = first["status"] == "ok"
    assert first[ok].equals(second[ok])


def test_a_rejection_is_kept(tmp_path, scattered):
    for _ in range(2):
        platform = platform_of(tmp_path, COUNT + "exit 3", rejected_exit_codes=[3])
        assert set(evaluated(platform, scattered, 2)["status"]) == {"rejected"}
    assert calls(tmp_path) == 2


def test_a_changed_program_width_or_pattern_is_asked_anew(tmp_path, scattered):
    evaluated(platform_of(tmp_path, COUNT + "echo 1"), scattered, 1)
    platform = platform_of(tmp_path, COUNT + "echo 2")
    assert evaluated(platform, scattered, 1)["seconds"][0] == 2
    wide = get_operation("spmm", 128)
    platform.evaluate(scattered, wide, platform.space(wide).sample(1, seed=1))
    thin = type(scattered).from_scipy(scattered.to_scipy()[:200], "scattered")
    evaluated(platform, thin, 1)
    assert calls(tmp_path) == 4


def test_a_damaged_kept_answer_is_asked_anew(tmp_path, scattered):
    platform = platform_of(tmp_path, "echo 1")
    evaluated(platform, scattered, 1)
    (kept,) = (tmp_path / "cache").rglob("*.json")
    for content in ("", "{}", '{"status": "ok", "seconds": -1}', "[1]"):
        kept.write_text(content)
        assert evaluated(platform, scattered, 1)["seconds"][0] == 1


def test_an_interrupted_evaluation_goes_on_where_it_stopped(tmp_path, scattered):
    platform = platform_of(tmp_path, COUNT + "echo 1")

    def interrupt(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluated(platform, scattered, 10, interrupt)
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 4
    started = calls(tmp_path)
    seen = []
    assert set(evaluated(platform, scattered, 10, lambda d, t: seen.append((d, t)))["seconds"]) == {
        1
    }
    assert calls(tmp_path) - started == 6
    assert seen == [(d, 10) for d in range(5, 11)]


def test_it_gives_up_after_failures_in_a_row(tmp_path, scattered):
    table = evaluated(platform_of(tmp_path, COUNT + "exit 9", give_up_after=3), scattered, 10)
    assert calls(tmp_path) == 3
    assert "not tried: 3 runs in a row failed" in table["reason"].iloc[-1]


def test_runs_side_by_side_are_as_many_as_asked(tmp_path, scattered):
    script = "mkdir -p live; touch live/$2; sleep 0.3; ls live | wc -l > seen$2; rm live/$2; echo 1"
    evaluated(platform_of(tmp_path, script, parallel=3), scattered, 6)
    together = [int(path.read_text()) for path in tmp_path.glob("seen*")]
    assert max(together) <= 3
    evaluated(platform_of(tmp_path, script + " ", parallel=1), scattered, 3)


def test_a_program_that_is_not_there_is_a_reason_to_skip(tmp_path, scattered):
    content = changed(command={"run": "no-such-simulator {matrix} {schedule}"})
    (tmp_path / "board.yaml").write_text(yaml.safe_dump(content))
    platform = get_platform(str(tmp_path / "board.yaml"), cache=str(tmp_path / "cache"))
    assert "no-such-simulator" in platform.skip()
    assert "cannot be started" in evaluated(platform, scattered, 1)["reason"][0]


def test_a_file_that_results_depend_on_must_be_there(tmp_path):
    with pytest.raises(PlatformError, match=r"timing\.cfg: cannot be read"):
        platform_of(tmp_path, "echo 1", files=["timing.cfg"])


def test_settings_override_the_file_and_are_checked(tmp_path):
    platform_of(tmp_path, "echo 1")
    path = str(tmp_path / "board.yaml")
    assert get_platform(path, timeout_seconds=3).command.timeout_seconds == 3
    with pytest.raises(PlatformError, match="positive"):
        get_platform(path, parallel=0)
    (tmp_path / "board.yaml").write_text(
        (tmp_path / "board.yaml").read_text().replace("kind: simulated", "kind: measured")
    )
    with pytest.raises(PlatformError, match="runs alone"):
        get_platform(path, parallel=2)


def test_it_conforms(tmp_path):
    script = '[ "$6" = 0 ] && { echo empty >&2; exit 3; }; echo "0.5$2"'
    platform = platform_of(tmp_path, script, rejected_exit_codes=[3])
    assert check_platform(platform, operations=["spmm"]) == []
