# make run    set up and run the main job        make test   set up, check and run the quick tests
# make test-slow     tests that need time to pass     make test-cluster   tests on the cluster that KUBECONFIG leads to
# make check  ruff, mypy --strict, import-linter  make bench  the engine's benchmark    make lock   re-lock dependencies
# make docs   write the pages that come from the code
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: run test test-slow test-cluster check bench docs lock clean

run: $(READY)
	@# 3: pods are left that found no node; one of these is meant to
	$(BIN)/kubesched up --once examples/quickstart/ || [ $$? -eq 3 ]

test: $(READY) check
	$(BIN)/python -m pytest -n auto

test-slow: $(READY)
	$(BIN)/python -m pytest -n auto -m slow

test-cluster: $(READY)
	$(BIN)/python -m pytest -m cluster tests/cluster

check: $(READY)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m benchmarks $(BENCH)

docs: $(READY)
	$(BIN)/python -m kubesched.controlplane.compatibility > docs/api-compatibility.md

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kubesched needs Python 3.11 or later; set PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

lock:
	uv pip compile pyproject.toml --extra dev --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate -o requirements.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
