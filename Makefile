# The commands of daily work. `make` alone lists them. Every target installs what it needs first
# (tools/install-deps), so each works on a fresh Debian 12 that has git, make and bash.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc)
space := $() $()
WERROR := $(if $(CI),ON,OFF)
# Modules whose unit tests start threads: the ones worth ThreadSanitizer's time.
TSAN_MODULES := base metric io http store ledger gateway control
export NINJA_STATUS ?= [%f/%t, %es]$(space)

configure = cmake --preset $(1) -DWEIR_WERROR=$(WERROR) $(2)
compile = cmake --build build/$(1) --parallel $(JOBS) $(2)
with_tests = $(wildcard $(addsuffix /*_test.cpp,$(addprefix src/,$(1))))
test_modules = $(sort $(foreach m,$(1),$(if $(call with_tests,$(m)),$(m))))

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: ## build weir and weir-sim into build/release/bin
	@tools/install-deps build
	@$(call configure,release)
	@$(call compile,release,--target programs)

.PHONY: demo
demo: ## build, start a gateway with simulated engines, and show a request going through
	@tools/install-deps demo
	@$(call configure,release)
	@$(call compile,release,--target programs)
	@tools/demo

.PHONY: test
test: ## unit tests and end-to-end tests, on the release build
	@tools/install-deps test
	@$(call configure,release)
	@$(call compile,release)
	@JOBS=$(JOBS) tools/run-tests build/release

.PHONY: asan
asan: ## the same tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/install-deps test
	@$(call configure,asan)
	@$(call compile,asan)
	@JOBS=$(JOBS) tools/run-tests build/asan

.PHONY: tsan
tsan: ## the unit tests of the modules with threads under ThreadSanitizer
	@tools/install-deps test
	@$(call configure,tsan)
	@$(call compile,tsan,--target $(addsuffix _test,$(call test_modules,$(TSAN_MODULES))))
	@JOBS=$(JOBS) tools/run-tests build/tsan $(call test_modules,$(TSAN_MODULES))

.PHONY: budget
budget: ## hold the data path against the performance budget (BUDGET_OPTIONS=--profile shows where it goes)
	@tools/install-deps budget
	@$(call configure,release)
	@$(call compile,release,--target programs bench_programs)
	@node bench/budget.mjs $(BUDGET_OPTIONS)

.PHONY: bench
bench: ## compare with nginx and HAProxy, ten minutes; BENCH_ROUNDS= and BENCH_SECONDS= for a short trial
	@tools/install-deps bench
	@$(call configure,release)
	@$(call compile,release,--target programs bench_programs)
	@node bench/bench.mjs

.PHONY: train
train: ## count what is hot, for the compiler: writes cmake/weir.profdata (after a change of the hot paths)
	@tools/install-deps all
	@JOBS=$(JOBS) tools/train

.PHONY: debug
debug: ## build everything without optimisation into build/debug
	@tools/install-deps build
	@$(call configure,debug)
	@$(call compile,debug)

.PHONY: tidy
tidy: ## clang-tidy with the checks of .clang-tidy
	@tools/install-deps test
	@$(call configure,release)
	@JOBS=$(JOBS) tools/check-tidy build/release

.PHONY: format
format: ## rewrite the C++ sources in the project's format
	@tools/install-deps test
	@tools/format --write

.PHONY: check-format
check-format: ## fail if a C++ source is not in the project's format
	@tools/install-deps test
	@tools/format --check

.PHONY: check-layers
check-layers: ## fail if a module includes what src/LAYERS does not let it
	@tools/check-layers .

.PHONY: check-style
check-style: ## fail on files or functions that are too long and on words that do not belong here
	@tools/check-style .

.PHONY: docs
docs: ## draw docs/layers.md from src/LAYERS
	@tools/draw-layers --write

.PHONY: clean
clean: ## remove build/
	@rm -rf build
