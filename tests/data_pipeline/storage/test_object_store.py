"""Files on an object store: moto's S3 in this process, reached as Beam reaches a real one."""

import json
import time

import boto3
import pytest
from moto import mock_aws

from common.files import ClaimedError
from data_pipeline.storage import filesystem, object_claim
from data_pipeline.storage.filesystem import NewFile, names_in, read_bytes, write_file, write_object
from data_pipeline.storage.inputs import find_inputs
from data_pipeline.storage.object_claim import ObjectClaim
from data_pipeline.storage.output_folder import OutputFolder

FOLDER = "s3://bucket/folder"


@pytest.fixture
def store(monkeypatch):
    """A client of the store, which has one bucket."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(object_claim, "SETTLE_SECONDS", 0.0)
    filesystem._client.cache_clear()  # one that another test made knows nothing of moto
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
    found = find_inputs([f"{FOLDER}/RC_*"])
    assert [file.path for file in found] == [f"{FOLDER}/RC_1", f"{FOLDER}/RC_2"]
    (file,) = find_inputs([f"{FOLDER}/RS_1"])
    assert (file.size, file.modified > 0) == (2, True)


def test_an_output_is_published_and_one_job_at_a_time_holds_the_claim(store):
    folder = OutputFolder(FOLDER)
    with folder.claimed():
        with pytest.raises(ClaimedError, match=FOLDER), OutputFolder(FOLDER).claimed():
            pass
        folder.start()
        write_file(f"{folder.incomplete}/aside", b"")
        marker = {"inputs": {}, "options": {}, "outputs": {"train-0": {"bytes": 0}}}
        folder.publish(files={"aside": "train-0"}, documents={}, marker=marker)
    assert keys(store) == ["folder/COMPLETED", "folder/train-0"]
    assert folder.is_done([], {})


def test_a_claim_is_renewed_and_one_that_is_not_is_taken_over(store, monkeypatch):
    path = f"{FOLDER}/_claim"
    with monkeypatch.context() as patched:
        patched.setattr(object_claim, "RENEW_SECONDS", 0.01)
        with ObjectClaim(path):
            first, size = json.loads(read_bytes(path)), len(read_bytes(path))
            while (now := json.loads(read_bytes(path)))["renewed"] == first["renewed"]:
                time.sleep(0.01)
            assert now["token"] == first["token"]
            assert len(read_bytes(path)) == size  # whoever reads while it is renewed reads it all
    with ObjectClaim(path) as held:
        stale = first | {"renewed": time.time() - object_claim.EXPIRE_SECONDS - 1}
        write_object(path, json.dumps(stale).encode())
        with pytest.raises(ClaimedError):
            held.require()
        with ObjectClaim(path):
            pass
    assert keys(store) == []


def test_what_the_store_refuses_is_an_error_of_one_line(store):
    for refused in (
        lambda: write_object("s3://no-bucket/file", b"1"),
        lambda: find_inputs(["s3://no-bucket/*"]),
        lambda: OutputFolder("s3://no-bucket/out").claimed().__enter__(),
    ):
        with pytest.raises(Exception, match=r"^[^\n]*bucket does not exist[^\n]*$"):
            refused()
