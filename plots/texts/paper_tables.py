"""This module writes tables of a paper's page from kept results: `<!--table verdicts DEVICE PAPER-->` and `<!--table figures DEVICE
PAPER-->`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Sequence

from allocbench import stored
from allocbench.errors import UsageError
from plots.ledger.claims import NOTE, NOTE_ON_TEST, OPEN
from plots.runs import kept
from plots.sheet import grid

_COUNTED = {"holds": ("holds", "hold"), "does not hold": ("does not hold", "do not hold"), "experiment differs": ("experiment differs", "experiments differ"),
            "cannot tell": ("cannot tell", "cannot tell")}


def verdicts(device: str, paper: str) -> grid.Grid:
    """Lists the sentences of the paper that the ledger of this device judges. The value here is that of the place that
    decides the verdict, so another column has the share of places that hold and the range of all places.
    """
    claims = [each for each in _ledger(device) if each["figure"].split("/")[0] == paper]
    if not claims:
        raise UsageError(f"the ledger of {device} has no sentence of {paper!r}. Known: {', '.join(_papers(device))}.")
    return grid.words(["paper says", "paper", "value at the deciding place", "places that hold; all values", "verdict", "cause"],
                      [[f"{each['says']} ({_figure(each)})", each["paper"] or each["wanted"], each["published"], _places(each), _marked(each), _kind(each)]
                       for each in claims])


def figures(device: str, paper: str) -> grid.Grid:
    """Lists every kept run of the paper with its description, picture, numbers, verdicts and statuses."""
    ledger = _ledger(device)
    rows = []
    for folder in stored.find_runs(kept.REFERENCE / device / paper):
        run = kept.read(folder)
        made = [_link(path) for path in sorted((folder / "figures").glob("*.*")) if path.suffix in (".png", ".md") and not path.stem.endswith("_status")]
        counts = run.cells["status"].value_counts()
        ended = ", ".join(f"{counts[word]} {word}" for word in stored.STATUSES if word in counts)
        name = folder.relative_to(kept.REFERENCE / device).as_posix()
        rows.append([f"`{name.split('/', 1)[1]}`", run.config.get("description", ""), ", ".join(made), _judged(ledger, device, name), ended])
    if not rows:
        raise UsageError(f"{kept.REFERENCE / device / paper} has no kept run.")
    return grid.words(["config", "shows", "drawn", "claims", "cells"], rows)


def _judged(ledger: Sequence[dict], device: str, figure: str) -> str:
    """Counts the verdicts of the figure's claims, with a link to the figure's section of the ledger."""
    verdicts_of = [each["verdict"] for each in ledger if each["figure"] == figure]
    words = [f"{verdicts_of.count(verdict)} {forms[verdicts_of.count(verdict) > 1]}" for verdict, forms in _COUNTED.items() if verdict in verdicts_of]
    section = kept.REFERENCE / device / f"claims.md#{figure.replace('/', '')}"
    return f"[{', '.join(words)}]({_target(section)})" if words else "–"


def _ledger(device: str) -> list[dict]:
    path = kept.REFERENCE / device / "claims.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}). Write it with: python3 -m plots claims {path.parent} --out {path.parent}") from None


def _papers(device: str) -> Sequence[str]:
    return sorted({each["figure"].split("/")[0] for each in _ledger(device)})


def _figure(claim: dict) -> str:
    return f"`{claim['figure'].split('/', 1)[1]}`"


def _places(claim: dict) -> str:
    """Returns how many places hold and the range of the values, if there are several places."""
    of_all = re.search(r"; [\d,]+ places, ([^;]+)", claim.get("detail", ""))
    return "; ".join(filter(None, (claim.get("holds_in", ""), of_all[1] if of_all else ""))) or "–"


def _marked(claim: dict) -> str:
    """Returns the verdict with marks for another test, few rounds, unequal settings and the false discovery rate."""
    judged = claim["verdict"] != OPEN
    other_test = judged and (claim.get("cause") or "").startswith(NOTE_ON_TEST)
    marks = [word for word, has in (("our test differs", other_test), ("few rounds", judged and claim.get("few_rounds")), ("unequal", claim.get("unequal")),
                                    ("does not stand", not claim.get("stands", True))) if has]
    return f"{claim['verdict']} ({', '.join(marks)})" if marks else claim["verdict"]


def _kind(claim: dict) -> str:
    """Returns the kind of the cause. The ledger has the whole sentence, and also the notes on claims that do not fail."""
    kind = (claim.get("cause") or "").split(":")[0]
    return "" if kind.startswith(NOTE) else kind


def _link(path: Path) -> str:
    return f"[{'picture' if path.suffix == '.png' else 'numbers'}]({_target(path)})"


def _target(path: Path) -> str:
    """Returns the path as a page in docs/papers links it."""
    return (Path("..") / ".." / path.relative_to(kept.ROOT)).as_posix()
