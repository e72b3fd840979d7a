"""Tests the advice: distances, ranks and groups from hand-made numbers."""

import json
import math
import random
import re

import advised
import guide
import pytest
import synthetic

from plots.advice import cases, engine, findings, newest, question, table, text
from plots.advice.table import ONE_SIZE
from plots.runs import kept, results


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
    found = advised.near(made)
    first = made["cases"][found.near[0].number]
    assert (first["figure"], first["label"]) == ("guide/small", "16 B, 1,000 threads")
    assert found.near[0].distance == pytest.approx(0, abs=1e-6)
    assert all(each.distance <= engine.WINDOW for each in found.near)


def test_who_serves_all_is_ranked_by_time(made):
    found = advised.near(made, sizes="16", threads="1k")
    assert advised.ids(found.ranked) == ["comb", "corw_reworked", "halloc_reworked", "halloc"]
    assert [each.rank for each in found.ranked] == [1, 1, 3, 4], "0.2 % are within intervals of 1 %"
    assert found.ranked[0].slower == pytest.approx(1)


def test_the_floor_is_added_to_both_times(made):
    assert made["floor"] == pytest.approx(2e-6 * 0.25 * 1.016, rel=1e-3), "the shortest free of AtomicMalloc"
    found = advised.near(made)
    halloc = next(each for each in found.ranked if each.entry["id"] == "halloc")
    # Comb has the best time of the allocators that the bug search does not find unsafe.
    comb = next(entry for entry in made["allocators"] if entry["id"] == "comb")
    logs, weights = 0.0, 0.0
    for near in found.near:
        own, best = (entry["results"][near.number]["total"][0] for entry in (halloc.entry, comb))
        logs += 2**-near.distance * math.log((own + made["floor"]) / (best + made["floor"]))
        weights += 2**-near.distance
    assert halloc.slower == pytest.approx(math.exp(logs / weights))


def test_who_fails_somewhere_near_is_not_ranked(made):
    found = advised.near(made, sizes="16", threads="1M")
    assert "halloc" not in advised.ids(found.ranked)
    assert advised.ids(found.failing) == ["halloc"]
    assert found.failing[0].failed[0][1:] == ("oom", "12 of 1,000,000 requests returned null")


def test_who_does_not_take_larger_requests_than_asked_has_not_failed(made):
    place = next(number for number, case in enumerate(made["cases"]) if case["job"] and case["job"]["sizes"] == [64, 64] and case["job"]["threads"] == 1000)

    def with_comb(status):
        entries = [{**entry, "results": [*entry["results"][:place], [status, "serves requests up to 32 B"], *entry["results"][place + 1:]]}
                   if entry["id"] == "comb" else entry for entry in made["allocators"]]
        return {**made, "allocators": entries}

    found = advised.near(with_comb("unsupported"))
    assert place in [each.number for each in found.near] and "comb" in advised.ids(found.ranked)
    assert next(each for each in found.ranked if each.entry["id"] == "comb").ok == len(found.near) - 1
    assert "comb" in advised.ids(advised.near(with_comb("timeout")).failing), "a timeout is a failure at any size"
    assert "comb" in advised.ids(advised.near(with_comb("unsupported"), sizes="64").failing), "of the size that was asked it is one, too"


def test_who_was_left_out_for_lack_of_time_is_not_measured(made):
    found = advised.near(made)
    assert [entry["id"] for entry in found.unmeasured] == ["kma"] and "kma" not in advised.ids(found.unable)


def test_who_was_left_out_near_the_job_only_now_and_then_is_not_ranked(made):
    place = advised.near(made).near[0].number
    entries = [{**entry, "results": [*entry["results"][:place], ["not measured", "its time was over"], *entry["results"][place + 1:]]}
               if entry["id"] == "comb" else entry for entry in made["allocators"]]
    found = advised.near({**made, "allocators": entries})
    assert "comb" in advised.ids(found.failing) and "comb" not in advised.ids(found.ranked)


