# Two commands do everything from a clean clone: `make demo` and `make test`.
#
#   PYTHON=python3      interpreter to make the environment from; if it has PyTorch, that PyTorch is used
#   TORCH=torch==X      requirement or wheel to install as PyTorch instead of the pinned CPU build
#   WHEELS=folder       take every package from this folder, for a machine without a network
#   VENV=.venv          where the environment goes
#   EXTRAS=cuda         further extras of pyproject.toml: cuda brings nvcc where there is no CUDA toolkit
#   PYTEST_ARGS=…       passed on to pytest

SHELL := /bin/bash
VENV ?= .venv
EXTRAS ?=
TORCH ?=
WHEELS ?=
PYTEST_ARGS ?=
comma := ,

# The first interpreter that is new enough.
ifndef PYTHON
PYTHON := $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
endif
RUN := $(VENV)/bin/python
SETUP = $(if $(PYTHON),$(PYTHON),$(error no Python 3.11 or newer on the PATH: make … PYTHON=path/to/python3)) \
	scripts/setup_env.py --venv $(VENV) $(if $(TORCH),--torch '$(TORCH)') $(if $(WHEELS),--wheels '$(WHEELS)')
more_extras = $(if $(EXTRAS),$(comma)$(EXTRAS))

.PHONY: help python demo test lint lit pytest gpu-test docs format env env-demo wheels clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo      linear + bias + GELU, from the program to its speed-of-light bound'
	@echo 'make test      lint, types, lit, pytest'
	@echo 'make lint      ruff and pyright'
	@echo 'make lit       the text tests;  make pytest: the Python tests'
	@echo 'make gpu-test  the tests that need a GPU'
	@echo 'make docs      the documentation site, in site/'
	@echo 'make format    let ruff rewrite the sources'
	@echo 'make env       only set up .venv for development'
	@echo 'make wheels WHEELS=folder FOR=3.12 [WITHOUT=numpy,scipy]'
	@echo '               download what a machine without a network, but with PyTorch, needs'
	@sed -n 's/^#   /  /p' Makefile

python:
	@$(PYTHON) -c 'import sys; sys.exit("$(PYTHON) is older than Python 3.11: make … PYTHON=path/to/python3" \
		if sys.version_info < (3, 11) else 0)'

env: python
	@$(SETUP) --extras dev$(more_extras)

env-demo: python
	@$(SETUP) --extras torch$(more_extras)

demo: env-demo
	@$(RUN) scripts/demo.py

test: env
	@$(RUN) scripts/run_checks.py -- $(PYTEST_ARGS)

lint: env
	@$(RUN) scripts/run_checks.py ruff format pyright

lit: env
	@$(RUN) scripts/run_checks.py lit

pytest: env
	@$(RUN) scripts/run_checks.py pytest -- $(PYTEST_ARGS)

# One test at a time: a GPU shared between processes gives no times.
gpu-test: env-demo
	@$(RUN) -m pytest -m gpu $(PYTEST_ARGS)

docs: env
	@$(RUN) scripts/make_docs.py

format: env
	@$(RUN) -m ruff check --fix-only --quiet . && $(RUN) -m ruff format .

wheels:
	@$(PYTHON) scripts/setup_env.py --wheels '$(WHEELS)' --download '$(FOR)' --without '$(WITHOUT)'

clean:
	rm -rf build site .demo .pytest_cache .ruff_cache .hypothesis
