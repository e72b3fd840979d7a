"""Tests the plan of a study: each piece is forecast to end in time and is a command that the front end accepts, and
each config appears once.
"""

import json
import pathlib
import re

import pytest

import measured
from plots.commands import cli
from plots.reference import forecast, mixes, origins, pieces, study_file
from plots.reference.forecast import WORKER, Forecast


def of(run):
    return forecast.of_run(origins.read_run(run))


def test_rounds_of_the_log_count(tmp_path):
    made = of(measured.run(tmp_path, "one/small", [measured.ok("comb", 1e-6), measured.ok("halloc", 1e-6)], rounds={0: [0.2, 0.4], 1: [1.0]}))
    assert made.per_round == pytest.approx(1.3) and made.allocators == {"comb", "halloc"}
    assert made.once == pytest.approx(1.3 + 2 * 0.034) and made.lost == 0
    assert made.seconds(6) == pytest.approx(made.once + 6 * 1.3)


def test_without_them_the_wall_time_of_samples_counts(tmp_path):
    made = of(measured.run(tmp_path, "one/small", [measured.ok("comb", 1e-6)], of_cells={0: {"counters": {"wall_time": 0.01}}}))
    assert made.per_round == pytest.approx(1.6 * 5 * 0.01)


def test_two_cells_of_a_series_may_wait_for_their_deadline(tmp_path):
    left_out = "put off until all others were measured (x)"
    cells = [measured.failed("kma", status, reason, number) for number, (status, reason) in
             enumerate([("timeout", "x"), ("skipped", left_out), ("skipped", left_out), ("skipped", "series kma timed out at 1 and 2"), ("unsupported", "x"), ("crashed", "x")])]
    made = of(measured.run(tmp_path, "one/small", cells, config={"deadline_s": 10}, of_cells={number: {"series": "kma"} for number in range(6)}))
    assert made.lost == pytest.approx(2 * (10 + 2) + 0.05 + 0.05 + 2) and made.per_round == 0


@pytest.mark.parametrize("config, seconds", [({}, 60), ({"deadline_s": 10, "overrides": {"kma": {"deadline_s": 20}}}, 20)])
def test_the_deadline_is_that_of_the_allocator(tmp_path, config, seconds):
    made = of(measured.run(tmp_path, "one/small", [measured.failed("kma(superblocks=2)", "timeout")], config=config, of_cells={0: {"series": "kma"}}))
    assert made.lost == pytest.approx(seconds + 2)


def test_pieces_end_in_time_and_have_every_config_once():
    forecasts = {f"config{number}": Forecast(10, 5 + number, 0, frozenset({"comb", f"a{number % 3}"})) for number in range(20)}
    made = pieces.packed(forecasts, 9, 6)
    assert sorted(name for piece in made for name in piece.configs) == sorted(forecasts)
    assert len(made) > 1 and all(piece.minutes <= 9 for piece in made)
    first = made[0]
    allocators = set().union(*(each.allocators for each in first.configs.values()))
    assert first.minutes * 60 == pytest.approx(sum(10 + 6 * each.per_round for each in first.configs.values()) + 6 * WORKER * len(allocators))


def test_a_long_config_has_a_piece_of_its_own(tmp_path, capsys):
    measured.run(tmp_path / "m", "one/long", [measured.ok("comb", 1)], rounds={0: [200]})
    measured.run(tmp_path / "m", "one/short", [measured.ok("comb", 1)], rounds={0: [1]})
    assert cli.main(["provenance", str(tmp_path / "m"), "--plan"]) == 0
    told = capsys.readouterr().out
    assert "# one, piece 1 of 2: 23.4 minutes, 3 times on one card" in told
    assert "mkdir -p results/pieces/one-2 && build/bin/allocbench study one --configs . --only one/short --backend cuda --minutes 1 --resume --no-figures --out results/pieces/one-2" in told
    assert "| one | 2 | 4 | 23.5 | 0.0 |" in told and "build/bin/allocbench merge results/pieces/* --out results/m" in told
    assert cli.main(["provenance", str(tmp_path / "m"), "--plan", "--rounds", "1", "--minutes", "20"]) == 0
    assert "| one | 2 | 1 | 6.7 | 0.0 |" in capsys.readouterr().out