def test_who_answers_unsupported_to_the_asked_size_is_not_ranked(made):
    """Halloc served all near cells of at most 4,096 B, and refused 8,192 B from a pool of 128 MiB."""
    words = {"threads": "100k", "pool": "2GiB"}
    taken, refused = (advised.near(made, sizes=sizes, **words) for sizes in ("16-4096", "16-4097"))
    assert "halloc" in advised.ids(taken.ranked) and taken.refusing == []
    assert "halloc" not in sum((advised.ids(getattr(refused, group)) for group in ("ranked", "failing", "unsafe", "unable")), [])
    assert [entry["id"] for entry in refused.refusing] == ["halloc"]
    asked = advised.asked(sizes="16-16384", **words)
    told = text.write(made, asked, engine.answer(made, asked.data()))
    assert "\n\nRefuse this request (status unsupported):\n  serves at most 4 KiB, in a pool of 128 MiB: Halloc (published)\n" in told


def test_the_largest_request_is_that_of_the_pool_nearest_to_the_asked_one():
    entry = {"limits": [[1 << 20, 1000], [1 << 28, 8000]]}
    asked = {"sizes": [16, 4000]}
    assert engine.refused_by(entry, {**asked, "pool": 1 << 22}) == [1 << 20, 1000]
    assert engine.refused_by(entry, {**asked, "pool": 1 << 30}) is None
    assert engine.refused_by({"limits": []}, {**asked, "pool": 1 << 30}) is None


def test_blocks_that_others_free_have_cells_of_their_own(tmp_path):
    """Comb takes four times as long in the added cells only."""
    made, _ = newest.table_of([str(guide.write_handed_over(guide.write(tmp_path)))])
    words = {"sizes": "64", "threads": "100k"}
    others, own = advised.near(made, **words, lifetime="others"), advised.near(made, **words)
    assert [made["cases"][each.number]["label"] for each in others.near] == [
        "64 B, 100,000 threads, freed by another block", "64 B, 100,000 threads, freed by anybody"]
    assert advised.ids(others.ranked) == ["corw_reworked", "halloc_reworked", "comb", "halloc"] and others.ranked[2].slower == pytest.approx(4, rel=0.01)
    assert "guide/handed_over" not in {made["cases"][each.number]["figure"] for each in own.near} and advised.ids(own.ranked)[0] == "comb"
    assert "guide/handed_over" not in {made["cases"][each.number]["figure"] for each in advised.near(made, **words, lifetime="any").near}


def test_without_cells_that_others_free_nothing_is_said_about_them(made):
    asked = advised.asked(lifetime="others")
    found = engine.answer(made, asked.data())
    assert found.near == [] and found.ranked == []
    told = " ".join(text.write(made, asked, found).split())
    assert told.endswith("Not measured: these results have no cell in which other threads free the blocks. Measure such cells on your card: "
                         "allocbench study guide --only guide/handed_over --out results/mine, then ask again with --results results/mine.")


def test_the_unsafe_stand_apart(made):
    found = advised.near(made)
    assert "c_malloc" in findings.known()
    assert findings.known()["ouroboros_c_vl"].startswith("a free waits forever"), "it fails in one model only"
    assert findings.known()["scatteralloc_no_reset"].startswith("a request of exactly one page"), "no built-in model shows it"
    assert advised.ids(found.unsafe) == ["c_malloc"] and found.unsafe[0].entry["finding"]


