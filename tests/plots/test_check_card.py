"""Tests tools/check_card.py and tools/submit_results.py: each kept card passes, and each kind of mistake in a submitted
folder is reported.
"""

import json
import lzma
import shutil
import subprocess
import sys

from allocbench import stored
import pytest

RUN = "results/reference/h200/kma2014/fig4"


def _check(root, card):
    done = subprocess.run([sys.executable, "-B", str(root / "tools" / "check_card.py"), str(card)], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done


@pytest.fixture
def card(tmp_path, root):
    folder = tmp_path / "some-card"
    shutil.copytree(root / RUN, folder / "kma2014" / "fig4")
    (folder / "README.md").write_text("# Some card\n")
    return folder


def _unpacked(run, change):
    """Replaces the packed results.json of a run by a changed one."""
    document = json.loads(stored.content_of(run, "results.json"))
    change(document["allocbench"])
    (run / "results.json").write_text(json.dumps(document))
    (run / "results.json.xz").unlink()


@pytest.mark.full
@pytest.mark.parametrize("name", ["h200", "cpu"])
def test_the_kept_cards_pass(root, name):
    done = _check(root, root / "results" / "reference" / name)
    assert done.returncode == 0, done.stdout


def test_a_run_with_its_page_passes(root, card):
    done = _check(root, card)
    assert done.returncode == 0 and "1 run, no objection" in done.stdout


@pytest.mark.parametrize("change, says", [
    (lambda ours: ours["cells"][0].update(status="timeout", phases=[], reason="x"), "different ends in log and results of 1 cell, first "),
    (lambda ours: ours["run"].update(seed=99), "differ in seed"),
    (lambda ours: ours["provenance"].update(dirty=True), "uncommitted changes"),
])
def test_results_that_do_not_fit_their_log_are_refused(root, card, change, says):
    _unpacked(card / "kma2014" / "fig4", change)
    done = _check(root, card)
    assert done.returncode == 1 and says in done.stdout


def test_a_resumed_run_with_another_deadline_passes(root, card):
    run = card / "kma2014" / "fig4"
    lines = stored.content_of(run, "events.jsonl").splitlines()
    again = json.loads(lines[0])
    assert again["event"] == "run"
    again["config"]["deadline_s"] = 120
    (run / "events.jsonl.xz").write_bytes(lzma.compress("".join(f"{line}\n" for line in [*lines, json.dumps(again)]).encode()))
    _unpacked(run, lambda ours: ours["run"]["config"].update(deadline_s=120))
    assert "differ in config" not in _check(root, card).stdout


def test_two_cards_in_one_folder_are_refused(root, card):
    other = card / "kma2014" / "init"
    shutil.copytree(root / "results/reference/h200/kma2014/init", other)
    _unpacked(other, lambda ours: ours["device"].update(name="NVIDIA L4"))
    assert "the runs come from several models of card: NVIDIA H200, NVIDIA L4" in _check(root, card).stdout


def test_other_files_names_and_damage_are_refused(root, card):
    (card / "notes.txt").write_text("x")
    (card / "README.md").unlink()
    log = card / "kma2014" / "fig4" / "events.jsonl.xz"
    log.write_bytes(log.read_bytes()[:100])
    named = card.rename(card.parent / "Some_Card")
    text = _check(root, named).stdout
    for part in ("notes.txt: allowed are only", "README.md is missing", "name the folder after the card", "fig4: "):
        assert part in text, part


def _study(root, tmp_path, place="kma2014/fig4", change=lambda ours: None):
    """Writes a study with one unpacked run."""
    run = tmp_path / "study" / place
    run.mkdir(parents=True)
    (run / "events.jsonl").write_bytes(stored.content_of(root / RUN, "events.jsonl"))
    document = json.loads(stored.content_of(root / RUN, "results.json"))
    change(document["allocbench"])
    (run / "results.json").write_text(json.dumps(document))
    return tmp_path / "study"


def _submit(root, study, card, *options):
    return subprocess.run([sys.executable, "-B", str(root / "tools" / "submit_results.py"), str(study), card, *map(str, options)],
                          capture_output=True, text=True, check=False)


def test_a_study_becomes_a_folder_that_passes(root, tmp_path):
    study = _study(root, tmp_path)
    done = _submit(root, study, "some-card", "--reference", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"{study}/kma2014/fig4 -> {tmp_path}/some-card/kma2014/fig4", f"{tmp_path}/some-card/README.md: written",
                                        f"{tmp_path}/some-card: no objection. Complete README.md, then commit this folder."]
    assert "NVIDIA H200 with 150 GB and 132 multiprocessors" in (tmp_path / "some-card" / "README.md").read_text()
    assert (tmp_path / "some-card/kma2014/fig4/figures").is_dir() and _check(root, tmp_path / "some-card").returncode == 0


@pytest.mark.parametrize("name", ["RTX_4090", "9x", "../x", ""])
def test_a_wrong_name_is_refused_before_anything_is_written(root, tmp_path, name):
    done = _submit(root, _study(root, tmp_path), name, "--reference", tmp_path / "cards")
    assert done.returncode == 1 and done.stderr.startswith(f"{name}: name the folder after the card") and not (tmp_path / "cards").exists()


def test_a_run_of_the_cpu_executor_is_no_result_of_a_card(root, tmp_path, card):
    study = _study(root, tmp_path, change=lambda ours: ours["run"].update(backend="cpu"))
    done = _submit(root, study, "rtx-4090", "--reference", tmp_path / "cards")
    assert done.returncode == 1 and f"{study}/kma2014/fig4: this run used the CPU executor" in done.stderr
    assert "Nothing was written." in done.stderr and not (tmp_path / "cards").exists()
    shutil.copytree(root / "results/reference/cpu/kma2014/init", card / "kma2014" / "init")
    done = _check(root, card)
    assert done.returncode == 1 and f"{card}/kma2014/init: this run used the CPU executor" in done.stdout


def test_kept_runs_of_a_card_are_never_overwritten(root, tmp_path, card):
    study, run = _study(root, tmp_path), card / "kma2014" / "fig4"
    before = {path: path.read_bytes() for path in card.rglob("*") if path.is_file()}
    done = _submit(root, study, "some-card", "--reference", tmp_path)
    assert done.returncode == 1 and f"{card} exists. Name another card, or add to the runs of this card with --extend." in done.stderr
    done = _submit(root, study, "some-card", "--reference", tmp_path, "--extend")
    assert done.returncode == 1 and f"{run} is kept already" in done.stderr
    assert {path: path.read_bytes() for path in card.rglob("*") if path.is_file()} == before
    (study / "kma2014").rename(study / "again")
    done = _submit(root, study, "some-card", "--reference", tmp_path, "--extend")
    assert done.returncode == 0 and stored.find_runs(card) == [card / "again" / "fig4", run], done.stdout + done.stderr
    assert {path: path.read_bytes() for path in before} == before


def test_another_model_is_not_added_to_a_card(root, tmp_path, card):
    study = _study(root, tmp_path, "kma2014/init", lambda ours: ours["device"].update(name="NVIDIA L4"))
    done = _submit(root, study, "some-card", "--reference", tmp_path, "--extend")
    assert done.returncode == 1 and "several models of card: NVIDIA H200, NVIDIA L4" in done.stderr and not (card / "kma2014" / "init").exists()


def test_a_study_without_runs_is_refused(root, tmp_path):
    done = subprocess.run([sys.executable, "-B", str(root / "tools" / "submit_results.py"), str(tmp_path), "some-card"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Measure first" in done.stderr
