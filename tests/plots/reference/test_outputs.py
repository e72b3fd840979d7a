"""Tests the files that come from kept runs: the index lists them, a sample is made again, and files that no part makes
are reported.
"""

import io
import random
import re

import matplotlib
import PIL.Image
import pytest

import measured
from allocbench import stored
from conftest import SEED
from plots.commands import cli
from plots.reference import cards, index, origins, outputs, study_file
from plots.runs import kept

STUDIES = [folder for folder in sorted(kept.REFERENCE.iterdir()) if folder.is_dir()]
SAMPLE = 5
OF_PICTURES = "3.6.3"  # Debian 12's matplotlib; another version may draw other pixels


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_the_index_counts_and_links_all_that_is_kept(folder):
    page = (folder / index.NAME).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", page)
    there = [path.relative_to(folder).as_posix() for path in outputs.generated(outputs.Study(folder)) if path.name != index.NAME]
    assert sorted(links) == sorted(there), "write it again: python3 -m plots regenerate"
    runs = [each.relative_to(folder).as_posix() for each in stored.find_runs(folder)]
    assert re.findall(r"^\| `([^`]+)` \|", page, re.M) == runs
    assert f"{len(runs)} kept runs, {len(there)} files that are made of them." in page


def test_no_picture_is_kept_that_nothing_links():
    linked = {path.resolve() for folder in STUDIES for name in re.findall(r"\]\(([^)]+)\)", (folder / index.NAME).read_text(encoding="utf-8")) for path in [folder / name]}
    linked |= outputs.linked()
    pictures = [*kept.REFERENCE.rglob("*.png"), *(kept.ROOT / "docs").rglob("*.png")]
    assert len(pictures) > 50 and [str(path) for path in pictures if path not in linked] == []


def test_a_sample_is_made_again_as_it_is_kept():
    """Each session draws another sample. ALLOCBENCH_TEST_SEED repeats one. `python3 -m plots regenerate --check` tests
    all files.
    """
    drawn = sorted({path.parent.parent for path in kept.REFERENCE.rglob("figures/*.md")})
    shown = outputs.linked()
    for folder in random.Random(SEED).sample(drawn, SAMPLE):
        made = outputs.figures_of(kept.read(folder), shown)
        there = sorted((folder / "figures").iterdir())
        assert sorted(made) == there, f"{folder}: write it again: python3 -m plots regenerate"
        if matplotlib.__version__ != OF_PICTURES:
            made = {path: content for path, content in made.items() if path.suffix == ".md"}
        assert outputs.differences(made, []) == []


@pytest.mark.parametrize("folder", STUDIES, ids=lambda folder: folder.name)
def test_kept_origins_are_up_to_date(folder):
    assert outputs.differences(outputs.study_json(outputs.Study(folder)), []) == []


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "REFERENCE", tmp_path)
    folder = tmp_path / "model"
    threads = {"sweep": {"threads": [1, 2]}}
    for name in ("beyond/of_this_test", "guide/of_this_test"):
        cells = [measured.ok(allocator, 1e-6 * number, number) for allocator in ("comb", "halloc") for number in (1, 2)]
        measured.run(folder, name, [*cells, measured.failed("kma", "timeout", "used its deadline of 5 s in sample 1")], config=threads)
    return folder


ALL = ("--only", "figures", "--only", "ledger", "--only", "over_runs", "--only", "cards", "--only", "study")


def test_everything_is_written_and_then_nothing_differs(study, capsys):
    assert cli.main(["regenerate", str(study), *ALL, "--check"]) == 2
    told = capsys.readouterr()
    assert "beyond/of_this_test/figures/beyond_of_this_test_cuda.png: does not exist" in told.out and "files or numbers differ" in told.err
    assert not (study / index.NAME).exists()
    assert cli.main(["regenerate", str(study), *ALL]) == 0
    written = capsys.readouterr().out.splitlines()
    assert f"{study / study_file.NAME}: written" in written and all(line.endswith(": written") for line in written)
    names = {path.relative_to(study).as_posix() for path in study.rglob("*") if path.suffix in (".md", ".png", ".json")}
    figures = "beyond/of_this_test/figures/beyond_of_this_test_cuda"
    # No text links the guide's figure, and the Markdown file of a status table is enough.
    assert names == {"index.md", study_file.NAME, "survival_cuda.md", f"{figures}.png", f"{figures}.md", f"{figures}_status.md"}
    page = (study / index.NAME).read_text(encoding="utf-8")
    assert "2 kept runs, 5 files that are made of them." in page
    assert f"[picture]({figures}.png) | [numbers]({figures}.md) | [list]({figures}_status.md) | 4 ok, 1 `timeout` |" in page
    capsys.readouterr()
    assert cli.main(["regenerate", str(study), *ALL, "--check"]) == 0
    assert capsys.readouterr().out == ""


