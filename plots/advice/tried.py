"""This module ranks allocators for a recorded application, from the run in which `allocbench try` replayed it."""

from __future__ import annotations

from pathlib import Path

from allocbench.errors import UsageError
from plots.advice import engine, table, text
from plots.figures import drawing
from plots.runs import forms, origin
from plots.runs.results import Run
from plots.sheet import quantity, style

_WORKLOAD = "replay"
_PHASE = "total"
_SHOWN = 15
_LEGEND = (
    "time/best: time divided by the best time. time: time of all replayed kernels, which make only the calls of the trace. beside: bytes "
    "that the allocator takes outside its pool. regs: registers of the replaying kernel. -: not known. =: shared rank, because no interval "
    "tells these allocators apart."
)


def read(folder: str) -> Run:
    run = drawing.read(Path(folder))
    if not len(run.cells) or set(run.cells["workload"]) != {_WORKLOAD}:
        raise UsageError(f"{folder} contains no run of allocbench try. Name the folder of such a run.")
    return run


def write(run: Run, everything: bool = False) -> tuple[str, int]:
    """Returns the text and the exit code. The code is 0 if a safe allocator served all requests. It is also 0 if an
    unsafe allocator ended with ok. Otherwise it is 1.
    """
    judged, refused, unsafe, others = _judged(run)
    shown = engine.placed(judged)
    lines = [
        f"Which allocator for {_trace(run)}? Measured with your trace on {run.device.get('name') or 'an unknown device'}"
        f"{f' ({origin.CPU_BANNER})' if run.backend == 'cpu' else ''}, pool of {quantity.in_bytes(_pool(run))}.",
        "",
    ]
    if shown:
        rows = [_row(run, each, shown) for each in shown]
        lines += text.aligned([("rank", "allocator", "time/best", "time", "beside", "regs"), *(rows if everything else rows[:_SHOWN])])
        if len(rows) > _SHOWN and not everything:
            lines.append(f"... and {len(rows) - _SHOWN} more: allocbench advise --all --tried {run.folder}")
        lines.append(_LEGEND + (f" {text.PROVISIONAL}" if any(each.provisional for each in shown) else ""))
    else:
        lines.append("No allocator served all requests.")
    for title, group in (("Refused some requests, and so did less work: try a larger --pool", refused),
                         (text.UNSAFE, unsafe)):
        if group:
            lines += ["", f"{title}:", *(f"  {forms.titled(each.entry)}: {_words(run, each)}" for each in group)]
    lines += _others(others, everything)
    return f"{text.wrapped(lines)}\nThe numbers:\n  allocbench report {run.folder}\n", 0 if shown or unsafe else 1


def _others(others: dict[str, list[tuple[str, str]]], everything: bool) -> list[str]:
    """Lists the allocators of each status. With `everything`, it adds the reason of each allocator; otherwise it adds
    the most frequent reason.
    """
    lines = ["", "Not ranked:"] if others else []
    for status, entries in sorted(others.items()):
        names, reasons = [name for name, _ in entries], [reason for _, reason in entries if reason]
        if everything:
            lines += [f"  {name}: {status}{f': {reason}' if reason else ''}" for name, reason in entries]
            continue
        lines.append(f"  {status}: {text.listed(names)}")
        if reasons:
            reason = max(reasons, key=reasons.count)
            lines.append(f"    {reason}" + ("" if reasons.count(reason) == len(entries) else f" ({reasons.count(reason)} of {len(entries)}; all reasons: --all)"))
    return lines


def _trace(run: Run) -> str:
    return Path(run.cells["workload_parameters"].iloc[0].get("trace", "") or "the trace").name


def _pool(run: Run) -> int:
    return int(run.cells["pool_bytes"].iloc[0])


def _judged(run: Run) -> tuple[list, list, list, dict[str, list[tuple[str, str]]]]:
    """Returns four groups of allocators: safe ones that served all requests, safe ones that refused some, unsafe ones
    with a time, and, by status, those without a time.
    """
    times, nulls = run.at(_PHASE, "time"), run.at("", "null_returns")
    registers = run.at(_PHASE, "registers")
    entries: dict[str, dict] = {}
    served = {cell: float(times.at[cell, "value"]) for cell in run.cells.index if run.cells.at[cell, "status"] == "ok" and cell in times.index}
    whole = {cell: time for cell, time in served.items() if cell not in nulls.index or nulls.at[cell, "value"] == 0}
    groups: tuple[list, list, list] = ([], [], [])
    others: dict[str, list[tuple[str, str]]] = {}
    safe = {cell: time for cell, time in whole.items() if not table.entry_of(entries, run, cell)["finding"]}
    best = min((safe or whole or served).values(), default=0.0)
    for cell in run.cells.index:
        entry = {**table.entry_of(entries, run, cell), "cell": cell}
        if cell not in served:
            words = style.NOT_MEASURED if run.cells.at[cell, "left_out"] else str(run.cells.at[cell, "status"])
            others.setdefault(words, []).append((forms.titled(entry), run.cells.at[cell, "reason"]))
            continue
        if cell in registers.index:
            entry["registers"] = int(registers.at[cell, "value"])
        low, high = (float(times.at[cell, bound]) / best for bound in ("low", "high"))
        each = engine.Ranked(
            entry, 0, served[cell] / best, low if low == low else None, high if high == high else None, served[cell], None, 1, [],
            bool(run.cells.at[cell, "provisional"]),
        )
        groups[2 if entry["finding"] else 0 if cell in whole else 1].append(each)
    for group in groups:
        group.sort(key=lambda each: each.slower)
    return *groups, others


def _row(run: Run, each: engine.Ranked, ranked: list) -> tuple[str, ...]:
    tied = sum(other.rank == each.rank for other in ranked) > 1
    beside = run.at("", "metadata_bytes")
    cell = each.entry["cell"]
    return (
        f"{each.rank}{'=' if tied else ''}",
        forms.titled(each.entry),
        text.factor_of(each),
        quantity.in_si(each.seconds, "s"),
        quantity.in_bytes(float(beside.at[cell, "value"])) if cell in beside.index else "-",
        "-" if not each.entry["registers"] else str(each.entry["registers"]),
    )


def _words(run: Run, each: engine.Ranked) -> str:
    nulls = run.at("", "null_returns")
    cell = each.entry["cell"]
    refused = int(nulls.at[cell, "value"]) if cell in nulls.index else 0
    words = f"{text.factor_of(each)} times the best, {quantity.in_si(each.seconds, 's')}"
    return f"{words}, {quantity.count(refused)} null" if refused else words

