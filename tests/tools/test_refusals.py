"""Tests that programs in tools/ refuse a wrong command line with one error that says what is wrong."""

import json
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _run(*words, **environment):
    return subprocess.run([ROOT / "tools" / words[0], *map(str, words[1:])], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
                          env={"PATH": "/usr/bin:/bin", **environment})


@pytest.mark.parametrize("words, code, told", [
    (["pack_results.py", "/nonexist", "/nonexist/kept"], 1, "/nonexist is not a folder. Give the folder that allocbench --out wrote"),
    (["pack_results.py", "tools", "/nonexist/kept"], 1, "tools contains no results.json, and no events.jsonl from which to make it."),
    (["reach.py", "/nonexist"], 3, "/nonexist/bin/allocbench-worker-check does not exist. Give a build folder, and build it first"),
    (["record-aa.sh", "--bogus"], 2, "record-aa.sh: --bogus is no option here. Try"),
    (["record-aa.sh"], 2, "record-aa.sh: Name KEPT"),
    (["record-aa.sh", "/nonexist/kept", "many"], 2, "TIMES and FIRST must be whole numbers from 1, but many is given."),
    (["record-aa.sh", "/nonexist/kept", "1", "0"], 2, "TIMES and FIRST must be whole numbers from 1, but 0 is given."),
    (["keep-results.sh", "/nonexist", "kept"], 2, "keep-results.sh: /nonexist is not a folder. Give the folder of a run"),
    (["keep-results.sh", "tools", "kept"], 2, "tools contains no events.jsonl."),
    (["keep-results.sh", "--bogus", "tools", "kept"], 2, "--bogus is no option here."),
    (["keep-results.sh", "tools"], 2, "Name RUN and KEPT."),
    (["demo.sh", "--bogus"], 2, "demo.sh: This script takes no argument, but --bogus is given."),
    (["install-dependencies.sh", "--bogus"], 2, "install-dependencies.sh: --bogus is no option here."),
    (["install-dependencies.sh", "--build", "--dev"], 2, "Give at most one option."),
    (["compute-sanitizer.sh", "--bogus"], 2, "compute-sanitizer.sh: --bogus is no option here."),
    (["pack-worker.sh", "--bogus", "x"], 2, "--bogus is no option here."),
    (["pack-worker.sh", "cpu"], 2, "Name BACKEND and ARCHIVE."),
])
def test_one_error_says_what_is_wrong(words, code, told):
    done = _run(*words)
    assert done.returncode == code and told in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""


@pytest.mark.parametrize("kept, told", [
    ("run", "neither may contain the other"), ("run/kept", "neither may contain the other"), (".", "neither may contain the other"),
    ("study", "study exists and is not a kept run"),
])
def test_a_run_is_never_kept_over_itself_or_over_a_study(tmp_path, kept, told):
    for name in ("run/events.jsonl", "study/one/results.json.xz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    done = _run("keep-results.sh", tmp_path / "run", tmp_path / kept)
    assert done.returncode == 2 and told in done.stderr and done.stderr.count("\n") == 1
    assert (tmp_path / "run" / "events.jsonl").exists() and (tmp_path / "study" / "one" / "results.json.xz").exists()


def test_missing_programs_and_configs_of_aa_are_named(tmp_path):
    done = _run("record-aa.sh", tmp_path / "kept", ALLOCBENCH="/nonexist/allocbench")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "/nonexist/allocbench does not exist. Build allocbench (make)" in done.stderr
    done = _run("record-aa.sh", tmp_path / "kept", ALLOCBENCH="/bin/true", CONFIGS="/nonexist/aa.json")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "/nonexist/aa.json does not exist. Correct CONFIGS." in done.stderr


@pytest.mark.parametrize("archive", ["/proc/x.tar.xz", "/nonexist/x.tar.xz", "{tmp}"])
def test_an_archive_that_cannot_be_written_is_refused_first(tmp_path, archive):
    for name in ("allocbench", "allocbench-worker-cpu"):
        (tmp_path / name).write_text("not a program, so strip would fail")
    (tmp_path / "plugins" / "cpu").mkdir(parents=True)
    archive = archive.format(tmp=tmp_path)
    done = _run("pack-worker.sh", "cpu", archive, PROGRAMS=str(tmp_path))
    assert done.returncode == 2 and done.stderr.startswith(f"pack-worker.sh: {archive} cannot be written. Name ") and done.stderr.count("\n") == 1
    done = _run("pack-worker.sh", "cpu", tmp_path / "new.tar.xz", PROGRAMS=str(tmp_path))
    assert done.returncode != 0 and not (tmp_path / "new.tar.xz").exists()


def test_damaged_runs_are_not_packed(tmp_path):
    run, kept = tmp_path / "run", tmp_path / "kept"
    run.mkdir()
    (run / "results.json").write_text("{")
    done = _run("pack_results.py", run, kept)
    assert done.returncode == 1 and "no events.jsonl" in done.stderr and done.stderr.count("\n") == 1
    (run / "events.jsonl").write_text(json.dumps({"event": "run"}) + "\n")
    done = _run("pack_results.py", run, kept)
    assert done.returncode == 1 and f"{run}/results.json:1 is not JSON" in done.stderr and done.stderr.count("\n") == 1 and not kept.exists()
