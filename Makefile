# SPDX-License-Identifier: LGPL-2.1-only
# Each target does everything that it needs, from a fresh machine on: system packages, .venv, SimGrid, the build.
# Those steps are checks that end at once when all is in place; a file is rebuilt only when what it depends on changed.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory --no-builtin-rules

BIN := .venv/bin
BUILD_TOOLS := .venv/.build
VENV := .venv/.weft
TOOLS := .venv/.tests
SIMGRID := build/stamps/simgrid
LIBRARIES := build/stamps/weft
WEFT := build/stamps/testbed
UNIT := build/unit/build.ninja
SANITIZED := build/sanitized/build.ninja
JOBS := $(shell nproc)
# Unit tests run in this many processes, some at a time: one process a test would cost more than most tests do.
SHARDS := 16
# A file's tests share runs and fabrics, so they stay together; tests/python/conftest.py says which files begin first. One
# process more than cores: minutes of the tests are waiting, for Slurm and for limits of time.
PYTEST := $(BIN)/python -m pytest --numprocesses $$(($(JOBS) + 1)) --dist loadfile --no-loadscope-reorder

files = $(if $(wildcard $(1)),$(shell find $(wildcard $(1)) -type f -name '$(2)' ! -path '*/__pycache__/*'))
CXX_FILES := $(call files,src,*.[ch]pp)
C_FILES := $(call files,examples tests,*.[ch]) $(call files,tests/mechanism,*.cpp)
PYTHON_FILES := $(call files,python,*.py)
INSTALLED_FILES := CMakeLists.txt pyproject.toml $(filter-out %_test.cpp,$(CXX_FILES)) \
                   $(call files,setup/mpi,*.py) $(wildcard src/mpi/procedures src/binding/fortran/constants) \
                   $(call files,src/compilers presets fabrics data examples,*)

COMMANDS := help demo wheel stub test check bench studies figures accuracy bench-contention bench-cpu bench-progress-engine bench-forwarding bench-scale bench-growth paper-001 multicast docs conformance conformance-openmpi conformance-mpich real-programs test-simgrid-4.0 fuzz stress build unit pytest lint tidy format clean
.PHONY: $(COMMANDS) FORCE
FORCE:

# Nothing of what only tests and the documentation need is installed for these.
$(filter-out help demo wheel clean,$(COMMANDS)): $(TOOLS)

help: ## this list
	@sed -nE 's/^([a-z0-9.-]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 24

# SimGrid is built while Python's packages are installed.
demo: ## an MPI program on a simulated Tofino switch, beside the measured testbed; plots in build/demo
	@$(MAKE) -j2 $(WEFT)
	@$(BIN)/weft demo --out build/demo

wheel: ## dist/weft-….whl: weft and SimGrid in one file, for machines with no more than Python and a compiler; beside it weft_testbed-….whl
	@$(MAKE) -j2 $(WEFT)
	@SIMGRID_PREFIX=$$(cat $(SIMGRID)) flock setup setup/quiet build/wheel.log $(BIN)/python setup/wheel.py
	@tail -n 1 build/wheel.log

test: ## everything: lint, unit tests, all end-to-end tests
	@$(MAKE) lint
	@$(MAKE) unit
	@$(MAKE) pytest
	@echo 'test: lint, unit tests and end-to-end tests passed'

check: unit $(WEFT) ## unit tests and the quick end-to-end tests
	@$(PYTEST) -m 'not slow'

docs: $(VENV) ## the documentation as a site, with search, in build/site
	@NO_MKDOCS_2_WARNING=1 setup/quiet build/docs.log $(BIN)/mkdocs build
	@echo 'docs: build/site/index.html'

bench: $(WEFT) ## how fast the simulator is; docs/performance.md
	@$(BIN)/python -m studies performance

studies: $(WEFT) ## tables and figures of docs/ from new runs, resumably; STUDIES="contention …" for some
	@$(BIN)/python -m studies $(STUDIES)

figures: $(WEFT) ## the same from the tables that there are
	@$(BIN)/python -m studies --draw $(STUDIES)

