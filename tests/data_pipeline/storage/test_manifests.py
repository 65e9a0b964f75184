"""Damaged manifests and caches: read again or one error, never a traceback."""

import json

import pytest

from data_pipeline.storage.manifests import Each, parse_manifest


def test_a_manifest_has_every_field_of_its_type():
    shape = {"a": int, "b": Each({"c": (int, float)})}
    whole = {"a": 1, "b": {"x": {"c": 1.5}, "y": {"c": 2}}, "more": None}
    assert parse_manifest(json.dumps(whole).encode(), shape) == whole
    for damaged, reason in [
        (b"", "Expecting value"),
        (b"\xff", "invalid start byte"),
        (b"[" * 100_000, "nested too deep"),
        (b"[]", "the manifest is of the wrong type, list"),
        (b'{"b": {}}', "'a' is missing in the manifest"),
        (b'{"a": "1", "b": {}}', "'a' is of the wrong type, str"),
        (b'{"a": 1, "b": {"x": {}}}', "'c' is missing in 'x'"),
        (b'{"a": 1, "b": {"x": 7}}', "'x' is of the wrong type, int"),
    ]:
        with pytest.raises(ValueError, match=reason):
            parse_manifest(damaged, shape)


def leaves(value, path=()):
    """The paths of all fields of nested objects."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield (*path, name)
        yield from leaves(inner, (*path, name))


def damaged(manifest, path, *, by):
    """A copy without a field, or with null in its place."""
    copy = json.loads(json.dumps(manifest))
    *outer, name = path
    place = copy
    for step in outer:
        place = place[step]
    if by == "removal":
        del place[name]
    else:
        place[name] = None
    return json.dumps(copy)


@pytest.mark.parametrize(("field", "by"), [("rules", "removal"), ("outputs", "null")])
def test_a_cached_dump_with_a_damaged_manifest_is_read_again(
    run, world, tmp_path, statistics_of, caplog, field, by
):
    source = ("--input", tmp_path / "RC_1.zst", "--cache", tmp_path / "cache", "--output")
    run(*source, tmp_path / "one")
    (path,) = tmp_path.glob("cache/*/cached_input.json")
    path.write_text(damaged(json.loads(path.read_bytes()), (field,), by=by))
    caplog.clear()
    run(*source, tmp_path / "two")
    (line,) = [line for line in caplog.messages if "is damaged" in line]
    assert line.startswith(f"warning: {path} is damaged ('{field}' is ")
    assert line.endswith("; its input file is read again")
    assert statistics_of(tmp_path / "one") == statistics_of(tmp_path / "two")


def test_a_marker_with_any_field_damaged_is_one_error_or_still_good(fails, run, world, tmp_path):
    source = ("--input", tmp_path / "RC_1.zst", "--output", tmp_path / "out")
    run(*source, "--train_shards", 1, "--test_shards", 1)
    path = tmp_path / "out" / "COMPLETED"
    whole = path.read_text()
    paths = [path for path in leaves(json.loads(whole)) if path[0] != "options"]
    assert len(paths) > 12
    for field in paths:
        path.write_text(damaged(json.loads(whole), field, by="removal"))
        try:
            run(*source, "--train_shards", 1, "--test_shards", 1)
        except SystemExit as error:
            assert str(error).startswith("error: --output: ")
    path.write_text(whole)
    run(*source, "--train_shards", 1, "--test_shards", 1)
    path.write_bytes(b"\xff" + whole.encode())
    assert "is not what this program writes" in fails(*source)
