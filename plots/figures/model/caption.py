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

INTERVAL = "95 % interval"
_TIMED = ("s", "op/s", "B/s")  # units of times and rates
_ROUNDS, _PASSES, _FACTS = "rounds", "passes", "facts"


def of_lines(run: Run, wanted: Sequence[tuple[str, str]], words: bool = False, elsewhere: Collection[str] = ()) -> list[str]:
    """Returns the caption of a line figure. The drawing appends its own sentences to the first sentence.

    Every picture of a figure has the paper's statements and the notes, but none about allocators that only other pictures have
    (`elsewhere`, and `about` of a note).
    """
    shown = _shown(run, wanted)
    equations = curves.sentence(run, [metric for _, metric in wanted])
    text = f"{'Markers' if equations or words or not run.plot.get('joined', True) else 'Lines'}: {_statistic(run, shown)}"
    text += f"; bars: {INTERVAL}{_of_some(run, shown)}." if shown["low"].notna().any() else _why_none(run, shown)
    if equations:
        text += f" {equations}"
    if provisional.any_of(shown):
        text += f" {provisional.HOLLOW}"
    if (run.cells["status"] != "ok").any():
        text += " Crosses above the panel: cells without a value, with their status."
    return [text + _throttled(shown), *_with_nulls(run, shown), *_older_code(run), *samples.sentences(run, wanted, " (rings)"),
            *stated.sentences(run, wanted, elsewhere), *stated.notes(run)]


def of_table(run: Run, wanted: Sequence[tuple[str, str]], more: Sequence[str] = (), intervals: bool = True) -> list[str]:
    shown = _shown(run, wanted)
    text = f"Numbers: {_statistic(run, shown)}"
    if not shown["low"].notna().any():
        text += _why_none(run, shown)
    else:
        text += f", ± the distance to the farther end of the {INTERVAL}{_of_some(run, shown)}." if intervals else "."
    if provisional.any_of(shown):
        text += f" {provisional.MARKED}"
    if (run.cells["status"] != "ok").any():
        text += " Words: the status of cells without a value."
    text = " ".join([text + _throttled(shown), *more])
    return [text, *_with_nulls(run, shown), *_older_code(run), *samples.sentences(run, wanted), *stated.sentences(run, []), *stated.notes(run)]


def of_map(run: Run, wanted: Sequence[tuple[str, str]]) -> list[str]:
    """Returns the caption of a heat map. The figure's page of numbers has the values and their intervals."""
    shown = _shown(run, wanted)
    text = f"Values: {_statistic(run, shown)}. The page beside this image has them"
    text += f", with {INTERVAL}s{_of_some(run, shown)}." if shown["low"].notna().any() else _why_none(run, shown)
    text += _throttled(shown)
    if provisional.any_of(shown):
        text += f" {provisional.LEANING}"
    return [text, *_with_nulls(run, shown), *_older_code(run), *samples.sentences(run, wanted), *run.plot.get("notes", [])]


def _of_some(run: Run, shown: pandas.DataFrame) -> str:
    """Returns how many values have an interval. The text is empty if all have one, or if the results have no rounds."""
    measured = shown[(_kinds(run, shown) == _ROUNDS) & shown["value"].notna()]
    some = int(measured["low"].notna().sum())
    return f" from six rounds on ({some:,} of {len(measured):,} values)" if some < len(measured) and _has_rounds(run) else ""


def _why_none(run: Run, shown: pandas.DataFrame) -> str:
    """Returns the end of a sentence: why the values have no interval, or only a full stop. Counts are exact and need no
    interval.
    """
    rounds = _rounds(run, shown[_kinds(run, shown) == _ROUNDS])
    return "; no intervals: they need six rounds." if rounds and max(map(len, rounds)) < 6 else "."


