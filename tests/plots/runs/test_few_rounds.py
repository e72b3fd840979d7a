"""Tests times from three to five rounds: only claims use the t intervals of such times."""

import json

import pytest
import synthetic

from plots.commands import cli
from plots.figures import drawing
from plots.figures.kinds import KINDS
from plots.ledger import claims, forest
from plots.runs import few_rounds, results
from plots.texts import numbers

CONFIG = {"name": "test/few", "paper": "Nobody 1999, Fig. 1", "allocators": ["c_malloc", "cuda_malloc"],
          "plot": {"kind": "lines", "x": "threads", "y": "alloc"}}
RATIO = {"of": "cuda_malloc", "to": "c_malloc"}


def _few(seconds, low, high, rounds=3):
    return {"values": [seconds] * rounds, "least_spread": 0.01, "low": low, "high": high}


def _cell(allocator, threads, seconds, spread=None, rounds=3, operations=0):
    """Makes a run. A cell has an interval of few rounds if its `spread` is a number, and none if it is None."""
    values = {("alloc", "time"): (seconds, None, None)}
    if operations:
        values[("alloc", "operations")] = operations
    phase = {"name": "alloc", "no_interval": f"{rounds} of the 6 rounds that an interval needs"}
    if spread is not None:
        phase["few_rounds"] = _few(seconds, seconds / (1 + spread), seconds * (1 + spread), rounds)
    return synthetic.cell(allocator, {"threads": threads}, values=values, phases=[phase])


def _sure(allocator, threads, seconds):
    return synthetic.cell(allocator, {"threads": threads}, values={("alloc", "time"): (seconds, seconds * 0.99, seconds * 1.01)})


def _run(tmp_path, cells, **config):
    return results.read_run(synthetic.write(tmp_path / "run", {**CONFIG, **config}, cells, "cuda"))


def _judge(run, **claim):
    return claims.judge(run, {"says": "It is so.", "source": "fig. 1", **claim})


@pytest.mark.parametrize("wanted, verdict", [
    ({"above": 5}, "holds"), ({"between": [1.5, 4]}, "does not hold"), ({"above": 9}, "cannot tell")])
def test_the_interval_of_few_rounds_decides(tmp_path, wanted, verdict):
    judged = _judge(_run(tmp_path, [_cell("cuda_malloc", 1, 10.0, 0.25), _sure("c_malloc", 1, 1.0)]), ratio=RATIO, **wanted)
    assert (judged.verdict, judged.published.text, judged.published.interval) == (verdict, "10", "7.92 to 12.6")
    assert judged.row()[5] == f"{verdict}{'' if verdict == claims.OPEN else ', few rounds'} (judged on 3 rounds)" and judged.data()["few_rounds"] == "judged on 3 rounds"


def test_two_sides_of_few_rounds_combine_as_other_bounds_do(tmp_path):
    judged = _judge(_run(tmp_path, [_cell("cuda_malloc", 1, 8.0, 1.0, rounds=5), _cell("c_malloc", 1, 1.0, 0.25, rounds=4)]), ratio=RATIO, above=1)
    assert (judged.published.interval, judged.few) == ("3.2 to 20", "judged on 4 rounds")


def test_without_bounds_there_is_still_no_interval(tmp_path):
    run = _run(tmp_path, [_cell("cuda_malloc", 1, 10.0), _cell("cuda_malloc", 2, 10.0, 0.1), _sure("c_malloc", 1, 1.0), _sure("c_malloc", 2, 1.0)])
    assert _judge(run, ratio=RATIO, above=2).row()[5] == "cannot tell (holds in 1 of 2, no interval in 1 of 2, 1 of 2 places judged on 3 rounds)"
    nothing = {"name": "alloc", "few_rounds": _few(2.0, None, None)}
    equal = synthetic.cell("cuda_malloc", {"threads": 1}, values={("alloc", "time"): (2.0, None, None)}, phases=[nothing])
    assert _judge(_run(tmp_path, [equal, _sure("c_malloc", 1, 1.0)]), ratio=RATIO, above=1).row()[5] == "cannot tell (no interval)"


