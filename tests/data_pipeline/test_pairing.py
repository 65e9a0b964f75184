"""The join: who answers whom, each id once."""

from data_pipeline.comments import Comment
from data_pipeline.pairing import BatchPacker, pair_bucket


def bucket_of(*batches):
    """All comments in one bucket; a batch is (path, first line, [(comment, rule), ...])."""
    elements = []
    for path, first_line, comments in batches:
        packer = BatchPacker(1)
        for comment, rule in comments:
            packer.add(comment, rule)
        elements += [batch for _, batch in packer.packed(path=path, first_line=first_line)]
    return elements


def comment(own_id, parent=None, *, text=None, thread="t"):
    return Comment(own_id, parent, thread, "sub", "author", text or f"text of {own_id}")


def ids(pairs):
    return [(pair.input_id, pair.response_id) for pair in pairs]


def test_a_reply_finds_its_parent_in_another_file_and_another_thread():
    pairs, counts = pair_bucket(
        bucket_of(
            ("b", 1, [(comment("c1", thread="x"), None)]),
            ("a", 1, [(comment("c2", "c1", thread="y"), None), (comment("c3", "c2"), None)]),
        )
    )
    assert ids(pairs) == [("c1", "c2"), ("c2", "c3")]
    assert pairs[0] == ("text of c1", "text of c2", "c1", "c2", "y", "sub")
    assert counts == {"comments": 3, "kept": 3, "replies": 2, "pairs": 2}


def test_dropped_comments_neither_ask_nor_answer_but_are_counted():
    rows = [(comment("c1"), None), (comment("c2", "c1"), "bot"), (comment("c3", "c2"), None)]
    pairs, counts = pair_bucket(bucket_of(("a", 1, rows)))
    assert pairs == []
    assert counts["dropped/bot"] == 1
    assert (counts["comments"], counts["kept"], counts["replies"]) == (3, 2, 1)


def test_of_two_lines_with_one_id_the_first_by_path_and_line_counts():
    parent = ("a", 1, [(comment("c1"), None)])
    late = ("b", 1, [(comment("c2", "c1", text="late"), None)])
    early = ("a", 9, [(comment("c2", "c1", text="early"), None)])
    for batches in ([parent, late, early], [early, late, parent]):
        pairs, counts = pair_bucket(bucket_of(*batches))
        assert [pair.response for pair in pairs] == ["early"]
        assert counts["duplicates"] == 1
        assert counts["comments"] == 2


def test_a_first_line_that_is_dropped_drops_the_later_copy_too():
    rows = [
        (comment("c1"), None),
        (comment("c2", "c1"), "deleted"),
        (comment("c2", "c1"), None),
    ]
    pairs, counts = pair_bucket(bucket_of(("a", 1, rows)))
    assert pairs == []
    assert (counts["duplicates"], counts["dropped/deleted"], counts["kept"]) == (1, 1, 1)


def test_nothing_answers_itself_and_a_missing_parent_gives_no_pair():
    pairs, counts = pair_bucket(
        bucket_of(("a", 1, [(comment("c1", "c1"), None), (comment("c2", "gone"), None)]))
    )
    assert pairs == []
    assert (counts["replies"], counts["pairs"]) == (2, 0)


def test_parent_and_reply_meet_in_one_of_many_buckets():
    packer = BatchPacker(64)
    for number in range(100):
        packer.add(comment(f"p{number}"), None)
        packer.add(comment(f"r{number}", f"p{number}"), None)
    buckets = dict(packer.packed(path="a", first_line=1))
    assert len(buckets) > 32
    found = [pair for batch in buckets.values() for pair in pair_bucket([batch])[0]]
    assert sorted(ids(found)) == sorted((f"p{n}", f"r{n}") for n in range(100))


def test_copies_that_disagree_on_their_parent_give_the_same_pairs_in_any_buckets():
    rows = [comment("a"), comment("b"), comment("c", "a"), comment("c", "b"), comment("c", "a")]
    for buckets in (1, 7, 64):
        packer = BatchPacker(buckets)
        for row in rows:
            packer.add(row, None)
        packed = [batch for _, batch in packer.packed(path="x", first_line=1)]
        found = [pair_bucket([batch]) for batch in packed]
        pairs = [pair for some, _ in found for pair in some]
        assert sorted(ids(pairs)) == [("a", "c"), ("b", "c")]
        assert sum(counts["duplicates"] for _, counts in found) == 2
