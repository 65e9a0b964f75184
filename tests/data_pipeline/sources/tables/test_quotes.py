"""CSV through the whole command: valid rows are pairs, and a stray quote makes no false ones."""

import pytest

FIELDS = ("--input_field", "question", "--response_field", "answer")


@pytest.fixture
def write(tmp_path):
    def write(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def texts(pairs):
    return sorted((pair["input"], pair["response"]) for pair in pairs)


def test_a_quote_that_swallows_rows_ends_the_job(refused, write):
    rows = [f"question {n},answer {n}" for n in range(300)]
    for stray in ('"no end,x', 'x,"no end'):
        path = write("t.csv", "question,answer", "a,b", stray, *rows, 'c,"d"')
        message = refused("pairs", "--input", path, *FIELDS)
        assert f"{path}: line 3" in message
        path = write("t.csv", "question,answer", "a,b", stray, *rows[:9])
        assert f"{path}: line 3" in refused("pairs", "--input", path, *FIELDS)


def test_escaped_quotes_are_read_as_the_message_says(refused, make, write):
    rows = [f'"question \\"{n}\\", as asked","answer {n}"' for n in range(4)]
    path = write("t.csv", "question,answer", *rows, "a,b")
    assert "--escape" in refused("pairs", "--input", path, *FIELDS)
    statistics, pairs = make("pairs", "--input", path, *FIELDS, "--escape", "\\")
    assert (statistics["malformed"], len(pairs)) == (0, 5)
    assert texts(pairs)[1] == ('question "0", as asked', "answer 0")
