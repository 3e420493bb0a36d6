SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := setup
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
TRAIN_STAMP := $(VENV)/.installed-train
DEV_STAMP := $(VENV)/.installed-dev
# To choose an interpreter yourself: make setup PYTHON=/path/to/python
PYTHON ?=

.PHONY: setup train test lint docs clean

setup: $(DEV_STAMP)

# Candidates are run, not just looked up: a version manager's shim can exist and still not start.
$(VENV)/pyvenv.cfg:
	@found=; bare=; \
	for candidate in $(or $(PYTHON),python3.13 python3.12 python3.11 python3); do \
	  "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
	  if "$$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then found=$$candidate; break; fi; \
	  bare=$${bare:-$$candidate}; \
	done; \
	if [ -z "$$found" ] && [ -n "$$bare" ]; then \
	  echo "error: $$bare cannot create virtual environments (no venv or ensurepip module). On Debian or Ubuntu: apt install python3-venv" >&2; exit 1; \
	elif [ -z "$$found" ]; then \
	  echo "error: no Python 3.11 or newer found (tried: $(or $(PYTHON),python3.13 python3.12 python3.11 python3)). Install one, or pass PYTHON=/path/to/python" >&2; exit 1; \
	fi; \
	echo "creating $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv "$(VENV)"

# Each stamp stands for a finished install; an interrupted one leaves none and is run again.
$(DEV_STAMP): pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(PIP_INSTALL) -e ".[dev]"
	@touch $(TRAIN_STAMP) $@

$(TRAIN_STAMP): pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(PIP_INSTALL) -e ".[train]"
	@touch $@

train: $(TRAIN_STAMP)
	$(BIN)/python -m training.quickstart

lint: $(DEV_STAMP)
	$(BIN)/python -m ruff check
	$(BIN)/python -m mypy

# The test workers already fill the cores; numeric libraries must not add threads of their own.
test: export OMP_NUM_THREADS ?= 1
test: lint
	$(BIN)/python -m pytest -n 2

# Tables in the documentation that are made from the code; pictures too with: make docs DOCS=--images
docs: $(DEV_STAMP)
	$(BIN)/python docs/generate.py $(DOCS)

# The environment stays: rebuilding it is slow. Remove it with: rm -rf .venv
clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +
