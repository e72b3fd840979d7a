"""This module implements `python3 -m plots`: it starts the command and turns an error into a line on stderr and an exit code."""

from __future__ import annotations

import argparse
import difflib
import functools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

from allocbench.errors import NothingToDraw, UsageError
from plots.commands import advise, called, cards, provenance, regenerate, report as webpage
from plots.commands.parser import Parser
from plots.figures import drawing, inputs
from plots.ledger import claims, forest
from plots.runs import configs, kept, results
from plots.sheet import files, page
from plots.studies import aa, delays_figure, points, points_table, survival
from plots.texts import catalogue, numbers

_EPILOG = """\
examples:
  python3 -m plots results/smoke                          draws into results/smoke/figures
  python3 -m plots 'results/reference/h200/pham2025/fig1*' --out build/figures
                                                          draws the runs of a pattern into one folder
  python3 -m plots results/smoke --config configs/smoke.json
                                                          draws stored numbers as that config says
  python3 -m plots results --config configs               draws each run as its config in that folder says
  python3 -m plots configs/vinkler2015/table1.json --out build/figures
                                                          draws a table of settings, which needs no run
  python3 -m plots configs/vinkler2015/table1.json results/reference/h200/vinkler2015 --out build/figures
                                                          adds the outcome of those runs
  python3 -m plots claims results/reference/h200          judges sentences of the papers by these results; see claims --help
  python3 -m plots aa 'results/aa/run*'                   compares several runs of one config
  python3 -m plots survival results                       shows how every allocator ended in every workload
  python3 -m plots comb results/comb                      compares Comb with the best other allocator at each point
  python3 -m plots delay results/delay                    shows how much each application depends on its allocator
  python3 -m plots numbers                                updates the numbers in texts from the kept results; see numbers --help
  allocbench list --json | python3 -m plots catalogue     writes the page docs/catalogue.md
  python3 -m plots page results                           makes one HTML page of all runs (`allocbench report DIR --html`)
  python3 -m plots provenance results/reference           says where kept numbers come from; see provenance --help
  python3 -m plots cards results/reference/h200 results/reference/h100
                                                          shows what changes between two models of cards
  python3 -m plots regenerate                             makes again everything that comes from kept results; see regenerate --help
  python3 -m plots advise --sizes 48 --threads 1M --pool 1GiB
                                                          ranks allocators for this job (`allocbench advise`)

A run is a folder with a results.json (also as .gz or .xz), or with a results.csv if --config is given. The config of the run
selects the figure. If a cell is not ok, a table with the status of every cell is added. Each figure comes with a .md file
of its numbers.

exit codes: 0: drawn; 2: wrong usage, unreadable input or a file that cannot be written; 3: nothing to draw, or stdout
cannot be written; 130: interrupted
"""


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    commands = {"claims": _judge, "numbers": _fill, "catalogue": _list, "advise": advise.main, "page": webpage.main, "provenance": provenance.main, "regenerate": regenerate.main, "cards": cards.main,
                **{name: functools.partial(_studied, name) for name in _STUDIES}}
    name = arguments[0] if arguments else ""
    program = called.program(name)
    try:
        return commands[name](arguments[1:]) if name in commands else _draw(arguments, list(commands))
    except UsageError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{program}: {error.filename or 'a file'} cannot be read: {error.strerror}. Check the path and its permissions.", file=sys.stderr)
        return 2
    except NothingToDraw as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 3


def _refuse_a_mistyped_command(word: str, commands: Sequence[str]) -> None:
    near = difflib.get_close_matches(word, commands, n=1) if "/" not in word else []
    if near and not Path(word).exists():
        raise UsageError(f"{word} is neither a command nor a folder. Did you mean `python3 -m plots {near[0]}`? All commands: python3 -m plots --help")


def _draw(arguments: list[str], commands: Sequence[str]) -> int:
    parser = Parser(prog="python3 -m plots", epilog=_EPILOG,
                    formatter_class=argparse.RawDescriptionHelpFormatter,
                    description="Draw the figures of stored allocbench results. This needs no GPU.")
    parser.add_argument("paths", nargs="+", metavar="PATH",
                        help="folder of a run, folder above several runs, file of a run, pattern of these, or config of a table of settings or facts")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the figures (default: `figures` in the folder of each run; for kept "
        "runs a folder below build/drawn; for a config the current folder)")
    parser.add_argument("--config", type=Path, metavar="PATH",
                        help="config to draw with, or a folder with a config for each run's name (default: the config stored with the run)")
    parser.add_argument("--formats", type=_formats, default=page.FORMATS, metavar="LIST",
                        help="image formats, separated by commas (default: png,svg,pdf)")
    options = parser.parse_args(arguments)
    _refuse_a_mistyped_command(options.paths[0], commands)
    if options.config and not options.config.exists():
        raise UsageError(f"--config {options.config} does not exist. Check the path.")
    return drawing.draw_all(inputs.find(options.paths), inputs.Overrides(options.config), options.out, options.formats)


def _judge(arguments: list[str]) -> int:
    parser = _parser_of_runs("claims", "Judge the claims of configs by stored results. This needs no GPU.",
                             "folder for claims.md, claims.json and one forest plot per paper (default: print only)", otherwise="")
    parser.add_argument("--configs", type=Path, metavar="DIR", default=configs.FOLDER,
                        help="folder with the configs that contain the claims (default: configs of this repository). A run without a config of its "
                             "name in DIR uses its stored config")
    options = parser.parse_args(arguments)
    runs, failures = _readable(_folders(options.paths))
    if not runs:
        return drawing.told(failures)
    ledger = claims.ledger(runs, options.configs)
    if not ledger.runs:
        raise NothingToDraw("the configs of these runs have no claim about this back end. Name other runs.")
    if options.out:
        files.write(options.out / "claims.md", ledger.markdown())
        files.write(options.out / "claims.json", json.dumps(ledger.data(), indent=1, ensure_ascii=False) + "\n")
        for drawing_of_paper in forest.drawings(ledger):
            drawing_of_paper.write(options.out, options.formats)
    print(ledger.markdown(), end="")
    return drawing.told(failures)


