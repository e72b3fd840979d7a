"""Reads the files of a run, packed (.gz, .xz) or not. An error about a damaged file names the file and, if known, the line."""

from __future__ import annotations

import functools
import gzip
import json
import lzma
import zlib
from pathlib import Path

import jsonschema

from allocbench import quick
from allocbench.errors import NothingToDraw, UsageError

_SCHEMA = json.loads(Path(__file__).with_name("results.schema.json").read_text(encoding="utf-8"))
STATUSES = tuple(_SCHEMA["definitions"]["cell"]["properties"]["status"]["enum"])

FORMAT = 2  # format of results.json

_OPEN = {"": open, ".xz": lzma.open, ".gz": gzip.open}  # functions that open a file, by the ending that packing adds
_DAMAGE = (gzip.BadGzipFile, lzma.LZMAError, EOFError, zlib.error)


def find_runs(path: Path) -> list[Path]:
    """Returns the sorted folders at or below `path` that contain a results.json or an event log, packed or not."""
    if unpacked_name(path) in ("results.csv", "results.json"):
        path = path.parent
    return sorted({found.parent for name in ("results.json", "events.jsonl") for ending in _OPEN for found in path.rglob(f"{name}{ending}")})


def file_of(folder: Path, name: str) -> Path:
    """Returns the file `name` of a run, or its packed form if only that exists."""
    return next((path for ending in _OPEN if (path := folder / f"{name}{ending}").exists()), folder / name)


def content_of(folder: Path, name: str) -> bytes:
    """Returns the unpacked content of the file `name` of a run."""
    path = file_of(folder, name)
    with _OPEN[path.suffix if is_packed(path) else ""](path, "rb") as file:
        return file.read()


def without_results(folder: Path) -> str:
    """Returns what to do about a folder whose results.json is missing."""
    if not file_of(folder, "events.jsonl").exists():
        return f"{folder} contains no results.json, and no events.jsonl from which to make it."
    return f"{folder} contains no results.json. If a run was interrupted: {_again(folder)}"


def _again(folder: Path) -> str:
    """Returns how to write results.json again. A packed log must be unpacked first, because `report` writes results
    only beside an unpacked log.
    """
    log = file_of(folder, "events.jsonl")
    if not log.exists():
        return "There is no events.jsonl beside it from which to make it. Fetch both files again, or measure again."
    return f"{f'Unpack {log.name}, then write' if is_packed(log) else 'Write'} it again with: allocbench report {folder}"


def unpacked_name(path: Path) -> str:
    return path.stem if is_packed(path) else path.name


def is_packed(path: Path) -> bool:
    return path.suffix != "" and path.suffix in _OPEN


def read_document(folder: Path) -> dict:
    """Reads and checks results.json, and returns its part `allocbench`."""
    path = file_of(folder, "results.json")
    again = _again(folder)
    try:
        with _OPEN[path.suffix if is_packed(path) else ""](path, "rt", encoding="utf-8") as text:
            document = json.load(text, parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise NothingToDraw(without_results(folder)) from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno} is not JSON ({error.msg}). {again}") from None
    except _DAMAGE as error:
        raise UsageError(f"{path} cannot be unpacked ({error}). {again}") from None
    except ValueError as error:  # the file is not text, or has a constant that JSON lacks
        raise UsageError(f"{path} is not JSON ({error}). {again}") from None
    ours = document.get("allocbench") if isinstance(document, dict) else None
    if not isinstance(ours, dict):
        raise UsageError(f"{path}:1 was not written by allocbench: it has no key \"allocbench\".")
    found = ours.get("format")
    if found != FORMAT:
        raise UsageError(f"{path}:1 has the format {found!r}; this version reads {FORMAT}. Use the plots of the version that wrote it, or measure again.")
    _check_shape(ours, path, again)
    if not ours["cells"]:
        raise NothingToDraw(f"{path} contains no cell. Look at events.jsonl beside it, or run the config again with --resume.")
    return ours


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a JSON number")


@functools.lru_cache(maxsize=None)
def _schema() -> tuple[quick.Test, jsonschema.Draft7Validator]:
    schema = {**_SCHEMA["definitions"]["read"], "definitions": _SCHEMA["definitions"]}
    return quick.test_of(schema), jsonschema.Draft7Validator(schema)


def _check_shape(ours: dict, path: Path, again: str) -> None:
    """Checks the types of all values, that an axis has only words or only numbers, and that every phase has the config's
    statistic.
    """
    fits, validator = _schema()
    mistake = None if fits(ours) else next(validator.iter_errors(ours), None)
    if mistake is not None:
        pointer = "".join(f"/{step}" for step in mistake.absolute_path)
        raise UsageError(f"{path}:1 /allocbench{pointer}: {mistake.message[:200]}. {again}")
    statistic = ours.get("run", {}).get("config", {}).get("statistic", "median")
    first_of: dict[str, object] = {}  # value of the first cell, by axis
    for number, cell in enumerate(ours["cells"]):
        place = f"{path}:1 /allocbench/cells/{number}"
        for axis, value in cell["axes"].items():
            first = first_of.setdefault(axis, value)
            if isinstance(value, str) != isinstance(first, str):
                raise UsageError(f"{place}/axes/{axis} holds {value!r}, but other cells have values like {first!r}. "
                                 f"An axis must have only words or only numbers. {again}")
        for index, phase in enumerate(cell.get("phases", [])):
            if statistic not in phase:
                raise UsageError(f"{place}/phases/{index} has no {statistic!r}, the statistic of its config. {again}")


def sample_count(phase: dict) -> int:
    """Returns the number of samples in all rounds of a phase."""
    return sum(phase["rounds"]) if "rounds" in phase else len(phase.get("samples", []))
