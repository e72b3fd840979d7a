"""Tests what the advice says in a terminal and as JSON."""

import json

import advised
import guide
import pytest

from plots.advice import differences, engine, newest, question, table, text
from plots.commands import advise as cli


@pytest.fixture
def path(made, tmp_path):
    """Writes the table of the guide to a file."""
    written = tmp_path / "table.json"
    written.write_text(json.dumps(made))
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


def test_every_revision_behind_the_answer_is_told(made):
    asked = advised.asked(sizes="16", threads="1M")
    for figure, told in (("guide/small", "allocbench 0.1.0 (def5678)."), ("guide/mixed", "allocbench 0.1.0 (abc1234).")):
        other = {**made, "revisions": {**made["revisions"], figure: "0.1.0 (def5678)"}}
        assert told in text.write(other, asked, engine.answer(other, asked.data())), figure
        of_all = [number for number, case in enumerate(other["cases"]) if case["figure"] in ("guide/small", "guide/mixed")]
        assert sorted(table.revisions(other, of_all).split(" and ")) == ["0.1.0 (abc1234)", "0.1.0 (def5678)"]


def test_older_versions_are_told_beside_their_allocator(made):
    older = "an older version was measured (9a89a106), with"
    entries = [{**entry, "older": older} if entry["id"] in ("comb", "c_malloc") else entry for entry in made["allocators"]]
    asked = advised.asked()
    short, whole = (" ".join(text.write(other, asked, engine.answer(other, asked.data()), True).split()) for other in (made, {**made, "allocators": entries}))
    assert "older version" not in short
    assert f"{older}: Comb (our own)" in whole and f"CMalloc (published): headers inside the pool, and merging; {older};" in whole


def test_lists_of_names_are_unmistakable(made):
    asked = advised.asked(forms=question.FORMS)
    told = " ".join(text.write(made, asked, engine.answer(made, asked.data())).split())
    assert "serves one size of block only: CoRW, reworked" in told and "fastest, not told apart: Comb (our own); CoRW, reworked" in told


def test_failures_are_told_by_status_and_with_their_reasons_on_request(made):
    asked = advised.asked(sizes="16", threads="1M")
    short, whole = (text.write(made, asked, engine.answer(made, asked.data()), everything) for everything in (False, True))
    assert "Not always served or measured near this job (reasons: --all):\n  oom: Halloc (published)\n" in short
    assert "12 of 1,000,000 requests returned null" not in short and "12 of 1,000,000 requests returned null" in " ".join(whole.split())
    assert f"{text.UNSAFE} (reasons: --all): headers inside the pool, and merging: CMalloc (published)" in " ".join(short.split())


def test_kept_results_of_a_gpu_say_that_they_are_of_one_card(tmp_path, monkeypatch):
    line = "These results come from this card only. The order on other cards is unknown. To measure yours: allocbench study guide --out results/mine"
    made = {}
    for backend in ("cuda", "cpu"):
        guide.write(tmp_path / backend, backend)
        for kept_below in (tmp_path, tmp_path / "elsewhere"):
            monkeypatch.setattr(table.kept, "REFERENCE", kept_below)
            made[backend, kept_below == tmp_path] = newest.table_of([str(tmp_path / backend)])[0]
    asked = advised.asked()
    told = {key: line in " ".join(text.write(each, asked, engine.answer(each, asked.data())).split()) for key, each in made.items()}
    assert told == {("cuda", True): True, ("cuda", False): False, ("cpu", True): False, ("cpu", False): False}


