"""`python3 -m plots`: finds runs, draws the figure of each, prints the paths of what it wrote; `python3 -m plots claims`
judges the claims of their papers instead."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import sys
from pathlib import Path

from plots import claims, page, printed_table, results, settings_table, status_matrix
from plots.errors import NothingToDraw, UsageError
from plots.kinds import KINDS
from plots.results import Run

_EPILOG = """\
examples:
  python3 -m plots results/smoke                          figures into results/smoke/figures
  python3 -m plots results --out build/figures            every run below results, into one folder
  python3 -m plots configs/vinkler2015/table1.json --out build/figures
                                                          a table of settings, from its configs alone
  python3 -m plots configs/vinkler2015/table1.json results/h100/vinkler2015 --out build/figures
                                                          the same table with the outcome of those runs
  python3 -m plots claims results/reference/h100          what papers say, judged by these results; --help shows the rest

A run is a folder that holds results.csv and results.json, packed (.gz) or not. Its config says which figure is drawn;
a table of every cell's status is added as soon as one cell is not ok. Each figure comes with a .md file that holds its
numbers.

exit codes: 0 drawn, 2 wrong command line or unreadable input, 3 nothing to draw
"""


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments[:1] == ["claims"]:
            return _judge(_parse_claims(arguments[1:]))
        options = _parse(arguments)
        tables, folders = _sorted_paths(options.paths)
        runs = [results.read_run(folder) for folder in folders]
        return _draw_all(options, tables, runs)
    except UsageError as error:
        print(f"plots: {error}", file=sys.stderr)
        return 2
    except NothingToDraw as error:
        print(f"plots: {error}", file=sys.stderr)
        return 3


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m plots", epilog=_EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Draw the figures of stored allocbench results. Needs no GPU.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH",
                        help="folder of a run, folder with runs below it, or config of a table of settings or facts")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write here instead of into each run's folder `figures`")
    parser.add_argument("--formats", type=_formats, default=page.FORMATS, metavar="LIST",
                        help="image formats, separated by commas (default: png,svg,pdf)")
    return parser.parse_args(arguments)


def _parse_claims(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m plots claims",
                                     description="Judge the claims of configs by stored results. Needs no GPU.")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="folder of a run, or with runs below it")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write claims.md and claims.json there, too")
    parser.add_argument("--configs", type=Path, metavar="DIR", default=claims.CONFIGS,
                        help="take the claims of a run from the config of its name below DIR; where DIR has none of that "
                             "name, from the config that the run kept (default: configs of this repository)")
    return parser.parse_args(arguments)


def _judge(options: argparse.Namespace) -> int:
    tables, folders = _sorted_paths(options.paths)
    if tables:
        raise UsageError(f"{tables[0]} is a config; claims are judged by results. Give the folder of a run.")
    markdown, data = claims.document([results.read_run(folder) for folder in folders], options.configs)
    if not data:
        raise NothingToDraw("the configs of these runs make no claim about this back end")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "claims.md").write_text(markdown, encoding="utf-8")
        (options.out / "claims.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(markdown, end="")
    return 0


def _formats(text: str) -> tuple[str, ...]:
    formats = tuple(text.split(","))
    for name in formats:
        if name not in page.FORMATS:
            raise argparse.ArgumentTypeError(f"unknown format {name!r}; known are {', '.join(page.FORMATS)}")
    return formats


def _sorted_paths(paths: list[Path]) -> tuple[list[Path], list[Path]]:
    """The configs of tables and the folders of runs among the paths given."""
    tables, folders = [], []
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist. Give the folder that allocbench --out wrote, such as results/smoke.")
        if path.suffix == ".json" and path.name != "results.json":
            if settings_table.read_config(path).get("plot", {}).get("kind") not in ("settings_table", "printed_table"):
                raise UsageError(f"{path} is no table of settings or facts, so it has no figure without results. "
                                 f"Run it first: allocbench --config {path}")
            tables.append(path)
            continue
        found = results.find_runs(path)
        if not found:
            raise NothingToDraw(f"{path} holds no results.csv. If a run was cut off, write it with: "
                                f"allocbench report {path}")
        folders += [folder for folder in found if folder not in folders]
    return tables, folders


def _draw_all(options: argparse.Namespace, tables: list[Path], runs: list[Run]) -> int:
    written: dict[Path, str] = {}
    undrawn: list[NothingToDraw] = []

    def draw(make, source: str, stem: str, folder: Path) -> None:
        target = folder / stem
        if target in written:
            raise UsageError(f"{source} and {written[target]} would both be written to {target}.*. Draw them into "
                             "different folders with --out.")
        written[target] = source
        try:
            for path in make(stem).write(folder, options.formats):
                print(path)
        except NothingToDraw as error:
            undrawn.append(error)

    for path in tables:
        config = settings_table.read_config(path)
        if config["plot"]["kind"] == "printed_table":
            made = functools.partial(printed_table.make, config, runs)
        else:
            made = functools.partial(settings_table.make, settings_table.read(path), runs)
        draw(made, str(path), _stem(config["name"]), options.out or Path("."))
    for run in runs:
        folder = options.out or run.folder / "figures"
        stem = f"{_stem(run.name)}_{run.backend}"
        kind = _kind(run)
        draw(lambda stem: _with_claims(KINDS[kind](run, stem), run), str(run.folder), stem, folder)
        if kind != "status_matrix" and any(cell.status != "ok" for cell in run.cells):
            draw(lambda stem: status_matrix.make(run, stem), str(run.folder), f"{stem}_status", folder)
    for error in undrawn:
        print(f"plots: {error}", file=sys.stderr)
    return 3 if undrawn else 0


def _with_claims(drawing: page.Drawing, run: Run) -> page.Drawing:
    return dataclasses.replace(drawing, markdown=drawing.markdown + claims.section(run))


def _stem(name: str) -> str:
    return name.replace("/", "_")


def _kind(run: Run) -> str:
    """The kind that the config of the run asks for; a run whose config has no plot still gets its status matrix."""
    kind = run.plot.get("kind", "status_matrix")
    if kind not in KINDS:
        raise UsageError(f"{run.folder}: plot.kind is {kind!r}. Known are: {', '.join(KINDS)}.")
    if kind in ("lines", "table") and "x" not in run.plot:
        raise UsageError(f"{run.folder}: a plot of kind {kind!r} needs the key x, the swept setting on its x axis.")
    return kind
