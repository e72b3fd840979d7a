"""The advice: distances, ranks and groups by hand-made numbers; questions that are refused; what the text must say."""

import dataclasses
import itertools
import json
import math
import random

from allocbench import stored
from allocbench.errors import NothingToDraw, UsageError
import guide
import plots.cli
import pytest

from plots import inputs, kept, quantity, results
from plots.advice import cases, cli, engine, findings, newest, question, table, text


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = guide.write(tmp_path_factory.mktemp("guide"))
    return table.of([results.read_run(each) for each in stored.find_runs(folder)])


def _asked(**words):
    return question.ask(**{"sizes": "16", "threads": "1k", "pool": "1GiB", **words})


def _near(table_of_guide, **words):
    return engine.answer(table_of_guide, _asked(**words).data())


def _ids(ranked):
    return [each.entry["id"] for each in ranked]


@pytest.mark.parametrize(
    "change, setting, steps",
    [
        ({"sizes": [64, 64]}, "size", 1),
        ({"sizes": [16, 64]}, "size", 0.5),
        ({"threads": 10_000}, "threads", 1),
        ({"lanes": 8}, "lanes", 1),
        ({"fill": 0.5}, "fill", 1),
        ({"fill": 0.75}, "fill", 2),
        ({"lifetime": cases.ANY}, "lifetime", 1.5),
        ({"pool": 100 << 30}, "pool", 1),
    ],
)
def test_a_step_is_what_the_page_says(change, setting, steps):
    job = {"sizes": [16, 16], "threads": 1000, "lanes": 32, "fill": 0.0, "lifetime": cases.KERNEL, "pool": 1 << 30}
    assert engine.distance_of(job, job) == (0, {})
    distance, by = engine.distance_of(job, {**job, **change})
    assert distance == pytest.approx(steps) and by == {setting: pytest.approx(steps)}


def test_cells_of_the_job_are_the_nearest(made):
    found = _near(made)
    first = made["cases"][found.near[0].number]
    assert (first["figure"], first["label"]) == ("guide/small", "16 B, 1,000 threads")
    assert found.near[0].distance == pytest.approx(0, abs=1e-6)
    assert all(each.distance <= engine.WINDOW for each in found.near)


def test_restrictions_of_those_listed_are_told(made, tmp_path, capsys):
    path = tmp_path / "guide.json"
    path.write_text(table.to_json(made))
    arguments = ["--sizes", "16", "--threads", "1k", "--pool", "1GiB", "--results", str(path)]
    assert cli.main(arguments) == 0
    told = capsys.readouterr().out
    assert "Beware:\n  serves one size of block only: CoRW, reworked\n" in told
    assert "free does nothing" not in told, "AtomicMalloc is not in the list"
    assert cli.main([*arguments, "--json"]) == 0
    ranked = json.loads(capsys.readouterr().out)["ranked"]
    assert {each["allocator"]: each["restrictions"] for each in ranked}["corw_reworked"] == ["serves one size of block only"]


def _jobs_of_the_guide():
    """Of every cell that the configs of the guide plan on a GPU."""
    for path in sorted((kept.ROOT / "configs" / "guide").glob("*.json")):
        config = inputs.read_config(path)
        rule = cases.RULES.get(config["workload"]["id"])
        groups = [*({name: values} for name, values in config.get("sweep", {}).items()), *config.get("zip", [])]
        points = [[dict(zip(group, values)) for values in zip(*group.values())] for group in groups]
        for chosen in itertools.product(*points) if rule and rule.job else ():
            settings = {**config["workload"], **{name: value for point in chosen for name, value in point.items()}}
            job = rule.job(settings, quantity.parse_bytes(settings.get("pool_bytes", config.get("pool_bytes"))))
            if job:
                yield f"{config['name']} {settings}", dataclasses.asdict(job)


@pytest.mark.parametrize("words", [{"sizes": "48", "threads": "1M"}, {"sizes": "16-4096", "threads": "100k", "fill": "90%"}], ids=lambda words: words["sizes"])
def test_the_guide_has_cells_near_the_questions_that_it_was_made_for(words):
    asked = _asked(**words).data()
    distance, _, place = min((engine.distance_of(job, asked)[0], number, place) for number, (place, job) in enumerate(_jobs_of_the_guide()))
    assert distance <= engine.WINDOW, place


