"""This module reads where the numbers of kept runs come from.

It reads both files of a run. results.json records how each cell was measured, and the log records each start of the
program.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Iterable, Iterator, Sequence

from allocbench import frames, paths, stored
from allocbench.errors import UsageError
from plots import ROOT
from plots.runs import configs, labels

ENOUGH = 6  # least number of rounds for the 95 % interval of a median
# Statuses that count as holes. `unsupported` and `oom` do not, because they say what the allocator can serve.
HOLES = ("timeout", "skipped", "incorrect", "device_fault", "crashed")
_ENDED_BY_TIME = ("time of the study", "not finished")  # reasons in `stop`
_OF_A_START = (b'{"event":"run"', b'{"event":"device"')


@dataclass(frozen=True)
class Origin:
    """An origin says where the numbers of a kept run come from. `cells` come from results.json. `starts` has the events
    `run` and `device` of the log.
    """

    folder: Path
    document: dict
    starts: Sequence[dict]

    @property
    def cells(self) -> list[dict]:
        return self.document["cells"]

    @cached_property
    def measured(self) -> list[dict]:
        """Returns the cells without those that were left out, because these have the origin of the start that left them out."""
        return [cell for cell in self.cells if not frames.was_left_out(cell)]

    @property
    def config(self) -> dict:
        return self.document.get("run", {}).get("config", {})

    @property
    def name(self) -> str:
        return self.config.get("name", self.folder.name)

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]

    @property
    def study(self) -> Path:
        """Returns the folder that contains the run's group."""
        parts = self.folder.parts
        place = max((index for index, part in enumerate(parts) if part == self.group), default=len(parts) - 1)
        return Path(*parts[:place])

    @property
    def inside(self) -> str:
        """Returns the run's path relative to the study's folder."""
        return self.folder.relative_to(self.study).as_posix()

    @property
    def backend(self) -> str:
        return self.cells[0]["backend"]

    @property
    def executor(self) -> str:
        """Returns the options of the CPU executor, as words of a command."""
        return self.document.get("run", {}).get("executor", "")

    @property
    def executors(self) -> list[str]:
        """Returns the options of the CPU executor of all cells, such as "--lockstep 1" or "no options"."""
        return [options or "no options" for options in self.document.get("provenance", {}).get("executors", [])]

    @cached_property
    def revisions(self) -> list[str]:
        """Returns the measured revisions (hashes of the measured sources) of the cells, most frequent first."""
        return _common(cell.get("measured_revision") for cell in self.measured)

    @cached_property
    def commits(self) -> list[str]:
        return _common(cell.get("revision") for cell in self.measured)

    @cached_property
    def cards(self) -> list[str]:
        return _common(cell.get("device_uuid") for cell in self.measured)

    @cached_property
    def models(self) -> list[str]:
        """Returns the names that the devices report."""
        return _common(cell.get("device") for cell in self.measured)

    @cached_property
    def drivers(self) -> list[str]:
        return _common(cell.get("driver_version") for cell in self.measured)

    @cached_property
    def clocks(self) -> list[str]:
        return _common(cell.get("sm_clock_max_mhz") for cell in self.measured)

    @property
    def last_start(self) -> str:
        return max((event["time"] for event in self.starts), default="")

    @cached_property
    def dates(self) -> list[str]:
        """Returns the dates of all starts."""
        return sorted({event["time"][:10] for event in self.starts if event["event"] == "run"})

    @property
    def is_dirty(self) -> bool:
        return any(cell.get("dirty") for cell in self.measured)

    @cached_property
    def statuses(self) -> Counter:
        return Counter(cell["status"] for cell in self.cells)

    @cached_property
    def few_rounds(self) -> int:
        """Returns the number of cells that have a time without an interval."""
        return sum(any("no_interval" in phase for phase in cell.get("phases", [])) for cell in self.cells)

    @cached_property
    def cut_short(self) -> int:
        """Returns the number of cells that have a number but no interval, because the time of the study was over. A new
        measurement gives more rounds to these cells, but not to cells that another rule ended.
        """
        return sum(cell.get("stop") in _ENDED_BY_TIME and any("no_interval" in phase for phase in cell.get("phases", [])) for cell in self.cells)

    @cached_property
    def late_verifications(self) -> int:
        """Returns the number of cells whose verification used up their deadline. Such a cell was a timeout in older results.
        Today it keeps its number, and its check of contents says that it is not finished.
        """
        return sum(cell["status"] == "timeout" and "in verification" in cell.get("reason", "")
                   or cell.get("checks", {}).get("content", "").startswith("not finished: no answer") for cell in self.cells)

    @cached_property
    def left_out(self) -> int:
        return sum(map(frames.was_left_out, self.cells))

    @property
    def holes(self) -> int:
        return sum(self.statuses[word] for word in HOLES)

    @cached_property
    def today(self) -> dict | None:
        """Returns the current config of this name, or None if this checkout has none."""
        path = config_file(self.name)
        return configs.read(path) if path else None

    @property
    def has_changed(self) -> bool:
        """Returns whether the current config defines other measurements than the stored one."""
        return self.today is not None and not configs.measures_the_same(self.config, self.today, self.backend)

    @cached_property
    def judges_times(self) -> bool:
        """Returns whether claims or points use the times of the run. A count needs only one round."""
        config = self.today or self.config
        usual = labels.listed(config.get("plot", {}).get("metric", "time"))
        counted = {name for cell in self.cells for part in (cell.get("counted", {}).get("values", {}), cell.get("metrics", {})) for name in part}
        claims = [claim for claim in config.get("claims", []) if claim.get("backend", "cuda") == self.backend]
        named = [list(_metrics(claim)) or usual for claim in claims]
        return self.group == "comb" or any(metric not in counted for metrics in named for metric in metrics)

    def log_differs(self) -> str:
        """Describes how the log differs from results.json. The text is empty if they agree."""
        runs = [event for event in self.starts if event["event"] == "run"]
        devices = [event["device"] for event in self.starts if event["event"] == "device"]
        if not runs:
            return "the log names no revision"
        logged = {event["allocbench"]["measured_revision"] for event in runs} | {event["worker"]["measured_revision"] for event in runs}
        pairs = (("measured revision", self.revisions, logged), ("card", self.cards, {device.get("uuid", "") for device in devices}),
                 ("driver", self.drivers, {device.get("driver_version", "") for device in devices}))
        return "; ".join(f"its cells have {word} {value}, the log has {', '.join(sorted(known)) or 'none'}"
                         for word, values, known in pairs for value in values if value not in known and "+" not in value)