def test_a_piece_has_the_options_of_the_executor(tmp_path, capsys):
    for name, executor in (("one/usual", ""), ("one/together", "--lockstep 1")):
        measured.run(tmp_path / "m", name, [measured.ok("comb", 1)], rounds={0: [1]}, backend="cpu", executor=executor)
    assert cli.main(["provenance", str(tmp_path / "m"), "--plan"]) == 0
    told = capsys.readouterr().out
    assert cli.main(["provenance", str(tmp_path / "m"), "--write"]) == 0
    command, = [group["command"] for group in json.loads((tmp_path / "m" / "study.json").read_text())["groups"].values()]
    assert command == " && ".join(f"build/bin/allocbench study one --configs . --only one/{name} --backend cpu{options} --out results/m"
                                  for name, options in (("together", " --lockstep 1"), ("usual", "")))
    assert "--only one/usual --backend cpu --minutes 1 --resume" in told and "--only one/together --backend cpu --lockstep 1 --minutes 1 --resume" in told


def test_configs_that_are_whole_at_the_revision_are_left_out(tmp_path, capsys):
    cells = [measured.ok("comb", 1)]
    measured.run(tmp_path / "m", "one/whole", cells, rounds={0: [1]})
    measured.run(tmp_path / "m", "one/older", cells, rounds={0: [1]}, revision=measured.SECOND)
    measured.run(tmp_path / "m", "one/dirty", cells, rounds={0: [1]}, dirty=True)
    measured.run(tmp_path / "m", "one/holes", [*cells, measured.failed("kma", "skipped", "put off until all others were measured (x)", 1)], rounds={0: [1]})
    few = [measured.ok("comb", 1, phases=[{"name": "alloc", "no_interval": "3 of the 6 rounds that an interval needs"}])]
    for name, stop in (("one/cut", "time of the study"), ("two/long", "three rounds of long samples")):
        measured.run(tmp_path / "m", name, few, rounds={0: [1]}, config={"claims": [{"says": "x", "value": {"of": "comb"}}]}, of_cells={0: {"stop": stop}})
    measured.run(tmp_path / "m", "two/whole", cells, rounds={0: [1]})
    assert cli.main(["provenance", str(tmp_path / "m"), "--plan", "--revision", measured.FIRST]) == 0
    told = capsys.readouterr().out
    assert f"without configs that need no new measurement at revision {measured.FIRST}" in told
    assert sorted(re.findall(r"--only (\S+)", told)) == ["one/cut", "one/dirty", "one/holes", "one/older"]
    assert "| two | 0 | 0 | 0.0 | 0.0 |" in told and "study two" not in told


def test_the_reference_is_planned_with_all_groups(capsys):
    assert cli.main(["provenance", "results/reference/h200", "--plan"]) == 0
    told = capsys.readouterr().out
    for group in mixes.GROUPS:
        assert re.search(rf"^\| {group} \| {len(study_file.configs_of(group))} \|", told, re.M)
        named = re.findall(rf"--only ({group}/\w+)", told)
        assert not named or sorted(named) == study_file.configs_of(group)
    guessed = re.search(r"configs have no kept results and count as the average of their group: (.*)", told)
    for name in (name for group in mixes.GROUPS for name in study_file.configs_of(group)):
        kept = pathlib.Path("results/reference/h200", name).exists()
        assert kept != (guessed is not None and name in guessed.group(1).split(", ")), name
    for minutes, calls in re.findall(r"piece \d+ of \d+: ([\d.]+) minutes(?:, (\d+) times)?", told):
        assert float(minutes) <= 9 * int(calls or 1)


@pytest.mark.parametrize("options", [["--minutes", "0"], ["--rounds", "0"], ["--check", "--plan"]])
def test_wrong_options_are_refused(tmp_path, capsys, options):
    measured.run(tmp_path, "one/small", [measured.ok("comb", 1)])
    assert cli.main(["provenance", str(tmp_path), *options]) == 2
    assert capsys.readouterr().err.count("\n") == 1
