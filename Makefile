# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Everything a developer does, by one command each. `make demo` and `make test` set themselves up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PY := $(BIN)/python
CPP := $(wildcard dialect/*/*.cpp dialect/*/*.h)
CODE := python passes tools test examples benchmarks

.PHONY: stubs help setup demo test check lint types lit pytest docs bench cases slow asan fuzz nightly mutations coverage format new-pass clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(INSTALLED) ## a virtual environment with the project installed in it, editable

# The build requirements go into the environment itself: an editable install can then be built again.
$(INSTALLED): pyproject.toml CMakeLists.txt $(shell find dialect -type f -not -name '*.md')
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check \
	  $$($(PY) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])")
	$(PY) -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[dev]'
	$(BIN)/spyre doctor > /dev/null # the first run reads every pass; the next ones start fast
	touch $@

demo: $(INSTALLED) ## compile examples/add.mlir and show the bundle
	rm -rf build/demo
	$(BIN)/spyre compile examples/add.mlir -o build/demo --cores 4
	@echo; echo "build/demo:"; ls -l build/demo
	@echo; sed -n '1,12p' build/demo/bundle.mlir

test: check lit pytest ## the whole suite: style, types, docs, lit, pytest

check: lint types docs-fresh ## style, types, freshness of generated docs

lint: $(INSTALLED)
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/clang-format --dry-run --Werror $(CPP)

# The package as it is installed, from links to the sources: the checker sees `spyre_mlir.passes` where it belongs.
types: $(INSTALLED)
	rm -rf build/types && mkdir -p build/types/spyre_mlir
	ln -s $(CURDIR)/python/spyre_mlir/* build/types/spyre_mlir
	ln -s $(CURDIR)/passes build/types/spyre_mlir/passes
	ln -s $(CURDIR)/tools build/types/tools
	ln -s $(CURDIR)/tools/_spyre_tools build/types/_spyre_tools
	$(BIN)/mypy -p spyre_mlir -p _spyre_tools -p tools.docs

lit: $(INSTALLED)
	$(BIN)/lit -sv --timeout 60 test

pytest: $(INSTALLED)
	$(PY) -m pytest -n auto

stubs: $(INSTALLED) ## write the type stub of the extension anew
	$(PY) -m tools.stubs

docs: $(INSTALLED) ## write the generated pages of docs/ anew
	$(PY) -m tools.docs

docs-fresh: $(INSTALLED)
	$(PY) -m tools.docs --check
	$(PY) -m tools.stubs --check

format: $(INSTALLED) ## format Python and C++
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)
	$(BIN)/clang-format -i $(CPP)

bench: $(INSTALLED) ## speed, as ratios measured on this machine
	$(PY) benchmarks/run.py

cases: $(INSTALLED) ## run case files through the public API: make cases FILES="a.json b.json"
	$(PY) -m spyre_mlir.cases $(FILES)

slow: $(INSTALLED) ## the tests that take longer than the suite may
	$(PY) -m pytest -m slow --timeout 1800

fuzz: $(INSTALLED) ## random programs for SECONDS (60); reduced faults go to test/regression
	$(PY) test/fuzz/run.py --seconds $(or $(SECONDS),60) --jobs 2 --write test/regression

nightly: $(INSTALLED) slow ## the slow tests, 10 000 random programs, 20 000 mutations
	$(PY) test/fuzz/run.py --seeds 0 10000 --jobs 2
	$(PY) test/fuzz/mutate.py --count 20000 --jobs 2

mutations: $(INSTALLED) ## the share of faults put into programs and bundles that is found
	$(PY) test/fuzz/mutate.py

coverage: $(INSTALLED) ## lines that the tests run, of the package and the passes; fails below 95 %
	$(PY) -m tools.coverage

asan: $(INSTALLED) ## dialect tests on an extension built with AddressSanitizer
	BIN=$(CURDIR)/$(BIN) tools/asan.sh

new-pass: $(INSTALLED) ## scaffold a pass: make new-pass NAME=verb-object
	$(PY) -m tools.new_pass $(NAME)

clean:
	rm -rf build $(VENV)