def test_every_replay_of_an_unsafe_error_makes_its_allocator_unsafe():
    """A replay that only loses memory or returns null is no such error."""
    shown = (kept.ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    replays = re.findall(r"^allocbench check .*--replay v1:([a-z0-9_]+):.*\n((?:# .*\n)+)", shown, re.M)
    unsafe = {name for name, told in replays if not name.startswith("zoo_") and not re.match("# (null pointer|lost forever)", told)}
    assert unsafe >= {"scatteralloc", "cf_malloc", "gallatin", "ouroboros_c_vl"} and unsafe <= findings.known().keys()


def test_one_size_of_block_must_hold_the_largest_request():
    entry = {"restrictions": [], "memory": [[256, 1.5], [4096, 1.25]]}
    assert engine.memory_of(entry, [16, 4096]) == 1.5
    one_size = {**entry, "restrictions": [ONE_SIZE]}
    assert engine.memory_of(one_size, [16, 4096]) == pytest.approx(1.25 * 4096 / 2056)
    assert engine.memory_of(one_size, [4096, 4096]) == 1.25
    asked = {"sizes": [16, 2**20], "threads": 10}
    assert engine.bytes_needed(one_size, asked) == 5 * (16 + 2**20), "without a measured size the requests count"


def test_bump_pointers_count_only_where_nothing_is_freed(made):
    assert "atomic_malloc" in [entry["id"] for entry in advised.near(made).left_out]
    found = advised.near(made, must_free=False)
    assert advised.ids(found.ranked)[0] == "atomic_malloc"


def test_any_size_leaves_out_allocators_of_one(made):
    found = advised.near(made, any_size=True)
    assert "corw_reworked" not in advised.ids(found.ranked)
    why = {entry["id"]: engine.why_not(entry, advised.asked(any_size=True).data()) for entry in found.left_out}
    assert why == {"atomic_malloc": "never frees", "corw_reworked": "serves one size of block only"}
    assert set(map(table.ONE_SIZE.__eq__, sum(guide.RESTRICTIONS.values(), []))) == {True, False}


def test_who_was_not_measured_near_is_no_failure(made):
    bare = json.loads(json.dumps(made))
    halloc = next(entry for entry in bare["allocators"] if entry["id"] == "halloc")
    halloc["results"] = [None] * len(halloc["results"])
    found = advised.near(bare)
    assert [entry["id"] for entry in found.unmeasured] == ["halloc", "kma"] and found.unable == []
    asked = advised.asked()
    assert "Not measured near this job: Halloc (published)" in text.write(bare, asked, found)


def test_the_budget_leaves_out(made):
    found = advised.near(made, sizes="64", threads="1M", budget="100MiB")
    assert "corw_reworked" in [entry["id"] for entry in found.left_out], "64 MB at 4 bytes a byte"
    assert "comb" in advised.ids(found.ranked)


def test_an_application_is_ranked_by_its_own_cells(made):
    """Comb takes 18 µs. CMalloc takes half of that, but is unsafe."""
    found = engine.answer(made, question.ask_application("hash_join").data())
    assert [made["cases"][each.number]["figure"] for each in found.near] == ["guide/hash_join"]
    assert [(each.entry["id"], each.rank) for each in found.ranked] == [("comb", 1), ("corw_reworked", 1), ("halloc_reworked", 3), ("halloc", 4)]
    assert found.ranked[0].seconds == pytest.approx(18e-6) and found.ranked[0].memory is None and found.ranked[0].slower == pytest.approx(1)
    assert advised.ids(found.unsafe) == ["c_malloc"] and [entry["id"] for entry in found.left_out] == ["atomic_malloc"]
    any_size = engine.answer(made, question.ask_application("hash_join", any_size=True).data())
    assert "corw_reworked" not in advised.ids(any_size.ranked)
    assert engine.answer(made, question.ask_application("graph").data()).near == []


def test_an_unsupported_cell_of_an_application_is_a_failure(made):
    place = next(number for number, case in enumerate(made["cases"]) if case["figure"] == "guide/hash_join")
    twice = {**made, "cases": [*made["cases"], made["cases"][place]],
             "allocators": [{**entry, "results": [*entry["results"], ["unsupported", "no"] if entry["id"] == "comb" else entry["results"][place]]} for entry in made["allocators"]]}
    assert advised.ids(engine.answer(twice, question.ask_application("hash_join").data()).failing) == ["comb"]


def test_ablations_are_asked_for(made):
    everywhere = advised.near(made, forms=question.FORMS)
    assert "c_malloc_no_merge" in advised.ids(everywhere.ranked)
    assert "c_malloc_no_merge" not in advised.ids(advised.near(made).ranked)


def test_the_time_of_an_operation_is_that_of_its_own_phase(tmp_path):
    """The numbers are those of CoRW's cell of guide/aged: 171,344 operations precede the 9,040 of the last launch,
    which takes 5.544 µs. `alloc` and `total` of guide/small have 1,000 and 2,000 operations.
    """
    values = {("earlier", "time"): 52.52e-6, ("earlier", "operations"): 171_344, ("last", "time"): 5.544e-6, ("last", "operations"): 9_040,
              ("total", "time"): 58.064e-6, ("total", "operations"): 180_384}
    aged = synthetic.cell("comb", {"launches": 20}, values=values, workload="randomized", pool_bytes=1 << 30,
                          workload_parameters={"request_bytes": 64, "threads": 10_000, "launches": 20})
    synthetic.write(tmp_path / "aged", {"name": "guide/aged"}, [aged])
    values = {("alloc", "time"): 6e-6, ("alloc", "operations"): 1000, ("free", "time"): 3e-6, ("free", "operations"): 1000,
              ("total", "time"): 9e-6, ("total", "operations"): 2000}
    small = synthetic.cell("comb", {"request_bytes": 64, "threads": 1000}, values=values, pool_bytes=1 << 30,
                           workload_parameters={"request_bytes": 64, "threads": 1000, "lanes_per_warp": 32})
    synthetic.write(tmp_path / "small", {"name": "guide/small"}, [small])
    by_hand = table.of([results.read_run(tmp_path / name) for name in ("aged", "small")])

    def seconds(**words):
        return advised.near(by_hand, sizes="64", forms=question.FORMS, **words).ranked[0].seconds

    assert seconds(threads="10k", lifetime="any") == pytest.approx(5.544e-6 / 9_040)
    assert seconds() == pytest.approx(4.5e-9) and seconds(must_free=False) == pytest.approx(6e-9)


def test_the_order_of_the_table_does_not_matter(made, session_seed):
    shuffled = {**made, "allocators": random.Random(session_seed).sample(made["allocators"], len(made["allocators"]))}
    asked = advised.asked(sizes="16-64", threads="30k").data()
    assert advised.ids(engine.answer(shuffled, asked).ranked) == advised.ids(engine.answer(made, asked).ranked)


def test_the_front_has_no_beaten_allocator(made):
    found = advised.near(made)
    front = engine.front(found.ranked)
    assert "comb" in front and "halloc" not in front


def test_without_intervals_places_follow_the_numbers(made):
    bare = json.loads(json.dumps(made))
    for entry in bare["allocators"]:
        for result in entry["results"]:
            for phase, value in result.items() if isinstance(result, dict) else ():
                if isinstance(value, list) and phase != "steps":
                    value[1:] = [None, None]
    assert [each.rank for each in engine.answer(bare, advised.asked().data()).ranked] == [1, 2, 3, 4]


def test_the_list_is_in_the_order_of_the_ranks(made):
    """The slower of two may have the better rank if its interval is wide."""
    near = [each.number for each in advised.near(made).near]
    entries = [dict(entry, results=list(entry["results"])) for entry in made["allocators"] if entry["id"] in ("comb", "halloc_reworked", "corw_reworked")]
    for entry, (middle, low, high) in zip(entries, ((10e-6, 9.99e-6, 10.01e-6), (11e-6, 10.99e-6, 11.01e-6), (12e-6, 9e-6, 15e-6))):
        for number in near:
            entry["results"][number] = {phase: [middle, low, high] for phase in ("alloc", "free", "total")} | {"n": {"total": 1000}}
    ranked = advised.near({**made, "allocators": entries}).ranked
    assert [(each.entry["id"], each.rank) for each in ranked] == [(entries[0]["id"], 1), (entries[2]["id"], 1), (entries[1]["id"], 3)]