def test_places_and_means_say_how_many_were_judged_so(tmp_path):
    cells = [_sure("c_malloc", x, 1.0) for x in (1, 2, 4)]
    sides = [_cell("cuda_malloc", 1, 9.0, 0.1, rounds=5), _cell("cuda_malloc", 2, 9.0, 0.1), _sure("cuda_malloc", 4, 9.0)]
    run = _run(tmp_path, cells + sides)
    assert _judge(run, ratio=RATIO, above=2).row()[5] == "holds, few rounds (holds in 3 of 3, 2 of 3 places judged on 3 to 5 rounds)"
    mean = _judge(run, ratio=RATIO, above=2, over="mean")
    assert mean.row()[5] == "holds, few rounds (holds in 3 of 3, 2 of 3 places judged on 3 to 5 rounds)" and mean.published.estimate.rounds == 3


def test_rates_and_growth_follow_from_times(tmp_path):
    cells = [_cell("c_malloc", x, x * 1.0, 0.25, operations=100) for x in (1, 2, 4)]
    run = _run(tmp_path, cells)
    rate = _judge(run, value={"of": "c_malloc", "metric": "throughput"}, where={"threads": 1}, above=60)
    assert (rate.verdict, rate.published.text, rate.published.interval) == ("holds", "100 op/s", "80 op/s to 125 op/s")
    derived = few_rounds.bounded(run).at("alloc", "time_per_operation")
    assert (derived["low"] < derived["value"]).all() and (derived["high"] > derived["value"]).all()
    growth = _judge(run, growth={"of": "c_malloc"}, above=0.5)
    assert (growth.verdict, growth.few) == ("holds", "judged on 3 rounds")


@pytest.mark.parametrize("interval, verdict", [((None, None), "cannot tell"), ((3.0, 3.0), "holds"), ((2.0, 4.0), "cannot tell")])
def test_a_counter_of_the_workload_is_exact_only_if_its_stored_interval_says_so(tmp_path, interval, verdict):
    cell = _cell("c_malloc", 1, 1.0, 0.5)
    cell["values"][("", "address_spread")] = (3.0, *interval)
    judged = _judge(_run(tmp_path, [cell]), value={"of": "c_malloc", "phase": "", "metric": "address_spread"}, between=[3, 3])
    assert (judged.verdict, judged.few) == (verdict, "")
    assert (judged.unsure == "no interval") == (interval == (None, None))


@pytest.mark.parametrize("phase, metric", [("alloc", "registers"), ("alloc", "local_bytes"), ("", "metadata_bytes"), ("", "device_heap_bytes"), ("alloc", "operations")])
def test_facts_are_exact(tmp_path, phase, metric):
    cell = _cell("c_malloc", 1, 1.0, 0.5)
    cell["values"][(phase, metric)] = (3.0, None, None)
    cell["values"].setdefault(("alloc", "time"), (1.0, None, None))
    assert _judge(_run(tmp_path, [cell]), value={"of": "c_malloc", "phase": phase, "metric": metric}, between=[3, 3]).verdict == "holds"


def test_a_count_whose_passes_differ_has_the_t_interval_of_their_mean(tmp_path):
    cell = _cell("c_malloc", 1, 1.0, 0.5)
    cell["counted"] = {"values": {"steps": [2.0, 3.0, 4.0]}}  # t is 4.3027 with two degrees of freedom, so the half width is 2.4842
    run = _run(tmp_path, [cell])
    (low, high), = few_rounds.bounded(run).at("", "steps")[["low", "high"]].to_numpy()
    assert few_rounds.bounded(run).at("", "steps")[few_rounds.PASSES].tolist() == [3]
    assert (low, high) == (pytest.approx(0.5159, abs=1e-3), pytest.approx(5.4841, abs=1e-3))
    assert _judge(run, value={"of": "c_malloc", "phase": "", "metric": "steps"}, between=[2.5, 3.5]).verdict == "cannot tell"
    assert _judge(run, value={"of": "c_malloc", "phase": "", "metric": "steps"}, below=6).verdict == "holds"


