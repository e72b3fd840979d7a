#!/usr/bin/python3
"""Prints what an edit costs: how many compilation units of each kind include a file, and the CPU time to build them
again.

    tools/build_cost.py BUILD                        count the units of the build in BUILD
    tools/build_cost.py BUILD --measure programs     touch each file, build and print the CPU time (no compiler cache)
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
EDITS = [
    ("an allocator form", "allocators/halloc/halloc_reworked.hpp"),
    ("a small allocator form", "allocators/bump/atomic_malloc.hpp"),
    ("kernels of a micro test", "workloads/pairs/kernels.hpp"),
    ("host half of a workload", "workloads/group_by/group_by.cpp"),
    ("kernels of an application", "workloads/group_by/tails_kernels.hpp"),
    ("the front end", "harness/front/config/config_reader.cpp"),
    ("a header of the protocol", "protocol/event.hpp"),
]

# The first pattern that matches the path of a unit's object file gives the kind of the unit.
KINDS = {
    "tests": r"^(tests|benchmarks)/",
    "CUDA": r"\.cu\.o$|_cuda\.dir/",
    "check": r"_(check|tsan|races)\.dir/",
    "CPU": r"_cpu\.dir/",
    "programs": "",
}


def ninja(build, *arguments):
    result = subprocess.run(["ninja", "-C", str(build), *arguments], capture_output=True, text=True, check=False,
                            env={**os.environ, "CCACHE_DISABLE": "1"})
    if result.returncode != 0:
        sys.exit(f"build_cost.py: ninja {' '.join(arguments)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def units_by_file(build):
    """Returns for each source file the set of units that include it. Units that were never built are missing."""
    units = {}
    unit = None
    for line in ninja(build, "-t", "deps").splitlines():
        if line.startswith("    "):
            path = pathlib.Path(line.strip())
            units.setdefault(path if path.is_absolute() else (build / path).resolve(), set()).add(unit)
        elif ": #deps" in line:
            unit = line.split(": #deps")[0]
    if not units:
        sys.exit(f"build_cost.py: {build} contains no build. Build the programs first.")
    return units


def count(units):
    """Counts the units of each kind, and the targets to which the units belong. A build links these targets again."""
    found = {kind: 0 for kind in KINDS}
    for unit in units:
        found[next(kind for kind, pattern in KINDS.items() if re.search(pattern, unit))] += 1
    return {**found, "targets": len({re.search(r"CMakeFiles/([^/]+)\.dir/", unit).group(1) for unit in units})}


def cpu_seconds(build, target):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ninja(build, "-j1", target)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD", help="build folder with built programs")
    parser.add_argument("--measure", metavar="TARGET", help="touch each file and build this target, for example `programs`")
    parser.add_argument("--file", action="append", default=[], help="file to use instead of the list (repeatable)")
    arguments = parser.parse_args()
    if arguments.measure:
        ninja(arguments.build, arguments.measure)
    units = units_by_file(arguments.build.resolve())
    print(f"{'edit':28}" + "".join(f"{kind:>9}" for kind in [*KINDS, "targets"]) + ("  CPU seconds" if arguments.measure else ""))
    for name, file in [(each, each) for each in arguments.file] or EDITS:
        path = (ROOT / file).resolve(strict=True)
        line = f"{name:28}" + "".join(f"{value:9}" for value in count(units.get(path, ())).values())
        if arguments.measure:
            os.utime(path)
            line += f"  {cpu_seconds(arguments.build, arguments.measure):11.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
