"""Which lines of device code does no built-in model reach? Compiles plug-ins for coverage and searches with them.

    python3 -B reach.py --build BUILD [--seeds 2000] [--only PLUGIN]... [--out FILE]

The build folder must have the checking workers and the plug-ins. A line counts as reached when one allocator reaches it.
`reach/reasons.txt` says why a line may stay unreached; the exit code is 1 where one has no reason. `reach/lines.txt` keeps the list.
"""

import argparse
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import mutation
from plugin_build import ROOT, PluginBuild

REASONS = pathlib.Path(__file__).parent / "reach" / "reasons.txt"


def search(workers, seeds):
    """All allocators of the plug-in, on all models: a worker for each, which writes its counters when it ends in order."""
    worker = str(workers / "allocbench-worker-check")
    offer = json.loads(subprocess.run([worker, "--describe"], capture_output=True, text=True, check=True).stdout)
    for allocator in offer["allocators"]:
        commands = [{"command": "explore", "allocator": allocator["name"], "model": model, "strategy": "swarm", "first_seed": 1,
                     "seeds": max(1, seeds // len(offer["models"])), "stop_at_failure": False, "apart": False} for model in offer["models"]]
        for command in commands:
            done = subprocess.run([worker, "--serve"], input=json.dumps(command) + "\n", capture_output=True, text=True, check=False)
            if done.returncode > 0:
                raise RuntimeError(f"{allocator['name']} on {command['model']['name']}: {done.stderr}")


def counts_of(folder):
    """{path from the root: {line: times}} from the counters in the folder."""
    counts = collections.defaultdict(collections.Counter)
    for counters in folder.glob("*.gcda"):
        subprocess.run(["gcov", "--json-format", counters.name], cwd=folder, capture_output=True, check=True)
    for report in folder.glob("*.gcov.json.gz"):
        with gzip.open(report) as text:
            files = json.load(text)["files"]
        for file in files:
            path = pathlib.Path(file["file"]).resolve()
            if ROOT / "allocators" not in path.parents:
                continue
            for line in file["lines"]:
                counts[path.relative_to(ROOT).as_posix()][line["line_number"]] += line["count"]
    return counts


def measure(build, plugin, seeds):
    with tempfile.TemporaryDirectory(prefix="allocbench-reach-") as scratch:
        folder = pathlib.Path(scratch)
        build.workers_in(folder / "workers", ("check",))
        unit = folder / f"{plugin}.cpp"
        unit.write_text(build.unit(plugin), encoding="utf-8")
        if not build.compile(plugin, "check", unit, unit.with_suffix(".o"), more=("-O0", "--coverage")):
            raise RuntimeError(f"{plugin} does not compile for coverage")
        build.link(plugin, "check", unit.with_suffix(".o"), folder / "workers", more=("--coverage",))
        search(folder / "workers", seeds)
        return counts_of(folder)


def device_functions(source):
    """(name, first line, last line) of the bodies of functions marked SIMT_FN. The source has no comments."""
    found = []
    for mark in re.finditer(r"\bSIMT_FN\b", source):
        begin = re.compile(r"[{;]").search(source, mark.end())
        name = re.compile(r"(operator\(\)|\w+)\s*\(").search(source, mark.end())
        if begin is None or begin.group() == ";" or name is None or name.start() > begin.start():
            continue
        end = mutation.closing(source, begin.start())
        if end > 0:
            found.append((name.group(1), source.count("\n", 0, begin.start()) + 1, source.count("\n", 0, end) + 1))
    return found


def unreached(counts):
    """[(path, function, text)] of lines in device functions, each text of a function once."""
    found = []
    for path in sorted(counts):
        source = (ROOT / path).read_text(encoding="utf-8")
        lines = source.splitlines()
        functions = device_functions(mutation.blanked(source))
        for line in sorted(counts[path]):
            inside = [name for name, first, last in functions if first <= line <= last]
            if counts[path][line] == 0 and inside:
                found.append((path, inside[-1], lines[line - 1].strip()))
    return list(dict.fromkeys(found))


def read_reasons():
    """{(path, place): reason}. A place is the text of a line, or the name of a function with brackets behind it."""
    lines = [line for line in REASONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    parts = [(*line.split(" | ", 1)[:1], *line.split(" | ", 1)[1].rsplit(" | ", 1)) for line in lines]  # a place may be an OR of bits
    return {(path, place): reason for path, place, reason in parts}


def reason_for(reasons, path, function, text):
    return reasons.get((path, text)) or reasons.get((path, function + "()"))


def rows_of(counts, reasons):
    """The list of lines that are not reached, and how many of them have no reason."""
    missing = unreached(counts)
    given = [reason_for(reasons, *place) for place in missing]
    rows = [f"{path} | {function}() | {text} | {reason or 'no reason yet'}" for (path, function, text), reason in zip(missing, given)]
    rows.append(f"{len(missing)} lines of {len(counts)} headers are not reached, {given.count(None)} of them without a reason")
    return rows, given.count(None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=2000, help="schedules for each allocator")
    parser.add_argument("--only", action="append", default=[], help="a plug-in")
    parser.add_argument("--out", type=pathlib.Path, help="also write the list here")
    arguments = parser.parse_args()
    build = PluginBuild(arguments.build)
    counts = collections.defaultdict(collections.Counter)
    for plugin in arguments.only or build.plugins():
        print(plugin, file=sys.stderr, flush=True)
        for path, lines in measure(build, plugin, arguments.seeds).items():
            counts[path].update(lines)
    rows, open_lines = rows_of(counts, read_reasons())
    print("\n".join(rows))
    if arguments.out:
        arguments.out.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return 1 if open_lines else 0


if __name__ == "__main__":
    sys.exit(main())
