"""Tests that the foot of a figure reports cells of different origins."""

import json

import pytest

import measured
from plots.runs import origin, results
from synthetic import cell, write


def test_a_share_is_written_in_percent(tmp_path):
    config = {"name": "p/fig1", "allocators": ["c_malloc"], "workload": {"id": "group_by", "free_share": 0.5, "live_share": 0.5}, "sweep": {"x": [1]}}
    for names, told in (({}, "free 50 % · live share 0.5"), ({"free_share": "{} of the pages free before"}, "50 % of the pages free before · live share 0.5")):
        one = cell("c_malloc", {"x": 1}, values={("alloc", "time"): 1e-6}, workload_parameters={"free_share": 0.5, "live_share": 0.5})
        assert told in " ".join(origin.lines(results.read_run(write(tmp_path, {**config, "plot": {"names": names}}, [one]))))


@pytest.mark.parametrize("provenance, told", [
    ({}, []),
    ({"measured_revisions": ["a"], "cards": ["GPU-1"], "drivers": ["570"], "dirty": False, "mixed": False}, []),
    ({"measured_revisions": ["a", "b"], "cards": ["GPU-1", "GPU-2", "GPU-3"], "drivers": ["570"], "dirty": False, "mixed": True},
     ["mixed: cells of 2 revisions, 3 cards"]),
    ({"measured_revisions": ["a"], "cards": [], "drivers": [], "dirty": True, "mixed": False}, ["work tree with changes"])])
def test_mixed(tmp_path, provenance, told):
    config = {"name": "p/fig1", "allocators": ["c_malloc"], "workload": {"id": "alloc_free"}, "sweep": {"x": [1]}}
    folder = write(tmp_path, config, [cell("c_malloc", {"x": 1}, values={("alloc", "time"): 1e-6})])
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    document["allocbench"]["provenance"] = provenance
    (folder / "results.json").write_text(json.dumps(document), encoding="utf-8")
    run = results.read_run(folder)
    assert origin.mixed(run) == told
    foot = " ".join(origin.lines(run))
    assert all(words in foot for words in told)


def test_the_options_of_the_executor_are_told(tmp_path):
    folder = measured.run(tmp_path, "p/fig1", [measured.ok("c_malloc", 1e-6)], backend="cpu", executor="--lockstep 1")
    assert origin.lines(results.read_run(folder))[0].startswith("CPU executor --lockstep 1 · ")


@pytest.mark.parametrize("pools, told", [
    ({"c_malloc": [1], "halloc": [1], "kma": [1]}, "pool 1 MiB"), ({"c_malloc": [1], "halloc": [1], "kma": [4]}, "pools 1 MiB (most), 4 MiB (KMA)"),
    ({"c_malloc": [1], "kma": [4]}, "pools 1 MiB (CMalloc), 4 MiB (KMA)"), ({"c_malloc": [1, 2], "kma": [4]}, "")])
def test_pools_that_differ_are_told_with_their_allocators(tmp_path, pools, told):
    cells = [cell(name, {"x": size}, pool_bytes=size << 20, values={("alloc", "time"): 1e-6}) for name, sizes in pools.items() for size in sizes]
    config = {"name": "p/fig1", "allocators": list(pools), "workload": {"id": "alloc_free"}, "sweep": {"x": [1]}}
    foot = origin.lines(results.read_run(write(tmp_path, config, cells)))[1]
    assert [part for part in foot.split(" · ") if part.startswith("pool")] == ([told] if told else [])