def test_a_count_of_one_pass_has_no_t_interval(tmp_path):
    cells = [_cell("c_malloc", x, 1.0, 0.5) for x in (1, 2)]
    for cell, counts in zip(cells, ([2.0], [3.9, 4.0, 4.1])):
        cell["counted"] = {"values": {"steps": counts}}
    judged = _judge(_run(tmp_path, cells), step={"of": {"allocator": "c_malloc", "phase": "", "metric": "steps"}}, above=1.5)
    assert (judged.verdict, judged.published.estimate.passes) == ("holds", 3) and judged.p < 0.05


def test_counts_of_the_same_passes_are_compared_pass_by_pass(tmp_path):
    cell = _cell("c_malloc", 1, 1.0, 0.5)
    cell["counted"] = {"values": {"steps": [2.0, 3.0, 7.0], "warp_steps": [4.0, 6.0, 14.0]}}
    sides = {"of": {"allocator": "c_malloc", "phase": "", "metric": "warp_steps"}, "to": {"allocator": "c_malloc", "phase": "", "metric": "steps"}}
    judged = _judge(_run(tmp_path, [cell]), ratio=sides, between=[1.99, 2.01])
    assert (judged.verdict, judged.published.interval) == ("holds", "2 to 2")


def test_a_count_whose_passes_agree_is_exact(tmp_path):
    cell = _cell("c_malloc", 1, 1.0, 0.5)
    cell["counted"] = {"values": {"steps": [3.0, 3.0, 3.0]}}
    assert _judge(_run(tmp_path, [cell]), value={"of": "c_malloc", "phase": "", "metric": "steps"}, between=[3, 3]).verdict == "holds"


def test_figures_and_numbers_in_texts_have_no_such_interval(tmp_path):
    cells = [_cell("cuda_malloc", x, 10.0, 0.25) for x in (1, 2)] + [_sure("c_malloc", x, 1.0) for x in (1, 2)]
    run = _run(tmp_path, cells)
    assert run.at("alloc", "time")["low"].isna().sum() == 2
    without = [{**cell, "phases": [{"name": "alloc", "no_interval": phase["no_interval"]} for phase in cell["phases"]]} if "phases" in cell else cell for cell in cells]
    bare = results.read_run(synthetic.write(tmp_path / "bare" / "run", CONFIG, without, "cuda"))
    assert KINDS["lines"](run, "stem").markdown == KINDS["lines"](bare, "stem").markdown
    ratios = numbers._found(run, {"of": "cuda_malloc", "to": "c_malloc"}).estimates
    assert [each.low for each in ratios] == [each.high for each in ratios] == [None, None]


def test_the_pages_explain_it_where_it_was_done(tmp_path):
    claim = {"says": "It is slower.", "source": "fig. 1", "ratio": RATIO, "above": 2}
    for name, spread in (("few", 0.25), ("none", None)):
        folder = synthetic.write(tmp_path / name, {**CONFIG, "claims": [claim]}, [_cell("cuda_malloc", 1, 10.0, spread), _sure("c_malloc", 1, 1.0)], "cuda")
        section = claims.section(drawing.read(folder))
        assert (few_rounds.EXPLAINED in section) == (name == "few")
        page, = forest.drawings(claims.ledger([drawing.read(folder)], tmp_path))
        told = [text.get_text() for text in page.page.figure.texts]
        assert any(text.startswith("holds †\n") for text in told) == ("†: judged on three to five rounds" in " ".join(told)) == (name == "few")


def test_the_ledger_explains_it(tmp_path, capsys):
    folder = synthetic.write(tmp_path / "run", {**CONFIG, "claims": [{"says": "Slow.", "source": "fig. 1", "ratio": RATIO, "above": 2}]},
                             [_cell("cuda_malloc", 1, 10.0, 0.25), _sure("c_malloc", 1, 1.0)], "cuda")
    assert cli.main(["claims", str(folder), "--out", str(tmp_path / "out")]) == 0
    assert few_rounds.EXPLAINED in capsys.readouterr().out
    entry, = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert (entry["verdict"], entry["few_rounds"]) == ("holds", "judged on 3 rounds")
