# make run    set up and run the main job        make test   set up, check and run the quick tests
# make test-slow     tests that need time to pass     make test-cluster   tests on the cluster that KUBECONFIG leads to
# make quick  the tests of the core, in less than a minute   make test-random   properties, with new examples each time
# make quick-scheduler, quick-controlplane, quick-answers, quick-lab, quick-contrib   the tests of one distribution
# make check  ruff, mypy --strict, import-linter  make bench  the engine's benchmark    make lock   re-lock dependencies
# make test-pythons   the quick tests on 3.11 to 3.14, whichever are installed   make test-oracle   our CEL against Google's
# make fuzz   feed decoders and plugins with hostile inputs for an hour (FUZZ_SECONDS=600 for ten minutes)
# make attack attack the page, a cluster and the scheduler on loopback (ATTACK=page_files for some of the attacks)
# make docs   write the pages that come from the code   make site  build the documentation as a site, into .site
# make coverage  the quick tests, and which lines no test runs   make dist  wheels, source and bill of materials, into dist
# make release VERSION=0.2.0   write the version into all files; prints the commands that follow
# make release-check TAG=v0.2.0   whether all places name the version of a tag; prints its notes
# make upstream SRC=...   compare our tables with a checkout of kubernetes (docs/internals/next-release.md)
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
FUZZ_SECONDS ?= 3600
SITE   := .venv-site
# what `pip install kubesched` installs; plugins of packages/contrib are not installed: their entry points would be in all tests
PARTS  := $(addprefix packages/,scheduler controlplane answers lab)
PYTHONS ?= 3.11 3.12 3.13 3.14
# tests start many processes; without bytecode each of them compiles the package again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run quick quick-scheduler quick-controlplane quick-answers quick-lab quick-contrib test test-random test-oracle test-pythons pytest test-slow test-cluster check coverage dist release release-check bench fuzz attack docs site upstream lock clean

run: $(READY)
	@# 3: pods are left that found no node; one of these is meant to
	$(BIN)/kubesched try examples/quickstart/ || [ $$? -eq 3 ]

# mypy is one process: the tests need not wait for it
test: $(READY)
	@$(MAKE) --no-print-directory -j 2 check pytest

# what a change to the scheduler breaks first: half a minute on two cores; QUICK=path for other tests
quick: $(READY)
	$(BIN)/python -m pytest -q -n auto --ignore packages/scheduler/tests/core/property $(or $(QUICK),packages/scheduler/tests/api packages/scheduler/tests/cel packages/scheduler/tests/config packages/scheduler/tests/core tests/tools tests/test_*.py)

quick-scheduler quick-controlplane quick-answers quick-lab quick-contrib: quick-%: $(READY)
	$(BIN)/python -m pytest -q -n auto packages/$*

# the examples of Hypothesis are the same ones in `make test`; here they are new each time
test-random: $(READY)
	KUBESCHED_RANDOM=1 $(BIN)/python -m pytest -n auto $$(grep -rlE "^from hypothesis|^import hypothesis" tests packages --include="test_*.py")

# needs cel-expr-python, which is in no lock: 50 MB for one test
test-oracle: $(READY)
	$(BIN)/python -m pip install --quiet "cel-expr-python>=0.1.3"
	KUBESCHED_RANDOM=1 $(BIN)/python -m pytest packages/scheduler/tests/cel/test_oracle.py

# each Python that is installed gets an environment of its own
test-pythons:
	@for version in $(PYTHONS); do \
		python$$version -c pass 2> /dev/null || { echo "python$$version is not installed: skipped"; continue; }; \
		echo "== python$$version"; \
		$(MAKE) --no-print-directory VENV=.venv-$$version PYTHON=python$$version pytest || exit 1; \
	done

pytest: $(READY)
	$(BIN)/python -m pytest -n auto

test-slow: $(READY)
	$(BIN)/python -m pytest -n auto -m slow

test-cluster: $(READY)
	$(BIN)/python -m pytest -m cluster tests/real_cluster