def test_who_serves_all_is_ranked_by_time(made):
    found = _near(made, sizes="16", threads="1k")
    assert _ids(found.ranked) == ["comb", "corw_reworked", "halloc_reworked", "halloc"]
    assert [each.rank for each in found.ranked] == [1, 1, 3, 4], "0.2 % are within intervals of 1 %"
    assert found.ranked[0].slower == pytest.approx(1)


def test_the_floor_is_added_to_both_times(made):
    assert made["floor"] == pytest.approx(2e-6 * 0.25 * 1.016, rel=1e-3), "the shortest free of AtomicMalloc"
    found = _near(made)
    halloc = next(each for each in found.ranked if each.entry["id"] == "halloc")
    comb = next(entry for entry in made["allocators"] if entry["id"] == "comb")  # the best; an allocator that the search breaks is not the yardstick
    logs, weights = 0.0, 0.0
    for near in found.near:
        own, best = (entry["results"][near.number]["total"][0] for entry in (halloc.entry, comb))
        logs += 2**-near.distance * math.log((own + made["floor"]) / (best + made["floor"]))
        weights += 2**-near.distance
    assert halloc.slower == pytest.approx(math.exp(logs / weights))


def test_who_fails_somewhere_near_is_not_ranked(made):
    found = _near(made, sizes="16", threads="1M")
    assert "halloc" not in _ids(found.ranked)
    assert _ids(found.failing) == ["halloc"]
    assert found.failing[0].failed[0][1:] == ("oom", "12 of 1,000,000 requests returned null")


def test_who_does_not_take_larger_requests_than_asked_has_not_failed(made):
    place = next(number for number, case in enumerate(made["cases"]) if case["job"] and case["job"]["sizes"] == [64, 64] and case["job"]["threads"] == 1000)

    def with_comb(status):
        entries = [{**entry, "results": [*entry["results"][:place], [status, "serves requests up to 32 B"], *entry["results"][place + 1:]]}
                   if entry["id"] == "comb" else entry for entry in made["allocators"]]
        return {**made, "allocators": entries}

    found = _near(with_comb("unsupported"))
    assert place in [each.number for each in found.near] and "comb" in _ids(found.ranked)
    assert next(each for each in found.ranked if each.entry["id"] == "comb").ok == len(found.near) - 1
    assert "comb" in _ids(_near(with_comb("timeout")).failing), "a timeout is a failure at any size"
    assert "comb" in _ids(_near(with_comb("unsupported"), sizes="64").failing), "of the size that was asked it is one, too"


def test_the_unsafe_stand_apart(made):
    found = _near(made)
    assert "c_malloc" in findings.known()
    assert _ids(found.unsafe) == ["c_malloc"] and found.unsafe[0].entry["finding"]


def test_bump_pointers_count_only_where_nothing_is_freed(made):
    assert "atomic_malloc" in [entry["id"] for entry in _near(made).left_out]
    found = _near(made, must_free=False)
    assert _ids(found.ranked)[0] == "atomic_malloc"


def test_any_size_leaves_out_allocators_of_one(made):
    found = _near(made, any_size=True)
    assert "corw_reworked" not in _ids(found.ranked)
    why = {entry["id"]: engine.why_not(entry, _asked(any_size=True).data()) for entry in found.left_out}
    assert why == {"atomic_malloc": "never frees", "corw_reworked": "serves one size of block only"}
    assert set(map(table.ONE_SIZE.__eq__, sum(guide.RESTRICTIONS.values(), []))) == {True, False}


def test_who_was_not_measured_near_is_no_failure(made):
    bare = json.loads(table.to_json(made))
    halloc = next(entry for entry in bare["allocators"] if entry["id"] == "halloc")
    halloc["results"] = [None] * len(halloc["results"])
    found = _near(bare)
    assert [entry["id"] for entry in found.unmeasured] == ["halloc"] and found.unable == []
    asked = _asked()
    assert "Not measured near this job: Halloc (published)" in text.write(bare, asked, found)


def test_lists_of_names_are_unmistakable(made):
    asked = _asked(forms=question.FORMS)
    told = " ".join(text.write(made, asked, engine.answer(made, asked.data())).split())
    assert "serves one size of block only: CoRW, reworked" in told and "fastest, not told apart: Comb (our own); CoRW, reworked" in told


