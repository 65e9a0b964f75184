# The two commands: `make demo` runs the whole way on a sample that it makes itself,
# `make test` passes the tests. README.md says what the others are for.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
# The folder of real data that `make reproduce` reads.
DATA ?=
.PHONY: install demo test test-all engines mutants lint clean

# Any Python 3.11.
PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed

install: $(INSTALLED)

$(INSTALLED): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "error: $(PYTHON) is not Python 3.11; name one with make PYTHON=..."; exit 1; }
	@echo "installing the pinned packages into $(VENV): a few minutes, once"
	$(PYTHON) -m venv --clear $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	touch $@

demo: $(INSTALLED)
	rm -rf runs/demo
	@printf '== a sample world ==\n'
	$(RUN) -m data_pipeline sample --output runs/demo/world
	@printf '\n== 1 of 4: pairs from the dumps ==\n'
	$(RUN) -m data_pipeline reddit --input 'runs/demo/world/reddit/RC_*' --output runs/demo/data
	@printf '\n== 2 of 4: training ==\n'
	$(RUN) -m model --experiment reddit --mode train_and_eval --model_dir runs/demo/model \
	  --config_file model/configs/presets/demo_dan.yaml \
	  --params_override "task.train_data.input_path=runs/demo/data/train-*,task.validation_data.input_path=runs/demo/data/test-*"
	@printf '\n== 3 of 4: the hub module ==\n'
	$(RUN) -m export --model_dir runs/demo/model --output runs/demo/module
	@printf '\n== 4 of 4: evaluation ==\n'
	$(RUN) -m evaluation response_ranking --module runs/demo/module --data runs/demo/data --output runs/demo/results
	$(RUN) -m evaluation sts --module runs/demo/module --data runs/demo/world/stsb --output runs/demo/results
	$(RUN) -m evaluation cqa --module runs/demo/module --data runs/demo/world/semeval_cqa --output runs/demo/results
	$(RUN) -m evaluation report --results runs/demo/results --output runs/demo/report.html

include reproduce.mk

# Two processes, each with a file of tests at a time.
test: $(INSTALLED)
	$(RUN) -m pytest -m "not slow" -n 2 --dist loadfile

# What is slow measures memory or starts processes of its own: one at a time.
test-all: test
	$(RUN) -m pytest -m slow

# Flink, Beam's job server for it and Prism, for the tests that need them; says what it could not get.
engines: $(INSTALLED)
	$(RUN) tests/engines/fetch.py

# Small faults, one at a time, in the modules that results rest on: do the fast tests notice? Writes
# tests/mutation/RESULTS.md; some 40 minutes on 2 cores.
MUTANTS := .venv-mutants
# Constants and defaults of each module that are tried; 0 for all.
SAMPLE ?= 8
mutants: $(MUTANTS)/.installed
	rm -rf mutants
	$(MUTANTS)/bin/python tests/mutation run --max-children $$(nproc)
	SAMPLE=$(SAMPLE) $(MUTANTS)/bin/python tests/mutation/constants.py
	$(MUTANTS)/bin/python tests/mutation/report.py

$(MUTANTS)/.installed: requirements.txt tests/mutation/requirements.txt
	$(PYTHON) -m venv --clear $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --requirement tests/mutation/requirements.txt
	touch $@

lint: $(INSTALLED)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

clean:
	rm -rf runs
