"""This module draws every run and table that the command line names. A run that cannot be read or drawn is reported,
and the others are still drawn. A wrong config among the paths, or two figures with the same path, ends the program.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from pathlib import Path
from typing import Callable, Sequence

from allocbench import stored
from allocbench.errors import NothingToDraw, UsageError
from plots.figures import status_matrix
from plots.figures.inputs import Inputs, Overrides
from plots.figures.kinds import KINDS, OF_CONFIGS
from plots.ledger import claims
from plots.runs import configs, csv_run, kept, results, schema
from plots.runs.results import Run
from plots.sheet import page

_SHOWN = ("paper", "description", "assumed", "plot")  # keys of a config that only a reader of the figure needs


def draw_all(found: Inputs, overrides: Overrides, out: Path | None, formats: Sequence[str]) -> int:
    """Draws everything and returns the exit code."""
    written: dict[Path, str] = {}
    failures: list[Exception] = []

    def draw(make: Callable[[str], page.Drawing], source: str, stem: str, folder: Path) -> None:
        target = folder / stem
        if target in written:
            raise UsageError(f"{source} and {written[target]} would both be written to {target}.*. Draw them into "
                             "different folders with --out.")
        written[target] = source
        try:
            for path in make(stem).write(folder, formats):
                print(path)
        except (NothingToDraw, UsageError) as error:
            failures.append(error)

    runs = []
    for folder in found.folders:
        try:
            document = stored.read_document(folder)
            runs.append(_run_of(document if overrides.path else _of_today(document, folder), folder, overrides))
        except (NothingToDraw, UsageError) as error:
            failures.append(error)
    for folder in found.csvs:
        try:
            runs.append(_of_csv(folder, overrides))
        except (NothingToDraw, UsageError) as error:
            failures.append(error)
    for path in found.tables:
        config = configs.read(path)
        schema.check(config["plot"], path)
        draw(functools.partial(OF_CONFIGS[config["plot"]["kind"]], path, runs), str(path), stem_of(config["name"]), out or kept.outside(Path(".")))
    for run in runs:
        folder = out or kept.outside(run.folder / "figures")
        stem = f"{stem_of(run.kept_as)}_{run.backend}"
        kind = run.plot.get("kind", "status_matrix")  # a run without a plot still gets its status matrix
        draw(functools.partial(_with_claims, KINDS[kind], run), str(run.folder), stem, folder)
        if kind != "status_matrix" and (run.cells["status"] != "ok").any():
            draw(functools.partial(status_matrix.make, run), str(run.folder), f"{stem}_status", folder)
    return told(failures)


def told(failures: Sequence[Exception]) -> int:
    """Prints every failure on stderr and returns the exit code."""
    for error in failures:
        print(f"plots: {error}", file=sys.stderr)
    return 2 if any(isinstance(error, UsageError) for error in failures) else 3 if failures else 0


def read(folder: Path, overrides: Overrides = Overrides()) -> Run:
    """Reads the run of a folder, with the plot to draw. Raises NothingToDraw if the folder has no results, and UsageError if
    the results are damaged or the plot is wrong.
    """
    return _run_of(stored.read_document(folder), folder, overrides)


def _run_of(document: dict, folder: Path, overrides: Overrides) -> Run:
    plot = overrides.plot_for(document.get("run", {}).get("config", {}).get("name", folder.name))
    run = results.run_of(document, folder, plot)
    if run.plot:
        schema.check(run.plot, overrides.path if plot is not None else folder)
        if run.plot["kind"] not in KINDS:
            raise UsageError(f"{folder}: a plot of kind {run.plot['kind']!r} is drawn from its config, not from a run.")
    return run


def _of_csv(folder: Path, overrides: Overrides) -> Run:
    """Reads a run from results.csv. The plot comes from the config that --config names, because this file has none."""
    figure, backend = csv_run.about(folder)
    config = overrides.config_for(figure, backend)
    if config is None:
        raise UsageError(f"{folder / csv_run.NAME} does not contain its config, and the results.json that does is missing. Give the config of the run: --config configs/{figure}.json")
    schema.check(config["plot"], overrides.path)
    return csv_run.read(folder, config)


def _of_today(document: dict, folder: Path) -> dict:
    """Returns the document of a run that the repository keeps, with plot and texts of the current config, if they still fit
    the stored cells (configs.measures_other_values).

    Any other run is drawn as its stored config says.
    """
    if not folder.resolve().is_relative_to(kept.REFERENCE):
        return document
    run = document.get("run", {})
    config = run.get("config", {})
    name, backend = config.get("name", ""), run.get("backend", "")
    today = configs.named(name) or {}
    if "plot" not in today or not (configs.measures_the_same(config, today, backend) or configs.measures_other_values(config, today, backend)):
        return document
    shown = {key: value for key, value in configs.effective(today, backend).items() if key in _SHOWN}
    if shown["plot"] != config.get("plot"):
        path = configs.FOLDER / f"{name}.json"
        print(f"plots: {folder}: drawn by the current {os.path.relpath(path)}, whose plot differs from the stored one.", file=sys.stderr)
    return {**document, "run": {**run, "config": {**{key: value for key, value in config.items() if key not in _SHOWN}, **shown}}}


def stem_of(name: str) -> str:
    return name.replace("/", "_")


def _with_claims(make: Callable[[Run, str], page.Drawing], run: Run, stem: str) -> page.Drawing:
    """Draws the figure and adds the claims about the run to its page. Also draws the plot `beside`, if the config has one."""
    made, beside = make(run, stem), run.plot.get("beside")
    more = [KINDS[beside["kind"]](dataclasses.replace(run, config={**run.config, "plot": beside}), f"{stem}_{beside['kind']}")] if beside else []
    return dataclasses.replace(made, markdown=made.markdown + claims.section(run), more=(*made.more, *more))
