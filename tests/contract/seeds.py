#!/usr/bin/env python3
"""Runs the contract suite with seeds 1 to N and writes how the cases end: `make test-contract-seeds`.

The run fails if a case fails with some seed, unless expected_failures.json lists it with a reason. It also fails if a
listed case that varies (`varies`) fails with no seed.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

LIST = pathlib.Path(__file__).with_name("expected_failures.json")
SUMMARY = pathlib.Path(__file__).with_name("seeds.md")
SEED_VARIABLE = "ALLOCBENCH_CONTRACT_SEED"


def run_with(program, seed, only):
    """Returns GoogleTest's report for one seed. One process runs the cases of all plug-ins."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "report.json")
        result = subprocess.run([program, f"--gtest_filter={only}", f"--gtest_output=json:{output}"], stdout=subprocess.DEVNULL,
                                env={**os.environ, SEED_VARIABLE: str(seed)}, check=False)
        if not output.exists():
            sys.exit(f"{program} ended with exit code {result.returncode} and wrote no report for seed {seed}. Run it by hand: "
                     f"{SEED_VARIABLE}={seed} {program}")
        return json.loads(output.read_text(encoding="utf-8"))


def problems_of(report):
    """Returns {(allocator, case): (first problem, whether it is expected)} for the cases with a problem."""
    found = {}
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            allocator, _, case = test["name"].partition("/")
            unexpected = [failure["failure"].split("Failed\n")[-1].strip() for failure in test.get("failures", [])]
            if unexpected:
                found[allocator, case] = (test.get("problem", unexpected[0]), False)
            elif "problem" in test:
                found[allocator, case] = (test["problem"], True)
    return found


def cpu_entries(text):
    return {(entry["allocator"], entry["case"]): entry for entry in json.loads(text) if entry.get("backend", "cpu") == "cpu"}


def reason_for(entries, allocator, case):
    entry = entries.get((allocator, case)) or entries.get((allocator, "*"))
    return entry["reason"] if entry else ""


def unseen(entries, ends):
    """Returns the entries that name one case, vary, and fail with no seed."""
    return sorted(key for key, entry in entries.items() if entry.get("varies") and key[1] != "*" and key not in ends)


def summary(seeds, ends, entries):
    """Returns the summary. `ends` is {(allocator, case): {seed: (problem, expected)}}."""
    unlisted = sorted(key for key, by_seed in ends.items() if not all(expected for _, expected in by_seed.values()))
    always = sorted(key for key, by_seed in ends.items() if len(by_seed) == len(seeds) and key not in unlisted)
    varying = sorted(key for key in ends if key not in always)
    lines = [f"# The contract suite with seeds {seeds[0]} to {seeds[-1]}", "",
             "`make test-contract-seeds` writes this page. It runs every case of `tests/contract/` with every plug-in of the CPU back end. "
             "Cases that this page does not list pass with all seeds.", "",
             f"Failing cases that [expected_failures.json](expected_failures.json) does not list: {len(unlisted)}.", "",
             "## Cases that fail with some seeds", "",
             "| allocator | case | seeds | problem with the first of these seeds | reason |", "|---|---|---|---|---|"]
    for allocator, case in varying:
        by_seed = ends[allocator, case]
        first = by_seed[min(by_seed)][0].splitlines()[0].replace("|", "\\|")
        reason = "**not listed**" if (allocator, case) in unlisted else reason_for(entries, allocator, case)
        lines.append(f"| `{allocator}` | `{case}` | {', '.join(map(str, sorted(by_seed)))} | {first} | {reason} |")
    lines += ["", "## Cases that fail with all seeds", "", "| allocator | cases |", "|---|---|"]
    by_allocator = collections.defaultdict(list)
    for allocator, case in always:
        by_allocator[allocator].append(f"`{case}`")
    lines += [f"| `{allocator}` | {', '.join(cases)} |" for allocator, cases in by_allocator.items()]
    return "\n".join(lines) + "\n", unlisted


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="contract_test_cpu")
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds, from 1 on (default: %(default)s)")
    parser.add_argument("--only", default="*", help="filter of GoogleTest; with it no summary is written, and cases that vary need not fail")
    parser.add_argument("--list", type=pathlib.Path, default=LIST)
    parser.add_argument("--out", type=pathlib.Path, default=SUMMARY)
    given = parser.parse_args(arguments)
    seeds = range(1, given.seeds + 1)
    ends = collections.defaultdict(dict)
    for seed in seeds:
        found = problems_of(run_with(given.program, seed, given.only))
        for key, problem in found.items():
            ends[key][seed] = problem
        print(f"seed {seed}: {len(found)} cases fail, {sum(not expected for _, expected in found.values())} of them unlisted", flush=True)
    entries = cpu_entries(given.list.read_text(encoding="utf-8"))
    text, unlisted = summary(seeds, ends, entries)
    missed = unseen(entries, ends) if given.only == "*" else []
    for allocator, case in unlisted:
        print(f"not listed: {allocator}/{case}, seed {min(ends[allocator, case])}: {ends[allocator, case][min(ends[allocator, case])][0]}")
    for allocator, case in missed:
        print(f"listed as varying, but no seed shows it: {allocator}/{case}")
    if given.only == "*":
        given.out.write_text(text, encoding="utf-8")
    return 1 if unlisted or missed else 0


if __name__ == "__main__":
    sys.exit(main())