def test_failures_are_told_by_status_and_with_their_reasons_on_request(made):
    asked = _asked(sizes="16", threads="1M")
    short, whole = (text.write(made, asked, engine.answer(made, asked.data()), everything) for everything in (False, True))
    assert "Not always served near this job (reasons: --all):\n  oom: Halloc (published)\n" in short
    assert "12 of 1,000,000 requests returned null" not in short and "12 of 1,000,000 requests returned null" in " ".join(whole.split())
    assert "Unsafe, as the bug search shows (docs/findings.md) (reasons: --all):\n  CMalloc (published)\n" in short


def test_a_job_that_lacks_words_is_refused(capsys):
    with pytest.raises(UsageError) as error:
        cli.main(["--threads", "1k"])
    assert str(error.value).startswith("the job lacks --sizes and --pool. Ask, as an example: allocbench advise --sizes 48")


@pytest.mark.parametrize(
    "arguments, part", [(["advise", "--lifetime", "long"], "invalid choice: 'long'"), (["page"], "required: PATH"), (["advise", "--siz"], "--siz")]
)
def test_a_wrong_command_line_is_told_in_one_line(arguments, part, capsys):
    assert plots.cli.main(arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith("allocbench ") and part in told and "--help." in told and told.count("\n") == 1


def test_the_budget_leaves_out(made):
    found = _near(made, sizes="64", threads="1M", budget="100MiB")
    assert "corw_reworked" in [entry["id"] for entry in found.left_out], "64 MB at 4 bytes a byte"
    assert "comb" in _ids(found.ranked)


def test_ablations_are_asked_for(made):
    everywhere = _near(made, forms=question.FORMS)
    assert "c_malloc_no_merge" in _ids(everywhere.ranked)
    assert "c_malloc_no_merge" not in _ids(_near(made).ranked)


def test_nothing_near_is_not_measured(made, tmp_path, capsys):
    found = _near(made, sizes="16", threads="1", lanes="1", fill="99%")
    assert found.near == [] and found.ranked == []
    path = tmp_path / "table.json"
    path.write_text(table.to_json(made))
    assert cli.main(["--sizes", "16", "--threads", "1", "--lanes", "1", "--pool", "1GiB", "--fill", "99%", "--results", str(path)]) == 1
    assert "Not measured: the nearest cell is" in capsys.readouterr().out


def test_the_order_of_the_table_does_not_matter(made, session_seed):
    shuffled = {**made, "allocators": random.Random(session_seed).sample(made["allocators"], len(made["allocators"]))}
    asked = _asked(sizes="16-64", threads="30k").data()
    assert _ids(engine.answer(shuffled, asked).ranked) == _ids(engine.answer(made, asked).ranked)


def test_the_front_has_no_beaten_allocator(made):
    found = _near(made)
    front = engine.front(found.ranked)
    assert "comb" in front and "halloc" not in front


def test_without_intervals_places_follow_the_numbers(made):
    bare = json.loads(table.to_json(made))
    for entry in bare["allocators"]:
        for result in entry["results"]:
            for phase, value in result.items() if isinstance(result, dict) else ():
                if isinstance(value, list) and phase != "steps":
                    value[1:] = [None, None]
    assert [each.rank for each in engine.answer(bare, _asked().data()).ranked] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "words, part",
    [
        ({"sizes": "4KiB-1"}, "--sizes '4KiB-1': the smallest size comes first"),
        ({"sizes": "big"}, "--sizes 'big' is not a size"),
        ({"sizes": "1-2-3"}, "is not a size or a range of two"),
        ({"threads": "0"}, "--threads '0' is not a number"),
        ({"threads": "-4"}, "--threads '-4'"),
        ({"threads": "1e99"}, "--threads '1e99'"),
        ({"pool": "0"}, "--pool '0' is outside"),
        ({"pool": "much"}, "--pool 'much' is not a size"),
        ({"fill": "100%"}, "--fill '100%' is not a share"),
        ({"fill": "many"}, "--fill 'many'"),
        ({"lanes": "33"}, "--lanes '33'"),
        ({"lifetime": "long"}, "Allowed are: moment, kernel, any"),
        ({"sizes": "1GiB", "threads": "1M"}, "is too small: 1,000,000 requests"),
        ({"budget": "x"}, "--memory-budget 'x'"),
        ({"forms": ("new",)}, "--forms 'new' is unknown"),
    ],
)
def test_a_mistake_names_the_option_and_the_next_step(words, part):
    with pytest.raises(UsageError) as error:
        _asked(**words)
    assert part in str(error.value)