@dataclass(frozen=True)
class _Study:
    """A study command draws pictures over several runs. `drawings` makes them from the runs and the options."""

    describes: str
    writes: str
    drawings: Callable[[Sequence[results.Run], argparse.Namespace], Sequence[page.Drawing]]
    formats: Sequence[str] = ("png",)


_STUDIES = {
    "survival": _Study("Show how the cells of every allocator ended in every workload, over all given runs. For each back end this writes a "
                       "picture, a Markdown table with reasons and a CSV "
                       "table.", "survival_<back end>.*", lambda runs, options: survival.drawings(runs)),
    "comb": _Study("Compare Comb with the best other allocator at each point of a list, from results of one device. This writes a picture and a "
                   "Markdown table with the limit of every point, whether the limit is met, and the reason if it is not "
                   "met.", "comb_points.*", lambda runs, options: points_table.drawings(points.read(options.points), runs)),
    "delay": _Study("Show how much each application depends on its allocator, from runs of configs/delay on one device: the slope of the application's "
                    "time against the cycles that every call waits. This writes a picture and a Markdown "
                    "table.", "delay_<back end>.*", lambda runs, options: [delays_figure.drawing(runs)]),
    "aa": _Study("Compare runs of the same configs on one model of cards, and count disjoint intervals.", "aa.*", lambda runs, options: [aa.make(runs)],
                 page.FORMATS),
}


def _studied(name: str, arguments: list[str]) -> int:
    study = _STUDIES[name]
    parser = _parser_of_runs(name, study.describes, f"write {study.writes} there", formats=study.formats)
    if name == "comb":
        parser.add_argument("--points", type=Path, metavar="FILE", default=points.COMB, help="file with the list of points (default: "
            "data/comb/points.json)")
    options = parser.parse_args(arguments)
    runs, failures = _readable(_folders(options.paths))
    for made in study.drawings(runs, options) if runs else []:
        for path in made.write(options.out or kept.folder_of(options.paths[0]) / "figures", options.formats):
            print(path)
    return drawing.told(failures)


_BESIDE = " (default: `figures` in the folder of the first path; for kept runs a folder below build/drawn)"


def _parser_of_runs(name: str, description: str, writes: str, otherwise: str = _BESIDE, formats: Sequence[str] = ("png",)) -> Parser:
    """Returns the parser of a command that reads runs, with PATH..., --out and --formats."""
    parser = Parser(prog=f"python3 -m plots {name}", description=description)
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folder of a run, folder above several runs, or a pattern")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"{writes}{otherwise}")
    parser.add_argument("--formats", type=_formats, default=tuple(formats), metavar="LIST",
                        help=f"image formats, separated by commas (default: {','.join(formats)})")
    return parser


def _folders(paths: Sequence[str]) -> list[Path]:
    """Returns the folders of the runs that these paths name. A config or a run with only results.csv is an error."""
    found = inputs.find(paths)
    if found.tables:
        raise UsageError(f"{found.tables[0]} is a config. Name the folders of runs.")
    if found.csvs:
        raise UsageError(f"{found.csvs[0]} has results.csv alone, which can only be drawn. This command needs the run's results.json: copy it, or the log "
                         "events.jsonl, into that folder, or leave out that folder.")
    return found.folders


def _readable(folders: Sequence[Path]) -> tuple[list[results.Run], list[Exception]]:
    """Returns the runs that can be read, and the errors of the others."""
    runs, failures = [], []
    for folder in folders:
        try:
            runs.append(kept.read(folder))
        except (NothingToDraw, UsageError) as error:
            failures.append(error)
    return runs, failures


def _fill(arguments: list[str]) -> int:
    parser = Parser(prog="python3 -m plots numbers",
                    description="Update the numbers in texts from the kept results (see Numbers in texts in plots/README.md).")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="files to update (default: all files with such numbers)")
    parser.add_argument("--check", action="store_true", help="change nothing; list the numbers and tables that are out of date and exit with 2 if there are any")
    options = parser.parse_args(arguments)
    changed = numbers.fill(options.files, write=not options.check)
    for line in changed:
        print(line)
    if not changed:
        print(f"all {numbers.count(options.files):,} numbers and tables match the kept results")
    if options.check and changed:
        raise UsageError("texts and results differ. To update the texts: python3 -m plots numbers")
    return 0


def _list(arguments: list[str]) -> int:
    parser = Parser(prog="python3 -m plots catalogue", description=f"Read the output of `allocbench list --json` from stdin and write {catalogue.PAGE}: "
                                                                   "one line for each allocator and workload.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 2 if the page differs from the list on stdin")
    options = parser.parse_args(arguments)
    text, path = catalogue.page(sys.stdin.read()), kept.ROOT / catalogue.PAGE
    if not options.check:
        files.write(path, text)
        print(path)
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        raise UsageError(f"{catalogue.PAGE} differs from the list. To update it: allocbench list --json | python3 -m plots catalogue")
    return 0


def _formats(text: str) -> tuple[str, ...]:
    formats = tuple(text.split(","))
    for name in formats:
        if name not in page.FORMATS:
            raise argparse.ArgumentTypeError(f"unknown format {name!r}; known: {', '.join(page.FORMATS)}")
    return formats
