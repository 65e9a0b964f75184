"""Options are declared once: the dataclass is the command line, its help and its checks."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from common import command_line
from common.command_line import Command, Options, option
from common.errors import InputError, message_of, reading


@dataclass(frozen=True, kw_only=True)
class Shared(Options):
    output: Path = option(help="the folder to write", metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class Given(Shared):
    shards: int = option(4, help="files", minimum=1)
    share: float = option(0.5, help="a part", minimum=0, below=1)
    by: str = option("thread", help="how", choices=("thread", "pair"))
    texts: tuple[str, ...] = option((), help="what")
    columns: tuple[str, str] | None = option(None, help="two", metavar=("A", "B"))
    overwrite: bool = option(False, help="replace")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.overwrite and self.by == "pair":
            raise InputError("--overwrite: True with --by pair; accepted: --by thread")


RAN: list = []


def run(options, others=None):
    RAN.append((options, others))
    if options.shards == 99:
        raise ZeroDivisionError("of the library")
    if options.shards == 98:
        raise KeyboardInterrupt


def call(*argv, others=""):
    RAN.clear()
    command = Command("go", Given, run=f"{__name__}:run", example="--output o", others=others)
    sys.modules[__name__] = sys.modules.get(__name__) or sys.modules[run.__module__]
    command_line.main("program", "What it does.", [command], ["go", *argv])
    return RAN[-1]


def test_arguments_become_the_dataclass():
    options, _ = call(
        *["--output", "o", "--shards", "2", "--texts", "a", "b", "--texts", "c"],
        *["--columns", "x", "y", "--overwrite"],
    )
    assert options == Given(
        output=Path("o"), shards=2, texts=("a", "b", "c"), columns=("x", "y"), overwrite=True
    )
    assert call("--output", "o")[0] == Given(output=Path("o"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shards", 0),
        ("shards", 1.5),
        ("shards", True),
        ("share", 1),
        ("share", float("nan")),
        ("by", "month"),
        ("texts", (1,)),
    ],
)
def test_a_value_that_is_not_accepted_is_named(name, value):
    with pytest.raises(InputError, match=f"--{name}.*{value!r}".replace("(", "").replace(",)", "")):
        Given(output=Path("o"), **{name: value})


@pytest.mark.parametrize(
    ("argv", "status"),
    [
        (["--output", "o", "--shards", "0"], 1),
        (["--output", "o", "--by", "pair", "--overwrite"], 1),
        (["--output", "o", "--shards", "99"], 1),
        (["--output", "o", "--shards", "98"], 130),
        (["--output", "o", "--shards", "many"], 2),
        (["--output", "o", "--shard", "3"], 2),
        ([], 2),
    ],
)
def test_every_failure_is_one_line_and_a_status(argv, status, capsys):
    with pytest.raises(SystemExit) as ended:
        call(*argv)
    code = ended.value.code
    assert (1 if isinstance(code, str) else code) == status
    if isinstance(code, str):
        assert code.startswith("error: ") and "\n" not in code


@pytest.mark.parametrize(
    ("package", "library", "extra"),
    [
        ("evaluation", "bm25s", "evaluate"),
        ("model.sts_regression", "tensorflow.nowhere", "train"),
        ("export", "onnx", "formats"),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_its_extra(
    package, library, extra, monkeypatch
):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr(sys.modules[__name__], "lacking", lambda _: __import__(library), False)
    command = Command("go", Shared, run=f"{__name__}:lacking", example="")
    with pytest.raises(SystemExit) as ended:
        command_line.main(package, "", [command], ["go", "--output", "o"])
    assert library in ended.value.code and f"[{extra}]" in ended.value.code


def test_debug_shows_where_an_error_comes_from():
    with pytest.raises(ZeroDivisionError):
        call("--output", "o", "--shards", "99", "--debug")


def test_other_arguments_are_passed_on_where_a_command_takes_them():
    _, others = call("--output", "o", "--runner=Spark", others="Beam's options.")
    assert others == ["--runner=Spark"]


def test_errors_of_libraries_name_the_place():
    with pytest.raises(InputError, match=r"file\.csv: .bad row"), reading("file.csv"):
        raise KeyError("bad row")
    assert message_of(RuntimeError("one\n two {{node a}} [Op:Mul] name: ")) == "one two"
    assert message_of(ValueError()) == "ValueError"
    with pytest.raises(OSError) as error:
        Path("/no/such/file").read_text()
    assert "/no/such/file" in message_of(error.value)
