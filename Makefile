# make reproduce   runs every experiment of the paper and writes the report to out/reproduce/report.html
# make compare     every policy on a suite of problems: out/compare/comparison.html
# make freeze      the same, and its numbers into docs/data/delay-bench-1 and the documents,
#                  to be committed; ends with the tests that hold them
# make serve       the live service on this machine, database shop.db
# make docs        the documentation as a site: out/site/index.html
#
# make format      puts the source into the one format, and mends what can be mended by itself
# make check       lint, format, types, imports, how the source reads: under a minute
# make quick       check, and the tests that answer soon: about two minutes once compiled
# make test        check, and all tests
#
# make bench       measures the speed against C, NumPy, plain Python and other packages
# make bench-model measures regret with late rewards against rivals and bars
# make bench-live  measures the live service beside its floors
# make torture     500 kills under load, 2000 losses of power, 100 000 damaged requests, ...
# make soak        ten minutes at an even rate with reports open (MINUTES=60: an hour)
# make lock        renews the lock files
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-emit-package patientbandits-client

# sources of another C program, for `make bench`
LIMIT ?= $(wildcard ../shared/limit)

.PHONY: reproduce compare freeze serve docs format check quick test bench bench-model bench-live torture soak lock clean

reproduce: $(VENV)/.run
	$(BIN)/patientbandits reproduce --out out/reproduce

compare: $(VENV)/.run
	$(BIN)/patientbandits compare --out out/compare

freeze: $(VENV)/.dev
	$(BIN)/patientbandits compare --out out/compare --freeze docs/data/delay-bench-1
	$(BIN)/python -m tools.frozen_docs
	$(BIN)/pytest -q -n 0 tests/research/compare/test_frozen.py

serve: $(VENV)/.run
	$(BIN)/patientbandits serve

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "site: out/site/index.html"

format: $(VENV)/.dev
	$(BIN)/python tools/unasync.py
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/unasync.py --check
	$(BIN)/python tools/style.py --check

quick: check
	$(BIN)/pytest -n 2 -m "not slow"

test: check
	$(BIN)/pytest -n 2

bench: $(VENV)/.dev
	$(BIN)/python -m bench --reproduce $(if $(LIMIT),--limit $(LIMIT))

bench-model: $(VENV)/.dev
	$(BIN)/python -m bench.late

bench-live: $(VENV)/.dev
	$(BIN)/python -m bench.live --postgres

# what an attacker found, and finds no more
ATTACKS := $(addprefix tests/live/,http/test_limits.py monitoring/test_webhooks.py test_failover.py \
	commands/test_one_arm.py commands/test_large_people.py commands/test_history.py \
	storage/test_postgres_limits.py)

torture: $(VENV)/.dev
	$(BIN)/python -m bench.torture --cycles 500 --points 2000
	$(BIN)/python -m tests.live.messages --full
	ARM_EXAMPLES=300 $(BIN)/pytest -q $(ATTACKS)
	SCHEMA_EXAMPLES=100 $(BIN)/pytest -q tests/live/http/test_openapi.py tests/live/commands/test_clock.py \
		tests/live/commands/test_failing_experiments.py tests/live/server/test_protocol.py tests/live/reporting/test_export.py

MINUTES ?= 10
soak: $(VENV)/.dev
	$(BIN)/python -m bench.soak --minutes $(MINUTES)

$(VENV)/.run: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock client/pyproject.toml
	$(INSTALL) --require-hashes -r requirements-dev.lock
	$(INSTALL) --no-deps --no-build-isolation --editable client
	touch $@

lock:
	$(COMPILE) --extra live --extra postgres --extra data \
		pyproject.toml requirements-build.in -o requirements.lock
	$(COMPILE) --group dev --all-extras \
		pyproject.toml requirements-build.in -o requirements-dev.lock

clean:
	rm -rf $(VENV) out .bench
