# make reproduce   runs every experiment of the paper and writes the report to out/reproduce/report.html
# make test        runs all checks
# make bench       measures the speed against C, NumPy, plain Python and other packages
# make lock        renews the lock files
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: reproduce test bench lock clean

reproduce: $(VENV)/.run
	$(BIN)/patientbandits reproduce --out out/reproduce

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2

bench: $(VENV)/.dev
	$(BIN)/python -m bench --reproduce

$(VENV)/.run: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml requirements-build.in -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --group dev pyproject.toml requirements-build.in -o requirements-dev.lock

clean:
	rm -rf $(VENV) out .bench
