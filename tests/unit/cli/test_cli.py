"""The command line as a whole: help with examples, JSON, errors, exit codes."""

import json
import re
import shlex
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import cognate
from cognate.cli.main import app
from cognate.errors import CognateError

RUNNER = CliRunner()


def commands(group=None, path=()):
    """Every command of the tree with its words."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands())


def run(*words):
    return RUNNER.invoke(app, list(words))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example_that_parses(path):
    text = COMMANDS[path].help
    example = re.search(r"Example: (cognate .+)", text)
    assert example, text
    words = shlex.split(example[1].split(" > ")[0])[1:]
    assert tuple(words[: len(path)]) == path
    # Parsing, not running: a wrong option or argument raises here.
    known = COMMANDS[path]
    if "config" not in path and path != ("export",) and path != ("study",):
        known.make_context(" ".join(path), words[len(path) :])
    shown = run(*path, "--help")
    assert shown.exit_code == 0
    assert "Example" in shown.output


def test_no_command_needs_json_and_lacks_it():
    silent = {("study",), ("config", "check"), ("config", "schema"), ("config", "reference")}
    for path, command in COMMANDS.items():
        options = {option for p in command.params for option in p.opts}
        assert ("--json" in options) == (path not in silent), path


JSON = {
    "show": ["show", "Trefethen_500", "--json"],
    "matrices list": ["matrices", "list", "--nnz-max", "5000", "--json"],
    "matrices show": ["matrices", "show", "Trefethen_500", "--json"],
    "platform list": ["platform", "list", "--json"],
    "platform check": ["platform", "check", "spade", "--set", "threads=1", "--json"],
    "schedules list": ["schedules", "list", "--json"],
    "schedules show": ["schedules", "show", "rp=32", "--platform", "spade", "--json"],
    "simulate": ["simulate", "Trefethen_500", "--width", "32", "--json"],
}


@pytest.mark.parametrize("words", JSON.values(), ids=JSON)
def test_json_is_json_alone(words):
    outcome = run(*words)
    assert outcome.exit_code == 0, outcome.output
    json.loads(outcome.stdout)


def test_lists_and_statistics_say_what_the_library_says():
    from cognate.matrices import embedded

    table = embedded.catalogue()
    listed = json.loads(run("matrices", "list", "--json").stdout)
    assert [row["name"] for row in listed] == list(table["name"])
    shown = json.loads(run("show", "Trefethen_500", "--json").stdout)
    assert shown["nnz"] == table.set_index("name").at["Trefethen_500", "nnz"]


def test_simulate_gives_each_schedule_its_row():
    from cognate.matrices import embedded
    from cognate.operations import get_operation
    from cognate.platforms import get_platform

    outcome = run("simulate", "Trefethen_500", "--width", "32", "--json",
                  "--schedule", "rp=4", "--schedule", "rp=32 split=32")  # fmt: skip
    rows = json.loads(outcome.stdout)
    spade, spmm = get_platform("spade"), get_operation("spmm", 32)
    chosen = [spade.space(spmm).parse(row["schedule"]) for row in rows]
    truth = spade.evaluate(embedded.build("Trefethen_500"), spmm, chosen)
    assert [row["seconds"] for row in rows] == pytest.approx(truth["seconds"].tolist())
    assert [s["rp"] for s in chosen] == [4, 32]


def test_simulate_reports_in_words_on_the_machine_that_was_asked_for(tmp_path):
    machine = tmp_path / "wide.yaml"
    machine.write_text("based_on: spade-32\nbandwidth_gb_s: {value: 500, source: assumed}\n")
    words = ["simulate", "Trefethen_500", "--width", "32", "--schedule", "rp=4"]
    text = run(*words, "--machine", str(machine)).stdout
    assert "spmm with 32 dense columns on wide" in text
    assert "issuing vector operations" in text
    seconds = {
        name: json.loads(run(*words, "--machine", name, "--json").stdout)[0]["seconds"]
        for name in ("spade-32", str(machine))
    }
    assert seconds[str(machine)] < seconds["spade-32"]


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_timeline_is_drawn_beside_the_report(tmp_path, ending, start):
    path = tmp_path / f"t.{ending}"
    outcome = run("simulate", "Trefethen_500", "--width", "32", "--timeline", str(path))
    assert outcome.exit_code == 0
    assert "element time spent on" in outcome.stdout
    assert path.read_bytes().startswith(start)


ERRORS = {
    "matrix": ["show", "nosuch"],
    "file": ["show", "nosuch.mtx"],
    "platform": ["schedules", "list", "--platform", "nosuch"],
    "yaml": ["platform", "check", "nosuch.yaml"],
    "operation": ["schedules", "list", "--op", "spmv"],
    "kind": ["measure", "Trefethen_500", "--platform", "spade"],
    "schedule": ["simulate", "Trefethen_500", "--schedule", "rp=5"],
    "setting": ["simulate", "Trefethen_500", "--set", "threads"],
    "setting value": ["simulate", "Trefethen_500", "--set", "threads=["],
    "machine": ["simulate", "Trefethen_500", "--machine", "nosuch.yaml"],
    "timeline format": ["simulate", "Trefethen_500", "--timeline", "t.txt"],
    "timeline platform": ["simulate", "Trefethen_500", "--platform", "cpu", "--timeline", "t.svg"],
    "model": ["recommend", "Trefethen_500", "--shots-model", "nosuch.safetensors"],
    "archive": ["import", "nosuch.zip"],
}


@pytest.mark.parametrize("words", ERRORS.values(), ids=ERRORS)
def test_a_mistake_is_a_cognate_error(words):
    outcome = run(*words)
    assert isinstance(outcome.exception, CognateError)
    assert outcome.stdout == ""


def cognate_process(*words):
    command = [sys.executable, "-c", "from cognate.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_errors_go_to_standard_error_with_status_1_and_usage_is_2():
    wrong = cognate_process("show", "nosuch")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert wrong.stderr.startswith("cognate: there is no embedded matrix 'nosuch'")
    assert "Traceback" not in wrong.stderr
    usage = cognate_process("recommend", "--nosuch")
    assert (usage.returncode, usage.stdout) == (2, "")


def test_a_closed_pipe_is_not_a_traceback():
    command = f"{sys.executable} -c 'from cognate.cli import main; main()' matrices list | head -1"
    outcome = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert outcome.stderr == ""


def test_version_and_completion():
    assert run("--version").output == f"cognate {cognate.__version__}\n"
    options = {option for p in typer.main.get_command(app).params for option in p.opts}
    assert "--install-completion" in options
    from cognate.cli import options as shared

    assert shared._platform_names("sp") == ["spade"]
    assert shared._matrix_names("Trefethen_5") == ["Trefethen_500"]


def test_check_names_the_problem_and_fails(tmp_path):
    (tmp_path / "board.yaml").write_text(
        "name: board\nkind: simulated\nmachine: {workers: 1, bytes_per_second: 1, "
        "flops_per_second: 1}\nparameters:\n- {name: a, values: [1, 2], default: 1}\n"
        "slots: {}\ncommand: {run: 'false {matrix} {a}'}\n"
    )
    outcome = run("platform", "check", str(tmp_path / "board.yaml"),
                  "--set", f"cache={tmp_path / 'cache'}")  # fmt: skip
    assert outcome.exit_code == 1
    assert "WRONG  answers (spmm): no schedule ran" in outcome.stdout
    assert "exit code 1" in outcome.stdout


def test_a_name_is_looked_up_in_the_corpus_then_in_suitesparse(monkeypatch):
    from cognate.cli.options import find_matrix
    from cognate.matrices import sources

    asked = []
    monkeypatch.setattr(sources.suitesparse, "load", lambda name, *rest: asked.append(name))
    assert find_matrix("Trefethen_500").name == "Trefethen_500"
    assert asked == []
    find_matrix("west0479")
    assert asked == ["west0479"]
