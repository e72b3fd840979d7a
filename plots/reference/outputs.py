"""This module makes again all files that come from the kept runs of a study.

These are the figures, the ledger, pictures over several runs, the comparison of cards, study.json and the index. Each
part returns the contents of its files, by path. The caller writes the files or compares them with the existing ones.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterable, Sequence

import PIL.Image

from allocbench import stored
from allocbench.errors import UsageError
from plots import ROOT
from plots.figures import drawing, inputs
from plots.figures.kinds import OF_CONFIGS
from plots.ledger import claims, forest
from plots.reference import cards, index, origins, study_file
from plots.runs import configs, kept
from plots.runs.results import Run
from plots.sheet import files
from plots.sheet.page import Drawing
from plots.studies import aa, delays_figure, points, points_table, survival
from plots.texts import numbers

Files = dict[Path, bytes]

# All runs of these groups keep their figures, and the index links them. A run of another group keeps the figures that a
# text links.
DRAWN = ("halloc2014", "kma2014", "pham2025", "vinkler2015", "xmalloc2010", "survey2021", "beyond", "peers")
_PICTURED = ("lines", "heatmap", "histogram")  # kinds that keep pictures; other kinds keep only the Markdown file
_GENERATED = (".md", ".png", ".json", ".csv")
_WRITTEN = ("README.md", "results.json", "results.csv")  # files that people or the front end write
_BESIDE_GROUPS = ("claims", "survival_", cards.NAME, index.NAME, study_file.NAME)
_LINK = re.compile(r"\]\(([^)#\s]+)|src=\"([^\"]+)\"")


@dataclass
class Study:
    """A study has the kept runs below a folder, by their path in it."""

    folder: Path
    runs: dict[str, Run] = field(default_factory=dict)

    def below(self, group: str) -> list[Run]:
        return [run for place, run in self.runs.items() if place.split("/")[0] == group]

    @property
    def is_of_gpu(self) -> bool:
        return all(run.backend == "cuda" for run in self.runs.values())


def read(folder: Path) -> Study:
    found = stored.find_runs(folder)
    if not found:
        raise UsageError(f"{folder} has no kept run. Name the folder of a study, such as results/reference/h200.")
    return Study(folder, {each.relative_to(folder).as_posix(): kept.read(each) for each in found})


def linked() -> set[Path]:
    """Returns the files that hand-written texts link."""
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *kept.REFERENCE.glob("*/README.md"), *numbers.texts()]
    return {(text.parent / target).resolve() for text in set(texts) for pair in _LINK.findall(text.read_text(encoding="utf-8")) for target in pair if target}


def figures(study: Study) -> Files:
    """Returns the figures of all runs."""
    made, shown = {}, linked()
    for run in study.runs.values():
        made |= figures_of(run, shown)
    return made


def figures_of(run: Run, shown: set[Path]) -> Files:
    """Returns the files of figures that the repository keeps of a run. A run keeps the files in `shown`. If its group
    is in DRAWN, the run also keeps all Markdown files. On a GPU, runs of such a group also keep all pictures of kinds
    in _PICTURED, except pictures of statuses.
    """
    folder = run.folder.resolve() / "figures"
    own = {path.name for path in shown if path.parent == folder}
    whole = run.name.partition("/")[0] in DRAWN
    if not whole and not own:
        return {}
    is_pictured = run.backend == "cuda" and whole and run.plot.get("kind", "status_matrix") in _PICTURED
    formats = ("png",) if is_pictured or any(name.endswith(".png") for name in own) else ()
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
        if drawing.draw_all(inputs.Inputs([], [run.folder], []), inputs.Overrides(configs.FOLDER), Path(scratch), formats) == 2:
            raise UsageError(told.getvalue().strip().removeprefix("plots: "))
        drawn = {path.name: path.read_bytes() for path in sorted(Path(scratch).iterdir())}

    def is_kept(name: str) -> bool:
        return name in own or whole and (name.endswith(".md") or is_pictured and not name.endswith("_status.png"))

    return {folder / name: content for name, content in drawn.items() if is_kept(name)}


def ledger(study: Study) -> Files:
    judged = claims.ledger(list(study.runs.values()), configs.FOLDER)
    if not judged.runs:
        return {}
    data = json.dumps(judged.data(), indent=1, ensure_ascii=False) + "\n"
    made = {study.folder / "claims.md": judged.markdown().encode(), study.folder / "claims.json": data.encode()}
    return {**made, **_written(forest.drawings(judged), study.folder)} if study.is_of_gpu else made


def over_runs(study: Study) -> Files:
    """Returns pictures and tables over several runs, and tables that are drawn from configs."""
    made: Files = {}
    if study.is_of_gpu:
        made |= _written(survival.drawings(list(study.runs.values())), study.folder, formats=(), endings=(".md",))
    if runs := study.below("comb"):
        made |= _written(points_table.drawings(points.read(points.COMB), runs), study.folder / "comb")
    if runs := study.below("delay"):
        made |= _written([delays_figure.drawing(runs)], study.folder / "delay")
    if len(runs := [run for place, run in study.runs.items() if study_file.is_aa(place.split("/")[0])]) > 1:
        made |= _written([aa.make(runs)], study.folder / "aa")
    for path in sorted(study.folder.glob("*/*/*.md")):
        name = path.parent.relative_to(study.folder).as_posix()
        config = configs.named(name)
        if config and config.get("plot", {}).get("kind") in OF_CONFIGS:
            made |= _written([OF_CONFIGS[config["plot"]["kind"]](configs.FOLDER / f"{name}.json", study.below(name.split("/")[0]), drawing.stem_of(name))],
                             path.parent, formats=())
    return made


def between_cards(study: Study) -> Files:
    """Compares this model of GPU with the model that has the most runs. The result is empty if this model itself
    has the most runs, if the two share no config, or if one of them has results of the CPU executor.
    """
    runs = list(study.runs.values())
    counts = {folder: len(stored.find_runs(folder)) for folder in sorted(study.folder.parent.iterdir()) if folder.is_dir()}
    largest = read(max((folder for folder in counts if counts[folder]), key=lambda folder: (counts[folder], folder == study.folder)))
    shared = {run.name for run in runs} & {run.name for run in largest.runs.values()}
    if largest.folder == study.folder or not (study.is_of_gpu and largest.is_of_gpu and shared):
        return {}
    return {study.folder / cards.NAME: cards.markdown(cards.compare(list(largest.runs.values()), runs)).encode()}


def study_json(study: Study) -> Files:
    groups = origins.by_study(origins.read([str(study.folder)]))[study.folder.resolve()]
    return {study.folder / study_file.NAME: study_file.text(groups).encode()}


def _written(drawings: Sequence[Drawing], folder: Path, formats: Sequence[str] = ("png",), endings: Sequence[str] = (".md", ".png")) -> Files:
    with tempfile.TemporaryDirectory() as scratch:
        paths = [path for each in drawings for path in each.write(Path(scratch), formats)]
        return {folder / path.name: path.read_bytes() for path in paths if path.suffix in endings}


PARTS: dict[str, Callable[[Study], Files]] = {"figures": figures, "ledger": ledger, "over_runs": over_runs, "cards": between_cards, "study": study_json}


def made_of(study: Study, parts: Sequence[str]) -> Files:
    """Returns the files of these parts. With all parts, it adds the index, which links the files."""
    made: Files = {}
    for part in parts:
        made |= PARTS[part](study)
    if set(parts) == set(PARTS):
        made[study.folder / index.NAME] = index.page(study.folder, study.runs, made).encode()
    return made


def differences(made: Files, there: Iterable[Path]) -> list[str]:
    """Returns a line for each file that differs, and for each existing file that no part makes."""
    told = [f"{origins.shown(path)}: {'differs' if path.exists() else 'does not exist'}" for path, content in made.items() if not same(path, content)]
    return told + [f"{origins.shown(path)}: nothing makes it" for path in there if path not in made]


def same(path: Path, content: bytes) -> bool:
    """Returns whether a file has this content. Pictures count as equal if their pixels are equal, because programs may
    pack the same pixels differently.
    """
    if not path.is_file():
        return False
    old = path.read_bytes()
    if old == content or path.suffix != ".png":
        return old == content
    with PIL.Image.open(io.BytesIO(old)) as one, PIL.Image.open(io.BytesIO(content)) as other:
        return one.size == other.size and one.convert("RGB").tobytes() == other.convert("RGB").tobytes()


def generated(study: Study) -> list[Path]:
    """Returns the files below the study that are made of its runs. Hand-written pages beside the groups are left
    out.
    """
    return [path for path in sorted(study.folder.rglob("*.*")) if path.suffix in _GENERATED and path.name not in _WRITTEN
            and (path.parent != study.folder or path.name.startswith(_BESIDE_GROUPS))]


def _pack(path: Path) -> None:
    """Makes a picture's file smaller with zopflipng, if it is installed (Debian: zopfli). The pixels stay the same."""
    program = shutil.which("zopflipng") if path.suffix == ".png" else None
    if program:
        subprocess.run([program, "-y", "--filters=0", "--iterations=5", str(path), str(path)], check=True, stdout=subprocess.DEVNULL)


def write(made: Files, there: Iterable[Path]) -> list[str]:
    """Writes files that differ, and removes files that no part makes. Returns a line for each of them."""
    told = []
    for path, content in made.items():
        if not same(path, content):
            files.write(path, content)
            _pack(path)
            told.append(f"{origins.shown(path)}: written")
    for path in there:
        if path not in made:
            os.remove(path)
            told.append(f"{origins.shown(path)}: removed, because nothing makes it")
    return told
