"""Files on an object store: moto's S3 in this process, reached as Beam reaches a real one."""

import boto3
import pytest
from apache_beam.io.filesystems import FileSystems
from moto import mock_aws

from common.errors import InputError
from common.files import ClaimedError
from data_pipeline.storage import filesystem
from data_pipeline.storage.filesystem import NewFile, read_bytes, write_file, write_object
from data_pipeline.storage.inputs import find_inputs
from data_pipeline.storage.output_folder import OutputFolder, write_aside

FOLDER = "s3://bucket/folder"


@pytest.fixture
def store(monkeypatch):
    """A client of the store, which has one bucket."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    filesystem._client.cache_clear()  # one that another test made knows nothing of moto
    with mock_aws():
        filesystem.reach_object_stores()
        client = boto3.client("s3")
        client.create_bucket(Bucket="bucket")
        yield client


def keys(store):
    return [entry["Key"] for entry in store.list_objects_v2(Bucket="bucket").get("Contents", ())]


def publish(folder):
    folder.start()
    files = {"train-0": write_aside(folder.incomplete, "aside", b"", records=0)}
    folder.publish(files, inputs={}, options={}, statistics={"pairs": 0})


@pytest.mark.usefixtures("store")
def test_inputs_are_found_by_name_and_by_pattern_with_any_number_of_folders():
    for name in ("RC_2", "RC_1", "a/RC_2", "a/b/RC_3", "x_RC_4", "ab/RC_5.txt/no"):
        write_object(f"{FOLDER}/{name}", b"12")
    for pattern, names in (
        ("RC_*", ["RC_1", "RC_2"]),
        ("**/RC_*", ["RC_1", "RC_2", "a/RC_2", "a/b/RC_3"]),
        ("a/**/b/**/RC_*", ["a/b/RC_3"]),
        ("x_RC_4", ["x_RC_4"]),
    ):
        found = find_inputs([f"{FOLDER}/{pattern}"])
        assert [file.path for file in found] == [f"{FOLDER}/{name}" for name in names]
        assert (found[0].size, found[0].modified > 0) == (2, True)


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


def test_a_folder_is_deleted_with_what_is_below_it(store):
    for name in ("a", "b/c", "b/d/e"):
        write_object(f"{FOLDER}/{name}", b"1")
    write_object("s3://bucket/folder-2/f", b"1")
    filesystem.delete_folder(f"{FOLDER}/b")
    filesystem.delete_folder(f"{FOLDER}/nothing")
    assert keys(store) == ["folder-2/f", "folder/a"]


@pytest.mark.parametrize("failure", [InputError, OSError])
def test_the_last_job_takes_a_folder_over_and_publishes_it_whole(store, failure):
    first, second = OutputFolder(FOLDER), OutputFolder(FOLDER)
    with pytest.raises(ClaimedError, match=FOLDER), first.claimed():
        first.start()
        with second.claimed():
            publish(second)
        raise failure("its files are gone")
    assert second.is_done([], {})
    assert keys(store) == [f"folder/{name}" for name in ("COMPLETED", "statistics.json", "train-0")]


def test_a_job_that_is_refused_leaves_the_one_at_work_alone(store):
    first, second = OutputFolder(FOLDER), OutputFolder(FOLDER)
    write_object(f"{FOLDER}/COMPLETED", b'{"inputs": {}, "options": {}, "outputs": {}}')
    with first.claimed():
        first.start()
        aside = write_aside(first.incomplete, "aside", b"", records=0)
        with second.claimed():
            assert second.is_done([], {})
        with pytest.raises(InputError, match="shards") as refused, second.claimed():
            try:
                second.is_done([], {"shards": 1})
            finally:
                second.discard()
        assert not isinstance(refused.value, ClaimedError)
        first.publish({"train-0": aside}, inputs={}, options={}, statistics={})
    assert "folder/train-0" in keys(store)


@pytest.mark.parametrize("name", ["train-0", "statistics.json"])
def test_a_job_that_is_taken_over_while_it_publishes_completes_nothing(store, monkeypatch, name):
    rename = FileSystems.rename

    def taken_over(sources, destinations):
        rename(sources, destinations)
        if destinations == [f"{FOLDER}/{name}"]:
            write_object(f"{FOLDER}/_claim", b"another job's")

    monkeypatch.setattr(FileSystems, "rename", taken_over)
    folder = OutputFolder(FOLDER)
    with pytest.raises(ClaimedError, match=FOLDER), folder.claimed():
        publish(folder)
    assert "folder/COMPLETED" not in keys(store)
    assert "folder/_publishing.json" in keys(store)


def test_what_the_store_refuses_is_an_error_of_one_line(store):
    for refused in (
        lambda: write_object("s3://no-bucket/file", b"1"),
        lambda: find_inputs(["s3://no-bucket/*"]),
        lambda: OutputFolder("s3://no-bucket/out").claimed().__enter__(),
    ):
        with pytest.raises(Exception, match=r"^[^\n]*bucket does not exist[^\n]*$"):
            refused()
