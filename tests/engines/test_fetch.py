"""What `make engines` does where a registry hiccups or a program is missing."""

import json

import pytest

from tests.engines import fetch


@pytest.fixture
def step(tmp_path, monkeypatch):
    """Replaces all steps by one; returns its target and the file that says what is missing."""

    def replace(function):
        target = tmp_path / ".engines" / "thing"
        monkeypatch.setattr(fetch, "FOLDER", target.parent)
        monkeypatch.setattr(fetch, "MISSING", target.parent / "missing.json")
        monkeypatch.setattr(fetch, "STEPS", {"Thing": (target, function)})
        monkeypatch.setattr(fetch, "_AT_ONCE", (("Thing",),))
        monkeypatch.setattr(fetch, "_SECONDS_BETWEEN_TRIES", 0)
        return target

    return replace


def test_a_registry_is_asked_again_and_what_is_there_is_left_alone(step):
    calls = []

    def fetch_at_the_third_time(target):
        calls.append(target)
        if len(calls) < 3:
            raise fetch.NotToBeHadError("the registry did not answer")
        target.touch()

    step(fetch_at_the_third_time)
    for _ in range(2):
        fetch.main()
        assert json.loads(fetch.MISSING.read_text()) == {}
    assert len(calls) == 3


def test_what_cannot_be_had_is_noted_with_its_reason(step, capsys):
    calls = []

    def fail(target):
        calls.append(target)
        raise fetch.NotToBeHadError("the registry did not answer")

    step(fail)
    fetch.main()
    assert len(calls) == 3
    assert json.loads(fetch.MISSING.read_text()) == {"Thing": "the registry did not answer"}
    assert capsys.readouterr().out.endswith("Thing: not available: the registry did not answer\n")


def test_a_missing_program_is_named_with_what_to_install_and_not_looked_for_again(
    step, monkeypatch
):
    step(fetch.fetch_prism)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(fetch.time, "sleep", lambda _: pytest.fail("tried again"))
    fetch.main()
    reason = {"Thing": "there is no go here; install Go"}
    assert json.loads(fetch.MISSING.read_text()) == reason
