"""What the command that starts a cluster on one machine refuses."""

import pytest

from model.distribute import local_cluster


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5"])
@pytest.mark.parametrize("option", ["--workers", "--servers"])
def test_a_number_of_processes_is_at_least_one(option, number, capsys):
    with pytest.raises(SystemExit) as ended:
        local_cluster.main(["--strategy", "parameter_server", f"{option}={number}", "--"])
    assert ended.value.code == 2
    said = f"argument {option}: {number!r}; accepted: whole numbers of at least 1"
    assert said in capsys.readouterr().err


def test_servers_are_of_parameter_servers():
    with pytest.raises(SystemExit) as ended:
        local_cluster.main(["--strategy", "multi_worker_mirrored", "--servers", "2", "--"])
    assert ended.value.code == "error: --servers: accepted only with --strategy parameter_server"


def test_logs_go_into_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    given = ["--strategy", "multi_worker_mirrored", "--logs", str(tmp_path / "file"), "--"]
    with pytest.raises(SystemExit) as ended:
        local_cluster.main(given)
    assert ended.value.code == (
        f"error: --logs: {tmp_path}/file: File exists; accepted: a folder, or none yet"
    )
