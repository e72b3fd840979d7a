"""This module writes numbers into texts. A Markdown file or a sentence of a config marks each number with the query that
computes it.

    <!--n h200/pham2025/fig12 of=crw to=corw-->0.95 to 15<!--/n-->

The first word is a run below results/reference, or originals/FILE. The other words are `key=value`:

  of, to               allocators, separated by commas; with `to`, the number is a ratio at equal settings
  phase, metric        phase and metric of both sides (default: those of the figure)
  growth=SETTING       exponent of the power of this setting that fits best
  show, digits         what to write (SHOWS below, default range), and significant digits (default 2)
  at=SETTING           setting whose value `show=where` writes
  statuses             how the cells ended, instead of a number
  ranks=RUN            rank correlation with that run (ranks.py); ranks.phase is its phase
  older=ALLOCATOR      how many runs at or below the folder measure an older version of it (plots/runs/older_code.json)
  a word of groups.py  a fact about all runs at or below the folder; no other word may follow

A number on which the ledger gives no verdict, because code or config changed after the measurement, is an error.

Any other key is a setting: `threads=1024`, `threads=1024,2048`, `threads=..512`, `threads=64..`. The keys `of.threads`
and `to.threads` select for one side only. Tables between <!--table NAME--> and <!--/table--> are written in the same
way (blocks.py).
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Callable, Sequence

import pandas

from allocbench.errors import NothingToDraw, UsageError
from plots.ledger import claims, effects, originals
from plots.ledger.effects import Found
from plots.runs import configs, kept, results
from plots.sheet import files, quantity
from plots.texts import blocks, groups, ranks

_NUMBER = configs.MARKED
_TABLE = re.compile(r"<!--table (?P<query>[^>]*?)-->\n(?P<text>.*?)<!--/table-->", re.S)
_RESERVED = ("of", "to", "phase", "metric", "growth", "show", "digits", "at", "statuses", "ranks", "ranks.phase", "older")


def texts() -> list[Path]:
    """Returns the README and the Markdown files of docs/, plots/ and results/reference/* that have numbers or tables with a query."""
    found = [*kept.REFERENCE.glob("*/*.md"), *(kept.ROOT / "docs").rglob("*.md"), *(kept.ROOT / "plots").glob("*.md"), *kept.ROOT.glob("README.md")]
    return sorted(path for path in found if _NUMBER.search(text := path.read_text(encoding="utf-8")) or _TABLE.search(text))


def sentences() -> list[Path]:
    """Returns the configs whose sentences have numbers with a query. The ledger and the figures show these sentences."""
    return [path for path in sorted(configs.FOLDER.rglob("*.json")) if _NUMBER.search(path.read_text(encoding="utf-8"))]


def fill(chosen: Sequence[Path], write: bool) -> list[str]:
    """Updates the files. Returns one line for each number or table that was out of date."""
    changes = []
    for path in chosen or [*sentences(), *texts()]:
        if not path.is_file():
            raise UsageError(f"{path} does not exist. Check the path.")
        old = path.read_text(encoding="utf-8")
        new = _filled(old, path, changes)
        if write and new != old:
            files.write(path, new)
    return changes


def count(chosen: Sequence[Path]) -> int:
    """Returns how many numbers and tables the files have, or all files if none is chosen."""
    return sum(len(pattern.findall(path.read_text(encoding="utf-8"))) for path in chosen or [*sentences(), *texts()] for pattern in (_NUMBER, _TABLE))


def _filled(text: str, path: Path, changes: list[str]) -> str:
    def replaced(match: re.Match, opening: str, answer: Callable[[str], str], closing: str) -> str:
        where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        try:
            new = answer(match["query"])
        except (UsageError, NothingToDraw) as error:
            raise UsageError(f"{where}: {error}") from None
        if new != match["text"]:
            changes.append(f"{where}: {' '.join(match['text'].split())[:60]!r} becomes {' '.join(new.split())[:60]!r}")
        return f"{opening}{new}{closing}"

    text_with_numbers = _NUMBER.sub(lambda match: replaced(match, f"<!--n {match['query']}-->", answer_to, "<!--/n-->"), text)
    return _TABLE.sub(lambda match: replaced(match, f"<!--table {match['query']}-->\n", blocks.table, "<!--/table-->"), text_with_numbers)


def answer_to(query: str) -> str:
    name, *words = query.split()
    wanted = _parsed(words)
    if len(words) == 1 and words[0] in groups.COUNTS:
        return groups.answer(name, words[0])
    if "older" in wanted:
        return groups.older(name, wanted["older"])
    if "statuses" in wanted:
        return blocks.outcome(pandas.concat([run.cells.loc[run.matching(_where(run, wanted, "")), "status"] for run in groups.runs(name)]))
    show, digits = wanted.get("show", "range"), _digits(wanted.get("digits", "2"))
    if show not in SHOWS:
        raise UsageError(f"show={show} is unknown. Known: {', '.join(SHOWS)}.")
    if name.startswith("originals/"):
        if show == "where":
            raise UsageError(f"originals have no settings that show=where could write. Known: {', '.join(each for each in SHOWS if each != 'where')}.")
        return SHOWS[show](originals.found(name.removeprefix("originals/"), wanted), digits)
    run = kept.run(name)
    if "ranks" in wanted:
        phases = [wanted.get(key, "total") for key in ("phase", "ranks.phase")]
        return ranks.text(run, phases[0], _where(run, wanted, ""), kept.run(wanted["ranks"]), phases[1])
    if why := claims.void(run, _allocators(run, wanted)):
        raise UsageError(f"the ledger gives no verdict on the numbers of {query!r} ({why}). Leave them out until they are measured again.")
    found = _found(run, wanted)
    if not found.estimates:
        raise UsageError(f"the query {query!r} matches no value. Correct its filters.")
    if show == "where":
        return _place(run, wanted, found)
    return SHOWS[show](found, digits)


