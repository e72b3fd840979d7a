"""Tests what the ledger says about differing conditions of allocators, configs, papers and cards."""

import json
from dataclasses import replace

import pytest
import synthetic
from judged import COMPARED, CONFIG, cell, judge, run_of

from plots.ledger import claims
from plots.runs import results

@pytest.mark.parametrize("overrides, told", [
    ({}, ""), ({"halloc": {"state": "reused"}}, ""), ({"cuda_malloc": {"repetitions": 2}}, ""),
    ({"cuda_malloc": {"state": "reused"}}, "state: reused (CudaMalloc), fresh (CMalloc)"),
    ({"cuda_malloc": {"pool_bytes": "2GiB"}}, "pool size: 2 GiB (CudaMalloc), 1 GiB (CMalloc)"),
    ({"cuda_malloc": {"state": "reused", "workload": {"rounds": 5}}}, "state: reused (CudaMalloc), fresh (CMalloc); rounds: 5 (CudaMalloc), 100 (CMalloc)")])
def test_the_ledger_says_what_allocators_did_not_have_alike(tmp_path, overrides, told):
    pools = {name: 2**31 if "pool_bytes" in overrides.get(name, {}) else 2**30 for name in ("c_malloc", "cuda_malloc")}
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6, pool_bytes=pools["c_malloc"]), cell("cuda_malloc", 1, 2e-6, pool_bytes=pools["cuda_malloc"])],
               state="fresh", overrides=overrides, workload={"id": "alloc_free", "rounds": 100})
    judged = judge(run, ratio=COMPARED, above=1)
    assert (judged.row()[6], judged.data()["unequal"], claims.HEADER[6]) == (told, told, "unequal")
    assert judge(run, value={"of": "c_malloc", "metric": "time"}, above=0).unequal == "", "an allocator alone"


def test_a_part_of_the_workload_that_the_config_leaves_at_its_default_is_told(tmp_path):
    cells = [cell("c_malloc", 1, 1e-6, workload_parameters={"hold": False}), cell("cuda_malloc", 1, 2e-6, workload_parameters={"hold": True})]
    run = run_of(tmp_path, cells, overrides={"cuda_malloc": {"workload": {"hold": True}}}, workload={"id": "alloc_free"})
    assert judge(run, ratio=COMPARED, above=1).unequal == "hold: true (CudaMalloc), false (CMalloc)"
    alike = [{**each, "workload_parameters": {"hold": True}} for each in cells]
    assert judge(run_of(tmp_path, alike, overrides=run.config["overrides"], workload={"id": "alloc_free"}), ratio=COMPARED, above=1).unequal == ""


def test_counts_differ_by_their_passes_and_times_by_their_samples(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], repetitions=20, counted_passes=20,
                 overrides={"cuda_malloc": {"repetitions": 2, "counted_passes": 3}})
    assert judge(run, ratio=COMPARED, above=1).unequal == "samples: 2 (CudaMalloc), 20 (CMalloc)"
    counts = {each: {"counted": {"values": {"time": [1.0, 2.0]}}} for each in run.cells.index}
    assert judge(replace(run, details=counts), ratio=COMPARED, above=1).unequal == "counted passes: 3 (CudaMalloc), 20 (CMalloc)"


@pytest.mark.parametrize("measured, verdict", [(["0123456789ab"], "cannot tell"), (["ba9876543210"], "holds"), ([], "holds")])
def test_results_of_older_code_give_no_verdict(tmp_path, measured, verdict):
    run = replace(run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)]), provenance={"measured_revisions": measured})
    claim = {"says": "It is so.", "source": "fig. 1", "ratio": COMPARED, "above": 1.5, "older_code": {"revisions": ["0123456789ab"], "because": "Other walks"}}
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "claims.json").write_text(json.dumps({**run.config, "claims": [claim]}))
    told = claims.ledger([run], tmp_path).markdown()
    assert f"| {verdict}" in told and ("Other walks: to be measured again" in told) == (verdict == "cannot tell")


@pytest.mark.parametrize("allocators, measured, why", [
    (["c_malloc", "cuda_malloc"], "0123456789ab", "Other walks: to be measured again"), (["c_malloc", "cuda_malloc", "halloc"], "0123456789ab", "Other walks: to be measured again"),
    (["c_malloc"], "0123456789ab", ""), (["c_malloc", "cuda_malloc"], "ba9876543210", "")])
def test_numbers_of_older_code_are_void_for_all_allocators_of_the_claim(tmp_path, allocators, measured, why):
    claim = {"says": "It is so.", "source": "fig. 1", "ratio": COMPARED, "above": 1.5, "older_code": {"revisions": ["0123456789ab"], "because": "Other walks"}}
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], claims=[claim])
    assert claims.void(replace(run, provenance={"measured_revisions": [measured]}), allocators, tmp_path) == why


def test_numbers_from_another_heap_than_the_config_has_today_are_void(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], state="fresh")
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "claims.json").write_text(json.dumps({**run.config, "overrides": {"c_malloc": {"state": "reused"}}}))
    assert "to be measured again" in claims.void(run, ["c_malloc"], tmp_path) and claims.void(run, ["cuda_malloc"], tmp_path) == ""


