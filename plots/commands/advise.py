"""This module implements `python3 -m plots advise`, which `allocbench advise` starts."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from typing import Sequence

from allocbench.errors import UsageError
from plots.advice import cases, differences, engine, newest, question, text, tried
from plots.advice.table import revisions
from plots.commands import called
from plots.commands.parser import Parser

_EPILOG = """\
examples:
  allocbench advise --sizes 48 --threads 1M --pool 1GiB
  allocbench advise --sizes 16-4096 --threads 100k --pool 1GiB --fill 90%
  allocbench advise --sizes 64 --threads 10k --pool 256MiB --lifetime any
  allocbench advise --sizes 64 --threads 10k --pool 1GiB --memory-budget 2MiB
  allocbench advise --sizes 256 --threads 1M --pool 1GiB --never-freed
  allocbench advise --sizes 16-4096 --threads 100k --pool 1GiB --any-size
  allocbench advise --sizes 64 --threads 100k --pool 1GiB --alignment 128
  allocbench advise --application hash_join --any-size
  allocbench advise --sizes 48 --threads 1M --pool 1GiB --results results/guide

The answer is a ranked list with trade-offs, from the results of the guide. It
lists up to eight of the cells that it uses, each with its distance from your
question in steps. Allocators that are known to hand out a block twice, to
corrupt memory or to hang get no rank: a list of their own names them. If no
cell is near, the answer is "not measured".
docs/choose-an-allocator.md explains the list.

