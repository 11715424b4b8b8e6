"""Every command in the documentation runs, or, where it takes long or a network, parses."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from cognate.cli.main import app
from cognate.models import shipped_names

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    """Contents of the page's fenced blocks of one language."""
    return [text for kind, text in FENCE.findall(page.read_text()) if kind == language]


def console_commands(page):
    """Lines after a prompt in console blocks, in the page's order."""
    lines = [line for text in blocks(page, "console") for line in text.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def shell_lines(page):
    """Lines of sh blocks without comments, continued ones joined."""
    text = "\n".join(blocks(page, "sh")).replace("\\\n", " ")
    lines = [re.sub(r"\s#.*|^#.*", "", line).strip() for line in text.splitlines()]
    return [line for line in lines if line]


RUN = [page for page in PAGES if console_commands(page)]
PARSED = [(page.name, line) for page in PAGES for line in shell_lines(page)]


@pytest.fixture
def checkout(tmp_path):
    """A folder with what commands of the documentation expect in a checkout."""
    for name in ("config", "examples"):
        ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copy(ROOT / "config.yaml", tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_console_commands_of_a_page_run_in_order(page, checkout):
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for command in console_commands(page):
        outcome = subprocess.run(
            command,
            shell=True,
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert outcome.returncode == 0, f"$ {command}\n{outcome.stdout}{outcome.stderr}"


def test_console_blocks_hold_commands_only():
    for page in RUN:
        lines = [line for text in blocks(page, "console") for line in text.splitlines()]
        assert all(line.startswith("$ ") for line in lines), page


@pytest.mark.parametrize(
    ("page", "line"), PARSED, ids=[f"{p}-{i}" for i, (p, _) in enumerate(PARSED)]
)
def test_other_commands_parse(page, line):
    words = [w for w in shlex.split(line) if not re.fullmatch(r"[A-Z_]+=\S*", w)]
    program = Path(words[0]).name if words else ""
    if program == "cognate":
        _parse_cognate(words[1:])
    elif program == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words[1] in targets, line
    elif program == "snakemake":
        for option, value in itertools.pairwise(words):
            if option in ("--configfile", "--profile") and not value.startswith(("my", "path")):
                assert (ROOT / value).exists(), line
    else:
        assert shutil.which(words[0]) or program in KNOWN, f"{page}: {line}"


KNOWN = {"pip", "git", ".", "source", "sbatch", "python", "conda", "mamba", "apt-get", "export"}


def _parse_cognate(words):
    """Walk down the command tree and parse without running; wrong options raise."""
    command = typer.main.get_command(app)
    while hasattr(command, "commands"):
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    named = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= named


def test_python_blocks_run():
    for page in PAGES:
        for text in blocks(page, "python"):
            if "cognate" in text and "recommend" in text:
                subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)


def test_yaml_of_the_pages_is_that_of_the_examples():
    text = (ROOT / "docs" / "adding.md").read_text()
    for example in ("table/board.yaml", "sextans/sextans.yaml"):
        content = (ROOT / "examples" / example).read_text()
        quoted = blocks(ROOT / "docs" / "adding.md", "yaml")
        assert any(block.strip() in content for block in quoted), example
    assert "examples/python-platform" in text


def test_models_ship():
    assert {"spade-spmm", "spade-sddmm", "source-spmm", "source-sddmm"} <= set(shipped_names())


def test_the_site_builds_without_warnings(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = dict(os.environ, NO_MKDOCS_2_WARNING="1")
    outcome = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert "WARNING" not in outcome.stderr
