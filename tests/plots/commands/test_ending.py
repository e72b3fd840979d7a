"""Tests the end of the program if a target, a library, a locale or a stream is unusable: it prints a sentence and never
a traceback.
"""

import os
import subprocess
import sys

import pytest
import synthetic

CONFIG = {"name": "test/fig", "description": "A test", "allocators": ["c_malloc"],
          "plot": {"kind": "lines", "x": "threads", "y": "alloc", "log": "xy"}}


@pytest.fixture
def run(tmp_path):
    return synthetic.write(tmp_path / "µ 內存", CONFIG, [synthetic.cell("c_malloc", {"threads": 1}, values={("alloc", "time"): 1e-6})])


def _program(root, *arguments, environment=None, **streams):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run([sys.executable, "-B", "-m", "plots", *map(str, arguments)], cwd=root, timeout=300, encoding="utf-8",
                          env={**os.environ, **(environment or {})}, **streams)


def _is_one_sentence(text):
    return text.startswith("plots: ") and text.count("\n") == 1 and "Traceback" not in text


@pytest.mark.parametrize("command", [[], ["survival"], ["aa"]])
def test_a_target_that_is_a_file_or_full_is_named(run, tmp_path, capsys, command):
    from plots.commands import cli

    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    for name in ("test_fig_cpu", "test_fig_cpu_status", "survival_cpu", "aa"):
        (tmp_path / "full" / f"{name}.png").symlink_to("/dev/full")
    runs = [run, synthetic.write(tmp_path / "again", CONFIG, [synthetic.cell("c_malloc", {"threads": 1}, values={("alloc", "time"): 1e-6})])]
    for out, reason in (("file", "File exists"), ("full", "No space left on device")):
        code = cli.main([*command, *map(str, runs[:1 + (command == ["aa"])]), "--formats", "png", "--out", str(tmp_path / out)])
        text = capsys.readouterr().err
        assert code == 2 and _is_one_sentence(text) and "cannot be written: " in text and reason in text, text


def test_files_are_written_though_nobody_reads_their_names(root, run):
    reader, writer = os.pipe()
    os.close(reader)
    closed = _program(root, run, "--formats", "png,svg", stdout=writer)
    os.close(writer)
    assert (closed.returncode, closed.stderr) == (0, "")
    assert sorted(path.name for path in (run / "figures").iterdir()) == ["test_fig_cpu.md", "test_fig_cpu.png", "test_fig_cpu.svg"]


def test_a_full_output_is_an_error_and_the_files_are_written(root, run):
    with open("/dev/full", "w", encoding="utf-8") as full:
        told = _program(root, run, "--formats", "svg", stdout=full)
    assert told.returncode == 3 and told.stderr == "plots: Cannot write to stdout: No space left on device. Redirect it to another place.\n"
    assert (run / "figures" / "test_fig_cpu.svg").exists() and (run / "figures" / "test_fig_cpu.md").exists()
    with open("/dev/full", "w", encoding="utf-8") as full:
        assert _program(root, run / "absent", stderr=full).returncode == 2


@pytest.mark.parametrize("environment", [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "iso-8859-1"},
    {"PYTHONIOENCODING": "ascii", "LC_ALL": "POSIX"},
])
def test_the_output_is_utf_8_in_every_locale(root, run, environment):
    told = _program(root, run, "--formats", "svg", environment=environment)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [str(run / "figures" / f"test_fig_cpu.{suffix}") for suffix in ("svg", "md")]


@pytest.mark.parametrize("module, package", [("PIL", "python3-pil"), ("numpy", "python3-numpy"), ("jsonschema", "python3-jsonschema"),
                                             ("dateutil", "python3-dateutil")])
def test_a_missing_library_is_named_by_its_package(root, tmp_path, module, package):
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    told = _program(root, "--help", environment={"PYTHONPATH": str(tmp_path)})
    assert told.returncode == 2 and _is_one_sentence(told.stderr)
    assert f"Install {package} (`make dependencies`" in told.stderr


def test_figures_without_claims_need_no_scipy_and_verdicts_name_it(root, run, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['scipy'] = None\n")
    environment = {"PYTHONPATH": str(tmp_path)}
    assert _program(root, run, "--formats", "svg", environment=environment).returncode == 0
    told = _program(root, "results/reference/h200/kma2014/fig4", "--formats", "svg", "--out", tmp_path / "out", environment=environment)
    assert told.returncode == 2 and _is_one_sentence(told.stderr)
    assert "Install python3-scipy (`make dependencies`" in told.stderr


def test_a_damaged_library_is_named(root, tmp_path):
    (tmp_path / "scipy").mkdir()
    (tmp_path / "scipy" / "__init__.py").write_text("raise ImportError('libblas.so.3: cannot open\\nmore')\n")
    told = _program(root, "results/reference/h200/kma2014/fig4", "--formats", "svg", "--out", tmp_path / "out", environment={"PYTHONPATH": str(tmp_path)})
    assert told.returncode == 2 and _is_one_sentence(told.stderr)
    assert "scipy cannot be loaded (libblas.so.3: cannot open)" in told.stderr and "--reinstall python3-scipy" in told.stderr


def test_what_cannot_be_read_is_one_sentence(run, capsys):
    from plots.commands import cli

    (run / "results.json").unlink()
    (run / "results.json").mkdir()
    assert cli.main([str(run)]) == 2
    assert _is_one_sentence(text := capsys.readouterr().err) and "results.json cannot be read: Is a directory" in text
