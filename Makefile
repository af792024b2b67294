# The commands of a working copy. Everything runs in .venv; nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export CRMRAG_DATA ?= data

.PHONY: help demo test check docs ui clean scale

help:
	@echo "make demo   install, build the sample data set, ask three questions"
	@echo "make test   install, run the whole test suite"
	@echo "make scale  what building a small made museum costs, beside what it cost before (a report)"
	@echo "make ui     the Dagster UI on workspace.yaml"
	@echo "make check  lint and strict types"
	@echo "make docs   the documentation as a site, in site/index.html; rewrites docs/reference from the code"
	@echo "make clean  remove what builds wrote (data/) but not the sample; make clean-env removes .venv"

# Python compiles a module when it is first used; compiling all of them here takes longer than fetching them.
$(STAMP): pyproject.toml
	@test -x $(BIN)/python || { echo "Creating the environment in $(VENV) ..."; $(PYTHON) -m venv $(VENV); }
	@echo "Installing (about 2.5 GB, a few minutes the first time) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[build,llm,evaluate,service,mcp,dev]'
	@touch $@

demo: $(STAMP)
	@$(BIN)/crmrag demo

# Types are checked while the tests run, in two processes more than the two cores of our CI: tests wait for processes now and then.
test: $(STAMP)
	@$(MAKE) --no-print-directory --jobs 2 check pytest

.PHONY: pytest
pytest: $(STAMP)
	@$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

check: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

# MkDocs' theme tells about its successor at every build; what counts here are warnings about our pages.
docs: $(STAMP)
	@$(BIN)/python -m tools.reference
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "The documentation is in site/index.html"

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
