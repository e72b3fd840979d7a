"""Measures how many mistakes `allocbench check` finds. It puts small mistakes into the headers of shipped allocators,
one at a time, and searches.

    python3 -B mutants.py --build BUILD [--mutants 60] [--seed 1] [--seeds 10000] [--race-seeds 150] [--only TEXT]... [--model NAME|FILE]...
                          [--no-invariants] [--folder FOLDER] [--out FILE [--resume]]

The build folder must have the checking workers and the plug-ins of these allocators. --seed decides the mutants: the
allocators take turns, and each turn draws an operator and a place. A mutant that does not compile, or compiles to the
same code, is replaced. The search of a mutant stops at the first kill. A surviving mutant is searched again: with
swarm+loads if it weakens a memory order, else with conflicts. A mutant that only an invariant kills is searched again
without the allocators' own broken_invariant(). In a last search of a survivor, the place of the mistake ends the
process. If this search finds nothing, no model reaches the place. `verdicts.txt` says which survivors are equivalent,
and why.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys

import mutation
from plugin_build import ROOT, PluginBuild

ALLOCATORS = ("bulkalloc", "cfm_malloc_reworked", "comb", "halloc_reworked", "kma_reworked", "kokkos_memory_pool", "ouroboros_p_reworked",
              "rw_bm_reworked", "scatteralloc_reworked", "simple_queue_reworked")
VERDICTS = pathlib.Path(__file__).parent / "mutants" / "verdicts.txt"
TABLE = VERDICTS.with_name("table.txt")
INVARIANT = "requires { allocator.broken_invariant(stream); }"
INVARIANT_ALONE = "invariant alone"
COMPILED_AHEAD = 3
# The default search does not include this strategy.
OLD_VALUES = "swarm+loads"
CONFLICTS = "conflicts"
# The unit has only the plug-in's first registration, because the others take time to compile.
UNIT = """struct allocbench_reached {
  template <class T>
  T operator->*(T value) const { __builtin_trap(); return value; }
};
#include "@header@"
#include "check/plugin.hpp"
#include "check/@subject@.hpp"

template <class First, class... Others>
allocbench::AllocatorList<First> first_of(allocbench::AllocatorList<First, Others...>);