check: $(READY)
	$(BIN)/ruff check packages tests attack benchmarks fuzz tools examples conftest.py
	$(BIN)/ruff format --check packages tests attack benchmarks fuzz tools examples conftest.py
	$(BIN)/mypy
	PYTHONPATH=packages/contrib/src $(BIN)/lint-imports
	$(BIN)/python -m tools.prose

# COVERAGE=path for some tests alone; `.venv/bin/coverage html` then shows each line, in .coverage-html
coverage: $(READY)
	$(BIN)/python -m pytest -n auto --cov --cov-report=term --cov-report=xml $(COVERAGE)

# all distributions; the same sources give the same files
dist: $(READY)
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2> /dev/null || echo 1577836800) sh -ec ' \
		for folder in . packages/*; do (cd "$$folder" && "$(CURDIR)/$(BIN)/python" -m hatchling build -d "$(CURDIR)/dist"); done'
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	$(BIN)/python -m tools.sbom requirements-runtime.lock > dist/kubesched.cdx.json

release: $(READY)
	@test -n "$(VERSION)" || { echo "make release VERSION=0.2.0"; exit 2; }
	@$(BIN)/python -m tools.prepare_release $(VERSION)

release-check: $(READY)
	@test -n "$(TAG)" || { echo "make release-check TAG=v0.2.0"; exit 2; }
	@$(BIN)/python -m tools.release $(TAG)

bench: $(READY)
	$(BIN)/python -m benchmarks $(BENCH)

# atheris has no wheels for some machines and Pythons; without it Hypothesis works alone
fuzz: $(READY)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-fuzz.lock || echo "atheris cannot be installed here"
	$(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS)

attack: $(READY)
	$(BIN)/python -m attack $(ATTACK)

docs: $(READY)
	$(BIN)/python -m kubesched_controlplane.compatibility > docs/reference/api-compatibility.md
	$(BIN)/python -m tools.layers docs/internals/architecture.md
	$(BIN)/python -m tools.answer_forms docs/reference/answers.md
	$(BIN)/python -m tools.examples docs/guides/questions/cookbook.md docs/guides/questions/evaluating.md docs/verification/truth.md
	$(BIN)/python -m tools.messages docs/reference/messages.md
	$(BIN)/python -m tools.plugin_api docs/reference/plugin-api.md
	$(BIN)/python -m tools.reference docs/reference
	$(BIN)/python -m tools.limits docs/reference/limits.md

# mkdocs has an environment of its own; a broken link is an error
site: $(SITE)/.ready
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build --quiet --strict

$(SITE)/.ready: requirements-site.lock
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --require-hashes -r requirements-site.lock
	touch $@

# SRC: a checkout, or a git directory with TO=TAG; FROM=TAG lists the named files that changed since; HELP: a file with
# what kube-scheduler --help prints; WRITE=1 renews feature gates and types
upstream: $(READY)
	@test -n "$(SRC)" || { echo "make upstream SRC=<checkout of kubernetes>; see docs/internals/next-release.md"; exit 2; }
	$(BIN)/python -m tools.upstream $(SRC) $(if $(TO),--to $(TO)) $(if $(FROM),--from $(FROM)) \
		$(if $(HELP),--help-text $(HELP)) $(if $(WRITE),--write)

# the lock names everything, so nothing is resolved; modules are compiled when they are first imported, and most never are
$(READY): requirements.lock pyproject.toml $(addsuffix /pyproject.toml,$(PARTS))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kubesched needs Python 3.11 or later; set PYTHON=python3.11")'
	@echo "Creating a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PYTHON) tools/install.py $(BIN)/python requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(addprefix -e ./,$(PARTS)) -e .
	@touch $@

lock:
	echo atheris | uv pip compile - --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate \
		-o requirements-fuzz.lock
	echo "mkdocs-material>=9.6,<10" | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --no-annotate -o requirements-site.lock
	python3 tools/requirements.py dev | uv pip compile - --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate -o requirements.lock
	python3 tools/requirements.py | uv pip compile - --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --no-annotate --constraint requirements.lock -o requirements-runtime.lock
	printf '%s\n' hatch-fancy-pypi-readme hatchling | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-header --no-annotate --constraint requirements.lock -o requirements-build.lock

clean:
	rm -rf $(VENV) $(SITE) .site .coverage .coverage-html coverage.xml dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