bench-contention: $(WEFT) ## what links that never contend get wrong; docs/contention.md
	@$(BIN)/python -m studies contention

bench-progress-engine: $(WEFT) ## what the threads of a SmartNIC can take; docs/progress-engine.md
	@$(BIN)/python -m studies progress-engine

bench-cpu: $(WEFT) ## what sampled computation and shared memory save; docs/cpu-and-memory.md
	@$(BIN)/python -m studies cpu-and-memory

bench-forwarding: $(WEFT) ## what a packet forwarding cache does to programs; docs/forwarding-experiment.md
	@$(BIN)/python -m studies forwarding

bench-scale: $(WEFT) ## 4,096 to 2,097,152 ranks; docs/performance.md
	@$(BIN)/python -m studies scale

bench-growth: $(WEFT) ## how time and memory grow, with exponents; docs/growth.md
	@$(BIN)/python -m studies growth

paper-001: $(WEFT) ## figures of Clauss et al. on their own cluster, griffon; docs/paper-001.md
	@$(BIN)/python -m studies paper-001 cpu-and-memory

multicast: $(WEFT) ## traffic, throughput and speed-up of multicasts; docs/multicast.md; FIGURES="figure-2 …" for some
	@$(BIN)/python -m studies $(or $(FIGURES:%=multicast-%),multicast)

conformance: $(WEFT) ## MPICH's test programs under stock SMPI and under weft; table in docs/conformance.csv
	@$(BIN)/python -m studies.conformance

conformance-openmpi: $(WEFT) ## the messages of Open MPI's collectives and weft's; table in docs/openmpi-messages.csv.gz
	@$(BIN)/python -m studies.openmpi

conformance-mpich: $(WEFT) ## the messages of MPICH's collectives and weft's; table in docs/mpich-messages.csv.gz
	@$(BIN)/python -m studies.mpich

fuzz: $(WEFT) ## hostile files and options, COUNT=1000000 of SEED=1; build/fuzz has what was found; TARGETS="fabric …" for some
	@nice -n 19 $(BIN)/python -m tests.python.fuzz $(or $(COUNT),1000000) $(or $(SEED),1) $(TARGETS)

stress: $(WEFT) $(SANITIZED) ## random runs on a sanitized libweft.so, COUNT=5000 of SEED=1; build/stress has what was found; ONLY=17 repeats one, PACKETS=1 makes messages packets, JOBS=1 runs one at a time
	@echo 'stress: building libweft.so with sanitizers, in build/sanitized'
	@MAKEFLAGS= nice -n 19 $(BIN)/cmake --build build/sanitized --target weft -- $$([[ -t 1 ]] || echo --quiet)
	@nice -n 19 $(BIN)/python -m tests.python.stress $(or $(COUNT),5000) $(or $(SEED),1) --at-once $(JOBS) $(ONLY:%=--only %) \
	  $(if $(PLAIN),--plain) $(if $(PACKETS),--packets) $(if $(RESUME),--resume) $(FIRST:%=--first %)

real-programs: $(WEFT) ## real programs with each switch, beside SMPI alone, and as traces; docs/real-programs.md
	@$(BIN)/python -m studies real-programs real-program-costs real-program-traces

# Small: what tunings replace differs between versions, and all else is SimGrid's own.
test-simgrid-4.0: $(TOOLS) ## programs on SimGrid 4.0 with and without tunings; not part of `make test`
	@setup/test-simgrid tests/python/binding/tuning/test_switched_off.py tests/python/binding/tuning/test_on_demand.py \
	  tests/python/binding/calls/test_concurrent_data.py -m 'not slow'

# The pages' intervals are those of the errors that are installed.
accuracy: $(WEFT) ## what `weft validate` gives: data/errors.csv, then docs/accuracy.md, its appendix and rows, README
	@$(BIN)/weft validate --errors data/errors.csv
	@$(MAKE) build
	@$(BIN)/weft validate --figures docs/figures --csv docs/accuracy.csv \
	  --document docs/accuracy.md --document docs/accuracy-tables.md --document README.md \
	  --document docs/release-0.1.0.md

