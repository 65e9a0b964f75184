"""The table of rows: what it makes of every row, and what it refuses."""

import shlex
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml

from benchmarks.quality import rows
from common.command_line import make_parser
from evaluation.__main__ import COMMANDS
from model.configs import parsing

FILES = (
    *("reddit/RC_2015-02.zst", "reddit/RC_2015-03.zst"),
    *(f"stsb/sts-{split}.csv" for split in ("train", "dev", "test")),
    *(f"nli/snli_1.0_{split}.jsonl.gz" for split in ("train", "dev", "test")),
    "semeval_cqa/dev.xml",
    *("sts2016/headlines.test.tsv", "sts2017_track5/STS.input.track5.en-en.txt"),
    *("conversations/ubuntu_irc.jsonl.gz", "conversations/self_dialogue.csv.gz"),
)
TRAIN = (
    "-m model --experiment {} --mode train_and_eval --model_dir R/models/{}"
    " --config_file model/configs/presets/{}.yaml --params_override {}"
)
PAIRS = "'R/pairs/train-*,R/halves/train-*'"
CHECKED = (
    "task.validation_data.input_path=R/pairs/validation-*,task.model.text.vocabulary=R/words,"
    "task.sts_dev=D/stsb/sts-dev.csv"
)
RATE = "trainer.optimizer_config.learning_rate.polynomial"
DECAY = f"{RATE}.decay_steps"


@pytest.fixture
def data(tmp_path):
    for name in FILES:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "data"


@pytest.fixture
def table(data):
    def read(**options):
        return rows.Table(
            {"DATA": str(data), "RUNS": "R", "SENTENCE_TRANSFORMERS": "m=M"} | options
        )

    return read


def params_of(table, run):
    options = shlex.split(table.train(run))
    options = dict(zip(options[2::2], options[3::2], strict=True))
    return parsing.parse(
        experiment=options["--experiment"],
        config_files=[options["--config_file"]],
        params_override=options["--params_override"],
    )


@pytest.mark.parametrize(
    ("run", "experiment", "preset", "override"),
    [
        (
            *("reddit-1", "reddit", "laptop_dan_ngrams"),
            f"task.seed=1,task.train_data.input_path={PAIRS},{CHECKED},"
            f"trainer.train_steps=2000,{DECAY}=2000,trainer.checkpoint_interval=2000,"
            "trainer.validation_interval=2000,trainer.best_checkpoint_eval_metric=p_at_1",
        ),
        (
            *("nli_30-0", "reddit_nli", "laptop_dan_ngrams_nli"),
            "task.seed=0,task.init_checkpoint=R/models/reddit-0,"
            f"task.train_data.input_path={PAIRS},{CHECKED},task.nli.train_data.input_path="
            "'R/nli/train/nli-0000[0-2]-*,R/nli/again/nli-0000[0-2]-*',"
            "task.nli.validation_data.input_path=R/nli/dev/nli-*,trainer.validation_interval=1600",
        ),
    ],
)
def test_a_row_becomes_a_command(run, experiment, preset, override):
    table = rows.Table({"RUNS": "R", "DATA": "D", "SENTENCE_TRANSFORMERS": "m=M"})
    expected = TRAIN.format(experiment, run, preset, shlex.quote(override))
    assert table.train(table.runs[run]) == expected


@pytest.mark.slow
def test_every_row_has_parameters_that_exist(table):
    table = table()
    found = {}
    for name, run in table.runs.items():
        if run.row.model_of is None:
            found[name] = params_of(table, run)
            assert found[name].task.seed == run.seed
    both, reddit = found["reddit_nli-1"].task, found["reddit-1"].task
    # As it dropped words for, so that every variable has its counterpart.
    both.model.encoder.averaging.word_dropout = reddit.model.encoder.averaging.word_dropout
    for name in ("encoder", "text", "response_network"):
        assert getattr(both.model, name) == getattr(reddit.model, name)
    asked = [params.as_dict() for params in found.values()]
    assert all(asked.count(one) == 1 for one in asked)