void allocbench_add_subjects(allocbench::check::SubjectList* subjects) {
  allocbench::check::add_subjects(*subjects, "@plugin@", decltype(first_of(allocbench::plugins::@plugin@{})){});
}
"""


class Workshop:
    """A workshop has a copy of the sources, folders for mutants, and a folder of checking workers with one plug-in."""

    def __init__(self, build, folder, races):
        self.build = PluginBuild(build)
        self.folder = (folder or self.build.folder / "mutants").resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.sources = self.folder / "sources"
        self.workers = self.folder / "workers"
        self.objects = self.folder / "objects"
        for part in ("allocators", "check"):
            shutil.copytree(ROOT / part, self.sources / part)
        text = (ROOT / "check" / "subject_of.hpp").read_text(encoding="utf-8")
        assert INVARIANT in text, "check/subject_of.hpp: no longer asks for broken_invariant()"
        (self.sources / "check" / "subject_without_invariants.hpp").write_text(text.replace(INVARIANT, f"false && {INVARIANT}"), encoding="utf-8")
        wanted = ("check", "tsan") if races else ("check",)
        self.variants = self.build.workers_in(self.workers, wanted)
        for variant in wanted:
            if variant not in self.variants:
                raise SystemExit(f"mutants.py: {self.build.program(f'allocbench-worker-{variant}')} is missing: build it, or leave races out by "
                                 "--race-seeds 0.")
        self.ahead = concurrent.futures.ThreadPoolExecutor(COMPILED_AHEAD)
        self.started = {}

    def built_in_models(self):
        offer = subprocess.run([str(self.workers / "allocbench-worker-check"), "--describe"], capture_output=True, text=True, check=True).stdout
        return [model["name"] for model in json.loads(offer)["models"]]

    def compile(self, folder, plugin, variant, mutant=None, invariants=True):
        """Returns the object file, or None if the mutant does not compile. The object has the paths of the unchanged
        sources, so that equal code gives equal files.
        """
        header = self.build.header(plugin).removeprefix(f"{ROOT}/")
        subject = "subject_of" if invariants else "subject_without_invariants"
        unit = folder / f"{plugin}_{variant}.cpp"
        unit.parent.mkdir(parents=True)
        unit.write_text(UNIT.replace("@header@", header).replace("@plugin@", plugin).replace("@subject@", subject), encoding="utf-8")
        if mutant:
            path = folder / mutant.path
            path.parent.mkdir(parents=True)
            path.write_text(mutant.applied_to((self.sources / mutant.path).read_text(encoding="utf-8")), encoding="utf-8")
        target = unit.with_suffix(".o")
        return target if self.build.compile(plugin, variant, unit, target, sources=(folder, self.sources),
                                            more=(f"-ffile-prefix-map={folder}={self.sources}",)) else None

    def start(self, mutant, variant, invariants=True):
        """Begins to compile the mutant while searches run."""
        key = (mutant, variant, invariants)
        if key not in self.started:
            folder = self.objects / str(len(self.started))
            self.started[key] = (folder, self.ahead.submit(self.compile, folder, mutant.allocator, variant, mutant, invariants))

    def with_mistake(self, mutant, variant, invariants=True):
        self.start(mutant, variant, invariants)
        folder, later = self.started[mutant, variant, invariants]
        # A mutant that is needed now does not wait for mutants that are needed later.
        if later.cancel():
            later = concurrent.futures.Future()
            later.set_result(self.compile(folder, mutant.allocator, variant, mutant, invariants))
            self.started[mutant, variant, invariants] = (folder, later)
        return later.result()

    def link(self, plugin, variant, target):
        self.build.link(plugin, variant, target, self.workers)


def require_races(cells, warnings):
    """Stops if the race worker refused the plug-in. Missing cells must not count as "no race"."""
    models = {part: {cell["model"] for cell in cells if cell["part"] == part} for part in ("schedules", "races")}
    missing = models["schedules"] - models["races"]
    if missing:
        raise SystemExit(f"mutants.py: the race worker did not search {', '.join(sorted(missing))}. `check` says:\n{warnings}"
                         "Build allocbench-worker-tsan and its plug-ins from these sources, then go on with --resume.")


class Search:
    """A search runs `allocbench check` on the plug-in in the workshop."""

    def __init__(self, arguments, workshop):
        self.arguments = arguments
        self.workshop = workshop
        self.models = arguments.model or workshop.built_in_models()

    def cells(self, *more, models=None):
        models = [word for model in models or self.models for word in ("--model", model)]
        done = subprocess.run([str(self.workshop.build.program("allocbench")), "check", "--workers", str(self.workshop.workers), "--jobs", "1",
                               "--json", "--out", str(self.workshop.folder / "out"), *models, *more], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr)
        cells = json.loads(done.stdout)["cells"]
        if "--race-seeds" in more:
            require_races(cells, done.stderr)
        return cells

    def findings(self, *more, models=None):
        """Returns the findings. A hang in the race build is not a finding, because a busy machine causes hangs, too."""
        return [cell for cell in self.cells(*more, models=models)
                if cell["outcome"] not in ("ok", "unsupported") and (cell["part"], cell["outcome"]) != ("races", "hang")]

    def a_few_models_at_a_time(self, option, runs, *more):
        """Makes `runs` runs, spread over all models, and searches four models at a time. If four models give a finding,
        it stops after them, because crashes and races in all models take long.
        """
        per_model = -(-runs // len(self.models))
        for first in range(0, len(self.models), 4):
            models = self.models[first:first + 4]
            found = self.findings(option, str(per_model * len(models)), *more, models=models)
            if found:
                return found
        return []

    def by_schedules(self, seeds):
        return self.a_few_models_at_a_time("--seeds", 1, "--no-races") or self.a_few_models_at_a_time("--seeds", seeds, "--no-races")

    def races(self):
        return self.a_few_models_at_a_time("--race-seeds", self.arguments.race_seeds, "--seeds", "1")

    def by_strategy(self, strategy):
        return self.a_few_models_at_a_time("--seeds", self.arguments.seeds, "--no-races", "--strategy", strategy)

    def in_stages(self, racing):
        """Searches in stages and stops at the first finding. Stages that are cheap or often find something come first.
        `racing` installs the plug-in of the race worker.
        """
        def races():
            if self.arguments.race_seeds == 0:
                return []
            racing()
            return self.races()

        return self.by_schedules(min(500, self.arguments.seeds)) or races() or self.by_schedules(self.arguments.seeds)


class Hunt:
    def __init__(self, arguments):
        self.arguments = arguments
        self.workshop = Workshop(arguments.build, arguments.folder, arguments.race_seeds != 0)
        self.search = Search(arguments, self.workshop)
        self.whole = {}

    def mutants(self):
        """Returns the mutants in the order of the search, with the allocators in turn."""
        drawn = [in_drawn_order([mutant for path in self.workshop.build.headers(allocator)
                                 for mutant in mutation.mutants_of(allocator, ROOT, path)], f"{self.arguments.seed} {allocator}")
                 for allocator in ALLOCATORS]
        return (mutant for turn in itertools.zip_longest(*drawn) for mutant in turn if mutant is not None)

    def changed_object(self, mutant):
        """Returns the object file of the mutant, or None if it does not compile or compiles to the same code."""
        if mutant.allocator not in self.whole:
            folder = self.workshop.objects / "whole" / mutant.allocator
            self.whole[mutant.allocator] = self.workshop.compile(folder, mutant.allocator, "check").read_bytes()
        target = self.workshop.with_mistake(mutant, "check")
        return target if target is not None and target.read_bytes() != self.whole[mutant.allocator] else None

    def searched(self, mutant, invariants):
        self.workshop.link(mutant.allocator, "check", self.workshop.with_mistake(mutant, "check", invariants))

        def racing():
            # A mutant that survives until here often survives all stages, so its last search is compiled already.
            self.workshop.start(self.ending(mutant), "check")
            target = self.workshop.with_mistake(mutant, "tsan", invariants)
            if target is None:
                raise SystemExit(f"mutants.py: {mutant.name} compiles for the checking worker, but not for the race worker")
            self.workshop.link(mutant.allocator, "tsan", target)

        found = self.search.in_stages(racing)
        return found or self.search.by_strategy(OLD_VALUES if mutant.operator == "order" else CONFLICTS)

    def ending(self, mutant):
        source = (self.workshop.sources / mutant.path).read_text(encoding="utf-8")
        return mutant.ending_there(source[mutant.begin:mutant.end])

    def reached(self, mutant):
        """Returns whether the search reaches the place of the mistake, or None if this is unknown."""
        target = self.workshop.with_mistake(self.ending(mutant), "check")
        if target is None:
            return None
        self.workshop.link(mutant.allocator, "check", target)
        return bool(self.search.by_schedules(self.arguments.seeds))

    def judged(self, mutant):
        """Returns the mutant's fate for the table."""
        found = self.searched(mutant, not self.arguments.no_invariants)
        if not found:
            return {True: "survives: reached", False: "survives: not reached", None: "survives: reach unknown"}[self.reached(mutant)]
        if all(by_invariant(cell) for cell in found):
            without = self.searched(mutant, False)
            if not without:
                return killed_by(found, INVARIANT_ALONE)
            found = without
        return killed_by([cell for cell in found if not by_invariant(cell)])

    def run(self, known):
        """Yields (mutant, fate) for each mutant that is not known."""
        done = 0
        only = self.arguments.only
        wanted = (mutant for mutant in self.mutants() if not only or any(text in mutant.name for text in only))
        for mutant in self.compiling_ahead(wanted, known):
            if done == self.arguments.mutants:
                break
            if mutant.name not in known and self.changed_object(mutant) is None:
                continue
            done += 1
            if mutant.name not in known:
                yield mutant, self.judged(mutant)
        self.workshop.ahead.shutdown(cancel_futures=True)

    def compiling_ahead(self, mutants, known):
        window = collections.deque()
        for mutant in mutants:
            if mutant.name not in known:
                for variant in self.workshop.variants:
                    self.workshop.start(mutant, variant)
            window.append(mutant)
            if len(window) > COMPILED_AHEAD:
                yield window.popleft()
        yield from window


