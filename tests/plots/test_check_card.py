"""Tests tools/check_card.py and tools/submit_results.py: each kept card passes, and each kind of mistake in a submitted
folder is reported.
"""

import json
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
    assert done.returncode == 0 and "1 runs, no objection" in done.stdout


@pytest.mark.parametrize("change, says", [
    (lambda ours: ours["cells"][0].update(status="timeout", phases=[], reason="x"), "1 cells have different ends in log and results"),
    (lambda ours: ours["run"].update(seed=99), "differ in seed"),
    (lambda ours: ours["provenance"].update(dirty=True), "uncommitted changes"),
])
def test_results_that_do_not_fit_their_log_are_refused(root, card, change, says):
    _unpacked(card / "kma2014" / "fig4", change)
    done = _check(root, card)
    assert done.returncode == 1 and says in done.stdout


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


def test_a_study_becomes_a_folder_that_passes(root, tmp_path):
    study = tmp_path / "study" / "kma2014" / "fig4"
    study.mkdir(parents=True)
    for name in ("events.jsonl", "results.json"):
        (study / name).write_bytes(stored.content_of(root / RUN, name))
    done = subprocess.run([sys.executable, "-B", str(root / "tools" / "submit_results.py"), str(tmp_path / "study"), "some-card", "--reference", str(tmp_path)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "NVIDIA H200 with 150 GB and 132 multiprocessors" in (tmp_path / "some-card" / "README.md").read_text()
    assert (tmp_path / "some-card/kma2014/fig4/figures").is_dir() and _check(root, tmp_path / "some-card").returncode == 0


def test_a_study_without_runs_is_refused(root, tmp_path):
    done = subprocess.run([sys.executable, "-B", str(root / "tools" / "submit_results.py"), str(tmp_path), "some-card"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Measure first" in done.stderr
