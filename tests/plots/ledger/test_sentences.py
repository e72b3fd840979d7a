"""Checks the sentences of the ledger: our own bounds are in parentheses, and each `does not hold` says what the results
show.
"""

import json
import re
from pathlib import Path

import pytest

from plots.ledger.claims import OWN_TEST

ROOT = Path(__file__).resolve().parents[3]
CLAIMS = [(f"{path.parent.name}/{path.stem}", claim) for path in sorted((ROOT / "configs").glob("*/*.json")) if path.parent.name != "schema"
          for claim in json.loads(path.read_text(encoding="utf-8")).get("claims", []) if "not_judged" not in claim]
WORDS = {2: ("twice",), 10: ("ten", "order of magnitude"), 100: ("two orders of magnitude",)}
AMOUNT = re.compile(r"\d|twice|half|third|quarter|fifth|tenth|hundred")


def _bounds(claim):
    """Returns the bounds that the words faster, slower, more and less do not express."""
    given = claim["between"] if "between" in claim else [claim.get("above", claim.get("below"))]
    return [bound for bound in given if bound not in (0, 1)]


def _says(text, bound):
    numbers = {float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
    return bound in numbers or round(100 * bound, 6) in numbers or any(word in text for word in WORDS.get(bound, ()))


def fault(claim):
    """Returns what a reader cannot see in the sentence, or an empty text."""
    inside, outside = " ".join(re.findall(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)", claim["says"])), re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", "", claim["says"])
    if "paper" not in claim:
        strange = [bound for bound in _bounds(claim) if not _says(outside, bound)]
        return f"{strange} is not in the sentence; what the paper gives belongs into `paper`, null if nothing" if strange else ""
    if claim["paper"] is None and not AMOUNT.search(inside):
        return "the paper gives no number, and no parentheses name our bounds"
    return ""


def test_a_mean_is_judged_only_where_the_sentence_says_so():
    assert [f"{name}: {claim['says']}" for name, claim in CLAIMS if claim.get("over") == "mean" and not re.search("mean|average", claim["says"])] == []


def test_a_test_of_ours_says_nothing_about_the_paper():
    own = [(name, claim) for name, claim in CLAIMS if OWN_TEST in claim["says"]]
    assert own
    assert [f"{name}: {claim['says']}" for name, claim in own if "cause" in claim and claim["cause"]["kind"] != "test"] == []


def test_every_sentence_says_whose_its_bounds_are():
    assert len(CLAIMS) > 150
    assert {f"{name}: {claim['says']}": told for name, claim in CLAIMS if (told := fault(claim))} == {}


@pytest.mark.parametrize("claim, told", [
    ({"says": "A is 3 to 4 times faster.", "between": [3, 4]}, ""), ({"says": "A is faster.", "above": 1}, ""),
    ({"says": "A is over ten times faster.", "above": 10}, ""), ({"says": "A serves 90 %.", "above": 0.9}, ""),
    ({"says": "A is much faster (at least twice as fast).", "above": 2}, "[2] is not in the sentence"),
    ({"says": "A is much faster (at least twice as fast).", "above": 2, "paper": None}, ""),
    ({"says": "A is much faster.", "above": 2, "paper": None}, "no parentheses name our bounds"),
    ({"says": "A (the first one) is much faster.", "above": 2, "paper": None}, "no parentheses name our bounds"),
    ({"says": "A takes 1.45 ms (within a third).", "between": [1, 2], "paper": 1.45}, "")])
def test_what_a_reader_cannot_tell_is_named(claim, told):
    assert told in fault(claim) and bool(told) == bool(fault(claim))


@pytest.mark.parametrize("device", ["cpu", "h200"])
def test_no_sentence_of_a_kept_ledger_fails_without_what_is_seen(device):
    rows = json.loads((ROOT / "results" / "reference" / device / "claims.json").read_text(encoding="utf-8"))
    assert [f"{row['figure']}: {row['says']}" for row in rows if row["verdict"] == "does not hold" and ": " not in row["cause"]] == []
