"""This module writes the answer for a terminal: a ranked list with trade-offs, then the measured cells."""

from __future__ import annotations

import textwrap

from plots.advice import cases, differences, engine
from plots.advice.engine import Answer, Ranked
from plots.advice.question import Question, sentence
from plots.advice.table import revisions
from plots.runs import forms, origin
from plots.sheet import provisional, quantity

_SHOWN = 10
_CASES = 8
_WIDTH = 80


def write(table: dict, question: Question, found: Answer, everything: bool = False) -> str:
    parts = [
        f"Which allocator for {sentence(question)}?",
        f"Measured on {table['device']}{f' ({origin.CPU_BANNER})' if table['backend'] == 'cpu' else ''}, {table['date'] or 'date unknown'}, "
        f"allocbench {revisions(table, [near.number for near in found.near])}.",
        *(f"{line}, {_AGAIN}" for line in other_cards(table)),
    ]
    if not found.near:
        return wrapped([*parts, "", _nothing_near(table, question), *_refusing(found.refusing, question)])
    if found.ranked:
        shown = found.ranked if everything else found.ranked[:_SHOWN]
        parts += ["", *_ranking(table, question, found, shown)]
        if len(found.ranked) > len(shown):
            parts.append(f"... and {len(found.ranked) - len(shown)} more: --all")
        parts += [(_LEGEND if question.job else _LEGEND_OF_APPLICATION) + (f" {PROVISIONAL}" if any(each.provisional for each in shown) else ""), "", *_trade_offs(found.ranked), *_restrictions(shown, len(found.near))]
    else:
        parts += ["", "No allocator served all cells near this job."]
    parts += _others(table, question, found, everything)
    parts += ["", *_ground(table, question, found)]
    return wrapped(parts)


def other_cards(table: dict) -> list[str]:
    """Returns the hint for readers with another card, if the table comes from kept results of a GPU. The page has the
    same words.
    """
    if not table["kept"] or table["backend"] != "cuda":
        return []
    return [
        "These results come from this card only. The order on other cards is unknown. To measure yours: allocbench study guide --out results/mine "
        "(15 minutes; fewer with --minutes)"
    ]


def wrapped(parts: list[str]) -> str:
    """Wraps lines to the width of a terminal. The rest of an indented line is indented by two more columns."""
    lines = []
    for part in parts:
        for line in part.split("\n"):
            indent = " " * (len(line) - len(line.lstrip()) + 2)
            lines += textwrap.wrap(
                line,
                _WIDTH,
                subsequent_indent=indent if line.startswith(" ") else "",
                break_long_words=False,
                drop_whitespace=True,
                replace_whitespace=False,
            ) or [""]
    return "\n".join(lines) + "\n"


_LEGEND = (
    "time/best: time divided by the best time, geometric mean of the cells below. operation: time of the nearest cell divided by its operations "
    "(mallocs and frees), which run in parallel. memory: bytes of a full pool and its metadata per requested byte. regs: registers of malloc. ok: "
    "number of the allocator's cells with status ok, and of all its cells in the guide; none near this job failed. away: steps from the question to "
    "the nearest cell that the allocator served. -: not measured."
)
_LEGEND_OF_APPLICATION = (
    "time/best: time divided by the best time. time: whole time of the application. regs: registers of malloc in guide/small. ok: number of the "
    "allocator's cells with status ok, and of all its cells in the guide. -: not measured."
)
PROVISIONAL = f"{provisional.WORD}: at least one of these cells has fewer than three rounds."
MEASURE_OTHERS = (
    "these results have no cell in which other threads free the blocks. Measure such cells on your card: "
    "allocbench study guide --only guide/handed_over "
    "--out results/mine"
)
MEASURE_ALIGNED = (
    "Measure such cells on your card: allocbench study guide --only guide/aligned --out results/mine, then ask again with --results results/mine."
)
MEASURE_APPLICATION = "these results have no cell of guide/{0}. Measure it on your card: allocbench study guide --only guide/{0} --out results/mine"
_AGAIN = "then ask again with --results results/mine."
STEP = (
    "One step is a factor of 4 in request size, 10 in threads, 4 in lanes, 2 in the free share of the pool, or 100 in the pool size. Another "
    "lifetime is 1.5 steps."
)
UNSAFE = "Unsafe: may hand out a block twice, corrupt memory or hang, see docs/findings.md"
_HEADER = ("rank", "allocator", "time/best", "operation", "memory", "regs", "ok", "away")
_HEADER_OF_APPLICATION = ("rank", "allocator", "time/best", "time", "regs", "ok")
_NAME = 1  # index of the column that aligned() folds


