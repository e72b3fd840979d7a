#!/usr/bin/python3
"""Lists the lines of device code that no built-in model reaches (`allocbench check --coverage`). A model is a small
program of mallocs and frees.

    tools/reach.py BUILD [--seeds 2000] [--allocator NAME]... [--jobs N] [--out FILE]

BUILD contains the checking workers and the plug-ins. Each plug-in is compiled again with the compiler's counters, and
searched. A line is reached if one of the allocators reaches it. tests/check/reach/reasons.txt gives the reason why a
line may stay unreached. The exit code is 1 if a line has no reason, and 3 if the measurement failed.
"""

import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from device_code import blanked, device_functions
from plugin_build import ROOT, PluginBuild

REASONS = ROOT / "tests" / "check" / "reach" / "reasons.txt"
NEEDED = {"ninja": "ninja-build", "gcov": "gcc"}  # Debian packages of these programs


def require_programs():
    for program, package in NEEDED.items():
        if shutil.which(program) is None:
            raise RuntimeError(f"There is no program {program}. Install it: apt-get install {package}")


def require_build(build):
    worker = build.program("allocbench-worker-check")
    if not worker.exists():
        raise RuntimeError(f"{worker} does not exist. Give a build folder, and build it first: cmake --build {build.folder}")


def described(worker):
    return json.loads(subprocess.run([worker, "--describe"], capture_output=True, text=True, check=True).stdout)


def chosen_by_plugin(offer, names):
    """Returns {plug-in: its allocators with these names}. Without names, it returns all allocators that are not broken
    on purpose.
    """
    chosen = collections.defaultdict(list)
    for allocator in offer["allocators"]:
        if allocator["name"] in names or not names and not allocator["test_only"]:
            chosen[allocator["plugin"]].append(allocator["name"])
    known = sorted(allocator["name"] for allocator in offer["allocators"])
    if unknown := sorted(set(names) - set(known)):
        raise RuntimeError(f"There is no allocator {', '.join(unknown)}. Known: {', '.join(known)}")
    return chosen


def search(worker, allocators, models, seeds):
    """Runs a process for each search, because a process writes its counters only when it exits normally, and a finding
    may kill it.
    """
    for allocator in allocators:
        for model in models:
            command = {"command": "explore", "allocator": allocator, "model": model, "strategy": "swarm", "first_seed": 1,
                       "seeds": max(1, seeds // len(models)), "stop_at_failure": False, "apart": False}
            done = subprocess.run([worker, "--serve"], input=json.dumps(command) + "\n", capture_output=True, text=True, check=False)
            if done.returncode > 0:
                raise RuntimeError(f"{allocator} on {model['name']}: {done.stderr}")


def counts_of(folder):
    """Returns {path from the root: {line: number of executions}} from gcov's counters in the folder."""
    counts = collections.defaultdict(collections.Counter)
    for counters in folder.glob("*.gcda"):
        subprocess.run(["gcov", "--json-format", counters.name], cwd=folder, capture_output=True, check=True)
    for report in folder.glob("*.gcov.json.gz"):
        with gzip.open(report) as text:
            compiled = json.load(text)
        for file in compiled["files"]:
            path = pathlib.Path(compiled["current_working_directory"], file["file"]).resolve()
            if ROOT / "allocators" not in path.parents:
                continue
            for line in file["lines"]:
                counts[path.relative_to(ROOT).as_posix()][line["line_number"]] += line["count"]
    return counts


def measure(build, plugin, allocators, models, seeds):
    with tempfile.TemporaryDirectory(prefix="allocbench-reach-") as scratch:
        folder = pathlib.Path(scratch)
        build.workers_in(folder / "workers", ("check",))
        unit = folder / f"{plugin}.cpp"
        unit.write_text(build.unit(plugin), encoding="utf-8")
        if not build.compile(plugin, "check", unit, unit.with_suffix(".o"), more=("-O0", "--coverage")):
            raise RuntimeError(f"The plug-in {plugin} does not compile with --coverage. Build it first: cmake --build {build.folder}")
        build.link(plugin, "check", unit.with_suffix(".o"), folder / "workers", more=("--coverage",))
        search(str(folder / "workers" / "allocbench-worker-check"), allocators, models, seeds)
        return counts_of(folder)


def functions_of(source):
    """Returns (name, first line, last line) of the device functions."""
    return [(name, source.count("\n", 0, begin) + 1, source.count("\n", 0, end) + 1) for name, begin, end in device_functions(blanked(source))]


def unreached(counts):
    """Returns [(path, function, text)] of unreached lines in device functions, each text of a function once."""
    found = []
    for path in sorted(counts):
        source = (ROOT / path).read_text(encoding="utf-8")
        lines = source.splitlines()
        functions = functions_of(source)
        for line in sorted(counts[path]):
            inside = [name for name, first, last in functions if first <= line <= last]
            if counts[path][line] == 0 and inside:
                found.append((path, inside[-1], lines[line - 1].strip()))
    return list(dict.fromkeys(found))


def read_reasons():
    """Returns {(path, place): reason}. A place is the text of a line, or the name of a function followed by parentheses."""
    lines = [line for line in REASONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    # The text of a line may contain " | ".
    parts = [(*line.split(" | ", 1)[:1], *line.split(" | ", 1)[1].rsplit(" | ", 1)) for line in lines]
    return {(path, place): reason for path, place, reason in parts}


def reason_for(reasons, path, function, text):
    return reasons.get((path, text)) or reasons.get((path, function + "()"))


def rows_of(counts, reasons):
    """Returns the list of unreached lines, and the number of those without a reason."""
    missing = unreached(counts)
    given = [reason_for(reasons, *place) for place in missing]
    rows = [f"{path} | {function}() | {text} | {reason or 'no reason yet'}" for (path, function, text), reason in zip(missing, given)]
    rows.append(f"{len(missing)} lines of {len(counts)} headers are not reached, {given.count(None)} of them without a reason")
    return rows, given.count(None)


def measure_all(build, names, seeds, jobs):
    """Returns {path from the root: {line: number of executions}} over all plug-ins."""
    offer = described(str(build.program("allocbench-worker-check")))
    counts = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(measure, build, plugin, allocators, offer["models"], seeds)
                   for plugin, allocators in sorted(chosen_by_plugin(offer, names).items())]
        for done, each in enumerate(concurrent.futures.as_completed(running), 1):
            for path, lines in each.result().items():
                counts[path].update(lines)
            print(f"{done} of {len(running)} plug-ins", file=sys.stderr, flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=2000, help="number of schedules for each allocator")
    parser.add_argument("--allocator", action="append", default=[], help="measure only this allocator (repeatable)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of plug-ins that run at once")
    parser.add_argument("--out", type=pathlib.Path, help="file that gets the list, too")
    arguments = parser.parse_args()
    try:
        require_programs()
        build = PluginBuild(arguments.build)
        require_build(build)
        counts = measure_all(build, arguments.allocator, arguments.seeds, arguments.jobs)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"{pathlib.Path(__file__).name}: {error}", file=sys.stderr)
        return 3
    rows, open_lines = rows_of(counts, read_reasons())
    print("\n".join(rows))
    if arguments.out:
        arguments.out.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return 1 if open_lines else 0


if __name__ == "__main__":
    sys.exit(main())
