# Two commands for a newcomer: `make quickstart` and `make test`. The rest: `make help`.
#
# TORCH=/path/to/site-packages/torch   another PyTorch (2.11 or newer, CPU or CUDA); OFF for none
# DEPS=/path                           a folder made by `make deps`, where no packages are
# BUILD=folder  JOBS=n                 where to build, and with how many processes at once

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
ALL ?=

CMAKE_BUILD := cmake --build $(BUILD) --parallel $(JOBS)
# One more than there are cores: tests wait for each other and for deadlines.
CTEST := ctest --test-dir $(BUILD) --output-on-failure --parallel $$(($(JOBS) + 1))
CONFIGURE_ARGUMENTS := -DTRIREME_TORCH=$(TORCH) -DTRIREME_DEPS=$(DEPS)

.DEFAULT_GOAL := help
# Set-up must not run twice at once; ninja and ctest are parallel by themselves.
.NOTPARALLEL:
.PHONY: help quickstart setup setup-all configure build test bench format tidy sanitize fuzz soak \
  results deps install clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

quickstart: setup configure ## install what is missing, build, train a network on Fashion-MNIST
	@$(CMAKE_BUILD) --target trireme trireme-worker
	@scripts/quickstart.sh $(BUILD)

setup:
	@scripts/setup.sh build

setup-all:
	@scripts/setup.sh all

# CMake runs again only when its arguments changed; ninja sees everything else by itself.
configure: setup
	@scripts/configure.sh $(BUILD) $(CONFIGURE_ARGUMENTS)

build: configure ## build everything into build/
	@$(CMAKE_BUILD)

test: setup-all build ## install, build, and run every test; ctest's summary is the last word
	@$(CTEST)

bench: build ## run the benchmarks, with peers beside them; ends with the table of bars
	@scripts/bench.sh $(BUILD)

format: setup-all ## format all C++ files in place
	@git ls-files '*.h' '*.cpp' '*.cu' | xargs -r clang-format-19 -i

tidy: setup-all build ## tidy test, then clang-tidy over changed files (ALL=1: over all)
	@$(CTEST) -L tidy
	@scripts/clang_tidy.sh $(BUILD) $(ALL)

sanitize: setup-all configure ## TSAN and ASAN+UBSAN over everything without torch
	@scripts/sanitize.sh $(BUILD)

fuzz: setup-all configure ## a minute of fuzzing for each parser (SECONDS_EACH=60)
	@scripts/fuzz.sh $(BUILD) $(SECONDS_EACH)

soak: build ## hurt elastic jobs (SEED=1 FAULTS=100) and in every moment, then tests until one fails (SOAK_TIMES=100)
	@[ ! -x $(BUILD)/trireme-worker ] || $(BUILD)/trireme soak --seed $(SEED) --faults $(FAULTS)
	@[ ! -x $(BUILD)/torch_tests ] || for kind in all_reduce shared zero1 zero3; do \
	  TRIREME_TEST_SYNC=$$kind $(BUILD)/torch_tests --gtest_filter='*ElasticMoment*' --gtest_brief=1 || exit 1; done
	@$(CTEST) -L 'unit|process|torch' --repeat until-fail:$(SOAK_TIMES)

results: build ## trains the recipes with a figure to reach into build/results/ and docs/results.md, then the benchmarks (TEXT= MNIST= ONLY= QUICK=)
	@scripts/results.sh $(BUILD) $(BUILD)/results
	@scripts/bench.sh $(BUILD) $(BUILD)/results

deps: setup ## gather the header-only parts into .deps/ for machines without packages
	@scripts/deps.sh .deps

install: build ## install the CMake package to PREFIX
	@test -n "$(PREFIX)" || { echo "make install PREFIX=/path" >&2; exit 2; }
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

clean: ## remove build/
	rm -rf $(BUILD)
