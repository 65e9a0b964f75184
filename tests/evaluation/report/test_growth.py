import json

import pytest

from common.errors import InputError
from evaluation.report import growth
from evaluation.report.cells import OURS, markdown
from evaluation.report.systems import System
from evaluation.results.result import Result


def ranking(*ranks):
    """Ranks of four pairs in two blocks."""
    hits = [rank == 1 for rank in ranks]
    return Result(
        task="response_ranking",
        name="response_ranking",
        system="module",
        metrics={"p_at_1": sum(hits) / len(hits), "p_at_10": 1.0},
        n=len(ranks),
        items=[{"rank": rank, "block": row // 2} for row, rank in enumerate(ranks)],
    )


def points(*results):
    return [growth.Point(10.0 ** (n + 1), (None, one, one)) for n, one in enumerate(results)]


def test_the_slope_is_what_ten_times_the_pairs_add():
    # P@1 of 0, 1/2 and 1 at 10, 100 and 1,000 pairs; in both blocks alike, so nothing varies.
    found = points(ranking(2, 2, 2, 2), ranking(1, 2, 1, 2), ranking(1, 1, 1, 1))
    line = growth.line(found, 1)
    assert (line.slope, line.offset) == (pytest.approx(0.5), pytest.approx(-0.5))
    assert line.interval == pytest.approx([0.5, 0.5])
    assert line.rises
    flat = growth.line(found, 2)
    assert flat.slope == pytest.approx(0.0)
    assert not flat.rises
    assert growth.line(found, 0) is None
    assert growth.line(found[:2], 1) is None
    text = markdown(growth.table(found))
    assert (
        "| more for ten times the pairs |              - |        0.500 |         0.000 |" in text
    )
    assert "million" not in text


def test_the_interval_of_the_slope_is_over_blocks_of_all_points_together():
    # One block has a slope of 1/2, the other one of 0: a resample has the mean of two of them.
    found = points(ranking(2, 2, 2, 2), ranking(1, 2, 2, 2), ranking(1, 1, 2, 2))
    line = growth.line(found, 1)
    assert line.slope == pytest.approx(0.25)
    assert line.interval == pytest.approx([0.0, 0.5])
    assert not line.rises
    # Other items in one point: no interval.
    other = points(ranking(2, 2, 2, 2), ranking(1, 2, 2, 2, 1, 1), ranking(1, 1, 2, 2))
    assert growth.line(other, 1).interval is None


def test_a_line_is_drawn_where_the_slope_is_not_0():
    rising = points(ranking(2, 2, 2, 2), ranking(1, 2, 1, 2), ranking(1, 1, 1, 1))
    flat = points(*[ranking(1, 2, 1, 2)] * 3)
    assert growth.picture(rising).count("stroke-dasharray") == 1 + growth.picture(flat).count(
        "stroke-dasharray"
    )


def test_the_rate_of_each_share_is_what_its_model_says(tmp_path):
    systems = {
        share: System(f"growth {share}", OURS, ({"response_ranking": ranking(1, 2, 1, 2)},), (0,))
        for share in (50, 100)
    }
    chosen = tmp_path / "growth_50-0" / "chosen.json"
    chosen.parent.mkdir()
    chosen.write_text(json.dumps({"rate": 0.012}))
    rates = growth.chosen_rates(tmp_path, systems, [30, 70])
    assert rates == {30: 0.012}
    found = growth.points(systems, of_files=[30, 70])
    text = markdown(growth.table(found, rates))
    assert "learning rate" in text
    assert [line.split("|")[-2].strip() for line in text.splitlines()[-2:]] == ["0.012", "-"]
    chosen.write_text("{}")
    with pytest.raises(InputError, match=r"chosen.json: says no rate \('rate'\)"):
        growth.chosen_rates(tmp_path, systems, [30, 70])


def test_a_share_of_no_file_is_refused():
    systems = {2: System("growth 2", OURS, ({},), (0,))}
    with pytest.raises(InputError, match="growth_2: 2% of 10 training files is no file; accepted"):
        growth.points(systems, of_files=[5] * 10)