def _allocators(run: results.Run, wanted: dict[str, str]) -> list[str]:
    """Returns the allocators of a query. A query without `of` is about all allocators."""
    return [name for side in ("of", "to") for name in wanted.get(side, "").split(",") if name] if wanted.get("of") else list(run.allocators())


def _parsed(words: Sequence[str]) -> dict[str, str]:
    wanted = {}
    for word in words:
        key, _, value = word.partition("=")
        if key in wanted:
            raise UsageError(f"{key} is given twice in a query.")
        wanted[key] = value
    return wanted


def _found(run: results.Run, wanted: dict[str, str]) -> Found:
    common = {key: wanted[key] for key in ("phase", "metric") if key in wanted}
    of = {**_side(run, wanted, "of"), **common}
    if "to" in wanted or any(key.startswith("to.") for key in wanted):
        to = {**_side(run, wanted, "to"), **{key: of[key] for key in common}}
        if "allocator" not in of:
            raise UsageError("a ratio needs the key of. Name the allocators above the line with of=.")
        if "allocator" not in to:
            to["allocator"] = of["allocator"]
        return effects.find(run, {"ratio": {"of": of, "to": to}, "where": _where(run, wanted, "")})
    kind = {"growth": {"of": of, "along": wanted["growth"]}} if "growth" in wanted else {"value": {"of": of}}
    return effects.find(run, {**kind, "where": _where(run, wanted, "")})


def _side(run: results.Run, wanted: dict[str, str], side: str) -> dict:
    made: dict = {"where": _where(run, wanted, f"{side}.")}
    if wanted.get(side):
        made["allocator"] = wanted[side].split(",")
    return made


def _where(run: results.Run, wanted: dict[str, str], prefix: str) -> dict:
    made = {}
    for key, text in wanted.items():
        if key in _RESERVED or ("." in key and key.split(".")[0] in ("of", "to")) != bool(prefix) or not key.startswith(prefix):
            continue
        name = key.removeprefix(prefix)
        if name not in run.settings:
            raise UsageError(f"the run {run.name} has no setting {name!r}. It has: {', '.join(sorted(run.settings))}.")
        made[name] = _setting(text)
    return made


def _setting(text: str):
    if ".." in text:
        try:
            low, high = (float(each) if each else None for each in text.split(".."))
        except ValueError:
            raise UsageError(f"{text} is not a range of numbers. Allowed: LOW..HIGH, LOW.. and ..HIGH, for example 64..1024.") from None
        return {**({} if low is None else {"from": low}), **({} if high is None else {"to": high})}
    values = [_literal(each) for each in text.split(",")]
    return values[0] if len(values) == 1 else values


def _digits(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise UsageError(f"digits={text} is not a number of significant digits. Give a whole number from 1.")
    return int(text)


def _literal(text: str):
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _write(found: Found, digits: int) -> Callable[[float], str]:
    """Returns a function that writes a number with its unit, rounded to this number of significant digits."""
    unit, metric = found.unit, found.metric

    def rounded(value: float) -> float:
        # Bytes are rounded in their binary unit, because 138,103,512 B are 130 MiB with two digits, not 140 million bytes.
        scale = quantity.binary_scale(value) if unit in ("B", "B/s") else 1
        return value if value == 0 else scale * float(f"{value / scale:.{digits}g}")

    if metric and (unit in ("s", "op/s") or unit in ("B", "B/s") or quantity.is_share(metric)):
        write = quantity.formatter(metric, unit)
        return lambda value: write(rounded(value))

    def plain(value: float) -> str:
        value = rounded(value)  # before the decimals are counted, because 9.96 has none with two digits
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
        return f"{value:,.{decimals}f}"

    return plain


def _range(found: Found, digits: int) -> str:
    write = _write(found, digits)
    low, high = (write(pick(estimate.number for estimate in found.estimates)) for pick in (min, max))
    if low == high:
        return low
    # The unit is written once if both numbers have it: 12 to 19 ms.
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if unit and high.endswith(f" {unit}") else f"{low} to {high}"


SHOWS: dict[str, Callable[[Found, int], str]] = {
    "range": _range,
    "least": lambda found, digits: _write(found, digits)(min(estimate.number for estimate in found.estimates)),
    "most": lambda found, digits: _write(found, digits)(max(estimate.number for estimate in found.estimates)),
    "where": lambda found, digits: "",
}


def _place(run: results.Run, wanted: dict[str, str], found: Found) -> str:
    """Returns the value of a setting at which the number is smallest."""
    name = wanted.get("at", "")
    if name not in run.settings:
        raise UsageError(f"show=where needs at=SETTING, one of: {', '.join(sorted(run.settings))}.")
    cell = min(found.estimates, key=lambda estimate: estimate.number).cell
    if not cell or name not in run.cells.at[cell, "axes"]:
        raise UsageError(f"{name} is not swept in {run.name}." if cell else "show=where needs a value or a ratio, not a growth.")
    return quantity.written(name, run.settings.at[cell, name])
