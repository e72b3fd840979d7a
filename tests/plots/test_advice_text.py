"""What the advice must say, in a terminal and as JSON."""

import json

import advised
import pytest

from plots.advice import cli, engine, question, table, text


@pytest.fixture
def path(made, tmp_path):
    """The table of the guide as a file."""
    written = tmp_path / "table.json"
    written.write_text(table.to_json(made))
    return written


def test_restrictions_of_those_listed_are_told(path, capsys):
    arguments = ["--sizes", "16", "--threads", "1k", "--pool", "1GiB", "--results", str(path)]
    assert cli.main(arguments) == 0
    told = capsys.readouterr().out
    assert "Beware:\n  serves one size of block only: CoRW, reworked\n" in told
    assert "free does nothing" not in told, "AtomicMalloc is not in the list"
    assert cli.main([*arguments, "--json"]) == 0
    ranked = json.loads(capsys.readouterr().out)["ranked"]
    assert {each["allocator"]: each["restrictions"] for each in ranked}["corw_reworked"] == ["serves one size of block only"]


def test_lists_of_names_are_unmistakable(made):
    asked = advised.asked(forms=question.FORMS)
    told = " ".join(text.write(made, asked, engine.answer(made, asked.data())).split())
    assert "serves one size of block only: CoRW, reworked" in told and "fastest, not told apart: Comb (our own); CoRW, reworked" in told


def test_failures_are_told_by_status_and_with_their_reasons_on_request(made):
    asked = advised.asked(sizes="16", threads="1M")
    short, whole = (text.write(made, asked, engine.answer(made, asked.data()), everything) for everything in (False, True))
    assert "Not always served or measured near this job (reasons: --all):\n  oom: Halloc (published)\n" in short
    assert "12 of 1,000,000 requests returned null" not in short and "12 of 1,000,000 requests returned null" in " ".join(whole.split())
    assert "Unsafe, as the bug search shows (docs/findings.md) (reasons: --all):\n  CMalloc (published)\n" in short


def test_nothing_near_is_not_measured(made, path, capsys):
    found = advised.near(made, sizes="16", threads="1", lanes="1", fill="99%")
    assert found.near == [] and found.ranked == []
    assert cli.main(["--sizes", "16", "--threads", "1", "--lanes", "1", "--pool", "1GiB", "--fill", "99%", "--results", str(path)]) == 1
    assert "Not measured: the nearest cell is" in capsys.readouterr().out


def test_the_text_shows_trade_offs_and_the_cells(path, capsys):
    assert cli.main(["--sizes", "16", "--threads", "1M", "--pool", "1GiB", "--results", str(path)]) == 0
    told = capsys.readouterr().out
    for part in (
        "Trade-offs:",
        "least memory: Comb",
        "Not always served or measured near this job (reasons: --all):",
        "oom: Halloc (published)",
        "Unsafe, as the bug search shows",
        "guide/small: 16 B, 1,000,000 threads  (as asked)",
        "half of them within ±1 %",
    ):
        assert part in " ".join(told.split()).replace(" (as asked)", "  (as asked)")
    assert max(len(line) for line in told.splitlines()) <= 80, "it fits a terminal"


def test_json_has_every_place_and_its_cells(path, capsys):
    cli.main(["--sizes", "16", "--threads", "1k", "--pool", "1GiB", "--json", "--results", str(path)])
    told = json.loads(capsys.readouterr().out)
    assert [each["allocator"] for each in told["ranked"]] == ["comb", "corw_reworked", "halloc_reworked", "halloc"]
    assert told["cells"][0]["label"] == "16 B, 1,000 threads"