def test_nothing_near_is_not_measured(made, path, capsys):
    found = advised.near(made, sizes="16", threads="1", lanes="1", fill="99%")
    assert found.near == [] and found.ranked == []
    assert cli.main(["--sizes", "16", "--threads", "1", "--lanes", "1", "--pool", "1GiB", "--fill", "99%", "--results", str(path)]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert ("Not measured: the nearest cell is 12.0 steps away, and cells beyond 3 steps are not used. One step is a factor of 4 in request size, 10 in threads, 4 in lanes, "
        "2 in the free share of the pool, or 100 in the pool size. Another lifetime is 1.5 steps. guide/fill: 256 B, 10,000 threads, 91.9 % full (requests 16 times "
        "larger; 10,000 times more threads; 32 calling lanes of a warp, not 1; 91.9 % full, not 99 %; pool 8 times smaller).") in told
    asked = advised.asked(sizes="1MiB", threads="100")
    assert "\n\nRefuse this request (status unsupported):\n" in text.write(made, asked, engine.answer(made, asked.data())), "known without a near cell"


def test_the_text_shows_trade_offs_and_the_cells(path, capsys):
    assert cli.main(["--sizes", "16", "--threads", "1M", "--pool", "1GiB", "--results", str(path)]) == 0
    told = capsys.readouterr().out
    for part in (
        "Trade-offs:",
        "least memory: Comb",
        "Not always served or measured near this job (reasons: --all):",
        "oom: Halloc (published)",
        "Unsafe: may hand out a block twice, corrupt memory or hang, see docs/findings.md",
        "guide/small: 16 B, 1,000,000 threads (as asked)",
        "half of them within ±1 %",
    ):
        assert part in " ".join(told.split())
    assert max(len(line) for line in told.splitlines()) <= 80, "it fits a terminal"


@pytest.mark.parametrize(
    "words, differs",
    [
        ({}, []),
        ({"sizes": "64"}, ["requests 4 times smaller"]),
        ({"sizes": "8-32"}, ["requests of 16 B, not 8 B to 32 B"]),
        ({"threads": "12500"}, ["13 times fewer threads"]),
        ({"threads": "300"}, ["3.3 times more threads"]),
        ({"lanes": "1"}, ["32 calling lanes of a warp, not 1"]),
        ({"fill": "99.9%"}, ["under 0.01 % full, not 99.9 %"]),
        ({"lifetime": "any"}, ["blocks freed by a later kernel"]),
        ({"pool": "8GiB"}, ["pool 8 times smaller"]),
    ],
    ids=lambda words: "-".join(words),
)
def test_how_a_cell_differs_is_told_in_words(words, differs):
    """The cell has 1,000 threads with 16 B each, alone in a pool of 1 GiB."""
    job = {"sizes": [16, 16], "threads": 1000, "lanes": 32, "fill": 1.5e-5, "lifetime": "kernel", "pool": 1 << 30}
    asked = advised.asked(**words).data()
    assert differences.words(job, asked, engine.distance_of(job, asked)[1]) == differs


def test_every_row_says_how_far_its_nearest_cell_is(made):
    asked = advised.asked(sizes="256", threads="1k")
    found = engine.answer(made, asked.data())
    told = text.write(made, asked, found)
    nearest = "guide/small: 64 B, 1,000 threads (requests 4 times smaller)"
    assert f"Nearest measured cell of every row: {nearest}. rank" in " ".join(told.split())
    assert [line.split()[-1] for line in told.splitlines() if line.startswith(("rank", "1", "3", "4"))] == ["away", *["1.0"] * 4]
    place = found.near[0].number
    entries = [{**entry, "results": [*entry["results"][:place], None, *entry["results"][place + 1:]]} if entry["id"] == "halloc" else entry
               for entry in made["allocators"]]
    told = text.write(made, asked, engine.answer({**made, "allocators": entries}, asked.data()))
    assert f"Nearest measured cell, unless the row names another: {nearest}. rank" in " ".join(told.split())
    row = next(number for number, line in enumerate(told.splitlines()) if " Halloc (published) " in line)
    assert told.splitlines()[row + 1].startswith("      nearest: guide/small: 16 B, 1,000 threads (requests 16 times smaller")


def test_one_word_says_how_full_the_pool_is(made):
    """The 10,000 requests of 256 B take 1.9 % of 128 MiB, in addition to the 90 % that are taken already."""
    asked = advised.asked(sizes="256", threads="10k", pool="128MiB", fill="99.9%")
    told = text.write(made, asked, engine.answer(made, asked.data()))
    assert "99.9 % full at most" in told and [case["label"] for case in made["cases"] if case["figure"] == "guide/fill"] == [
        "256 B, 10,000 threads, 51.9 % full", "256 B, 10,000 threads, 91.9 % full"]


def test_the_answer_about_an_application_has_its_whole_time(path, capsys):
    assert cli.main(["--application", "hash_join", "--results", str(path)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Which allocator for a hash join?\n") and "steps" not in told and "memory:" not in told
    assert "Measured cell of every row: guide/hash_join: 4,096 tuples.\n" in told
    header, first = (line.split() for line in told.splitlines() if line.startswith(("rank ", "1=    Comb")))
    assert header == ["rank", "allocator", "time/best", "time", "regs", "ok"] and first[:4] == ["1=", "Comb", "(our", "own)"] and "18 µs" in " ".join(first)
    assert cli.main(["--application", "kd_tree", "--results", str(path)]) == 1
    assert ("Not measured: these results have no cell of guide/kd_tree. Measure it on your card: allocbench study guide --only guide/kd_tree --out "
            "results/mine, then ask again with --results results/mine.") in " ".join(capsys.readouterr().out.split())


def test_names_are_folded_where_the_table_is_wide(made):
    long = {**made, "allocators": [{**entry, "name": "A reconstruction of an allocator"} if entry["id"] == "comb" else entry for entry in made["allocators"]]}
    asked = advised.asked()
    lines = text.write(long, asked, engine.answer(long, asked.data())).splitlines()
    row = next(number for number, line in enumerate(lines) if "A reconstruction" in line)
    assert lines[row].startswith("1=    A reconstruction of an") and lines[row].endswith("0.0") and lines[row + 1].split("  ")[3] == "allocator (our own)"


def test_json_has_every_place_and_its_cells(path, capsys):
    cli.main(["--sizes", "16", "--threads", "1k", "--pool", "1GiB", "--json", "--results", str(path)])
    told = json.loads(capsys.readouterr().out)
    assert [each["allocator"] for each in told["ranked"]] == ["comb", "corw_reworked", "halloc_reworked", "halloc"]
    assert told["cells"][0]["label"] == "16 B, 1,000 threads" and told["ranked"][0]["nearest"] == told["cells"][0]
    assert told["cells"][1]["label"] == "64 B, 1,000 threads" and told["cells"][1]["differs"] == ["requests 4 times larger"]