def test_what_nothing_makes_is_named_and_removed(study, capsys):
    assert cli.main(["regenerate", str(study), *ALL]) == 0
    stray = study / "beyond/of_this_test/figures/old.png"
    stray.write_bytes(b"")
    pages = [study / "README.md", study / "notes.md", study / "guide/README.md"]
    for page in pages:
        page.write_text("by hand", encoding="utf-8")
    capsys.readouterr()
    assert cli.main(["regenerate", str(study), *ALL, "--check"]) == 2
    assert f"{stray}: nothing makes it" in capsys.readouterr().out and stray.exists()
    assert cli.main(["regenerate", str(study), *ALL]) == 0
    assert capsys.readouterr().out == f"{stray}: removed, because nothing makes it\n"
    assert not stray.exists() and all(page.exists() for page in pages)


def test_a_picture_that_was_packed_smaller_stays(study, capsys):
    assert cli.main(["regenerate", str(study), *ALL]) == 0
    picture, = study.rglob("*.png")
    with PIL.Image.open(picture) as image:
        other = io.BytesIO()
        image.convert("RGB").save(other, format="png")
    assert other.getvalue() != picture.read_bytes()
    picture.write_bytes(other.getvalue())
    assert cli.main(["regenerate", str(study), *ALL, "--check"]) == 0
    assert cli.main(["regenerate", str(study), *ALL]) == 0 and picture.read_bytes() == other.getvalue()


def test_a_second_model_is_compared_with_the_one_that_has_most_runs(study, capsys):
    other = study.parent / "other"
    measured.run(other, "beyond/of_this_test", [measured.ok("comb", 3e-6), measured.ok("halloc", 3e-6)], model="Other GPU", config={"sweep": {"threads": [1, 2]}})
    assert cli.main(["regenerate", str(study), str(other), *ALL]) == 0
    assert not (study / cards.NAME).exists()
    page = (other / cards.NAME).read_text(encoding="utf-8")
    assert page.startswith("# What changes between cards: Test GPU and Other GPU") and "| beyond | 2 |" in page
    assert f"[{cards.NAME}]({cards.NAME})" in (other / index.NAME).read_text(encoding="utf-8")


def test_pictures_are_packed_with_zopflipng_if_it_is_installed(tmp_path, monkeypatch):
    program = tmp_path / "zopflipng"
    program.write_text("#!/bin/sh\nshift 3\nprintf packed > $2\n", encoding="utf-8")  # after three options: the old file and the new one
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    picture, page = tmp_path / "a.png", tmp_path / "a.md"
    outputs.write({picture: b"pixels", page: b"words"}, [])
    assert (picture.read_bytes(), page.read_bytes()) == (b"packed", b"words")


def test_a_part_alone_writes_no_index(study):
    assert cli.main(["regenerate", str(study), "--only", "study"]) == 0
    assert (study / study_file.NAME).exists() and not (study / index.NAME).exists()
    assert (study / study_file.NAME).read_text() == study_file.text(origins.by_study(origins.read([str(study)]))[study])


def test_wrong_folders_are_refused(study, capsys):
    (study.parent / "empty").mkdir()
    assert cli.main(["regenerate", str(study.parent / "empty"), "--only", "study"]) == 2
    assert "has no kept run" in capsys.readouterr().err
    assert cli.main(["regenerate", str(study / "guide"), "--only", "study"]) == 2
    assert "regenerate removes files that it does not make" in capsys.readouterr().err
