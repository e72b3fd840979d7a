"""The sentences under a figure: what its numbers are, over how many samples, and what the paper states."""

from __future__ import annotations

from typing import Sequence

from plots import curves, stated
from plots.results import Run, Value


def of_lines(run: Run, wanted: Sequence[tuple[str, str]], words: Sequence[str] = ()) -> list[str]:
    shown = _shown(run, wanted)
    equations = curves.names(run, [metric for _, metric in wanted])
    text = f"{'Markers' if equations or words else 'Line'}: {_statistic(shown)}"
    if any(value.low is not None for value in shown):
        text += "; bars: 95 % bootstrap interval"
    text += "."
    if equations:
        text += f" Lines: {', '.join(equations)} of the paper (plots/theory.py) at the same settings."
    if any(cell.status != "ok" for cell in run.cells):
        text += " Crosses above the panel: cells without a value, with their status."
    return [text + _throttled(shown)] + stated.sentences(run, wanted)


def of_table(run: Run, wanted: Sequence[tuple[str, str]]) -> list[str]:
    shown = _shown(run, wanted)
    text = f"Numbers: {_statistic(shown)}."
    if any(cell.status != "ok" for cell in run.cells):
        text += " Words: the status of cells without a value."
    return [text + _throttled(shown)] + stated.sentences(run, [])


def _shown(run: Run, wanted: Sequence[tuple[str, str]]) -> list[Value]:
    return [value for cell in run.cells for key, value in cell.values.items() if key in wanted]


def _statistic(shown: Sequence[Value]) -> str:
    text = "/".join(sorted({value.statistic for value in shown if value.statistic})) or "value"
    samples = sorted({value.samples for value in shown if value.samples})
    if not samples:
        return text
    counted = str(samples[0]) if len(samples) == 1 else f"{samples[0]} to {samples[-1]}"
    return f"{text} of {counted} sample{'' if samples == [1] else 's'}"


def _throttled(shown: Sequence[Value]) -> str:
    number = sum("throttled" in value.flags for value in shown)
    if number == 0:
        return ""
    return f" {number} of {len(shown)} values include samples taken while the device throttled."
