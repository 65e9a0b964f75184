"""The turns before an input, one at a time."""

from data_pipeline.execution.shuffle import Pair
from data_pipeline.pairing.context import add_turn
from data_pipeline.pairing.join import OwnComments


def comments(**parents):
    """Kept comments by id, with the ids that they reply to."""
    own = OwnComments(with_parents=True)
    own.add(list(parents), [f"text of {name}" for name in parents], list(parents.values()))
    return own


def pair(before):
    return Pair("q", "a", "c2", "c3", "t", "s", None, before)


def turns(start, own, count):
    for _ in range(count):
        start = add_turn(start, own)
    return start


def test_each_turn_adds_what_the_last_one_replies_to():
    own = comments(c1="c0", c0="b9", b9=None)
    found = turns(pair("c1"), own, 2)
    assert found.context == ("text of c1", "text of c0")
    assert found.before_input == "b9"
    assert turns(found, own, 5).context == ("text of c1", "text of c0", "text of b9")


def test_a_chain_ends_where_a_comment_is_missing_or_was_dropped():
    own = comments(c1="gone")
    own.add(["c5"], [3], [None])  # the index of the rule that dropped it
    assert turns(pair("c1"), own, 3).context == ("text of c1",)
    assert turns(pair("c5"), own, 3).context == ()
    assert turns(pair(None), own, 3).context == ()


def test_a_chain_that_closes_a_circle_ends():
    assert turns(pair("c1"), comments(c1="c0", c0="c1"), 9).context == ("text of c1", "text of c0")
    # The input's parent answers the response itself.
    assert turns(pair("c3"), comments(c3="c2"), 9).context == ()
    assert turns(pair("c1"), comments(c1="c1"), 9).context == ("text of c1",)