def _common(values: Iterable) -> list[str]:
    return [str(value) for value, _ in Counter(value for value in values if value).most_common()]


def _metrics(part) -> Iterator[str]:
    """Yields the values of all keys `metric` of a claim, in its effect and in its sides."""
    if isinstance(part, dict):
        yield from (value for key, value in part.items() if key == "metric")
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _metrics(each)


def read(names: Sequence[str]) -> list[Origin]:
    """Reads all runs at and below these paths."""
    return [read_run(folder.resolve()) for folder in paths.folders(paths.expanded(names))]


def read_run(folder: Path) -> Origin:
    document = stored.read_document(folder)
    log = stored.file_of(folder, "events.jsonl")
    if not log.exists():
        raise UsageError(f"{folder} has no log, so the origin of its numbers is unknown. Fetch events.jsonl, or measure again.")
    starts = [json.loads(line) for line in stored.content_of(folder, "events.jsonl").splitlines() if line.startswith(_OF_A_START)]
    return Origin(folder, document, starts)


def config_file(name: str) -> Path | None:
    """Returns the file of a config in this checkout, below configs/ or below the root. Returns None if there is no such
    file.
    """
    return next((path for path in (configs.FOLDER / f"{name}.json", ROOT / f"{name}.json") if path.is_file()), None)


def by_study(found: Sequence[Origin]) -> dict[Path, dict[str, list[Origin]]]:
    """Groups the runs by the study's folder, then by group."""
    made: dict[Path, dict[str, list[Origin]]] = {}
    for each in found:
        made.setdefault(each.study, {}).setdefault(each.group, []).append(each)
    return made


def union(found: Sequence[Origin], values: str) -> list[str]:
    """Returns the sorted distinct values of these runs, for example all revisions or cards."""
    return sorted({value for each in found for value in getattr(each, values)})


def shown(folder: Path) -> str:
    """Returns a path as a reader types it: relative to the repository's root if it lies below the root."""
    return str(folder.relative_to(ROOT)) if folder.is_relative_to(ROOT) else str(folder)