stub: $(WEFT) ## python/weft/_core.pyi, the types of the compiled core; options of runs and public names in python/weft
	@$(BIN)/python setup/stub.py
	@$(BIN)/python -m studies.signatures

build: $(WEFT) ## the libraries and the Python package, in .venv

unit: $(UNIT) ## unit tests of the core, under sanitizers
	@echo 'unit: building and running the unit tests'
	@MAKEFLAGS= $(BIN)/cmake --build build/unit -- $$([[ -t 1 ]] || echo --quiet)
	@seq 0 $$(($(SHARDS) - 1)) | GTEST_TOTAL_SHARDS=$(SHARDS) xargs -P $(JOBS) -I @ \
	  env GTEST_SHARD_INDEX=@ build/unit/weft_unit_tests --gtest_brief=1 | \
	  awk '/^\[==========\]/ { ran += $$2; next } /^\[  PASSED  \]|^Running main|^Note: / { next } { print } END { print "unit: " ran " tests ran" }'

pytest: $(WEFT)
	@$(PYTEST) --durations=20

lint: $(WEFT) ## formatters and static checks, warnings are errors
	@echo 'lint: ruff, mypy, shellcheck, rumdl, clang-format, doc comments, commit titles'
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --diff .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/shellcheck setup/jobs setup/quiet setup/tidy-headers setup/simgrid setup/system-packages setup/test-simgrid setup/venv .ci/run .githooks/commit-msg src/compilers/mpiexec
	@$(BIN)/rumdl check --quiet .
	@$(BIN)/python setup/checks/doc_comments.py
	@$(BIN)/python setup/checks/commit_titles.py
	@$(BIN)/python -m pip --disable-pip-version-check check >/dev/null
	@$(BIN)/clang-format --dry-run -Werror -ferror-limit=1 $(CXX_FILES) $(C_FILES)
	@echo 'lint: clang-tidy'
	@[[ -e build/tidy ]] || $(MAKE) tidy-all
	@$(MAKE) tidy --keep-going --output-sync $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))
	@echo 'lint: clean'

format: ## rewrites the sources as the formatters want them
	@$(BIN)/clang-format -i $(CXX_FILES) $(C_FILES)
	@$(BIN)/ruff check --quiet --fix --select I .
	@$(BIN)/ruff format --quiet .
	@$(BIN)/rumdl fmt --quiet .

clean: ## removes what was built; .venv and SimGrid stay
	@rm -rf build

# ---- Set-up --------------------------------------------------------------------------------------------------------
# FORCE runs the checks every time; a stamp that they leave alone rebuilds nothing.
$(BUILD_TOOLS): FORCE
	@setup/system-packages
	@setup/venv build

$(VENV): $(BUILD_TOOLS) FORCE
	@setup/venv weft

$(TOOLS): $(VENV) FORCE
	@setup/system-packages --tests
	@setup/venv tests

$(SIMGRID): $(BUILD_TOOLS) FORCE
	@mkdir -p $(@D)
	@prefix=$$(setup/simgrid); [[ $$prefix == "$$(cat $@ 2>/dev/null)" ]] || echo "$$prefix" >$@

# Names of files, so that a new or a deleted one counts as a change: the editable install maps Python modules by name,
# and clang-tidy reads CMake's list of sources.
build/stamps/files: FORCE
	@mkdir -p $(@D)
	@echo '$(sort $(INSTALLED_FILES) $(CXX_FILES) $(PYTHON_FILES))' | cmp --silent - $@ || \
	  echo '$(sort $(INSTALLED_FILES) $(CXX_FILES) $(PYTHON_FILES))' >$@

# CMake remembers where it found Python and SimGrid: when they move, it starts anew.
$(LIBRARIES): $(VENV) $(SIMGRID) build/stamps/files $(INSTALLED_FILES)
	@echo 'build: weft, into .venv (5 minutes of CPU time; half of that on 2 idle cores)'
	@$(if $(filter $(VENV) $(SIMGRID),$?),rm -rf build/python)
	@SIMGRID_PREFIX=$$(cat $(SIMGRID)) CMAKE_BUILD_PARALLEL_LEVEL=$${CMAKE_BUILD_PARALLEL_LEVEL:-$$(setup/jobs)} \
	  flock setup setup/quiet build/weft.log $(BIN)/python -m pip --disable-pip-version-check \
	  install --no-build-isolation --no-deps --editable .
	@touch $@

