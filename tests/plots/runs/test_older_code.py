"""Tests which kept results count as results of older code."""

import synthetic

from plots.runs import kept, older_code, results
from plots.texts import groups, numbers


def test_only_listed_revisions_of_listed_allocators_are_older():
    assert older_code.words("comb", {"8a360499", "9329a5a1"}).startswith("an older version was measured (8a360499), whose malloc kernel has 48 registers")
    assert older_code.words("comb", {"c9109dc2"}) == older_code.words("rw", {"8a360499"}) == ""
    assert older_code.words("kma", {"c9109dc2", "8a360499"}) == "an older version was measured (8a360499 and c9109dc2)"


def test_an_allocator_is_listed_once_and_no_revision_is_listed_in_vain():
    names = [name for each in older_code.known() for name in each["allocators"]]
    assert len(names) == len(set(names))
    measured = {revision for run in groups.runs("h200/guide,h200/beyond") for revision in run.cells["revision"]}
    assert {revision for each in older_code.known() for revision in each["revisions"]} <= measured


def test_kept_results_of_comb_are_older_where_its_malloc_kernel_has_48_registers():
    found = {}
    for run in groups.runs("h200/guide"):
        cells = run.cells.index[(run.cells["allocator"] == "comb") & (run.cells["workload"] == "alloc_free")]
        registers = run.at("alloc", "registers")["value"].reindex(cells).dropna()
        if len(registers):
            found[run.name] = bool(registers.min() >= 48)
            assert older_code.measured_by([run], "comb") == [found[run.name]], run.name
    assert set(found.values()) == {True, False}


def test_runs_are_counted(tmp_path):
    runs = []
    for number, revision in enumerate(["8a360499", "c9109dc2"]):
        made = synthetic.write(tmp_path / str(number), {"name": f"guide/{number}"}, [synthetic.cell("comb", {"threads": 1})])
        synthetic.change(made, 0, revision=revision)
        runs.append(results.read_run(tmp_path / str(number)))
    assert older_code.measured_by(runs, "comb") == [True, False] and older_code.measured_by(runs, "halloc") == []


def test_the_readme_has_a_generated_remark():
    assert kept.ROOT / "README.md" in numbers.texts()
