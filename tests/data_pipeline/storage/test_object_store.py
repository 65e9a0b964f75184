"""Files on an object store: moto's S3 in this process, reached as Beam reaches a real one."""

import boto3
import pytest
from apache_beam.io.aws.clients.s3 import boto3_client
from moto import mock_aws

from common.errors import InputError
from data_pipeline.execution.runner import pipeline_options
from data_pipeline.storage import filesystem
from data_pipeline.storage.filesystem import NewFile, names_in, read_bytes, write_file, write_object
from data_pipeline.storage.inputs import find_inputs
from data_pipeline.storage.output_folder import OutputFolder
from data_pipeline.storage.s3_client import share_client

FOLDER = "s3://bucket/folder"


@pytest.fixture
def store(monkeypatch):
    """A client of the store, which has one bucket."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    # A client that another test made knows nothing of moto.
    monkeypatch.setattr(boto3_client, "boto3", boto3)
    share_client()
    with mock_aws():
        filesystem.reach_object_stores()
        client = boto3.client("s3")
        client.create_bucket(Bucket="bucket")
        yield client


def keys(store):
    return [entry["Key"] for entry in store.list_objects_v2(Bucket="bucket").get("Contents", ())]


@pytest.mark.parametrize("content", [b"", b"a", bytes(range(256)) * 25_000], ids=len)
def test_a_file_is_written_whole_of_any_length(store, content):
    written = write_file(f"{FOLDER}/file", content)
    assert written.size == len(content)
    assert read_bytes(f"{FOLDER}/file") == content
    assert keys(store) == ["folder/file"]


@pytest.mark.parametrize("content", [b"", b"begun"])
def test_a_file_that_fails_leaves_nothing(store, content):
    with pytest.raises(ZeroDivisionError), NewFile(f"{FOLDER}/file") as file:
        file.write(content)
        file.write(bytes(1 // 0))
    assert keys(store) == []


def test_files_and_folders_below_a_folder_are_listed_and_deleted(store):
    for name in ("a", "b/c", "b/d/e"):
        write_object(f"{FOLDER}/{name}", b"1")
    write_object("s3://bucket/folder-2/f", b"1")
    assert names_in(FOLDER) == {"a", "b"}
    filesystem.delete_folders([f"{FOLDER}/b"])
    assert names_in(FOLDER) == {"a"}
    assert keys(store) == ["folder-2/f", "folder/a"]


def test_inputs_are_found_by_pattern_and_by_name(store):
    for name in ("RC_2", "RC_1", "RS_1"):
        write_object(f"{FOLDER}/{name}", b"12")
    assert [file.path for file in find_inputs([f"{FOLDER}/RC_*"])] == [
        f"{FOLDER}/RC_1",
        f"{FOLDER}/RC_2",
    ]
    (file,) = find_inputs([f"{FOLDER}/RS_1"])
    assert file.size == 2
    assert file.modified > 0


def test_what_the_store_refuses_is_an_error_of_one_line(store, caplog):
    with pytest.raises(OSError, match=r"NoSuchBucket.*The specified bucket does not exist$"):
        write_object("s3://no-bucket/file", b"1")
    assert not caplog.records
    with pytest.raises(InputError, match=r"^--input: 's3://no-bucket/\*': [^\n]+ does not exist$"):
        find_inputs(["s3://no-bucket/*"])
    folder = OutputFolder("s3://no-bucket/out")
    reason = r"^--output: 's3://no-bucket/out' cannot be written: [^\n]+ does not exist$"
    with pytest.raises(InputError, match=reason), folder.claimed():
        pass


def test_one_client_serves_all_accesses(store, monkeypatch):
    write_object(f"{FOLDER}/a", b"0")
    made = []
    monkeypatch.setattr(boto3.session.Session, "client", lambda *_, **__: made.append(1))
    write_object(f"{FOLDER}/a", b"1")
    assert read_bytes(f"{FOLDER}/a") == b"1"
    assert not made


@pytest.mark.parametrize("name", ["access_key_id", "secret_access_key", "session_token"])
def test_credentials_are_not_accepted_on_the_command_line(name):
    for given in ([f"--s3_{name}=abc"], [f"--s3_{name}", "abc"]):
        with pytest.raises(InputError, match=rf"^--s3_{name}: credentials are not accepted"):
            pipeline_options(given)
