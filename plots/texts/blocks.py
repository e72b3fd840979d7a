"""Tables in texts that are written from kept results or from the sources: `<!--table NAME-->` in a Markdown file names one of TABLES."""

from __future__ import annotations

import json
from typing import Callable

import pandas

from allocbench import stored
from allocbench.errors import UsageError
from plots.runs import kept, results, schema
from plots.texts import config_keys, form_ratios, library_table, paper_tables, times_table

_PHASES = ("alloc", "free")


def table(query: str) -> str:
    name, *arguments = query.split()
    if name not in TABLES:
        raise UsageError(f"there is no table {name!r}. Known are: {', '.join(TABLES)}.")
    return TABLES[name](*arguments) + "\n"


def _keys() -> str:
    """The keys of a plot, from the schema."""
    return schema.keys()


def _against_originals(run_name: str, data: str) -> str:
    """Ours / original = ratio, in million operations per second, for what an original was measured on. `data` has the
    measurements of the originals (null: hangs, faults or wrong results)."""
    originals = _originals(data)
    run = kept.run(run_name)
    sizes = originals["request_bytes"]
    rows = ["| allocator | " + " | ".join(f"{phase} {size}" for size in sizes for phase in _PHASES) + " |",
            "|---|" + "---:|" * (len(sizes) * len(_PHASES))]
    for allocator in run.allocators():
        theirs = originals["allocators"].get(allocator)
        if theirs:
            cells = [_compared(run, allocator, size, phase, theirs[phase][number]) for number, size in enumerate(sizes) for phase in _PHASES]
            rows.append(f"| `{allocator}` | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _originals(data: str) -> dict:
    path = kept.REFERENCE / data
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}).") from None


def _compared(run: results.Run, allocator: str, size: int, phase: str, original: float | None) -> str:
    cell = run.cells.index[(run.cells["allocator"] == allocator) & (run.column("request_bytes") == size)][0]
    theirs = "fail" if original is None else _millions(original)
    if run.cells.at[cell, "status"] != "ok":
        return f"{run.cells.at[cell, 'status']} / {theirs}"
    ours = run.at(phase, "throughput").at[cell, "value"] / 1e6
    return f"{_millions(ours)} / {theirs}" + (f" = **{_ratio(ours / original)}**" if original is not None else "")


def _millions(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _registers(run_name: str, data: str) -> str:
    """Registers of the malloc and the free kernel of each allocator, beside what a survey prints for the originals."""
    run = kept.run(run_name)
    printed = _originals(data).get("survey_registers", {})
    found = {phase: run.at(phase, "registers")["value"] for phase in _PHASES}
    rows = ["| allocator | malloc kernel | free kernel | survey |", "|---|---:|---:|---:|"]
    for allocator in run.allocators():
        cells = [cell for cell in run.cells.index[run.cells["allocator"] == allocator] if cell in found["alloc"].index]
        if cells:
            numbers = " | ".join(f"{max(found[phase][cell] for cell in cells):.0f}" for phase in _PHASES)
            rows.append(f"| `{allocator}` | {numbers} | {printed.get(allocator, '')} |")
    return "\n".join(rows)


def _outcomes(device: str) -> str:
    """Every kept run: its page of numbers, what it draws, how its cells ended."""
    rows = ["| run | what it shows | cells |", "|---|---|---|"]
    for folder in stored.find_runs(kept.REFERENCE / device):
        run = kept.run(str(folder.relative_to(kept.REFERENCE)))
        pages = [path for path in sorted((folder / "figures").glob("*.md")) if not path.stem.endswith("_status")]
        name = str(folder.relative_to(kept.REFERENCE / device))
        link = f"[{name}]({name}/figures/{pages[0].name})" if pages else name
        rows.append(f"| {link} | {run.config.get('description', '')} | {outcome(run.cells['status'])} |")
    return "\n".join(rows)


def outcome(statuses: pandas.Series) -> str:
    """`5 of 5 ok`, or `4 ok, 1 timeout`."""
    counts = statuses.value_counts()
    if counts.get("ok", 0) == len(statuses):
        return f"{len(statuses)} of {len(statuses)} ok"
    return ", ".join(f"{counts[word]} {word if word == 'ok' else f'`{word}`'}" for word in stored.STATUSES if word in counts)


TABLES: dict[str, Callable[..., str]] = {"keys": _keys, "config_keys": config_keys.table, "override_keys": config_keys.overridable, "originals": _against_originals, "registers": _registers, "outcomes": _outcomes,
                                      "forms": form_ratios.table, "times": times_table.table, "library": library_table.table,
                                      "verdicts": paper_tables.verdicts, "figures": paper_tables.figures}