def _ranking(table: dict, question: Question, found: Answer, shown: list[Ranked]) -> list[str]:
    """Returns the lines of the ranked list. The first line names the cell that is nearest to the question. If an
    allocator's nearest cell is another one, the line below the allocator's row names this cell.
    """
    first = found.near[0]
    header = _HEADER if question.job else _HEADER_OF_APPLICATION
    head, *rows = aligned([header, *(tuple(_row(each, found.ranked)[name] for name in header) for each in shown)])
    others = any(each.nearest != first for each in shown)
    measured = f"{'Nearest measured' if question.job else 'Measured'} cell{', unless the row names another' if others else ' of every row'}"
    lines = [f"{measured}: {_cell(table, question, first)}.", "", head]
    for each, row in zip(shown, rows):
        lines += [row] if each.nearest == first else [row, f"      nearest: {_cell(table, question, each.nearest)}"]
    return lines


def _row(each: Ranked, ranked: list[Ranked]) -> dict[str, str]:
    """Returns the text of each column."""
    tied = sum(other.rank == each.rank for other in ranked) > 1
    time = "-" if each.seconds is None else quantity.in_si(each.seconds, "s")
    return {
        "rank": f"{each.rank}{'=' if tied else ''}",
        "allocator": forms.titled(each.entry),
        "time/best": factor_of(each),
        "operation": time,
        "time": time,
        "memory": "-" if each.memory is None else f"{each.memory:.2f}",
        "regs": "-" if each.entry["registers"] is None else str(each.entry["registers"]),
        "ok": "{}/{}".format(*each.entry["survived"]),
        "away": f"{each.nearest.distance:.1f}",
    }


def factor_of(each: Ranked) -> str:
    if each.low is None or each.high is None:
        return f"{quantity.factor(each.slower)}{_beside(each)}"
    return quantity.with_interval(quantity.factor(each.slower), each.slower, each.low, each.high)


def _beside(each: Ranked) -> str:
    return f" {provisional.WORD}" if each.provisional else ""


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Returns one text per row. It folds long names if the table would be too wide for a terminal."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    widths[_NAME] = min(widths[_NAME], _WIDTH - sum(widths) + widths[_NAME] - 2 * len(widths) + 2)
    made = []
    for row in rows:
        name, *more = textwrap.wrap(row[_NAME], widths[_NAME])
        line = "  ".join(cell.ljust(width) for cell, width in zip((*row[:_NAME], name, *row[_NAME + 1 :]), widths)).rstrip()
        made.append("\n".join([line, *(" " * (widths[0] + 2) + rest for rest in more)]))
    return made


def _trade_offs(ranked: list[Ranked]) -> list[str]:
    front = engine.front(ranked)
    fastest = [forms.titled(each.entry) for each in ranked if each.rank == 1]
    lines = ["Trade-offs:", f"  fastest{', not told apart' if len(fastest) > 1 else ''}: {listed(fastest)}"]
    for name, value in (("least memory", lambda each: each.memory), ("fewest registers", lambda each: each.entry["registers"])):
        known = [each for each in ranked if value(each) is not None]
        if known:
            least = min(value(each) for each in known)
            lines.append(f"  {name}: {listed([forms.titled(each.entry) for each in known if value(each) == least])}")
    if front:
        names = [forms.titled(each.entry) for each in ranked if each.entry["id"] in front]
        lines.append(f"  Pareto front of time, memory and registers: {listed(names)}")
    return lines


def _restrictions(shown: list[Ranked], cells: int) -> list[str]:
    """Returns what users must know: traits of allocators, older versions, and allocators without results in some of the cells."""
    by_words: dict[str, list[str]] = {}
    for each in shown:
        if each.ok < cells:
            by_words.setdefault(f"measured in {each.ok} of the {cells} cells below", []).append(forms.titled(each.entry))
        for words in (*each.entry["restrictions"], *filter(None, [each.entry["older"]])):
            by_words.setdefault(words, []).append(forms.titled(each.entry))
    return ["", "Beware:", *(f"  {words}: {listed(names, len(names))}" for words, names in by_words.items())] if by_words else []


def listed(names: list[str], most: int = 6) -> str:
    """Joins names with semicolons, because names contain commas ("Halloc, reworked")."""
    return "; ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _others(table: dict, question: Question, found: Answer, everything: bool) -> list[str]:
    lines = _refusing(found.refusing, question)
    for title, group in (
        ("Not always served or measured near this job", found.failing),
        (UNSAFE, found.unsafe),
        ("Served no cell near this job", found.unable),
    ):
        if group and everything:
            lines += ["", f"{title}:", *(f"  {forms.titled(each.entry)}: {_why(table, each)}" for each in group)]
        elif group:
            lines += ["", f"{title} (reasons: --all):", *_in_words(group)]
    if found.unmeasured:
        lines += ["", f"Not measured near this job: {listed([forms.titled(entry) for entry in found.unmeasured], len(found.unmeasured))}"]
    reasons: dict[str, list[str]] = {}
    for entry in found.left_out:
        reasons.setdefault(engine.why_not(entry, question.data()), []).append(forms.titled(entry))
    if reasons:
        lines += ["", "Left out:", *(f"  {words}: {listed(names, len(names))}" for words, names in reasons.items())]
    return lines