def test_an_ablation_differs_from_its_row_in_one_choice(table):
    table = table()
    for name, ablation in table.ablations.items():
        unchanged = ["as it stands", *(f"seed {seed}" for seed in table.rows[name].seeds[1:])]
        assert [*ablation.runs][: len(unchanged)] == unchanged
        assert ablation.runs["as it stands"] == table.runs[f"{name}-0"]
    found = table.ablations["reddit"].runs
    base = table.overrides(found["as it stands"])
    other = table.overrides(found["score scale 10"])
    differing = {key for key in base | other if base.get(key) != other.get(key)}
    assert differing == {"task.model.score_scale"}
    both = table.ablations["reddit_nli"].runs.items()
    assert [change for change, run in both if run.row.init_from is None] == [
        "from the beginning, not from a model of replies"
    ]


def is_taken(pair_id, command):
    """Whether a command of `snli` takes a pair, by its --pair_ids."""
    patterns = command[command.index("--pair_ids") + 1 : command.index("--exclude_texts")]
    return any(fnmatchcase(pair_id, pattern) for pattern in patterns)


def test_nothing_that_is_scored_is_trained_on(table, data):
    made = {name: shlex.split(table().data(name)) for name in ("pairs", "nli/train", "nli/again")}
    for command in made.values():
        excluded = command[command.index("--exclude_texts") + 1 :]
        assert [str(Path(one).relative_to(data)) for one in excluded] == [
            *(f"stsb/sts-{split}.csv" for split in ("dev", "test", "train")),
            "nli/snli_1.0_test.jsonl.gz",
        ]
    # NLI pairs by their ids: of this file's sources, and of SNLI as it is published.
    ids = ("snlidev-1", "cad-2", "sick-3", "4705552913.jpg#2r1n")
    assert [one for one in ids if is_taken(one, made["nli/train"])] == [ids[0], ids[1], ids[3]]
    assert [one for one in ids if is_taken(one, made["nli/again"])] == [ids[0], ids[3]]
    assert table().inputs("pairs") == [str(data / "reddit/RC_2015-02.zst")]
    assert table().inputs("held_out") == [str(data / "reddit/RC_2015-03.zst")]
    assert table(HELD_OUT="RC_2015-02").inputs("pairs") == [str(data / "reddit/RC_2015-03.zst")]


def test_the_published_module_is_ranked_on_a_month_that_it_did_not_train_on(table):
    table = table()
    small, full = (table.runs[f"{row}-0"] for row in ("small", "teacher_nli"))
    components = "--remove_components 6 --component_texts 'R/pairs/train-*'"
    assert table.export(small).endswith("R/modules/small-0 --variant int8")
    assert table.export(table.runs["reddit-0"]).endswith(f"R/modules/reddit-0 {components}")
    assert small.row.scores == full.row.scores
    for run in (small, table.runs[small.init]):
        assert set(table.learned_from(run)) <= {*small.row.pairs, *small.row.nli}
    for name in small.row.pairs:
        assert not any("RC_2015-03" in file for file in table.inputs(name))
    # The module names no file of the machine that trained it.
    assert table.overrides(small)["task.sts_dev"] == ""


def test_what_is_not_there_is_neither_scored_nor_trained_on(table, data):
    elsewhere = ["sts2016", "sts2017", "irc", "dialogues"]
    assert (table().elsewhere, table().absent) == (elsewhere, [])
    row, small = table().rows["reddit"], table().runs["small-0"]
    assert table().learned_from(small)[:3] == ["pairs", "halves", "irc"]
    assert set(elsewhere) < set(row.scores)
    (data / "conversations/ubuntu_irc.jsonl.gz").unlink()
    (data / "sts2016/headlines.test.tsv").unlink()
    without = table()
    without.check_data()
    assert without.absent == ["sts2016", "irc"]
    assert without.rows["reddit"].scores == tuple(s for s in row.scores if s not in without.absent)
    assert without.elsewhere_options() == [
        ["--sts", f"{data}/sts2017_track5"],
        ["--response_ranking", "R/dialogues/test-00000-of-00013.tfrecord", "--name", "dialogues"],
    ]
    assert without.learned_from(small)[:3] == ["pairs", "halves", "nli/train"]
    assert "irc" not in without.data("teacher") + without.data("common_words")
    assert "R/irc" not in str(without.overrides(small))


