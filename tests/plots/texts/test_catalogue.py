"""Tests docs/catalogue.md: it has one line for each allocator and workload, with a link to the header that names it."""

import io
import json

import pytest

from allocbench.errors import UsageError
from plots.commands.cli import main
from plots.runs import kept
from plots.texts import catalogue

LISTED = json.dumps({
    "allocators": [{"name": "ours", "summary": "equal slots", "paper": "Doe 2020", "form": "published"},
                   {"name": "twice", "summary": "the same, slowed", "paper": "Doe 2020", "form": "delayed"},
                   {"name": "theirs_original", "summary": "a peer of some builds", "paper": "Roe 2021", "form": "original"}],
    "workloads": [{"name": "late", "summary": "frees", "paper": "none"}, {"name": "early", "summary": "mallocs", "paper": "Poe 2022"}]})


@pytest.fixture(autouse=True)
def tree(monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    headers = {"allocators/mine/ours.hpp": 'traits{.name = "ours"}', "allocators/mine/twice.hpp": 'traits_as("twice", "Twice")',
               "allocators/support/contract/allocator.hpp": '.name = "ours"', "workloads/a/early.hpp": '.name = "early"', "workloads/b/late.hpp": '.name = "late"'}
    for name, text in headers.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    return tmp_path


def test_a_line_for_each_with_its_header():
    rows = [line for line in catalogue.page(LISTED).splitlines() if line.startswith("| `")]
    assert rows == ["| `ours` | equal slots | Doe 2020 | published | [ours.hpp](../allocators/mine/ours.hpp) |",
                    "| `twice` | the same, slowed | Doe 2020 | delayed | [twice.hpp](../allocators/mine/twice.hpp) |",
                    "| `early` | mallocs | Poe 2022 | [early.hpp](../workloads/a/early.hpp) |",
                    "| `late` | frees | none | [late.hpp](../workloads/b/late.hpp) |"]


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(UsageError, match="is not the output of `allocbench list --json`"):
        catalogue.page("{}")
    with pytest.raises(UsageError, match="has the traits of gone"):
        catalogue.page(LISTED.replace('"late"', '"gone"'))


def test_check_compares_and_changes_nothing(tree, monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(LISTED))
        return main(["catalogue", *arguments])

    assert run("--check") == 2 and "docs/catalogue.md differs" in capsys.readouterr().err
    assert not (tree / "docs" / "catalogue.md").exists()
    assert run() == 0 and run("--check") == 0
    (tree / "docs" / "catalogue.md").write_text("edited\n", encoding="utf-8")
    assert run("--check") == 2
