"""Which lines of device code does no built-in model reach? Compiles plug-ins for coverage and searches with them.

    python3 -B reach.py --build BUILD [--seeds 2000] [--only PLUGIN]... [--out FILE]

The build folder must have the checking workers and the plug-ins. A line counts as reached when one allocator reaches it.
`reach/reasons.txt` says why a line may stay unreached; the exit code is 1 where one has no reason.
"""

import argparse
import collections
import gzip
import json
import pathlib
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


def unreached(counts):
    """[(path, line, text)] in device functions."""
    found = []
    for path in sorted(counts):
        source = (ROOT / path).read_text(encoding="utf-8")
        lines = source.splitlines()
        blanked = mutation.blanked(source)
        inside = set()
        for begin, end in mutation.device_functions(blanked):
            inside.update(range(source.count("\n", 0, begin) + 1, source.count("\n", 0, end) + 2))
        found += [(path, line, lines[line - 1].strip()) for line in sorted(counts[path]) if counts[path][line] == 0 and line in inside]
    return found


def read_reasons():
    """{(path, text of the line): reason}; a text of * stands for all lines of the file."""
    lines = [line for line in REASONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {(path, text): reason for path, text, reason in (line.split(" | ") for line in lines)}


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
        for path, lines in measure(build, plugin, arguments.seeds).items():
            counts[path].update(lines)
    reasons = read_reasons()
    rows, open_lines = [], 0
    for path, line, text in unreached(counts):
        reason = reasons.get((path, text), reasons.get((path, "*")))
        open_lines += reason is None
        rows.append(f"{path}:{line} | {text} | {reason or 'no reason yet'}")
    rows.append(f"{len(rows)} lines of {len(counts)} headers are not reached, {open_lines} of them without a reason")
    print("\n".join(rows))
    if arguments.out:
        arguments.out.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return 1 if open_lines else 0


if __name__ == "__main__":
    sys.exit(main())