def _span(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _has_rounds(run: Run) -> bool:
    return any("rounds" in phase for cell in run.details.values() for phase in cell.get("phases", []))


def _rounds(run: Run, shown: pandas.DataFrame) -> list[list[int]]:
    """Returns the number of samples of each round, for each shown phase of each shown cell. A metric without a phase has
    the rounds of all phases of its cell. The list is empty if the results have no rounds.
    """
    return [each["rounds"] for cell, phase in shown[["cell", "phase"]].drop_duplicates().itertuples(index=False)
            for each in run.details.get(cell, {}).get("phases", []) if phase in ("", each["name"]) and each.get("rounds")]


def _shown(run: Run, wanted: Sequence[tuple[str, str]]) -> pandas.DataFrame:
    chosen = [key in wanted for key in zip(run.values["phase"], run.values["metric"])]
    return run.values.loc[pandas.Series(chosen, index=run.values.index, dtype=bool)]


def _kinds(run: Run, shown: pandas.DataFrame) -> pandas.Series:
    """Returns how each value came about: read once, counted in untimed passes, or measured in rounds. Only times and
    passes have means, and a factor is of the kind of the values that it compares.
    """
    bases = shown["metric"].str.removeprefix("relative_").replace({"speed_up": "time", "beyond_reference": "time"})
    units = {(phase, metric): run.unit_of(phase, metric) for phase, metric in {*zip(shown["phase"], bases)}}
    timed = [metric == "time" or {unit, units[phase, metric]} & set(_TIMED) != set()
             for phase, metric, unit in zip(shown["phase"], bases, shown["unit"])]
    return pandas.Series([_FACTS if statistic == "value" else _PASSES if statistic == "mean" and not is_timed else _ROUNDS
                          for statistic, is_timed in zip(shown["statistic"], timed)], index=shown.index, dtype=object)


def _statistic(run: Run, shown: pandas.DataFrame) -> str:
    """Returns a text such as `median of 6 rounds' means, 5 samples each`. If metrics differ in this, each text names its
    metrics.
    """
    told: dict[str, list[str]] = {}
    for (kind, statistic), own in shown.groupby([_kinds(run, shown), "statistic"], sort=False):
        passes = own["samples"].dropna().astype(int).tolist()
        text = "one reading each" if kind == _FACTS else _of_rounds(run, own, statistic) if kind == _ROUNDS else \
            "counts of one pass" if max(passes, default=1) == 1 else f"mean of {_span(passes)} counted passes"
        told.setdefault(text, []).extend(_names(run, own))
    return "; ".join(text if len(told) == 1 else f"{text} ({', '.join(dict.fromkeys(names))})" for text, names in told.items()) or "value"


def _names(run: Run, shown: pandas.DataFrame) -> list[str]:
    """Returns the names of the metrics. In a map of several metrics, the setting `metric` has them."""
    across = shown["cell"].map(run.column("metric"))
    return [curves.short(name) for name in shown["metric"].where(across.isna(), across).unique()]


def _of_rounds(run: Run, shown: pandas.DataFrame, statistic: str) -> str:
    """Returns the statistic of values from rounds. If all cells have one round, it names the allocators with fewer
    samples. A results.csv has no numbers of rounds.
    """
    rounds, counts = _rounds(run, shown), shown["samples"].dropna().astype(int)
    if counts.empty:
        return statistic
    if not rounds:
        return f"median of the rounds' {statistic}s, {_samples(counts)} in all"
    if max(map(len, rounds)) > 1:  # each cell takes the rounds that it needs to become precise
        each = [count for of_cell in rounds for count in of_cell]
        values = "rounds" if max(each) == 1 else f"rounds' {statistic}s"
        return f"median of {_span([len(of_cell) for of_cell in rounds])} {values}, {_samples(each)} each"
    usual = int(counts.max())
    text = "one sample" if usual == 1 else f"{statistic} of {usual} samples"
    fewer = shown.loc[counts.index[counts < usual], "cell"].map(run.cells["allocator"])
    if fewer.empty:
        return text
    names = [labels.allocator(run, name) for name in run.allocators() if name in set(fewer)]
    least = int(counts.min())
    told = ", ".join(names) if len(names) <= 4 else f"{len(names)} of {len(run.allocators())} allocators"
    return f"{text} (fewer, at least {least}, in some cells of {told})"


def _samples(counts: Sequence[int]) -> str:
    return "one sample" if max(counts) == 1 else f"{_span(counts)} samples"


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