def _refusing(entries: list[dict], question: Question) -> list[str]:
    by_words: dict[str, list[str]] = {}
    for entry in entries:
        pool, limit = engine.refused_by(entry, question.data())
        by_words.setdefault(f"serves at most {quantity.in_bytes(limit)}, in a pool of {quantity.in_bytes(pool)}", []).append(forms.titled(entry))
    return ["", "Refuse this request (status unsupported):", *(f"  {words}: {listed(names, len(names))}" for words, names in by_words.items())] if by_words else []


def _in_words(group: list[Ranked]) -> list[str]:
    """Returns lines with the names of the allocators. Allocators with the same error or, if they
    served no cell, with the same failures share a line.
    """
    by_words: dict[str, list[str]] = {}
    for each in group:
        words = (each.ok and each.entry["finding"]) or ", ".join(sorted({status for _, status, _ in each.failed}))
        by_words.setdefault(words, []).append(forms.titled(each.entry))
    return [f"  {words}: {listed(names, len(names))}" for words, names in sorted(by_words.items())]


def _why(table: dict, each: Ranked) -> str:
    words = []
    words += filter(None, [each.entry["finding"], each.entry["older"]])
    if each.ok and each.slower is not None:
        words.append(f"{quantity.factor(each.slower)}{_beside(each)} times the best where it is ok ({each.ok} of {each.ok + len(each.failed)})")
    places: dict[tuple[str, str], list[str]] = {}
    for number, status, reason in each.failed:
        places.setdefault((status, reason), []).append(table["cases"][number]["label"])
    for (status, reason), labels in list(places.items())[:2]:
        words.append(f"{status} at {' and at '.join(labels[:2])}{f' and {len(labels) - 2} more' if len(labels) > 2 else ''}{': ' + reason if reason else ''}")
    return "; ".join(words) or "not measured"


def _ground(table: dict, question: Question, found: Answer) -> list[str]:
    cells = "1 cell" if len(found.near) == 1 else f"{len(found.near)} cells"
    lines = [f"The answer uses {cells} of the guide."]
    if question.job:
        lines = [f"{lines[0]} The nearest is {found.near[0].distance:.1f} steps from the question.", f"{STEP} Each step halves the weight of a cell."]
    for each in found.near[:_CASES]:
        lines.append(f"  {f'{each.distance:.1f}  ' if question.job else ''}{_cell(table, question, each)}")
    if len(found.near) > _CASES:
        lines.append(f"  ... and {len(found.near) - _CASES} more")
    if table["band"]:
        lines.append(
            f"Intervals: 95 %, half of them within ±{100 * table['band']:.2g} %. Allocators that share a rank cannot be told apart."
        )
    else:
        lines.append("These results have no intervals (fewer than six rounds), so neighbours in this list may be equal.")
    return lines


def _cell(table: dict, question: Question, near: engine.Near) -> str:
    """Returns a cell in words, such as `guide/small: 64 B, 1,000 threads (requests 4 times smaller)`."""
    case = table["cases"][near.number]
    if question.job is None:
        return f"{case['figure']}: {case['label']}"
    return f"{case['figure']}: {case['label']} ({'; '.join(differences.words(case['job'], question.data(), near.steps)) or 'as asked'})"


def _nothing_near(table: dict, question: Question) -> str:
    if question.job is None:
        return f"Not measured: {MEASURE_APPLICATION.format(question.application)}, {_AGAIN}"
    found = engine.by_distance(table, question.data())
    if not found and question.job.lifetime == cases.OTHERS:
        return f"Not measured: {MEASURE_OTHERS}, {_AGAIN}"
    if not found and question.job.alignment > 1:
        return f"Not measured: these results have no cell with requests {cases.aligned(question.job.alignment)}. {MEASURE_ALIGNED}"
    if not found:
        return "Not measured: these results have no cell with requests."
    return (
        f"Not measured: the nearest cell is {found[0].distance:.1f} steps away, and cells beyond {engine.FARTHEST:g} steps are not used. {STEP}\n"
        f"  {_cell(table, question, found[0])}.\n"
        "Measure your job: copy configs/guide/small.json, set its sizes and threads, and run it."
    )
