"""How many mistakes does `allocbench check` find? Puts small mistakes into the headers of shipped allocators, one at a time, and searches.

    python3 -B mutants.py --build BUILD [--mutants 60] [--seed 1] [--seeds 10000] [--race-seeds 150] [--jobs 1]
                          [--only TEXT]... [--no-invariants] [--out FILE [--resume]]

The build folder must have the checking workers and the plug-ins of these allocators. Mutants are drawn by --seed: the allocators in
turn, an operator, a place. One that does not compile, or compiles to the same code, is drawn again. `verdicts.txt` says which
survivors are equivalent, and why.
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import mutation
from plugin_build import ROOT, PluginBuild

ALLOCATORS = ("bulkalloc", "cfm_malloc_reworked", "comb", "halloc_reworked", "kma_reworked", "kokkos_memory_pool", "ouroboros_p_reworked",
              "rw_bm_reworked", "scatteralloc_reworked", "simple_queue_reworked")
VERDICTS = pathlib.Path(__file__).parent / "mutants" / "verdicts.txt"
INVARIANT = "requires { allocator.broken_invariant(stream); }"
# The plug-in's first registration alone: its others cost time to compile.
UNIT = """#include "@header@"
#include "check/plugin.hpp"
#include "check/subject_of.hpp"

template <class First, class... Others>
allocbench::AllocatorList<First> first_of(allocbench::AllocatorList<First, Others...>);

