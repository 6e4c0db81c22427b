# `make run` and `make test` are all a fresh clone needs; both set up .venv first.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup run test check studio bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,bench,train,trace]'
	mkdir -p .types && ln -sfn .. .types/soulgraph
	touch $@

run: setup
	$(BIN)/soulgraph serve

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	$(BIN)/pytest -n 4 --dist worksteal

studio: setup
	$(BIN)/langgraph dev --allow-blocking

bench: setup
	$(BIN)/python bench/turn.py
	$(BIN)/python bench/dynamics.py
	$(BIN)/python bench/prompt.py
	$(BIN)/python bench/recall.py
	$(BIN)/python bench/heart.py
	$(BIN)/python bench/terminals.py
	$(BIN)/python bench/tracing.py
	$(if $(DATA),$(BIN)/python bench/senses.py $(DATA),@echo "bench/senses.py needs the public sets: make bench DATA=folder")

clean:
	rm -rf $(VENV) .types build *.egg-info
