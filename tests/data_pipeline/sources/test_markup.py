"""What readers see of texts with markup."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from data_pipeline.sources.markup import MARKUPS, plain_text

HACKER_NEWS = (
    'First<p>Second <i>it</i>: <a href="https:&#x2F;&#x2F;x.y&#x2F;long" rel="nofollow">https:'
    "&#x2F;&#x2F;x.y&#x2F;lo...</a><p><pre><code>  if x:\n    y\n</code></pre>\nI&#x27;m done"
)
STACK_EXCHANGE = (
    "<p>How do\nI <code>sort</code>?</p>\n\n<blockquote>\n  <p>you said</p>\n</blockquote>\n\n"
    '<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<p><img src="a.png" alt="an image">&amp;lt; x</p>'
)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<p>Hello&nbsp;you</p><p>a &lt; b<br/>and <b>more</b></p>", "Hello you\na < b\nand more"),
        (HACKER_NEWS, "First\nSecond it: https://x.y/lo...\nif x:\ny\nI'm done"),
        (STACK_EXCHANGE, "How do I sort?\none\ntwo\n&lt; x"),
        ("<table><tr><td>1</td><td>2</td></tr></table><script>no</script>", "1 2"),
        (
            "<b>b</b> if a < b and c > d: x<5 I <3 you & me",
            "b if a < b and c > d: x<5 I <3 you & me",
        ),
        ("<i>i</i> https://a.b/?x=1&section=0", "i https://a.b/?x=1&section=0"),
        ("List<String> of\n<jane@x.org> &amp; you", "List<String> of\n<jane@x.org> & you"),
        ("<p>not closed <blockquote>quote", "not closed"),
        ("<p></p>", ""),
    ],
)
def test_html(text, plain):
    assert plain_text(text, "html") == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (
            "> quote\n\n**bold** [link](http://x) ~~s~~ snake_case\nline",
            "bold link s snake_case\nline",
        ),
        (">!start!< and ||end|| but `a || b || c`", "start and end but a || b || c"),
        ("```py\nx = 1\n```\n1. one\n- two <https://a.b>", "x = 1\none\ntwo https://a.b"),
        ("I <3 you, a < b &amp;gt; List<String> ![alt](x)", "I <3 you, a < b &gt; List<String>"),
        ("# Head\n\n|a|b|\n|-|-|\n|1|2|", "Head\na\nb\n1\n2"),
        ("plain,\n\nas  it is", "plain,\nas it is"),
    ],
)
def test_markdown(text, plain):
    assert plain_text(text, "markdown") == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("hey <@U02>, <@U03|jane>: <#C1|general> <#C2|>", "hey , @jane: #general"),
        (
            "<https://a.b|the *docs*> <https://a.b/c_d> <mailto:a@b.c|a@b.c>",
            "the docs https://a.b/c_d a@b.c",
        ),
        ("*bold* _it_ ~s~ *_both_* snake_case 2*3*4", "bold it s both snake_case 2*3*4"),
        ("`a_b_ *c*` and ```\nx &lt; y```", "a_b_ *c* and\nx < y"),
        ("&gt; quote\n&amp;lt; &lt;3 a &amp; b", "&lt; <3 a & b"),
        ("mine\n&gt;&gt;&gt; quote\nto its end", "mine"),
        ("<!here> <!subteam^S1|@team> <!date^1^{date}|Monday>", "@here @team Monday"),
    ],
)
def test_slack(text, plain):
    assert plain_text(text, "slack") == plain


def test_without_markup_a_text_stays_as_it_is():
    assert plain_text("<p>a  &amp; *b*", "none") == "<p>a  &amp; *b*"
    assert MARKUPS[0] == "none"


def test_threads_share_the_parser():
    with ThreadPoolExecutor(4) as threads:
        pages = [f"<p>{number}<br>" * 20 for number in range(500)]
        read = list(threads.map(lambda page: plain_text(page, "html"), pages))
    assert read == ["\n".join([str(number)] * 20) for number in range(500)]
