# The commands of a working copy. Everything runs in .venv; nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export CRMRAG_DATA ?= data

.PHONY: help demo test test-all check docs ui lock clean scale

help:
	@echo "make demo   install, build the sample data set, ask three questions"
	@echo "make test   install, lint, check types, run the tests that are not slow"
	@echo "make test-all  the same with the slow tests, and with more examples of every property: before a release"
	@echo "make scale  what building a small made museum costs, beside what it cost before (a report)"
	@echo "make ui     the Dagster UI on workspace.yaml"
	@echo "make check  lint and strict types"
	@echo "make docs   the documentation as a site, in site/index.html; rewrites docs/reference from the code"
	@echo "make lock   renew requirements.lock from pyproject.toml; UPGRADE=1 takes the newest of every package"
	@echo "make clean  remove what builds wrote (data/) but not the sample; make clean-env removes .venv"

$(STAMP): pyproject.toml requirements.lock requirements-cpu.lock requirements-cuda.lock
	@test -x $(BIN)/python || { echo "Creating the environment in $(VENV) ..."; $(PYTHON) -m venv $(VENV); }
	@echo "Installing (about 2.5 GB, a few minutes the first time) ..."
	@$(BIN)/python -m tools.environment
	@touch $@

demo: $(STAMP)
	@$(BIN)/crmrag demo

# Types are checked while the tests run, in one process more than the two cores of our CI: tests wait for processes now and then.
test: $(STAMP)
	@$(MAKE) --no-print-directory --jobs 2 check pytest SELECTED='-m "not slow"'

test-all: $(STAMP)
	@$(MAKE) --no-print-directory --jobs 2 check pytest SELECTED='--hypothesis-profile thorough'

# Tests start hundreds of processes: each would compile what it imports, if no bytecode were kept.
.PHONY: pytest
pytest: $(STAMP)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(SELECTED)

check: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

# MkDocs' theme tells about its successor at every build; what counts here are warnings about our pages.
docs: $(STAMP)
	@$(BIN)/python -m tools.reference
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html"

# uv is no part of the environment: only who renews the lock needs it.
lock: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/python -m tools.environment.lock $(if $(UPGRADE),--upgrade)

# Memory and time as they become; nothing fails by it.
scale: $(STAMP)
	@$(BIN)/python benchmarks/scale.py --entities 10000 --against benchmarks/results/scale_small.json

ui: $(STAMP)
	@$(BIN)/crmrag ui

.PHONY: clean-env
clean:
	@rm -rf data/work data/cache data/encoders data/releases data/dagster data/evaluations

clean-env:
	@rm -rf $(VENV)