exit codes: 0: answered; 1: nothing measured near the question, or with --tried
no allocator served all requests; 2: wrong usage, or some results could not be
used; 3: no results
"""
_OF_A_JOB = ("sizes", "threads", "pool", "fill", "lanes", "lifetime", "never_freed", "alignment", "memory_budget")


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    for name, paths in (("--results", options.results), ("--tried", [options.tried])):
        if "" in paths:
            raise UsageError(f"{name} has an empty path. Name a folder of results, such as results/mine.")
    if options.tried is not None:
        _refuse(options, "--tried ranks what `allocbench try` measured", [name for name in vars(options) if name not in ("tried", "all")])
        answer, code = tried.write(tried.read(options.tried), options.all)
        print(answer, end="")
        return code
    asked = _asked(options)
    table, failures = newest.table_of(options.results)
    for error in failures:
        print(f"{called.program('advise')}: {error}", file=sys.stderr)
    found = engine.answer(table, asked.data())
    if options.json:
        print(json.dumps(_data(table, asked, found), indent=1, ensure_ascii=False))
    else:
        print(text.write(table, asked, found, options.all), end="")
    return 2 if failures else 0 if found.near else 1


def _asked(options: argparse.Namespace) -> question.Question:
    forms = question.USUAL_FORMS if options.forms is None else question.FORMS if options.forms == "all" else tuple(options.forms.split(","))
    if options.application is not None:
        _refuse(options, f"--application {options.application} brings its own requests and pool", _OF_A_JOB)
        return question.ask_application(options.application, forms, options.any_size)
    missing = [f"--{name}" for name in ("sizes", "threads", "pool") if getattr(options, name) is None]
    if missing:
        raise UsageError(f"the job lacks {' and '.join(missing)}. Example: allocbench advise --sizes 48 --threads 1M --pool 1GiB")
    return question.ask(
        options.sizes,
        options.threads,
        options.pool,
        options.fill,
        "32" if options.lanes is None else options.lanes,
        options.lifetime,
        not options.never_freed,
        options.memory_budget,
        forms,
        options.any_size,
        "1" if options.alignment is None else options.alignment,
    )


def _refuse(options: argparse.Namespace, why: str, names: Sequence[str]) -> None:
    """Raises an error if the command line has one of these options."""
    given = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) not in (None, False, [])]
    if given:
        raise UsageError(f"{why}, so {' and '.join(given)} would have no effect. Leave {'it' if len(given) == 1 else 'them'} out.")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=called.command("advise"),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Rank allocators for your job, from measured cells.",
    )
    parser.add_argument("--sizes", metavar="BYTES", help="size of the requests, or the smallest and the largest size, for example 48, 4KiB or 16-4096")
    parser.add_argument("--threads", metavar="N", help="number of threads that allocate, with one request each, for example 100000, 100k or 1M")
    parser.add_argument("--pool", metavar="BYTES", help="size of the allocator's pool, for example 1GiB")
    parser.add_argument(
        "--fill", metavar="SHARE", help="largest share of the pool in use, these requests included, for example 90%% or 0.9; not below their own share (default: only these requests)"
    )
    parser.add_argument("--lanes", metavar="N", help="number of lanes per warp that call malloc, 1 to 32 (default: 32)")
    parser.add_argument(
        "--lifetime",
        choices=tuple(cases.LIFETIMES),
        help="; ".join(f"{name}: {words}" for name, words in cases.LIFETIMES.items()) + f" (default: {cases.KERNEL})",
    )
    parser.add_argument(
        "--never-freed", action="store_true", help="blocks are never freed: include allocators that cannot free, and compare only mallocs; not together with --lifetime"
    )
    parser.add_argument(
        "--application",
        choices=tuple(cases.APPLICATIONS),
        help="instead of a job, rank by an application of the guide; only --any-size, --forms, --all, --json and --results may be added",
    )
    parser.add_argument("--any-size", action="store_true", help="leave out allocators that serve only one block size, which is chosen when the pool "
        "is created")
    parser.add_argument(
        "--alignment", metavar="BYTES", help="alignment of every block in bytes, a power of two such as 128 (default: the allocator's "
                                                          "own, usually 16 B)"
    )
    parser.add_argument("--memory-budget", metavar="BYTES", help="leave out allocators that are known to need more than BYTES for these requests, metadata included")
    parser.add_argument(
        "--forms", metavar="LIST", help=f"forms to rank: all, or some of {','.join(question.FORMS)} (default: " f"{','.join(question.USUAL_FORMS)})"
    )
    parser.add_argument("--all", action="store_true", help="list every allocator, with the reason if it did not serve the job")
    parser.add_argument("--json", action="store_true", help="print JSON: the measured cells, and every allocator with its numbers or the reason why it has none")
    parser.add_argument(
        "--results",
        action="append",
        default=[],
        metavar="PATH",
        help="results of the guide (default: the newest ones in the repository; repeatable)",
    )
    parser.add_argument("--tried", metavar="DIR", help="instead of a question, rank what `allocbench try` measured in this folder; of the other "
                                                       "options, only --all is allowed")
    return parser


def _data(table: dict, asked: question.Question, found: engine.Answer) -> dict:
    def cell(near: engine.Near) -> dict:
        case = table["cases"][near.number]
        differs = differences.words(case["job"], asked.data(), near.steps)
        return {"distance": near.distance, "steps": near.steps, "differs": differs, **{key: case[key] for key in ("figure", "label", "job")}}

    def one(each: engine.Ranked) -> dict:
        made = {name: value for name, value in dataclasses.asdict(each).items() if name != "entry"}
        return {
            "allocator": each.entry["id"],
            "name": each.entry["name"],
            "form": each.entry["form"],
            "finding": each.entry["finding"],
            "registers": each.entry["registers"],
            "restrictions": each.entry["restrictions"],
            "older": each.entry["older"],
            **made,
            "nearest": cell(each.nearest) if each.nearest else None,
        }

    return {
        "question": asked.data(),
        "device": table["device"],
        "date": table["date"],
        "revision": revisions(table, [near.number for near in found.near]),
        "cells": [cell(each) for each in found.near],
        **{group: [one(each) for each in getattr(found, group)] for group in ("ranked", "failing", "unsafe", "unable")},
        "unmeasured": [entry["id"] for entry in found.unmeasured],
        "left_out": {entry["id"]: engine.why_not(entry, asked.data()) for entry in found.left_out},
        "refusing": {entry["id"]: dict(zip(("pool", "largest_request"), engine.refused_by(entry, asked.data()))) for entry in found.refusing},
        "front": sorted(engine.front(found.ranked)),
    }
