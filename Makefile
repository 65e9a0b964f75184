# The two commands: `make demo` runs the whole way on a sample that it makes itself,
# `make test` passes the tests. README.md says what the others are for.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
# The folder of real data that `make reproduce` reads.
DATA ?=
.PHONY: install demo reproduce has_data test test-all engines lint clean

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

# The four steps. $(1): folder of the run, $(2): real data or the sample world laid out alike,
# $(3): preset.
define four_steps
	@printf '\n== 1 of 4: pairs from the dumps ==\n'
	$(RUN) -m data_pipeline reddit --input '$(2)/reddit/RC_*' --output $(1)/data
	@printf '\n== 2 of 4: training ==\n'
	$(RUN) -m model --experiment reddit --mode train_and_eval --model_dir $(1)/model \
	  --config_file model/configs/$(3).yaml \
	  --params_override "task.train_data.input_path=$(1)/data/train-*,task.validation_data.input_path=$(1)/data/test-*"
	@printf '\n== 3 of 4: the hub module ==\n'
	$(RUN) -m export --model_dir $(1)/model --output $(1)/module
	@printf '\n== 4 of 4: evaluation ==\n'
	rm -rf $(1)/results
	$(RUN) -m evaluation response_ranking --module $(1)/module --data $(1)/data --output $(1)/results
	$(RUN) -m evaluation sts --module $(1)/module --data '$(2)/stsb' --output $(1)/results
	$(RUN) -m evaluation cqa --module $(1)/module --data '$(2)/semeval_cqa' --output $(1)/results
	$(RUN) -m evaluation report --results $(1)/results --output $(1)/report.html
endef

demo: $(INSTALLED)
	rm -rf runs/demo
	@printf '== a sample world ==\n'
	$(RUN) -m data_pipeline sample --output runs/demo/world
	$(call four_steps,runs/demo,runs/demo/world,demo_dan)

has_data:
	@for folder in reddit stsb semeval_cqa; do test -d "$(DATA)/$$folder" || \
	  { echo "error: DATA='$(DATA)' has no folder $$folder; README.md says how to lay it out: make reproduce DATA=DIR"; exit 1; }; done

# Goes on where an earlier run stopped; `make clean` starts afresh.
reproduce: has_data $(INSTALLED)
	$(call four_steps,runs/reproduce,$(DATA),laptop_dan)

# Two processes, each with a file of tests at a time.
test: $(INSTALLED)
	$(RUN) -m pytest -m "not slow" -n 2 --dist loadfile

# What is slow measures memory or starts processes of its own: one at a time.
test-all: test
	$(RUN) -m pytest -m slow

# Flink, Beam's job server for it and Prism, for the tests that need them; says what it could not get.
engines: $(INSTALLED)
	$(RUN) tests/engines/fetch.py

lint: $(INSTALLED)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

clean:
	rm -rf runs
