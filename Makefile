# make study   the default study, from nothing to tables, figures and a report
# make test    lint, types and all tests
# make test-cluster  both cluster profiles on a Slurm of one node that it installs (Debian, root)
# Both set up .venv first; a second call installs nothing.

VENV ?= .venv
PYTHON ?= $(shell command -v python3.11 || command -v python3)
CONFIG ?= config.yaml
CORES ?= all
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: study test test-cluster lint smoke clean help
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# //p' Makefile

$(INSTALLED): envs/requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cognate needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r envs/requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

study: $(INSTALLED)
	$(BIN)/cognate study --configfile $(CONFIG) --cores $(CORES)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint

test: $(INSTALLED) lint
	$(BIN)/pytest
	@echo "All tests passed. What each covers: CONTRIBUTING.md. Next: make study"

test-cluster: $(INSTALLED)
	tests/cluster/install.sh
	$(BIN)/pytest -m cluster
