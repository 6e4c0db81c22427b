# `make run` and `make test` are all a fresh clone needs; each first installs into .venv what it needs itself.
# uv installs where it is found, else Python's own venv and pip do.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
UV := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(UV),$(UV) pip install --compile-bytecode --python $(BIN)/python,$(BIN)/pip install --disable-pip-version-check) --constraint constraints.txt
PYTEST := $(BIN)/pytest -n 4 --dist worksteal

.PHONY: setup dev run check test privacy coverage langgraph-dev bench clean

setup: $(RUN)

dev: $(DEV)

$(RUN): pyproject.toml constraints.txt
	@echo "soulgraph: installing into $(VENV) (first time, a minute or two)…"
ifdef UV
	test -x $(BIN)/python || $(UV) venv --python $(PYTHON:python%=%) $(VENV)
else
	@command -v $(PYTHON) >/dev/null || { echo "soulgraph: there is no $(PYTHON): install it, or uv, or name it: make PYTHON=…"; exit 1; }
	$(PYTHON) -m venv $(VENV)
endif
	$(INSTALL) --editable '.[trace]'
	@touch $@
	@echo "soulgraph: installed"

$(DEV): $(RUN)
	@echo "soulgraph: installing what tests, types and benchmarks need (first time, a minute or two)…"
	$(INSTALL) --editable '.[dev,bench,train,trace]'
	@mkdir -p .types && ln -sfn .. .types/soulgraph
	@touch $@
	@echo "soulgraph: installed"

run: setup
	$(BIN)/soulgraph serve

check: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# First what runs in this process, with a floor for what it covers; then what starts servers, commands and brokers.
APART := tests/e2e tests/cli tests/terminals
test: check
	$(PYTEST) --cov --cov-report= --cov-fail-under=83 $(addprefix --ignore=,$(APART))
	$(PYTEST) $(APART)

# Thousands of turns of people who confide in the same souls, with a model that tells everything it sees.
privacy: dev
	SOULGRAPH_TEST_PRIVACY_TURNS=3000 $(BIN)/pytest -n 2 -s tests/e2e/test_privacy.py

coverage: dev
	COVERAGE_CONCURRENCY=greenlet $(PYTEST) --cov --cov-report=term-missing

langgraph-dev: dev
	$(BIN)/langgraph dev --allow-blocking

bench: dev
	$(BIN)/python bench/turn.py
	$(BIN)/python bench/dynamics.py
	$(BIN)/python bench/prompt.py
	$(BIN)/python bench/recall.py
	$(BIN)/python bench/heart.py
	$(BIN)/python bench/terminals.py
	$(BIN)/python bench/tracing.py
	$(if $(DATA),$(BIN)/python bench/senses.py $(DATA),@echo "bench/senses.py needs the public sets: make bench DATA=folder")

clean:
	rm -rf $(VENV) .types build *.egg-info .coverage
