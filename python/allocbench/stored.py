"""Reads the files of a run, packed (.gz, .xz) or not, and refuses what is damaged with file and line."""

from __future__ import annotations

import functools
import gzip
import json
import lzma
import math
import zlib
from pathlib import Path

import jsonschema
import numpy
import pandas

from allocbench.errors import NothingToDraw, UsageError

STATUSES = ("ok", "skipped", "unsupported", "oom", "incorrect", "timeout", "device_fault", "crashed")

COLUMNS = ("figure", "cell", "series", "allocator", "allocator_parameters", "workload", "workload_parameters", "axes",
           "pool_bytes", "backend", "device", "seed", "state", "status", "reason", "phase", "metric", "unit",
           "statistic", "value", "low", "high", "samples", "flags")
NUMBERS = ("value", "low", "high", "samples", "pool_bytes")
OBJECTS = ("axes", "workload_parameters", "allocator_parameters")
OF_VALUES = ("phase", "metric", "unit", "better", "statistic", "value", "low", "high", "confidence", "samples", "flags")  # the other columns are the cell's
FORMAT = 2  # of results.json

_OPEN = {"": open, ".xz": lzma.open, ".gz": gzip.open}  # by the ending that packing adds
_DAMAGE = (gzip.BadGzipFile, lzma.LZMAError, EOFError, zlib.error, UnicodeDecodeError)
_LONGEST_SECONDS = 1e7  # no deadline is longer than months
_LARGEST = 1e100


def find_runs(path: Path) -> list[Path]:
    """Folders at or below `path` that hold a results.csv or an event log, packed or not, in a stable order."""
    if unpacked_name(path) in ("results.csv", "results.json"):
        path = path.parent
    return sorted({found.parent for name in ("results.csv", "events.jsonl") for ending in _OPEN for found in path.rglob(f"{name}{ending}")})


def file_of(folder: Path, name: str) -> Path:
    """The file `name` of a run, or its packed form where only that exists."""
    return next((path for ending in _OPEN if (path := folder / f"{name}{ending}").exists()), folder / name)


def content_of(folder: Path, name: str) -> bytes:
    """What the file `name` of a run holds, unpacked."""
    path = file_of(folder, name)
    with _OPEN[path.suffix if is_packed(path) else ""](path, "rb") as file:
        return file.read()


def without_results(folder: Path) -> str:
    """What to do about a folder whose results.csv is missing."""
    return f"{folder} contains no results.csv. If a run was interrupted: {_again(folder)}"


def _again(folder: Path) -> str:
    """Beside a packed log `report` writes nothing."""
    log = file_of(folder, "events.jsonl")
    return f"{f'Unpack {log.name}, then write' if is_packed(log) else 'Write'} it again with: allocbench report {folder}"


def unpacked_name(path: Path) -> str:
    return path.stem if is_packed(path) else path.name


def is_packed(path: Path) -> bool:
    return path.suffix != "" and path.suffix in _OPEN


def read_document(folder: Path) -> dict:
    """results.json."""
    path = file_of(folder, "results.json")
    again = _again(folder)
    try:
        with _OPEN[path.suffix if is_packed(path) else ""](path, "rt", encoding="utf-8") as text:
            document = json.load(text, parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise UsageError(f"{path} is missing. {again}") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno} is not JSON ({error.msg}). {again}") from None
    except (*_DAMAGE, ValueError) as error:
        raise UsageError(f"{path} is not JSON ({error}). {again}") from None
    ours = document.get("allocbench") if isinstance(document, dict) else None
    if not isinstance(ours, dict):
        raise UsageError(f"{path}:1 was not written by allocbench: it has no key \"allocbench\".")
    found = ours.get("format", 1)
    if found != FORMAT:
        told = ("Ids changed their meaning: halloc was what is now halloc_reworked. Measure again, or convert it with "
                "tools/migrate-results.py." if found == 1 else "Use the plots of the version that wrote it.")
        raise UsageError(f"{path}:1 has the format {found!r}; this version reads {FORMAT}. {told}")
    _check_shape(ours, path, again)
    return ours


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a JSON number")


@functools.lru_cache(maxsize=None)
def _validator() -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(json.loads(Path(__file__).with_name("results.schema.json").read_text(encoding="utf-8")))


