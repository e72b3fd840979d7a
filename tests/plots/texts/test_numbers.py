"""Tests numbers in texts: queries, their answers, and that every text of the repository agrees with the results."""

import json
import re
from pathlib import Path

import pytest
from allocbench.errors import UsageError
import synthetic

from plots.commands.cli import main
from plots.ledger import originals
from plots.runs import configs, kept, results
from plots.texts import blocks, numbers

ROOT = Path(__file__).resolve().parents[3]
CONFIG = {"name": "test/fig", "description": "A test", "allocators": ["c_malloc", "cuda_malloc"],
          "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}


@pytest.fixture
def reference(tmp_path, monkeypatch):
    """Makes a run `dev/fig` of invented results, which replaces the kept ones."""
    def cell(allocator, threads, seconds, spread=0.01, mode="a", status="ok"):
        values = {("alloc", "time"): (seconds, seconds * (1 - spread), seconds * (1 + spread)), ("alloc", "operations"): 1,
                  ("", "mallocs"): 1234.0, ("", "metadata_bytes"): 138103512, ("alloc", "registers"): 20.0, ("free", "registers"): 8.0} if status == "ok" else {}
        return synthetic.cell(allocator, {"threads": threads, "mode": mode}, status=status, values=values)

    cells = [cell("c_malloc", 1, 2e-6), cell("c_malloc", 10, 4e-6), cell("c_malloc", 100, 8e-6), cell("cuda_malloc", 1, 1e-6),
             cell("cuda_malloc", 10, 8e-3), cell("cuda_malloc", 100, 1.0, status="timeout"), cell("c_malloc", 1, 3e-6, mode="b")]
    synthetic.write(tmp_path / "dev" / "fig", CONFIG, cells, "cuda")
    monkeypatch.setattr(kept, "REFERENCE", tmp_path)
    yield tmp_path


def test_a_sentence_of_a_config_shows_the_answer_only(reference, tmp_path, monkeypatch):
    path = tmp_path / "configs" / "fig.json"
    path.parent.mkdir()
    path.write_text(json.dumps({**CONFIG, "notes": ["It takes <!--n dev/fig of=c_malloc mode=a threads=1-->9 µs<!--/n-->."]}, ensure_ascii=False), encoding="utf-8")
    monkeypatch.setattr(configs, "FOLDER", path.parent)
    assert configs.read(path)["notes"] == ["It takes 9 µs."]
    assert numbers.fill(numbers.sentences(), write=True) == [f"{path}:1: '9 µs' becomes '2 µs'"]
    assert configs.read(path)["notes"] == ["It takes 2 µs."]
    assert numbers.fill(numbers.sentences(), write=True) == []


def test_a_stored_config_has_no_queries(tmp_path):
    config = {**CONFIG, "notes": ["It takes <!--n dev/fig of=c_malloc-->9 µs<!--/n-->."]}
    folder = synthetic.write(tmp_path / "run", config, [synthetic.cell("c_malloc", {"threads": 1}, values={("alloc", "time"): (1.0, 1.0, 1.0)})], "cuda")
    assert results.read_run(folder).config["notes"] == ["It takes 9 µs."]


@pytest.mark.parametrize("query, text", [
    ("of=c_malloc mode=a", "2 to 8 µs"), ("of=c_malloc mode=a threads=1", "2 µs"), ("of=cuda_malloc", "1 µs to 8 ms"),
    ("of=c_malloc mode=a threads=..10 show=most", "4 µs"), ("of=c_malloc mode=a threads=10..", "4 to 8 µs"),
    ("of=c_malloc threads=1,10 mode=a show=least", "2 µs"), ("of=c_malloc to=cuda_malloc mode=a threads=1", "2.0"),
    ("of=cuda_malloc to=c_malloc mode=a", "0.50 to 2,000"),
    ("of=c_malloc to=c_malloc of.mode=b to.mode=a threads=1", "1.5"), ("of=c_malloc mode=a growth=threads", "0.30"),
    ("of=c_malloc mode=a show=where at=threads", "1"), ("of=c_malloc to=cuda_malloc mode=a show=where at=threads", "10"),
    ("of=c_malloc mode=a threads=1 phase= metric=mallocs digits=4", "1,234"), ("of=c_malloc mode=a threads=1 metric=throughput", "500 kop/s"),
    ("of=c_malloc mode=a threads=1 phase= metric=metadata_bytes", "130 MiB"),
    ("of=c_malloc mode=a threads=1 phase= metric=metadata_bytes digits=3", "132 MiB"),
    ("statuses", "6 ok, 1 `timeout`"), ("statuses allocator=c_malloc", "4 of 4 ok")])
def test_queries(reference, query, text):
    assert numbers.answer_to(f"dev/fig {query}") == text


@pytest.mark.parametrize("value, digits, text", [
    (9.96, 2, "10"), (0.996, 2, "1.0"), (0.0996, 2, "0.10"), (9.996, 3, "10.0"), (99.6, 2, "100"), (0, 2, "0"), (1234.5, 2, "1,200"), (0.0123, 2, "0.012")])
def test_a_number_has_the_wanted_digits_after_rounding(value, digits, text):
    assert numbers._write(numbers.Found([]), digits)(value) == text


def test_a_number_without_a_verdict_is_an_error(reference, monkeypatch):
    monkeypatch.setattr(numbers.claims, "void", lambda run, allocators: "Other walks: to be measured again" if "cuda_malloc" in allocators else "")
    assert numbers.answer_to("dev/fig of=c_malloc mode=a threads=1") == "2 µs"
    with pytest.raises(UsageError, match="no verdict.*Other walks"):
        numbers.answer_to("dev/fig of=c_malloc to=cuda_malloc mode=a threads=1")


def _three(folder, times, nulls=()):
    cells = [synthetic.cell(name, {"threads": 1}, values={("build", "time"): seconds, ("", "null_returns"): float(name in nulls)})
             for name, seconds in times.items()]
    synthetic.write(folder, {**CONFIG, "name": f"test/{folder.name}"}, cells, "cuda")


def test_ranks_of_two_runs(reference):
    _three(reference / "dev" / "job", {"comb": 1.0, "halloc": 2.0, "kma": 3.0, "corw": 4.0})
    _three(reference / "dev" / "replay", {"comb": 1.0, "halloc": 9.0, "kma": 3.0, "rw": 4.0, "corw": 20.0})
    assert numbers.answer_to("dev/replay ranks=dev/job phase=build ranks.phase=build threads=1") == "0.80 over 4 allocators"
    _three(reference / "dev" / "job", {"comb": 1.0, "halloc": 2.0, "kma": 3.0, "corw": 4.0}, nulls=["kma"])
    assert numbers.answer_to("dev/replay ranks=dev/job phase=build ranks.phase=build") == "1.00 over 3 allocators"


def test_ranks_have_no_provisional_times_and_no_equal_ones(reference):
    _three(reference / "dev" / "job", {"comb": 1.0, "halloc": 2.0, "kma": 3.0, "corw": 4.0})
    replay = reference / "dev" / "replay"
    _three(replay, {"comb": 1.0, "halloc": 9.0, "kma": 3.0, "corw": 20.0})
    synthetic.change(replay, 1, provisional=True)
    assert numbers.answer_to("dev/replay ranks=dev/job phase=build ranks.phase=build") == "1.00 over 3 allocators"
    _three(replay, {"comb": 1.0, "halloc": 1.0, "kma": 1.0})
    with pytest.raises(UsageError, match="are all equal, so they have no ranks"):
        numbers.answer_to("dev/replay ranks=dev/job phase=build ranks.phase=build")


@pytest.mark.parametrize("query, words", [("ranks=dev/job", "no time of phase 'total'"), ("ranks=dev/fig phase=build ranks.phase=alloc", "several cells of one"),
                                          ("ranks=dev/few phase=build ranks.phase=build", "have 2 allocators in common")])
def test_ranks_that_cannot_be_compared(reference, query, words):
    _three(reference / "dev" / "job", {"comb": 1.0, "halloc": 2.0, "kma": 3.0})
    _three(reference / "dev" / "few", {"comb": 1.0, "halloc": 2.0})
    with pytest.raises(UsageError, match=words):
        numbers.answer_to(f"dev/job {query}")


@pytest.mark.parametrize("query, text", [
    ("dev cells", "9"), ("dev/fig,dev/more cells", "9"), ("dev dates", "2026-01-02"), ("dev revisions", "abc1234, def5678, unknown"),
    ("dev left_out", "1"), ("dev fewer_rounds", "1"), ("dev minutes", "2.5"), ("dev statuses", "7 ok, 1 `skipped`, 1 `timeout`"),
    ("dev statuses allocator=c_malloc", "4 of 4 ok"), ("dev/more statuses allocator=comb", "1 ok, 1 `skipped`")])
def test_counts_of_a_group_are_those_of_all_its_runs(reference, query, text):
    _with_log(reference / "dev" / "fig", "10:00:00.000", "10:01:00.500")
    synthetic.write(reference / "dev" / "more", {**CONFIG, "name": "test/more"}, [
        synthetic.cell("comb", {"threads": 1}, values={("alloc", "time"): 1e-6}, revision="def5678"),
        synthetic.cell("comb", {"threads": 9}, status="skipped", reason="put off (it hung)", revision="abc1234")], "cuda")
    synthetic.change(reference / "dev" / "more", 0,
                     phases=[{"name": "free", "median": 1e-6, "no_interval": "3 of the 6 rounds that an interval needs"}])
    synthetic.change(reference / "dev" / "more", 1, left_out=True)
    _with_log(reference / "dev" / "more", "10:00:30.000", "10:02:31.000")
    assert numbers.answer_to(query) == text


def _with_log(folder, first, last, runs=1):
    lines = [{"event": "run", "time": f"2026-01-02T{first}Z"}] * runs + [{"event": "end", "time": f"2026-01-02T{last}Z"}]
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_runs_with_older_code_are_counted(reference):
    for number, revision in enumerate(["9a89a106", "c9109dc2"]):
        made = synthetic.write(reference / "old" / str(number), CONFIG, [synthetic.cell("comb", {"threads": 1})], "cuda")
        synthetic.change(made, 0, revision=revision)
    assert numbers.answer_to("old,dev older=comb") == "1 of 2 runs"


def test_a_run_that_was_continued_does_not_tell_its_minutes(reference):
    _with_log(reference / "dev" / "fig", "10:00:00.000", "23:00:00.000", runs=2)
    with pytest.raises(UsageError, match="was continued"):
        numbers.answer_to("dev minutes")


@pytest.mark.parametrize("query, text", [
    ("of=kma", "40 to 80 µs"), ("of=kma request_bytes=16", "80 µs"), ("of=kma phase=free request_bytes=64", "1 µs"),
    ("of=kma of.request_bytes=16 to.request_bytes=64", "2.0"), ("of=bump to=kma", "0.013 to 0.025"), ("of=bump to=kma show=least digits=1", "0.01")])
def test_queries_of_originals(tmp_path, monkeypatch, query, text):
    _write_originals(tmp_path, monkeypatch)
    assert numbers.answer_to(f"originals/card {query}") == text


@pytest.mark.parametrize("query, message", [
    ("of=kma phase=free", "gave no time"), ("of=kma request_bytes=17", "at 17 B. Allowed: 16, 64 B"), ("of=comb", "Allowed: kma, bump"),
    ("of=kma phase=total", "has no phase 'total'"), ("of=kma threads=3", "has no key 'threads'"), ("of=kma show=where at=request_bytes", "originals have no settings"), ("of=kma to=bump to.request_bytes=16", "the same number of sizes")])
def test_wrong_queries_of_originals_are_refused(tmp_path, monkeypatch, query, message):
    _write_originals(tmp_path, monkeypatch)
    with pytest.raises(UsageError, match=re.escape(message)):
        numbers.answer_to(f"originals/card {query}")


def _write_originals(folder, monkeypatch):
    monkeypatch.setattr(originals, "FOLDER", folder / "originals")
    originals.FOLDER.mkdir()
    (originals.FOLDER / "card.json").write_text(json.dumps({"request_bytes": [16, 64], "allocators": {
        "kma": {"alloc": [80.0, 40.0], "free": [None, 1.0]}, "bump": {"alloc": [1.0, 1.0], "free": [1.0, 1.0]}}}))


@pytest.mark.parametrize("query, message", [
    ("dev/nothing of=c_malloc", "there is no run 'dev/nothing'"), ("dev/fig of=halloc", "'halloc', which is not in the run"),
    ("dev/fig of=c_malloc colour=red", "has no setting 'colour'. It has: allocator"), ("dev/fig of=c_malloc show=all", "show=all is unknown"),
    ("dev/fig of=c_malloc threads=7", "matches no value"), ("dev older=comb", "no run at or below dev measures an older version of comb. Delete the sentence"),
    ("dev/fig of=c_malloc of=c_malloc", "given twice"), ("dev/fig of=c_malloc digits=two", "digits=two is not a number"), ("dev/fig of=c_malloc digits=0", "digits=0 is not"),
    ("dev/fig of=c_malloc threads=few..many", "few..many is not a range of numbers"), ("dev/fig of=c_malloc threads=1..2..3", "1..2..3 is not a range"),
    ("dev/fig of=c_malloc show=where", "needs at=SETTING"), ("dev/fig of=c_malloc show=where at=pool_bytes", "pool_bytes is not swept"),
    ("dev/fig of=c_malloc mode=a growth=threads show=where at=mode", "not a growth"), ("dev/fig to=c_malloc", "a ratio needs the key of")])
def test_wrong_queries_are_refused(reference, query, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        numbers.answer_to(query)


def test_fill_writes_and_check_only_tells(reference, tmp_path, capsys):
    text = tmp_path / "page.md"
    text.write_text("# Page\n\nIt takes <!--n dev/fig of=c_malloc mode=a threads=1-->9 s<!--/n-->.\n\n"
                    "<!--table outcomes dev-->\nold\n<!--/table-->\n")
    old = text.read_text()
    assert main(["numbers", "--check", str(text)]) == 2
    captured = capsys.readouterr()
    assert f"{text}:3: '9 s' becomes '2 µs'" in captured.out and "python3 -m plots numbers" in captured.err
    assert text.read_text() == old
    assert main(["numbers", str(text)]) == 0
    assert "It takes <!--n dev/fig of=c_malloc mode=a threads=1-->2 µs<!--/n-->." in text.read_text()
    assert "| fig | A test | 6 ok, 1 `timeout` |" in text.read_text() and "old" not in text.read_text()
    capsys.readouterr()
    assert main(["numbers", "--check", str(text)]) == 0
    assert capsys.readouterr().out == "all 2 numbers and tables match the kept results\n"


def test_a_table_of_times_has_a_status_where_there_is_no_time(reference):
    assert blocks.table("times dev/fig:alloc:threads=100 dev/fig:alloc:threads=10").splitlines() == [
        "| allocator | fig: alloc, threads 100 | fig: alloc, threads 10 |", "|---|---:|---:|", "| CMalloc | 8 µs | 4 µs |", "| CudaMalloc | timeout | 8 ms |"]


@pytest.mark.parametrize("column, message", [
    ("dev/fig:alloc", "is not a column"), ("dev/fig:alloc:threads=few", "a setting has no number"), ("dev/fig:alloc:blocks=1", "has no setting 'blocks'"), ("dev/fig:alloc:threads=1", "3 cells have these settings"),
    ("dev/fig:alloc:threads=7", "0 cells")])
def test_wrong_columns_of_a_table_of_times_are_refused(reference, column, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        blocks.table(f"times {column}")


def test_a_wrong_query_is_refused_with_its_line(reference, tmp_path, capsys):
    text = tmp_path / "page.md"
    text.write_text("\n\n<!--n dev/fig of=c_malloc threads=7-->1<!--/n-->\n")
    assert main(["numbers", str(text)]) == 2
    assert f"{text}:3: the query" in capsys.readouterr().err


def _forms_run(folder, cells):
    """Makes a run. `cells` has the allocator, the bytes, and the seconds of malloc and free or a status instead."""
    made = [synthetic.cell(name, {"request_bytes": size}, status=times if isinstance(times, str) else "ok",
                           values={} if isinstance(times, str) else {("alloc", "time"): times[0], ("free", "time"): times[1]})
            for name, size, times in cells]
    synthetic.write(folder, {**CONFIG, "allocators": [cell[0] for cell in cells]}, made, "cuda")


def test_forms_are_divided_by_their_originals(reference, tmp_path, monkeypatch):
    _forms_run(tmp_path / "dev" / "forms", [
        ("kma_original", 16, (20e-6, 10e-6)), ("kma_original", 4096, "timeout"), ("kma", 16, (40e-6, 15e-6)), ("kma", 4096, (1e-6, 1e-6)),
        ("kma_reworked", 16, (20.2e-6, 10.2e-6)), ("rw_original", 16, (1e-6, 1e-6)), ("rw", 16, "oom"), ("rw(seed=2)", 16, (1e-6, 1e-6)), ("rw_reworked", 16, (1e-9, 1.1e-6)), ("comb", 16, (1e-6, 1e-6))])
    assert blocks.table("forms dev/forms").splitlines() == [
        "| form | alloc 16 B | alloc 4 KiB | free 16 B | free 4 KiB |", "|---|---:|---:|---:|---:|",
        "| `kma` | **2.00** | – | 1.50 | – |",           # wanted: 0.67 to 1.5
        "| `kma_reworked` | **1.01** | – | 1.02 | – |",  # wanted: at most 1, or 1.03 below 15 us
        "| `rw` | oom | – | oom | – |",
        "| `rw(seed=2)` | 1.00 | – | 1.00 | – |",
        "| `rw_reworked` | <0.01 | – | **1.10** | – |"]
    monkeypatch.setattr(originals, "FOLDER", tmp_path)
    (tmp_path / "card.json").write_text(json.dumps({"settings": {"threads": 64}, "request_bytes": [16, 64], "allocators": {
        "kma": {"alloc": [80.0, None], "free": [None, 1.0]}, "bump": {"alloc": [1.0, 1.0], "free": [1.0, 1.0]}}}))
    _forms_run(tmp_path / "dev" / "small", [("kma", 16, (40e-6, 1e-6)), ("atomic_malloc", 64, (1.2e-6, 1e-6))])
    assert blocks.table("forms dev/small,dev/forms card.json").splitlines()[:3] == [
        "| form | alloc 16 B | alloc 64 B | free 16 B | free 64 B |", "|---|---:|---:|---:|---:|", "| `kma` | **0.50** | – | – | not measured |"]
    with pytest.raises(UsageError, match="no form whose original was measured"):
        blocks.table("forms dev/small")
    with pytest.raises(UsageError, match="cannot be read"):
        blocks.table("forms dev/small absent.json")


def test_a_ratio_of_a_provisional_original_is_not_judged(reference, tmp_path):
    _forms_run(tmp_path / "dev" / "forms", [("kma_original", 16, (20e-6, 10e-6)), ("kma", 16, (40e-6, 15e-6))])
    synthetic.change(tmp_path / "dev" / "forms", 0, provisional=True)
    assert blocks.table("forms dev/forms").splitlines()[2] == "| `kma` | ~2.00 | ~1.50 |"


def test_scatteralloc_is_divided_by_its_heir(reference, tmp_path):
    _forms_run(tmp_path / "dev" / "heirs", [
        ("mallocmc_original", 16, (10e-6, 10e-6)), ("mallocmc_no_coalescing_original", 16, (40e-6, 20e-6)), ("scatteralloc", 16, (12e-6, 11e-6)),
        ("scatteralloc_reworked", 16, (9e-6, 5e-6)), ("scatteralloc_no_coalescing", 16, (40e-6, 30e-6)), ("scatteralloc_no_reset", 16, (1e-6, 1e-6))])
    assert blocks.table("forms dev/heirs").splitlines()[2:] == [
        "| `scatteralloc` | 1.20 | 1.10 |", "| `scatteralloc_reworked` | 0.90 | 0.50 |", "| `scatteralloc_no_coalescing` | 1.00 | 1.50 |"]


def test_an_unknown_table_is_refused(reference):
    with pytest.raises(UsageError, match="there is no table 'chairs'"):
        blocks.table("chairs")


@pytest.mark.full
def test_texts_say_what_the_results_say():
    assert len(numbers.texts()) >= 7
    assert numbers.fill([], write=False) == [], "write them again: python3 -m plots numbers"


# After this heading, a page is about our results. Reasons why a form is slow may come from tests that are not kept.
REASONS = re.compile(r"^Why the bold ones", re.M)
BEGINNING = re.compile(r"^(?:## What (?:the H200 shows|stands out)|# Reference results: NVIDIA H200)$", re.M)
FINDINGS = [path for path in numbers.texts() if BEGINNING.search(path.read_text())]


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_time_or_rate_is_typed_among_findings(path):
    """Times and rates in sections about our results come from queries. Sentences about papers, deadlines and wanted
    values may contain numbers written by hand.
    """
    found = BEGINNING.search(path.read_text())
    text = REASONS.split(found.string[found.end():])[0]
    if found[0].startswith("## "):
        text = re.split(r"^## ", text, flags=re.M)[0]
    text = re.sub(r"<!--n .*?<!--/n-->", "N", text, flags=re.S)
    typed = [sentence for sentence in re.split(r"(?<=[.;:])\s", " ".join(text.split()))
             if re.search(r"\d ?(µs|us|ms|s|min|[kMG]op/s|GiB/s)\b", sentence) and not re.search("paper|slides|deadline|survey|should", sentence)]
    assert typed == []


def _causes(config):
    """Yields the sentences of the causes in a config, with N in place of each number that a query computes."""
    for claim in config.get("claims", []):
        because = claim.get("cause", {}).get("because", "")
        yield from re.split(r"(?<=[a-z)N]\.)\s", configs.MARKED.sub("N", because))


@pytest.mark.parametrize("path", sorted(configs.FOLDER.rglob("*.json")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_time_or_rate_is_typed_in_causes(path):
    """Times of other GPUs may contain numbers written by hand, because they are not our results."""
    typed = [sentence for sentence in _causes(json.loads(path.read_text(encoding="utf-8")))
             if re.search(r"\d ?(µs|us|ms|s|min|[kMG]op/s|GiB/s)\b", sentence) and not re.search("paper|slides|deadline|authors'|survey|GT 640|C1060", sentence)]
    assert typed == []


def test_the_table_of_types_is_read_from_the_headers(monkeypatch, tmp_path):
    rows = blocks.table("library").splitlines()
    assert "| `comb` | `Comb` | `allocators/comb/comb.hpp` |" in rows
    assert "| `c_malloc_no_merge` | `CMallocNoMerge` | `allocators/circular_malloc/c_malloc.hpp` |" in rows
    assert not [row for row in rows if "saboteur" in row or "delayed" in row]
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    header = tmp_path / "allocators" / "mine" / "mine.hpp"
    header.parent.mkdir(parents=True)
    header.write_text('class Mine;\nclass Mine : public Base {\n  traits{.name = "mine"}\n};\nclass Yours {\n  traits{.name = "yours"}\n};\n'
                      "ALLOCBENCH_REGISTER(both, Yours,\n                    Mine)\n")
    assert blocks.table("library").splitlines()[2:] == ["| `yours` | `Yours` | `allocators/mine/mine.hpp` |",
                                                        "| `mine` | `Mine` | `allocators/mine/mine.hpp` |"]
    header.write_text("ALLOCBENCH_REGISTER(mine, Mine)\n")
    with pytest.raises(UsageError, match="registers Mine, but has no class of this name"):
        blocks.table("library")