def test_the_job_itself_fills_the_pool():
    assert _asked(sizes="1MiB", threads="512").job.fill == pytest.approx(0.5)
    assert _asked(sizes="1MiB", threads="512", fill="10%").job.fill == pytest.approx(0.5)
    assert _asked(fill="90%").job.fill == pytest.approx(0.9)


def test_the_text_shows_trade_offs_and_the_cells(made, tmp_path, capsys):
    path = tmp_path / "table.json"
    path.write_text(table.to_json(made))
    assert cli.main(["--sizes", "16", "--threads", "1M", "--pool", "1GiB", "--results", str(path)]) == 0
    text = capsys.readouterr().out
    for part in (
        "Trade-offs:",
        "least memory: Comb",
        "Not always served near this job (reasons: --all):",
        "oom: Halloc (published)",
        "Unsafe, as the bug search shows",
        "guide/small: 16 B, 1,000,000 threads  (as asked)",
        "half of them within ±1 %",
    ):
        assert part in " ".join(text.split()).replace(" (as asked)", "  (as asked)")
    assert max(len(line) for line in text.splitlines()) <= 80, "it fits a terminal"


def test_json_has_every_place_and_its_cells(made, tmp_path, capsys):
    path = tmp_path / "table.json"
    path.write_text(table.to_json(made))
    cli.main(["--sizes", "16", "--threads", "1k", "--pool", "1GiB", "--json", "--results", str(path)])
    told = json.loads(capsys.readouterr().out)
    assert [each["allocator"] for each in told["ranked"]] == ["comb", "corw_reworked", "halloc_reworked", "halloc"]
    assert told["cells"][0]["label"] == "16 B, 1,000 threads"


def test_two_devices_are_no_table(tmp_path):
    first, second = guide.write(tmp_path / "a"), guide.write(tmp_path / "b")
    for path in second.rglob("results.json"):
        path.write_text(path.read_text().replace("TEST DATA, not measured", "another device"))
    runs = [results.read_run(folder) for root in (first, second) for folder in stored.find_runs(root)]
    with pytest.raises(UsageError, match="come from different devices"):
        table.of(runs)


def test_damaged_results_are_named_and_the_rest_answers(tmp_path, capsys):
    folder = guide.write(tmp_path)
    broken = folder / "guide" / "fill" / "results.csv"
    broken.write_text(broken.read_text().replace(",ok,", ",fine,", 1))
    assert cli.main(["--sizes", "16", "--threads", "1k", "--pool", "1GiB", "--results", str(folder)]) == 2
    told = capsys.readouterr()
    assert "guide/fill/results.csv:2 has the unknown status 'fine'" in told.err
    assert "Comb" in told.out


def test_of_two_measurements_the_newer_counts(tmp_path):
    for name, year in (("old", "2025"), ("new", "2027")):
        for path in guide.write(tmp_path / name).rglob("results.json"):
            path.write_text(path.read_text().replace("2026-01-02", f"{year}-01-02"))
    made, failures = newest.table_of([str(tmp_path)])
    assert made["date"] == "2027-01-02" and len(made["cases"]) == len(newest.table_of([str(tmp_path / "new")])[0]["cases"])
    assert all("old/guide" in str(error).split(" holds results of")[0] for error in failures) and len(failures) == 8


def test_runs_without_a_guide_are_refused(tmp_path):
    import synthetic

    synthetic.write(
        tmp_path / "run",
        {"name": "other", "plot": {"kind": "status_matrix"}},
        [synthetic.cell("comb", {"threads": 1}, values={("total", "time"): 1.0})],
    )
    with pytest.raises(NothingToDraw, match="belongs to the guide"):
        newest.table_of([str(tmp_path)])


@pytest.mark.parametrize("text, part", [("{", ":1 is not JSON"), ("[1]", ":1 is not a table of the guide")])
def test_a_foreign_table_is_refused(tmp_path, text, part):
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        newest.table_of([str(path)])
    assert part in str(error.value)


def test_the_newest_kept_guide_answers_and_a_gpu_goes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(newest.kept, "REFERENCE", tmp_path)
    with pytest.raises(NothingToDraw, match="keeps no results of the guide"):
        newest.kept_guide()
    for device, date in (("cpu", "2030"), ("h100", "2027"), ("h200", "2028")):
        guide.write(tmp_path / device)
        for path in (tmp_path / device).rglob("results.json"):
            path.write_text(path.read_text().replace("2026-01-02", f"{date}-01-02"))
    assert newest.kept_guide() == tmp_path / "h200" / "guide"