def in_drawn_order(mutants, seed):
    """Draws an operator for each turn, which takes the next mutant of this operator. Hashes of the names order the
    mutants of an operator, so a new or removed mutant leaves the others of its operator in their order.
    """
    def place(mutant):
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()

    left = {operator: sorted((mutant for mutant in mutants if mutant.operator == operator), key=place, reverse=True)
            for operator in mutation.OPERATORS}
    turns = random.Random(seed)
    while any(left.values()):
        operator = turns.choice(mutation.OPERATORS)
        if left[operator]:
            yield left[operator].pop()


def by_invariant(cell):
    return cell["summary"].startswith("invariant broken")


def killed_by(cells, what=None):
    return f"killed: {what or cells[0]['outcome']}, {cells[0]['seed_string']}"


def read_verdicts():
    """Returns {name of a mutant: (word, reason)}. The word is `equivalent` or `open`."""
    lines = [line for line in VERDICTS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {name: (word, reason) for name, word, reason in (line.split(" ", 2) for line in lines)}


def with_verdict(row, verdicts):
    """Puts the verdict of a survivor at the beginning of its row."""
    name, fate, line = row.split(" | ", 2)
    if fate.startswith("killed") or name not in verdicts:
        return row
    word, reason = verdicts[name]
    return f"{name} | {word}: {reason} ({fate.removeprefix('survives: ')}) | {line}"


def without_verdict(row):
    name, fate, line = row.split(" | ", 2)
    found = re.match(r"(?:equivalent|open): .* \(([^()]*)\)$", fate)
    return f"{name} | survives: {found.group(1)} | {line}" if found else row


def summary(rows):
    """Returns the rates for the end of the table."""
    fates = collections.Counter(row.split(" | ")[1].split(":")[0] for row in rows)
    judged = sum(fates.values()) - fates["equivalent"]
    alone = sum(f"killed: {INVARIANT_ALONE}" in row for row in rows)
    more = {strategy: sum(f":{strategy}:" in row.split(" | ")[1] for row in rows) for strategy in (OLD_VALUES, CONFLICTS)}
    unreached = sum("not reached" in row.split(" | ")[1] and not row.split(" | ")[1].startswith("equivalent") for row in rows)
    if judged == 0:
        return "no mutant was judged"
    killed = fates["killed"]
    return (f"{sum(fates.values())} mutants, {fates['equivalent']} equivalent; of the other {judged}: {killed} killed ({100 * killed / judged:.0f} %), "
            f"{more[OLD_VALUES]} of them by {OLD_VALUES} alone, {more[CONFLICTS]} by {CONFLICTS} alone, "
            f"{killed - alone} with invariants off ({100 * (killed - alone) / judged:.0f} %); {fates['open']} open, "
            f"{judged - killed - fates['open']} not judged, {unreached} of both not reached")


def so_far(rows, mutants):
    return f"{len(rows)} of {mutants} so far: no rates yet"


def header(arguments, models):
    """Describes the search for the top of the table."""
    invariants = ", without the allocators' invariants" if arguments.no_invariants else ""
    return (f"# Mistakes drawn with seed {arguments.seed} from {len(ALLOCATORS)} allocators. Each: {arguments.seeds} schedules and "
            f"{arguments.race_seeds} race runs, spread over {models}{invariants}, or fewer until the first kill. "
            f"One that survives: as many with {OLD_VALUES} if it is a weaker order, else with {CONFLICTS}.")


def kept_rows(path, top, names):
    """Returns the rows of the table whose mutants exist."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else [top]
    if lines[0] != top:
        raise SystemExit(f"{path} has another search:\n{lines[0]}\nThis one is:\n{top}\nTo begin again, leave --resume out or remove the file.")
    return [without_verdict(line) for line in lines if " | " in line and line.split(" | ")[0] in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1, help="seed that decides the mutants")
    parser.add_argument("--seeds", type=int, default=10000, help="most schedules for each mutant")
    parser.add_argument("--race-seeds", type=int, default=150)
    parser.add_argument("--only", action="append", default=[], help="search only mutants whose name has this text")
    parser.add_argument("--model", action="append", default=[], help="model, as for allocbench check (default: the built-in models)")
    parser.add_argument("--no-invariants", action="store_true", help="search without the allocators' own broken_invariant()")
    parser.add_argument("--folder", type=pathlib.Path, help="folder for mutants; two searches at the same time need different folders")
    parser.add_argument("--out", type=pathlib.Path, help="also write the table here")
    parser.add_argument("--resume", action="store_true", help="with --out: keep the rows of that table")
    arguments = parser.parse_args()
    verdicts = read_verdicts()
    hunt = Hunt(arguments)
    top = header(arguments, f"{len(arguments.model)} models" if arguments.model else "the built-in models")
    rows = kept_rows(arguments.out, top, {mutant.name for mutant in hunt.mutants()}) if arguments.resume else []

    def table(last=None):
        shown = [with_verdict(row, verdicts) for row in rows]
        last = last or so_far(rows, arguments.mutants)
        if arguments.out:
            arguments.out.write_text("\n".join([top, "", *shown, "", last]) + "\n", encoding="utf-8")
        return shown

    for mutant, fate in hunt.run({row.split(" | ")[0] for row in rows}):
        rows.append(f"{mutant.name} | {fate} | {mutant.line}")
        print(table()[-1], flush=True)
    table(summary([with_verdict(row, verdicts) for row in rows]))
    print(summary([with_verdict(row, verdicts) for row in rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