def test_the_ledger_says_which_heap_pool_and_deadline_the_config_has_today(tmp_path):
    measured = {"state": "fresh", "deadline_s": 5, "pool_bytes": "1GiB", "overrides": {"cuda_malloc": {"state": "reused"}}}
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], **measured)
    today = {**run.config, "deadline_s": 60, "pool_bytes": 2**30, "overrides": {"c_malloc": {"state": "reused"}, "cuda_malloc": {"state": "reused", "pool_bytes": "2GiB"}},
             "claims": [{"says": "It is so.", "source": "fig. 1", "ratio": COMPARED, "above": 1}]}
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "claims.json").write_text(json.dumps(today))
    told = "The current config differs: state reused instead of fresh (CMalloc); deadline 60 s instead of 5 s; pool size 2 GiB instead of 1 GiB (CudaMalloc)."
    assert told in claims.ledger([run], tmp_path).markdown()
    (tmp_path / "test" / "claims.json").write_text(json.dumps({**run.config, "claims": today["claims"], "description": "other"}))
    assert "current config differs" not in claims.ledger([run], tmp_path).markdown()


def _ledger_of_today(tmp_path, run, **today):
    (tmp_path / "test").mkdir(exist_ok=True)
    claim = {"says": "It is so.", "source": "fig. 1", "ratio": COMPARED, "above": 1}
    (tmp_path / "test" / "claims.json").write_text(json.dumps({**run.config, **today, "claims": [claim]}))
    (_, (judged,)), = claims.ledger([run], tmp_path).runs
    return judged


@pytest.mark.parametrize("today, why", [
    ({}, ""), ({"deadline_s": 60}, ""), ({"overrides": {"halloc": {"state": "reused"}}}, ""),
    ({"state": "reused"}, "measured with state fresh, the config has reused: to be measured again"),
    ({"overrides": {"c_malloc": {"state": "reused"}}}, "measured with state fresh, the config has reused: to be measured again")])
def test_numbers_with_another_heap_than_the_config_has_today_give_no_verdict(tmp_path, today, why):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], state="fresh")
    judged = _ledger_of_today(tmp_path, run, **today)
    assert (judged.verdict, judged.why, judged.published.text) == ("cannot tell" if why else "holds", why, "2")
    assert (judged.p is None, judged.holds_in, judged.cause) == (bool(why), "", "")


@pytest.mark.parametrize("pools, today, why", [
    (("1GiB", "2GiB"), "4GiB", "measured with pools of 1 GiB and 2 GiB, the config has 4 GiB for all: to be measured again"),
    (("1GiB", "1GiB"), "4GiB", ""), (("1GiB", "2GiB"), None, "")])
def test_unequal_pools_give_no_verdict_once_the_config_has_equal_ones(tmp_path, pools, today, why):
    overrides = {"c_malloc": {"pool_bytes": pools[0]}, "cuda_malloc": {"pool_bytes": pools[1]}}
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)], pool_bytes="8GiB", overrides=overrides)
    judged = _ledger_of_today(tmp_path, run, **({"pool_bytes": today, "overrides": {}} if today else {}))
    assert (judged.verdict, judged.why) == ("cannot tell" if why else "holds", why)


def test_where_the_test_differs_from_the_papers_the_sentence_is_not_refuted(tmp_path):
    run = run_of(tmp_path, [cell("c_malloc", 1, 1e-6), cell("cuda_malloc", 1, 2e-6)])
    different = {"cause": {"kind": "test", "because": "The heap is warm."}}
    judged = judge(run, ratio=COMPARED, below=1, **different)
    assert (judged.verdict, judged.row()[-1]) == ("experiment differs", "test: The heap is warm. Where: CudaMalloc to CMalloc, threads 1")
    assert judge(run, ratio=COMPARED, above=1, **different).verdict == "holds"
    refuted = judge(run, ratio=COMPARED, below=1)
    ledger = claims.Ledger([(run, [judged, refuted, refuted])]).markdown()
    assert "0 holds, 2 does not hold, 0 cannot tell. Experiment differs: 1." in ledger
    assert "Experiment differs" not in claims.Ledger([(run, [refuted])]).markdown()


def test_what_most_allocators_had_comes_first(tmp_path):
    cells = [cell(name, 1, 1e-6) for name in ("c_malloc", "halloc", "cuda_malloc")]
    run = run_of(tmp_path, cells, allocators=["c_malloc", "halloc", "cuda_malloc"], state="fresh", overrides={"cuda_malloc": {"state": "reused"}})
    judged = judge(run, ratio={"of": "cuda_malloc", "to": ["c_malloc", "halloc"]}, above=1)
    assert judged.unequal == "state: fresh (most), reused (CudaMalloc)"


def _of_card(folder, name, uuid):
    path = synthetic.write(folder, {**CONFIG, "name": name}, [cell("c_malloc", 1, 1e-6)], "cuda") / "results.json"
    document = json.loads(path.read_text())
    document["allocbench"]["device"] |= {"uuid": uuid} if uuid else {}
    path.write_text(json.dumps(document))
    return results.read_run(folder)


@pytest.mark.parametrize("cards, told", [
    ({"a/1": "x", "b/1": "x"}, ""), ({"a/1": "x", "b/1": ""}, ""),
    ({"a/1": "x", "a/2": "x", "b/1": "x", "c/1": "y"}, "These results were measured on 2 different cards. Card 1: a and b; card 2: c. "),
    ({"a/1": "x", "a/2": "y", "a/3": "x", "a/4": "x", "b/1": "y"},
     "These results were measured on 2 different cards. Card 1: a (1, 3 and 4); card 2: a (2) and b. ")])
def test_the_ledger_tells_of_different_cards(tmp_path, cards, told):
    runs = [_of_card(tmp_path / name, name, uuid) for name, uuid in cards.items()]
    ledger = claims.Ledger([(run, []) for run in runs])
    assert ledger.cards().startswith(told) and bool(ledger.cards()) == bool(told)
    assert (ledger.cards() in ledger.markdown()) and "\n\n\n" not in ledger.markdown()
