"""Reads the recorded calls of an application (docs/try-your-application.md) as one table."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy
import pandas

from allocbench.errors import UsageError

VERSION = 1
NO_BLOCK = 0xFFFFFFFF
_COLUMNS = {"thread": "<u4", "operation": "|u1", "alignment": "|u1", "bytes": "<u8", "block": "<u4"}
_OPERATIONS = ["malloc", "free"]


def read_trace(folder: str | Path) -> pandas.DataFrame:
    """Returns a row per call, with these columns:

    * `kernel` is the number of the kernel, and `name` is its name.
    * `thread`, `operation` and `bytes` describe the call.
    * `alignment` is in bytes, and 0 if the call names none.
    * `block` is the row that made the block, or -1 for null.
    * `clock` is in nanoseconds, if the trace has clocks.

    `attrs` has the keys `allocator`, `pool_bytes`, `clock` and `kernels` of trace.json.
    """
    folder = Path(folder)
    about = _described(folder / "trace.json")
    kernels = about["kernels"]
    counts = [kernel["calls"] for kernel in kernels]
    columns = dict(_COLUMNS, **({"clock": "<u4"} if about["clock"] else {}))
    table = {name: _column(folder / f"{name}.npy", kind, sum(counts)) for name, kind in columns.items()}
    if (table["operation"] > 1).any():
        raise UsageError(f"{folder / 'operation.npy'}: row {int(numpy.argmax(table['operation'] > 1))} is neither 0 (malloc) nor 1 (free)")
    numbers = numpy.repeat(numpy.arange(len(kernels)), counts)
    alignment = table["alignment"].astype("int64")
    made = pandas.DataFrame(
        {
            "kernel": numbers,
            "name": numpy.array([kernel["name"] for kernel in kernels], dtype=object)[numbers] if kernels else [],
            "thread": table["thread"],
            "operation": pandas.Categorical.from_codes(table["operation"].astype("int8"), _OPERATIONS),
            "bytes": table["bytes"],
            "alignment": numpy.where(alignment == 0, 0, 2**alignment),
            "block": numpy.where(table["block"] == NO_BLOCK, -1, table["block"].astype("int64")),
        }
    )
    if about["clock"]:
        made["clock"] = table["clock"]
    made.attrs = about
    return made


def _described(path: Path) -> dict:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["format"] != "allocbench-trace":
            raise UsageError(f'{path}: format is not "allocbench-trace"')
        if about["version"] != VERSION:
            raise UsageError(f"{path}: version {about['version']}; this package reads version {VERSION}. Record the trace again.")
        return {name: about[name] for name in ("allocator", "pool_bytes", "clock", "kernels")}
    except OSError as error:
        raise UsageError(f"{path} cannot be opened ({error.strerror}): a trace is a folder with trace.json and NumPy arrays") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is damaged: {error}") from None


def _column(path: Path, kind: str, count: int) -> numpy.ndarray:
    packed = path.with_name(path.name + ".gz")
    found = packed if packed.exists() and not path.exists() else path
    try:
        with (gzip.open if found is packed else open)(found, "rb") as file:
            array = numpy.load(file, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"{found} cannot be read: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise UsageError(f"{found} is damaged: {error}") from None
    if array.dtype.str != kind or array.shape != (count,):
        raise UsageError(f"{found} has {array.shape} elements of {array.dtype.str}; expected ({count},) of {kind}")
    return array
