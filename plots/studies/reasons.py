"""This module explains why cells are not ok, by the rules of reasons.json. The first rule that fits a cell applies."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

_FILE = Path(__file__).with_name("reasons.json")


@dataclass(frozen=True)
class Rule:
    """A rule explains why cells are not ok.

    `revisions` lists commits if a later commit repairs the cause. The rule then applies only to runs of these commits.
    `open` says that the cause is not established. `see` names a file of the repository that explains more.
    """

    statuses: tuple[str, ...]
    because: str
    allocators: tuple[str, ...] = ("*",)
    workloads: tuple[str, ...] = ("*",)
    match: str = ""
    revisions: tuple[str, ...] = ()
    see: str = ""
    open: bool = False

    def fits(self, allocator: str, workload: str, status: str, reason: str, revision: str) -> bool:
        return (status in self.statuses and any(fnmatchcase(allocator, each) for each in self.allocators)
                and workload_fits(workload, self.workloads) and (not self.revisions or revision in self.revisions)
                and re.search(self.match, reason) is not None)


def workload_fits(workload: str, wanted: tuple[str, ...]) -> bool:
    return "*" in wanted or workload in wanted


@lru_cache
def rules() -> tuple[Rule, ...]:
    return tuple(Rule(**{key: tuple(value) if isinstance(value, list) else value for key, value in each.items()})
                 for each in json.loads(_FILE.read_text(encoding="utf-8")))


def why(allocator: str, workload: str, status: str, reason: str, revision: str = "") -> Rule | None:
    return next((rule for rule in rules() if rule.fits(allocator, workload, status, reason, revision)), None)