def test_every_score_is_a_command_of_the_evaluation(table):
    table = table()
    scored = set()
    for run in table.shown.values():
        for command in table.scores(run):
            words = shlex.split(command)
            arguments = make_parser("evaluation", "", COMMANDS).parse_args(words[2:])
            assert str(arguments.module) == f"R/modules/{run.name}"
            scored.add((words[2], Path(arguments.output).name))
    for run in ("reddit-0", "reddit-2", "reddit_nli-1", "transformer-0"):
        assert {(task, run) for task in ("response_ranking", "snli", "sts", "cqa")} < scored
    assert {("snli", "bilstm_max_nli-0"), ("response_ranking", "growth_100-0")} < scored
    made_of = ["short_pairs", "nli/train", "irc", "dialogues", "words", "common_words"]
    assert table.made_of("teacher") == made_of
    assert table.data("teacher") == (
        "-m model teacher --texts 'R/short_pairs/train-*' 'R/nli/train/nli-*' 'R/irc/train-*' "
        "'R/dialogues/train-*' R/words/words.tsv R/common_words/words.tsv --output R/teacher "
        "--encoder universal-sentence-encoder m=M wordllama --limit 80000"
    )
    learned = table.learned_from(table.runs["reddit_nli-0"])  # what is searched for leaks
    assert learned == ["pairs", "halves", "nli/train", "nli/again"]


def test_no_nli_pair_is_read_twice_where_none_is_named(table):
    table = table(NLI_AGAIN="")
    for name in ("reddit_nli-0", "bilstm_max_nli-0"):
        assert "again" not in table.train(table.runs[name])
        assert "nli/again" not in table.trained_on(table.runs[name])
    alone = table.ablations["reddit_nli"].runs["pairs of SNLI alone"]
    with pytest.raises(rows.TableError, match="nli/again, which has no pair IDs"):
        table.train(alone)


@pytest.mark.parametrize(
    "values",
    [
        {"stepps": 3},
        {"overrides": {"task.seed": 1}},
        {"pairs": "all"},
        {"needs": ["GPU", "CPU"]},
        {"init_from": "reddit", "seeds": [7]},
    ],
)
def test_what_a_row_cannot_be_is_refused(tmp_path, values):
    changed, path = yaml.safe_load(rows.TABLE.read_text()), tmp_path / "rows.yaml"
    changed["rows"]["transformer"].update(values)
    path.write_text(yaml.safe_dump(changed, sort_keys=False))
    with pytest.raises(rows.TableError, match="|".join(values)):
        rows.Table(path=path)


@pytest.mark.parametrize(
    "given", [{"HELDOUT": "RC_2015-02"}, {"RUNS": 1.1}, {"GPU": 1}, {"RUNS": "my runs"}]
)
def test_an_option_of_another_name_or_kind_is_refused(given):
    with pytest.raises(rows.TableError, match=min(given)):
        rows.Table(given)


@pytest.mark.parametrize(
    ("file", "options", "named"),
    [
        ("nli/snli_1.0_test.txt", {}, r"nli/\*test\*"),
        ("stsb/sts-train.csv", {}, "no stsb/sts-train.csv"),
        (None, {"HELD_OUT": "RC_2020"}, r"reddit/RC_2020\*"),
        (None, {"HELD_OUT": "RC_2015"}, r"besides RC_2015"),
        (None, {"HELD_OUT": ""}, r"besides \*"),
    ],
)
def test_what_the_data_lacks_is_named(table, data, file, options, named):
    table().check_data()
    if file:
        path = data / file
        path.unlink() if path.exists() else path.touch()
    with pytest.raises(rows.TableError, match=named):
        table(**options).check_data()


@pytest.mark.parametrize(
    ("options", "encoders"),
    [
        ({}, "universal-sentence-encoder m=M wordllama"),
        ({"SENTENCE_TRANSFORMERS": ""}, "universal-sentence-encoder wordllama"),
        ({"TEACHER": "t"}, "t"),
    ],
)
def test_the_teachers_are_all_that_there_are_unless_one_is_named(table, options, encoders):
    assert f"--encoder {encoders} --limit" in table(**options).data("teacher")


@pytest.mark.parametrize(
    ("options", "large"), [({}, False), ({"GPU": "1"}, True), ({"GPU": "0"}, False)]
)
def test_rows_are_left_out_where_an_option_that_they_need_is_empty(table, options, large):
    shown = table(**options).shown
    assert "reddit-0" in shown
    assert ("transformer_large-0" in shown) == large
