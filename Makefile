# Start with `make quickstart` and `make test`; `make help` lists all targets.
#
# TORCH=/path/to/site-packages/torch   another PyTorch (2.11 or newer, CPU or CUDA); OFF for none
# DEPS=/path                           a folder made by `make deps`, for machines without packages
# BUILD=folder  JOBS=n                 the build folder and the number of parallel processes

TORCH ?= auto
DEPS ?=
BUILD ?= build
JOBS ?= $(shell nproc)
export TORCH DEPS JOBS
MAKEFLAGS += --no-print-directory

SECONDS_EACH ?= 60
SOAK_TIMES ?= 100
SEED ?= 1
FAULTS ?= 100
ROUNDS ?= 10
TORCH_ROUNDS ?= 2
ALL ?=

CMAKE_BUILD := cmake --build $(BUILD) --parallel $(JOBS)
# One more than the number of cores, because tests wait for each other and for deadlines.
CTEST := ctest --test-dir $(BUILD) --output-on-failure --parallel $$(($(JOBS) + 1))
CONFIGURE_ARGUMENTS := -DTRIREME_TORCH=$(TORCH) -DTRIREME_DEPS=$(DEPS)

.DEFAULT_GOAL := help
# Two set-ups must not run at the same time; ninja and ctest run in parallel themselves.
.NOTPARALLEL:
.PHONY: help quickstart setup setup-all configure build test bench format tidy sanitize fuzz soak \
  steady test-engines results docs deps install package clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

quickstart: setup configure ## install missing dependencies, build, and train a network on Fashion-MNIST
	@$(CMAKE_BUILD) --target trireme trireme-worker
	@scripts/quickstart.sh $(BUILD)

setup:
	@scripts/setup.sh build

setup-all:
	@scripts/setup.sh all

# Runs CMake again only if its arguments changed; ninja detects all other changes.
configure: setup
	@scripts/configure.sh $(BUILD) $(CONFIGURE_ARGUMENTS)

build: configure ## build everything into build/
	@$(CMAKE_BUILD)

test: setup-all build ## install dependencies, build, and run all tests; ends with ctest's summary
	@$(CTEST)

bench: build ## run the benchmarks and their peers; ends with the table of bars
	@scripts/bench.sh $(BUILD)

format: setup-all ## format all C++ files in place
	@git ls-files '*.h' '*.cpp' '*.cu' | xargs -r clang-format-19 -i

tidy: setup-all build ## run the tidy tests, then clang-tidy on changed files (ALL=1: on all files)
	@$(CTEST) -L tidy
	@scripts/clang_tidy.sh $(BUILD) $(ALL)

sanitize: setup-all configure ## run the tests without torch, and the torch tests of four folders, under TSAN and ASAN+UBSAN
	@scripts/sanitize.sh $(BUILD)

fuzz: setup-all configure ## fuzz each parser for a minute (SECONDS_EACH=60)
	@scripts/fuzz.sh $(BUILD) $(SECONDS_EACH)

soak: build ## inject faults into elastic jobs (SEED=1 FAULTS=100) and at every step phase, test more world sizes and seeds, then repeat the tests until one fails (SOAK_TIMES=100)
	@[ ! -x $(BUILD)/trireme-worker ] || $(BUILD)/trireme soak --seed $(SEED) --faults $(FAULTS)
	@[ ! -x $(BUILD)/torch_tests ] || for kind in all_reduce shared zero1 zero3; do \
	  TRIREME_TEST_SYNC=$$kind $(BUILD)/torch_tests --gtest_filter='*ElasticMoment*' --gtest_brief=1 || exit 1; done
	@TRIREME_TEST_ALL=1 $(BUILD)/conformance_tests --gtest_filter='Carriers/*:Worlds/*' --gtest_brief=1
	@TRIREME_SEED_COUNT=20000 $(BUILD)/core_tests --gtest_filter='*Simulation.E*' --gtest_brief=1
	@$(CTEST) -L 'unit|process|torch' --repeat until-fail:$(SOAK_TIMES)

steady: build ## repeat the tests in three copies at once on a busy machine (ROUNDS=10 TORCH_ROUNDS=2)
	@scripts/steady.sh $(BUILD) $(ROUNDS) core_tests process_tests
	@[ ! -x $(BUILD)/torch_tests ] || scripts/steady.sh $(BUILD) $(TORCH_ROUNDS) torch_tests

test-engines: setup configure ## expensive checks against other engines, installed on demand: compile all torch sources against torch 2.11
	@scripts/test_engines.sh $(BUILD)

results: build ## train the recipes that have a target figure into build/results/ and docs/results.md, then run the benchmarks (TEXT= MNIST= ONLY= QUICK=)
	@scripts/results.sh $(BUILD) $(BUILD)/results
	@scripts/bench.sh $(BUILD) $(BUILD)/results

docs: ## render docs/ and the C++ API as a site with search into build/site/
	@scripts/setup.sh docs
	@scripts/docs.sh $(BUILD)/site

deps: setup ## collect the header-only dependencies in .deps/ for machines without packages
	@scripts/deps.sh .deps

install: build ## install the programs, the libraries, the CMake package and the completion scripts to PREFIX
	@test -n "$(PREFIX)" || { echo "make install PREFIX=/path" >&2; exit 2; }
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

package: build ## make a Debian package and a relocatable tarball in build/packages/
	@cpack --config $(BUILD)/CPackConfig.cmake
	@rm -rf $(BUILD)/packages/_CPack_Packages

clean: ## remove build/
	rm -rf $(BUILD)
