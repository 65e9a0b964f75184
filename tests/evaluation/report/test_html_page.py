"""The report: an HTML page, a Markdown table and a JSON file."""

import dataclasses
import html
import json
import re

import pytest

from common.errors import InputError
from evaluation.report import figures, html_page
from evaluation.report.systems import read_module
from evaluation.report.table import BASELINE
from evaluation.results import store
from tests.evaluation.report.results_of import official, ranking, result, sts, system

NASTY = "<script>alert('x')</script> & \"quotes\""


def render(*systems):
    return html_page.render(systems, html_page.all_tables(systems))


def test_the_page_opens_with_the_verdict_and_has_provenance_and_no_scripts():
    page = render(
        system(ranking(1, 1, 1, 2), official(sts()), label="small"),
        system(ranking(2, 2, 2, 2), label="TF-IDF", kind=BASELINE),
    )
    body = html.unescape(re.sub(r"<[^>]+>", " ", page[page.index("<body>") :]))
    text = " ".join(body.split())
    for expected in (
        "Scores of small small beside the best simple baseline: ahead on response ranking.",
        "Similarity sts-test, n = 1,379 0.500 Pearson [0.400, 0.600]",
        "0.750 P@1 [0.250, 0.750] TF-IDF: 0.000 [0.250, 0.750] difference: 0.750 [0.500, 1.000]",
        "Figure 7: scores against human judgement, sts-test",
        "Reddit (paper) 0.731 [0.705, 0.755]",
    ):
        assert expected in text
    for expected in ("c0ffee", "ab" * 32, "runs/module", "python -m evaluation sts"):
        assert expected in text[text.index("Provenance") :]
    pattern = r"https?:|<link|@import|url\((?!#)|<script|src=(?!\"data:image/svg)"
    assert not re.findall(pattern, page)
    assert page.count('<img src="data:image/svg+xml;base64,') == 1
    assert "no simple baseline was scored" in render(system(ranking(1, 2)))


def test_text_is_escaped():
    hostile = sts(text=NASTY, command=NASTY, module={"path": NASTY, "fingerprint": NASTY})
    page = render(system(dataclasses.replace(hostile, name=f"sts-{NASTY}"), label=NASTY))
    assert "<script>" not in page
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;quotes&#34;" in page


def test_what_must_be_known_of_the_data_is_said():
    other = sts("sts-dev", module={"path": "m2", "fingerprint": "decade"})
    page = render(system(sts(), other))
    assert "2 different modules" in page
    assert "ynthetic" not in page
    assert "(paper)" not in page
    assert "Yang et al." not in page
    generated = dataclasses.replace(sts(), data={"origin": "synthetic sample"})
    assert "Synthetic sample." in render(system(generated))


def test_figure_7_shows_angles_as_similarities():
    drawn = figures.scatter(sts())
    (points,) = re.findall(r'<g id="PathCollection_1">.*?</g>\s*</g>', drawn, flags=re.DOTALL)
    assert points.count("<use") == 4
    assert figures.scatter(sts()) == drawn
    assert "similarity of the embeddings, 0 to 5" in drawn
    items = [item | {"score": 90.0 + item["gold"]} for item in sts().items]
    own = sts(items=items)
    assert "<!-- score -->" in figures.scatter(own)
    assert "the same direction" in render(system(sts()))
    assert "the same direction" not in render(system(own))


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_examples_are_the_best_and_the_worst(slope):
    golds = [i / 4 for i in range(21)]
    scores = [slope * (gold - 6) for gold in golds]
    scores[0], scores[-1] = scores[-1], scores[0]
    items = [
        {"gold": gold, "score": score, "genre": "", "sentence1": f"{gold}", "sentence2": "b"}
        for gold, score in zip(golds, scores, strict=True)
    ]
    chosen = html_page.examples(sts(items=items), each=1)
    found = {example.kind: example for example in chosen}
    assert (found["bad, too high"].gold, found["bad, too low"].gold) == (0.0, 5.0)
    assert 4 <= found["good, alike"].gold < 5
    assert 0 < found["good, unlike"].gold <= 1
    flat = dataclasses.replace(sts(), metrics={"pearson": None})
    assert html_page.examples(flat) == []
    assert "Table 5" not in render(system(flat))


def test_three_files_are_written_and_nothing_of_others_replaced(tmp_path):
    store.write(official(sts()), tmp_path / "results")
    paths = html_page.write_report(tmp_path / "results", tmp_path / "site" / "page.html")
    assert [path.name for path in paths] == ["page.html", "page.md", "page.json"]
    lines = paths[1].read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["table", "data", "system", "kind", "figure", "score", "95% interval"]
    title = "Table 3: Pearson's r of similarity"
    assert [title, "", "module", "ours", "test", "0.500", "[0.400, 0.600]"] in cells
    assert [title, "", "Reddit", "paper", "test", "0.731", "[0.705, 0.755]"] in cells
    found = json.loads(paths[2].read_text())
    (table_3,) = [table for table in found["tables"] if table["file"] == "table_3"]
    assert table_3["rows"][0]["cells"][0]["interval"] == [0.4, 0.6]
    assert "items" not in found["results"][0]
    html_page.write_report(tmp_path / "results", paths[0])  # again
    (tmp_path / "README.md").write_text("# Of somebody else\n")
    for name in ("page.md", "README.html", "results/sts-test.html"):
        with pytest.raises(InputError):
            html_page.write_report(tmp_path / "results", tmp_path / name)
    assert store.read(tmp_path / "results" / "sts-test.json") == official(sts())


@pytest.mark.parametrize(
    "found", [ranking(1, 2), result("cqa", "cqa-x", map=None), sts(items=[], data={}, module=None)]
)
def test_some_tasks_alone_still_render(found, tmp_path):
    store.write(found, tmp_path)
    assert found.name in render(*read_module(tmp_path))
