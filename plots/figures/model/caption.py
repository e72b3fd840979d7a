"""This module writes the sentences under a figure: the statistic of its numbers, the number of samples, and the numbers of the
paper.
"""

from __future__ import annotations

from typing import Collection, Sequence

import pandas

from plots.figures.model import curves, samples, stated
from plots.runs import configs, labels
from plots.runs.results import Run
from plots.sheet import provisional

_TIMED = ("s", "op/s", "B/s")  # units of quantities that have intervals


def of_lines(run: Run, wanted: Sequence[tuple[str, str]], words: bool = False, elsewhere: Collection[str] = ()) -> list[str]:
    """Returns the caption of a line figure. The drawing appends its own sentences to the first sentence.

    Every picture of a figure has the paper's statements and the notes, but no statement about an allocator that only other
    pictures have (`elsewhere`).
    """
    shown = _shown(run, wanted)
    equations = curves.sentence(run, [metric for _, metric in wanted])
    text = f"{'Markers' if equations or words or not run.plot.get('joined', True) else 'Lines'}: {_statistic(run, shown)}"
    text += f"; bars: {interval(run)}{_of_some(run, shown)}." if shown["low"].notna().any() else _why_none(run, shown)
    if equations:
        text += f" {equations}"
    if provisional.any_of(shown):
        text += f" {provisional.HOLLOW}"
    if (run.cells["status"] != "ok").any():
        text += " Crosses above the panel: cells without a value, with their status."
    return [text + _throttled(shown), *_with_nulls(run, shown), *_older_code(run), *samples.sentences(run, wanted, " (rings)"),
            *stated.sentences(run, wanted, elsewhere), *run.plot.get("notes", [])]


def of_table(run: Run, wanted: Sequence[tuple[str, str]], more: Sequence[str] = (), intervals: bool = True) -> list[str]:
    shown = _shown(run, wanted)
    text = f"Numbers: {_statistic(run, shown)}"
    if not shown["low"].notna().any():
        text += _why_none(run, shown)
    else:
        text += f", ± the distance to the farther end of the {interval(run)}{_of_some(run, shown)}." if intervals else "."
    if provisional.any_of(shown):
        text += f" {provisional.MARKED}"
    if (run.cells["status"] != "ok").any():
        text += " Words: the status of cells without a value."
    text = " ".join([text + _throttled(shown), *more])
    return [text, *_with_nulls(run, shown), *_older_code(run), *samples.sentences(run, wanted), *stated.sentences(run, []), *run.plot.get("notes", [])]


def of_map(run: Run, wanted: Sequence[tuple[str, str]]) -> list[str]:
    """Returns the caption of a heat map. The figure's page of numbers contains times and intervals."""
    shown = _shown(run, wanted)
    text = f"From the {_statistic(run, shown)}. The page of numbers beside this image has the times and intervals.{_throttled(shown)}"
    if provisional.any_of(shown):
        text += f" {provisional.LEANING}"
    return [text, *_with_nulls(run, shown), *_older_code(run), *samples.sentences(run, wanted), *run.plot.get("notes", [])]


def interval(run: Run) -> str:
    """Returns the name of the interval. The name mentions the rounds if the results have rounds. A results.csv has
    none.
    """
    middle = "median of the rounds' means" if run.config.get("statistic") == "mean" else "rounds' median"
    return f"95 % interval of the {middle}" if _has_rounds(run) else "95 % interval"


def _of_some(run: Run, shown: pandas.DataFrame) -> str:
    """Returns how many values have an interval. The text is empty if all have one, or if the results have no rounds."""
    timed = shown[shown["unit"].isin(_TIMED) & shown["value"].notna()]
    some = int(timed["low"].notna().sum())
    return f", for the {some:,} of {len(timed):,} values that have at least six rounds" if some < len(timed) and _has_rounds(run) else ""