void allocbench_add_subjects(allocbench::check::SubjectList* subjects) {
  allocbench::check::add_subjects(*subjects, "@plugin@", decltype(first_of(allocbench::plugins::@plugin@{})){});
}
"""


class Workshop:
    """A copy of the sources, in which mutants are made, and a folder of checking workers with one plug-in."""

    def __init__(self, build, folder, invariants):
        self.build = PluginBuild(build)
        self.sources = folder / "sources"
        self.workers = folder / "workers"
        self.objects = folder / "objects"
        for part in ("allocators", "check"):
            shutil.copytree(ROOT / part, self.sources / part)
        if not invariants:
            subject = self.sources / "check" / "subject_of.hpp"
            text = subject.read_text(encoding="utf-8")
            assert INVARIANT in text, f"{subject}: no longer asks for broken_invariant()"
            subject.write_text(text.replace(INVARIANT, f"false && {INVARIANT}"), encoding="utf-8")
        self.objects.mkdir()
        self.variants = self.build.workers_in(self.workers, ("check", "tsan"))

    def compile(self, plugin, variant):
        """The object file, or nothing where the mutant does not compile."""
        unit = self.objects / f"{plugin}_{variant}.cpp"
        header = self.build.header(plugin).replace(str(ROOT / "allocators"), str(self.sources / "allocators"))
        unit.write_text(UNIT.replace("@header@", header).replace("@plugin@", plugin), encoding="utf-8")
        target = unit.with_suffix(".o")
        return target if self.build.compile(plugin, variant, unit, target, sources=self.sources) else None

    def link(self, plugin, variant, target):
        self.build.link(plugin, variant, target, self.workers)


class Search:
    """Runs `allocbench check` over the plug-in in the workshop."""

    def __init__(self, arguments, workshop, out):
        self.arguments = arguments
        self.workshop = workshop
        self.out = out

    def cells(self, *more):
        done = subprocess.run([str(self.workshop.build.program("allocbench")), "check", "--workers", str(self.workshop.workers), "--jobs", str(self.arguments.jobs), "--json", "--out", str(self.out), *more],
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr)
        return [cell for cell in json.loads(done.stdout)["cells"] if cell["outcome"] not in ("ok", "unsupported")]

    def findings(self, can_race):
        """Few seeds first, and no more where they find something."""
        for seeds in sorted({min(1000, self.arguments.seeds), self.arguments.seeds}):
            found = self.cells("--seeds", str(seeds), "--no-races")
            if found:
                return found
        if not can_race():
            return []
        return self.cells("--seeds", "1", "--race-seeds", str(self.arguments.race_seeds))


class Hunt:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.workshop = Workshop(arguments.build, folder, not arguments.no_invariants)
        self.search = Search(arguments, self.workshop, folder / "out")
        self.whole = {}
        self.sites = {}

    def mutants(self):
        """In the order in which they are tried, without end until all were."""
        draw = random.Random(self.arguments.seed)
        while True:
            any_left = False
            for allocator in ALLOCATORS:
                sites = self.sites_of(allocator)
                operators = [operator for operator in mutation.OPERATORS if sites[operator]]
                if not operators:
                    continue
                any_left = True
                chosen = sites[draw.choice(operators)]
                yield chosen.pop(draw.randrange(len(chosen)))
            if not any_left:
                return

    def sites_of(self, allocator):
        if allocator not in self.sites:
            self.sites[allocator] = collections.defaultdict(list)
            for path in self.workshop.build.headers(allocator):
                for mutant in mutation.mutants_of(allocator, ROOT, path):
                    self.sites[allocator][mutant.operator].append(mutant)
        return self.sites[allocator]

    def changed_object(self, mutant):
        """Nothing where the mutant does not compile, or to the same code."""
        if mutant.allocator not in self.whole:
            self.whole[mutant.allocator] = self.workshop.compile(mutant.allocator, "check").read_bytes()
        target = self.with_mistake(mutant, "check")
        return target if target is not None and target.read_bytes() != self.whole[mutant.allocator] else None

    def with_mistake(self, mutant, variant):
        path = self.workshop.sources / mutant.path
        source = (ROOT / mutant.path).read_text(encoding="utf-8")
        path.write_text(mutant.applied_to(source), encoding="utf-8")
        try:
            return self.workshop.compile(mutant.allocator, variant)
        finally:
            path.write_text(source, encoding="utf-8")

    def findings(self, mutant, target):
        self.workshop.link(mutant.allocator, "check", target)

        def can_race():
            if "tsan" not in self.workshop.variants or self.arguments.race_seeds == 0:
                return False
            racing = self.with_mistake(mutant, "tsan")
            self.workshop.link(mutant.allocator, "tsan", racing)
            return True

        return self.search.findings(can_race)

    def run(self, known):
        """(mutant, findings) for each that is not known."""
        done = 0
        for mutant in self.mutants():
            if done == self.arguments.mutants:
                return
            if self.arguments.only and not any(text in mutant.name for text in self.arguments.only):
                continue
            if mutant.name in known:
                done += 1
                continue
            target = self.changed_object(mutant)
            if target is None:
                continue
            done += 1
            yield mutant, self.findings(mutant, target)


def read_verdicts():
    """{name of a mutant: (word, reason)}; the word is equivalent or open."""
    lines = [line for line in VERDICTS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {name: (word, reason) for name, word, reason in (line.split(" ", 2) for line in lines)}


def changed_line(mutant):
    source = (ROOT / mutant.path).read_text(encoding="utf-8")
    at = source.rfind("\n", 0, mutant.begin) + 1
    text = source[at:mutant.begin] + mutant.text + source[mutant.end:].split("\n")[0]
    return " ".join(text.split())


def row_of(mutant, findings, verdicts):
    if not findings:
        word, reason = verdicts.get(mutant.name, ("survives", "not judged yet"))
        return f"{mutant.name} | {word}: {reason} | {changed_line(mutant)}"
    best = min(findings, key=lambda cell: cell["summary"].startswith("invariant broken"))
    by = "invariant alone" if best["summary"].startswith("invariant broken") else best["outcome"]
    return f"{mutant.name} | killed: {by}, {len(findings)} models, {best['seed_string']} | {changed_line(mutant)}"


def summary(rows):
    """The rates, for the end of the table."""
    fates = collections.Counter(row.split(" | ")[1].split(":")[0] for row in rows)
    judged = sum(fates.values()) - fates["equivalent"]
    alone = sum("killed: invariant alone" in row for row in rows)
    if judged == 0:
        return "no mutant was judged"
    return (f"{sum(fates.values())} mutants, {fates['equivalent']} equivalent; of the other {judged}: {fates['killed']} killed "
            f"({100 * fates['killed'] / judged:.0f} %), {alone} of them by an invariant alone; {fates['open']} open, {fates['survives']} not judged")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn")
    parser.add_argument("--seeds", type=int, default=10000, help="schedules for each mutant, at most")
    parser.add_argument("--race-seeds", type=int, default=150)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="mutants whose name has this text")
    parser.add_argument("--no-invariants", action="store_true", help="without the allocators' own broken_invariant()")
    parser.add_argument("--out", type=pathlib.Path, help="also write the table here")
    parser.add_argument("--resume", action="store_true", help="with --out: keep the rows of that table")
    arguments = parser.parse_args()
    verdicts = read_verdicts()
    rows = [line for line in arguments.out.read_text(encoding="utf-8").splitlines() if " | " in line] if arguments.resume else []
    known = {row.split(" | ")[0] for row in rows}
    with tempfile.TemporaryDirectory(prefix="allocbench-mutants-") as folder:
        for mutant, findings in Hunt(arguments, pathlib.Path(folder)).run(known):
            rows.append(row_of(mutant, findings, verdicts))
            print(rows[-1], flush=True)
            if arguments.out:
                arguments.out.write_text("\n".join([*rows, "", summary(rows)]) + "\n", encoding="utf-8")
    print(summary(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