def _check_shape(ours: dict, path: Path, again: str) -> None:
    """Refuses what has another type than results have, and times that no phase can take."""
    mistake = next(_validator().iter_errors(ours), None)
    if mistake is not None:
        pointer = "".join(f"/{step}" for step in mistake.absolute_path)
        raise UsageError(f"{path}:1 /allocbench{pointer}: {mistake.message[:200]}. {again}")
    for number, cell in enumerate(ours.get("cells", [])):
        for place, phase in enumerate(cell.get("phases", [])):
            for sample in phase.get("samples", []):
                if type(sample) not in (int, float) or not 0 <= sample <= _LONGEST_SECONDS:
                    raise UsageError(f"{path}:1 /allocbench/cells/{number}/phases/{place}/samples holds {sample!r}, which is not a time in "
                                     f"seconds. {again}")
        for name, bins in cell.get("counted", {}).get("histograms", {}).items():
            if not all(type(value) is int for pair in bins for value in pair):
                raise UsageError(f"{path}:1 /allocbench/cells/{number}/counted/histograms/{name} must hold counts only. {again}")


def read_rows(folder: Path) -> pandas.DataFrame:
    """results.csv as it is, one row per cell, phase and metric: numbers as numbers (NaN where there is none), objects as
    dictionaries, everything else as text."""
    path = file_of(folder, "results.csv")
    again = _again(folder)
    try:
        rows = pandas.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except FileNotFoundError:
        raise NothingToDraw(without_results(folder)) from None
    except (*_DAMAGE, pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
        raise UsageError(f"{path} is not a table ({error}). {again}") from None
    if len(rows) and not isinstance(rows.index, pandas.RangeIndex):
        raise UsageError(f"{path}:2 has more columns than the header. {again}")
    lacking = [name for name in COLUMNS if name not in rows.columns]
    if lacking:
        raise UsageError(f"{path}:1 lacks the column {lacking[0]!r}. {again}")
    if rows.empty:
        raise NothingToDraw(f"{path} holds no cell. Look at events.jsonl beside it, or run the config again with --resume.")
    # The last line of each record: texts in quotes may hold line ends.
    ends = sum(rows[name].str.count("\n") for name in ("reason", "flags"))
    return _parsed(rows, [f"{path}:{line}" for line in rows.index + 2 + ends.cumsum()], again)


def _parsed(rows: pandas.DataFrame, where: list[str], again: str) -> pandas.DataFrame:
    def refuse(wrong: pandas.Series, words) -> None:
        if wrong.any():
            first = int(numpy.argmax(wrong))
            raise UsageError(f"{where[first]} {words(rows.iloc[first])}. The file was edited or cut. {again}")

    refuse(~rows["status"].isin(STATUSES), lambda row: f"has the unknown status {row['status']!r}. Known are: {', '.join(STATUSES)}")
    numbers = {}
    for name in NUMBERS:
        numbers[name] = rows[name].map(_number).astype(float)
        refuse((rows[name] != "") & ~(numbers[name].abs() < _LARGEST),
               lambda row: f"column {name} holds {row[name]!r}, which is not a finite number")
    refuse((rows["status"] == "ok") & (rows["metric"] != "") & numbers["value"].isna(),
           lambda row: f"is ok and names the metric {row['metric']!r} but has no value")
    for name in ("value", "low", "high"):
        refuse((rows["unit"] == "s") & ((numbers[name] < 0) | (numbers[name] > _LONGEST_SECONDS)),
               lambda row: f"column {name} holds {row[name]} s, which no phase can take")
    objects = {name: _objects(rows[name], where, again) for name in OBJECTS}
    return rows.assign(**numbers, **objects)


def _number(text: str) -> float:
    """Every digit as stored, which pandas.to_numeric does not keep."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _objects(texts: pandas.Series, where: list[str], again: str) -> list[dict]:
    read: dict[str, dict] = {}  # every cell repeats its objects in each of its rows
    for text, place in zip(texts, where):
        if text not in read:
            try:
                read[text] = {key: tuple(value) if isinstance(value, list) else value
                              for key, value in json.loads(text or "{}").items()}
            except (json.JSONDecodeError, AttributeError) as error:
                raise UsageError(f"{place} column {texts.name} is not JSON ({error}). The file was edited or cut. {again}") from None
    return [read[text] for text in texts]