def _why_none(run: Run, shown: pandas.DataFrame) -> str:
    """Returns the end of a sentence: why the times have no interval, or only a full stop. Counts are exact and need no
    interval.
    """
    return "; no intervals: they need six rounds." if shown["unit"].isin(_TIMED).any() and _has_rounds(run) else "."


def _span(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _has_rounds(run: Run) -> bool:
    return any("rounds" in phase for cell in run.details.values() for phase in cell.get("phases", []))


def _rounds(run: Run, shown: pandas.DataFrame) -> list[int]:
    """Returns the number of rounds of each shown phase of each shown cell. A metric without a phase has the rounds of all
    phases of its cell. The list is empty if the results have no rounds.
    """
    return [len(each["rounds"]) for cell, phase in shown[["cell", "phase"]].drop_duplicates().itertuples(index=False)
            for each in run.details.get(cell, {}).get("phases", []) if phase in ("", each["name"]) and "rounds" in each]


def _shown(run: Run, wanted: Sequence[tuple[str, str]]) -> pandas.DataFrame:
    chosen = [key in wanted for key in zip(run.values["phase"], run.values["metric"])]
    return run.values.loc[pandas.Series(chosen, index=run.values.index, dtype=bool)]


def _statistic(run: Run, shown: pandas.DataFrame) -> str:
    """Returns a text such as `median of 10 samples in 6 rounds`. For cells of one round, it names the allocators with
    fewer samples instead of the rounds.
    """
    text = "/".join(sorted({each for each in shown["statistic"] if each})) or "value"
    # Counts come from a single pass. Other metrics have an interval in some cell, or the unit of a time or a rate.
    timed = shown[shown["metric"].isin(shown.loc[shown["low"].notna() | shown["unit"].isin(_TIMED), "metric"])]
    counted = timed if len(timed) else shown
    counts = counted["samples"].dropna().astype(int)
    if counts.empty:
        return text
    usual = int(counts.max())
    rounds = _rounds(run, counted)
    if rounds and max(rounds) > 1:  # each cell takes the rounds that it needs to become precise
        return f"{text} of {_span(counts)} samples in {_span(rounds)} rounds"
    text += f" of {usual} sample{'' if usual == 1 else 's'}"
    fewer = shown.loc[counts.index[counts < usual], "cell"].map(run.cells["allocator"])
    if fewer.empty:
        return text
    names = [labels.allocator(run, name) for name in run.allocators() if name in set(fewer)]
    least = int(counts.min())
    told = ", ".join(names) if len(names) <= 4 else f"{len(names)} of {len(run.allocators())} allocators"
    return f"{text} (fewer, at least {least}, in some cells of {told})"


def _with_nulls(run: Run, shown: pandas.DataFrame) -> list[str]:
    """Lists the allocators whose times include null returns. A null return is quick, so such a time may be too short."""
    timed = shown.loc[shown["unit"].isin((*_TIMED, "cycles")) & shown["value"].notna(), "cell"].drop_duplicates()
    got = timed[run.got_null[timed].to_numpy()]
    allocators = got.map(run.cells["allocator"])
    told = [f"{labels.allocator(run, name)} ({number} {'cells' if number > 1 else 'cell'})" for name in run.allocators()
            if (number := len(run.stored_ids(got[allocators == name])))]
    return [f"Some requests got null, which is faster than getting a block: {', '.join(told)}."] if told else []


def _older_code(run: Run) -> list[str]:
    """Returns why the ledger gives no verdict on some claims about this run, if the run has older code of a form."""
    config = configs.named(run.name) or run.config
    older = [claim["older_code"] for claim in config.get("claims", []) if "older_code" in claim]
    measured = set(run.provenance.get("measured_revisions", []))
    return list(dict.fromkeys(f"{each['because']}: to be measured again." for each in older if measured & set(each["revisions"])))


def _throttled(shown: pandas.DataFrame) -> str:
    number = int(shown["flags"].map(lambda flags: "throttled" in flags).sum())
    if number == 0:
        return ""
    return f" {number} of {len(shown)} values include samples taken while the device throttled."