# Its modules are found in their folder: only what it registers is installed.
$(WEFT): $(LIBRARIES) testbed/pyproject.toml
	@setup/quiet build/testbed.log \
	  $(BIN)/python -m pip --disable-pip-version-check install --no-build-isolation --no-deps --editable ./testbed
	@touch $@

# With -Og the compiler takes three fifths of the time that it takes with -O1, and the tests take no longer.
$(UNIT): $(TOOLS) build/stamps/files
	@setup/quiet build/unit.log $(BIN)/cmake --fresh -S . -B build/unit -G Ninja \
	  -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DWEFT_UNIT_TESTS=ON -DWEFT_SANITIZE=ON '-DWEFT_RELEASE_FLAGS=-Og -DNDEBUG'
	@touch $@

# Lines for reports, and optimisation for speed; assertions are on.
$(SANITIZED): $(TOOLS) $(SIMGRID) build/stamps/files CMakeLists.txt
	@SIMGRID_PREFIX=$$(cat $(SIMGRID)) setup/quiet build/sanitized.log $(BIN)/cmake --fresh -S . -B $(@D) -G Ninja \
	  -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DWEFT_SANITIZE=ON '-DWEFT_RELEASE_FLAGS=-O1 -g1 -fno-omit-frame-pointer' \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python -Dpybind11_DIR=$$($(BIN)/python -m pybind11 --cmakedir)
	@touch $@

# ---- clang-tidy, a stamp a source file, so that only what changed is checked again. Not on tests: it does not see
# through GoogleTest's macros. ---------------------------------------------------------------------------------------------
TIDY := $(patsubst %,build/tidy/%.ok,$(filter-out %_test.cpp,$(filter src/%.cpp,$(CXX_FILES))))
tidy: $(TIDY)

# How each source is compiled alone, and how many are as one: nothing is built there.
DATABASE := build/database/compile_commands.json
UNITED := build/united-database/compile_commands.json
$(DATABASE): UNITY := OFF
$(UNITED): UNITY := ON
$(DATABASE) $(UNITED): $(TOOLS) $(SIMGRID) build/stamps/files CMakeLists.txt
	@SIMGRID_PREFIX=$$(cat $(SIMGRID)) setup/quiet $(@D).log $(BIN)/cmake --fresh -S . -B $(@D) -G Ninja \
	  -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DWEFT_UNITY=$(UNITY) -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
	  -Dpybind11_DIR=$$($(BIN)/python -m pybind11 --cmakedir)
	@touch $@

# The first time, all sources are checked as they are united, since headers take most of the time.
.PHONY: tidy-all
tidy-all: $(UNITED)
	@sed -nE 's/^ *"file": "(.*)",?$$/\1/p' $(UNITED) | grep '/Unity/.*\.cxx$$\|^$(CURDIR)/src/.*\.cpp$$' | sort -u | \
	  xargs -P $(JOBS) -n 1 $(BIN)/clang-tidy --quiet -p $(dir $(UNITED)) 2> >(grep -vE '^[0-9]+ warnings? generated' >&2)
	@mkdir -p $(sort $(dir $(TIDY))) && touch $(TIDY)
	@printf '%s\n' $(TIDY:build/tidy/%.ok=%) | xargs -P $(JOBS) -n 20 setup/tidy-headers $(CXX)

build/tidy/%.ok: % .clang-tidy | $(DATABASE)
	@mkdir -p $(@D)
	@$(BIN)/clang-tidy --quiet -p build/database $< 2> >(grep -vE '^[0-9]+ warnings? generated' >&2)
	@setup/tidy-headers $(CXX) $<
	@touch $@

-include $(wildcard $(TIDY:.ok=.d))
