"""Tests `allocbench check` as users run it, with the bug zoo (ALLOCBENCH_ZOO) and the real allocators.

The bug zoo has specimens, allocators that are broken on purpose. Each specimen must be found, its repaired twin must be
clean, and a finding must replay. The environment sets the counts and the allocators. `make test` searches a sample,
`make test-all` all allocators, and `make check-full` all allocators with full counts.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["ALLOCBENCH_PROGRAM"]
WORKERS = os.environ["ALLOCBENCH_WORKERS_BUILT"]
ZOO = os.environ["ALLOCBENCH_ZOO"]
SEEDS = os.environ.get("ALLOCBENCH_ZOO_SEEDS", "1500")
REPAIRED_SEEDS = os.environ.get("ALLOCBENCH_ZOO_REPAIRED_SEEDS", "1500")
REPAIRED_RACE_SEEDS = "150"
REPLAYS = os.environ.get("ALLOCBENCH_ZOO_REPLAYS", "5")
CHECK_SEEDS = os.environ.get("ALLOCBENCH_CHECK_SEEDS", "600")
# The variable lists registrations, separated by commas. If it is empty, all are searched.
SAMPLE = set(filter(None, os.environ.get("ALLOCBENCH_CHECK_ALLOCATORS", "").split(",")))
RACES = pathlib.Path(ZOO, "allocbench-worker-tsan").exists()
RACES_OF_ALLOCATORS = pathlib.Path(WORKERS, "allocbench-worker-tsan").exists()

# These bugs concern the order of memory accesses. Only the race build shows them, because no interleaving on one
# processor does.
RACE_BUGS = {"zoo_missing_acquire", "zoo_missing_release"}

# Each of these bugs shows only in the models that its entry names. The report must contain the text of the entry.
SHOWN_BY = {
    "zoo_unmerged_buddies": ({"small_then_large", "large_then_small", "second_heap_sizes", "second_heap_turns"}, "lost when sizes change"),
    "zoo_null_free": ({"free_null", "full_of_nulls", "second_heap_turns"}, "handed out twice"),
    "zoo_null_clears_bit": ({"full_of_nulls", "second_heap_turns"}, "handed out twice"),
    "zoo_null_loses_slot": ({"free_null", "full_of_nulls", "second_heap_turns"}, "lost forever"),
    "zoo_forgetful_reset": ({"reset", "full_reset"}, "not new after reset()"),
}

# Only a search with held stores finds these bugs.
STORE_BUGS = {"zoo_missed_mark"}

# This bug appears if one warp must make slabs of many sizes, which no built-in model does.
SLOW_MAKER = "zoo_rocm_slow_maker"
MANY_SIZES = pathlib.Path(__file__).parent / "models" / "findings" / "many_sizes.json"

# These models test memory that changes between sizes, and these specimens are searched with them.
SIZE_MODELS = {path.stem: path for path in pathlib.Path(__file__).parent.joinpath("models").glob("*.json")}
SIZE_BUGS = {"zoo_comb_unchecked_claim", "zoo_comb_partial_retirement", "zoo_comb_late_class", "zoo_comb_kept_guess"}
WITH_SIZE_MODELS = [item for path in SIZE_MODELS.values() for item in ("--model", str(path))]
# These models test Comb's guesses and its table of classes, so BulkAlloc is searched without them.
ONLY_COMB = {"wrong_guesses", "free_at_once"}


def check(*arguments, workers=ZOO, expect=None, cwd=None):
    result = subprocess.run([PROGRAM, "check", "--workers", workers, *arguments], capture_output=True, text=True,
                            check=False, cwd=cwd)
    if expect is not None and result.returncode != expect:
        raise AssertionError(f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result


def where_built(built, *options):
    """Returns the options of a search for races, or --no-races without a race build."""
    return [*options] if built else ["--no-races"]


def specimens():
    text = check("--list", "--all", expect=0).stdout
    names = [line.strip() for line in text[:text.index("models\n")].splitlines()[1:]]
    broken = [name for name in names if not name.endswith("_repaired")]
    return broken, [name for name in names if name.endswith("_repaired")]


class PluginsThatCannotBeUsed(unittest.TestCase):
    """These tests use a copy of the checking workers with one plug-in, atomic_malloc."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="allocbench-check-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for variant in ("check", "tsan") if RACES_OF_ALLOCATORS else ("check",):
            self.plugins(variant).mkdir(parents=True)
            shutil.copy(pathlib.Path(WORKERS, f"allocbench-worker-{variant}"), self.folder)
            shutil.copy(pathlib.Path(WORKERS, "plugins", variant, "atomic_malloc.so"), self.plugins(variant))

    def plugins(self, variant):
        return self.folder / "plugins" / variant

    def check(self, *arguments, expect):
        return check("--model", "one_lane", "--seeds", "20", "--race-seeds", "5", "--out", str(self.folder / "out"), *arguments,
                     workers=self.folder, expect=expect)

    def test_a_damaged_one_is_named_and_the_others_are_checked(self):
        whole = (self.plugins("check") / "atomic_malloc.so").read_bytes()
        (self.plugins("check") / "damaged.so").write_bytes(whole[:len(whole) // 2])
        result = self.check(expect=3)
        self.assertIn(f"the plug-in damaged is unusable: {self.plugins('check') / 'damaged.so'}: it is damaged", result.stderr)
        self.assertRegex(result.stdout, r"atomic_malloc: nothing found in \d+ schedules on 1 model")
        self.check("--allocator", "atomic_malloc", *where_built(RACES_OF_ALLOCATORS), expect=0)
        self.assertIn('The allocator "damaged" cannot be checked', self.check("--allocator", "damaged", expect=2).stderr)

    def test_without_the_race_build_the_search_for_races_is_left_out(self):
        (self.folder / "allocbench-worker-tsan").unlink(missing_ok=True)
        result = self.check("--allocator", "atomic_malloc", expect=3)
        self.assertIn("no search for races: allocbench-worker-tsan is missing", result.stderr)
        self.assertIn("some checks were left out", result.stderr)
        self.check("--allocator", "atomic_malloc", "--no-races", expect=0)

    @unittest.skipUnless(RACES_OF_ALLOCATORS, "no race build")
    def test_a_plugin_for_schedules_sees_no_races(self):
        shutil.copy(self.plugins("check") / "atomic_malloc.so", self.plugins("tsan"))
        result = self.check("--allocator", "atomic_malloc", expect=3)
        self.assertIn("it is for allocbench-worker-check, this is allocbench-worker-tsan. Move it into the folder plugins/check", result.stderr)
        self.assertIn("does not contain atomic_malloc, so races of atomic_malloc are not searched for", result.stderr)
        self.assertRegex(result.stdout, r"atomic_malloc: nothing found in 20 schedules on 1 model, 0 race runs\n")


class ZooGate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="allocbench-zoo-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.broken, cls.repaired = specimens()
        if not RACES:
            cls.broken = [name for name in cls.broken if name not in RACE_BUGS]
        def search(names, *more):
            options = [item for name in names for item in ("--allocator", name)]
            result = check(*options, "--seeds", SEEDS, "--json", "--out", str(cls.folder), *more, expect=1)
            return json.loads(result.stdout)["cells"]

        # A search for races takes long. So races are searched only in RACE_BUGS, which only that search finds.
        others = STORE_BUGS | RACE_BUGS | SIZE_BUGS | {SLOW_MAKER}
        cls.cells = search([name for name in cls.broken if name not in others], "--no-races")
        cls.cells += search([SLOW_MAKER], "--no-races", "--model", str(MANY_SIZES))
        cls.cells += search(sorted(SIZE_BUGS), "--no-races", *WITH_SIZE_MODELS)
        if RACES:
            cls.cells += search(sorted(RACE_BUGS), "--race-seeds", "19")
        cls.cells += search(sorted(STORE_BUGS), "--strategy", "swarm+stores", "--no-races")

    def findings(self, name):
        return [cell for cell in self.cells if cell["allocator"] == name and cell["outcome"] not in ("ok", "unsupported")]

    def test_at_least_twenty_three_specimens(self):
        self.assertGreaterEqual(len(self.broken) + (0 if RACES else len(RACE_BUGS)), 23)

    def test_every_broken_one_is_found(self):
        for name in self.broken:
            with self.subTest(name):
                found = {cell["outcome"] for cell in self.findings(name)}
                self.assertTrue(found, "not found")
                if name in RACE_BUGS:
                    self.assertEqual(found, {"race"})

    def test_the_models_for_sizes_null_and_reset_find_what_no_other_does(self):
        for name, (models, words) in SHOWN_BY.items():
            with self.subTest(name):
                found = [cell for cell in self.findings(name) if cell["part"] == "schedules"]
                self.assertLessEqual({cell["model"] for cell in found}, models)
                self.assertTrue(any(words in cell["summary"] for cell in found), found)

    def test_only_held_stores_show_a_missed_mark(self):
        with tempfile.TemporaryDirectory() as folder:
            for strategy in ("random", "pct", "lockstep", "round_robin/1"):
                check("--allocator", "zoo_missed_mark", "--strategy", strategy, "--seeds", SEEDS, "--no-races", "--out",
                      folder, expect=0)

    def test_the_table_of_strategies_has_a_column_for_held_stores(self):
        table = check("--allocator", "zoo_missed_mark", "--model", "storm", "--model", "exhaustion", "--by-strategy",
                      "--seeds", "2000", "--no-races", expect=0).stdout
        header, _, row = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("|")]
        shares = {name.strip(): share.strip() for name, share in zip(header, row)}
        self.assertEqual({shares[name] for name in ("random/1", "random/64", "pct/3", "lockstep")}, {"–"})
        self.assertNotEqual(shares["swarm+stores"], "–")

    def test_printed_commands_work_as_printed(self):
        with tempfile.TemporaryDirectory(prefix="allocbench zoo ") as folder:
            model = json.loads(check("--print-model", "pair", expect=0).stdout)
            model["name"] = "mine"
            path = pathlib.Path(folder, "a model.json")
            path.write_text(json.dumps(model), encoding="utf-8")
            for more in (["--model", "pair"], ["--model", str(path)], ["--model", "pair", "--strategy", "dfs/2"]):
                found = check("--allocator", "zoo_lost_update", "--no-races", "--out", folder, *more, expect=1)
                command = next(line.strip() for line in found.stdout.splitlines() if "--replay" in line)
                replay = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
                self.assertEqual(replay.returncode, 1, f"{command}\n{replay.stdout}{replay.stderr}")
                self.assertIn("2 of 2 repetitions identical", replay.stdout)

    def test_findings_replay_identically(self):
        for name in self.broken:
            schedules = [cell for cell in self.findings(name) if cell["part"] == "schedules"]
            if not schedules:
                continue
            with self.subTest(name):
                cell = schedules[0]
                stored = self.folder / f"{name}-{cell['model']}.json"
                path = {MANY_SIZES.stem: MANY_SIZES, **SIZE_MODELS}.get(cell["model"])
                mine = ["--model", str(path)] if path else []
                for what, model in ((cell["seed_string"], mine), (str(stored), [])):
                    result = check("--replay", what, *model, "--times", REPLAYS, "--out", str(self.folder), expect=1)
                    self.assertIn(f"{REPLAYS} of {REPLAYS} repetitions identical", result.stdout)
                    self.assertIn(cell["outcome"], result.stdout.splitlines()[0])

    @unittest.skipUnless(RACES, "no race build here")
    def test_a_race_replays_under_the_race_build(self):
        for name in sorted(RACE_BUGS):
            with self.subTest(name):
                seed = next(cell["seed_string"] for cell in self.findings(name))
                self.assertTrue(seed.endswith(":race"), seed)
                result = check("--replay", seed, "--times", "2", "--out", str(self.folder), expect=1)
                self.assertTrue(result.stdout.startswith("race: data-race"), result.stdout)
                self.assertIn("2 of 2 repetitions identical", result.stdout)
                # Without the race build, the same schedule shows nothing, because the values are right.
                check("--replay", seed.removesuffix(":race"), "--out", str(self.folder), expect=0)

    def test_a_finding_shrinks_to_the_decisions_that_matter(self):
        cell = next(cell for cell in self.findings("zoo_lost_update") if cell["model"] == "pair")
        stored = self.folder / f"zoo_lost_update-{cell['model']}.json"
        result = check("--replay", str(stored), "--shrink", "--out", str(self.folder), expect=1)
        shrunk = json.loads((self.folder / "shrunk" / stored.name).read_text(encoding="utf-8"))
        # One lane is interrupted between its load and its store.
        self.assertLessEqual(shrunk["schedule"].count(",") + 1, 3, shrunk["schedule"])
        self.assertIn("handed out twice", result.stdout)

    def test_shrinking_starts_from_other_failures_as_well(self):
        # In `storm`, 32 lanes meet. From one schedule alone, shrinking often stops with a dozen decisions.
        for cell in self.findings("zoo_early_unlock"):
            if cell["model"] not in ("storm", "exhaustion") or cell["part"] != "schedules":
                continue
            result = check("--replay", cell["seed_string"], "--shrink", "--out", str(self.folder), expect=1)
            first = result.stdout.splitlines()[0]
            self.assertRegex(first, r"^shrunk from \d+ to [01] decisions?\. Tried \d+ runs, starting from \d+ failing schedules")
            self.assertGreater(int(first.split(" failing")[0].split()[-1]), 5, first)

    def test_the_repaired_twins_are_clean(self):
        options = [item for name in self.repaired for item in ("--allocator", name)]
        # The race build does not hold stores back.
        for more in (["--strategy", "swarm", *where_built(RACES, "--race-seeds", REPAIRED_RACE_SEEDS)], ["--strategy", "swarm+stores", "--no-races"]):
            result = check(*options, "--seeds", REPAIRED_SEEDS, *more, "--out", str(self.folder / "repaired"))
            self.assertEqual(result.returncode, 0, result.stdout)
        for name, models in (("zoo_comb_repaired", WITH_SIZE_MODELS),
                             (SLOW_MAKER + "_repaired", ["--model", str(MANY_SIZES)])):
            check("--allocator", name, *models, "--seeds", REPAIRED_SEEDS, "--no-races", "--out",
                  str(self.folder / "repaired"), expect=0)

    @unittest.skipUnless(RACES, "no race build here")
    def test_bits_with_memory_orders_do_not_race_where_published_ones_do(self):
        model = str(pathlib.Path(__file__).parent / "models" / "findings" / "aged_slab.json")
        twins = [item for name in self.repaired if name.endswith("_relaxed_bits_repaired") for item in ("--allocator", name)]
        self.assertEqual(len(twins), 2 * len(listed("race") - {"ouroboros_c_va"}), "a twin for each of docs/findings.md that races by its bits")
        with tempfile.TemporaryDirectory() as folder:
            check(*twins, "--model", model, "--model", "ring", "--model", "second_heap_sizes", "--seeds", "150", "--race-seeds", "450",
                  "--out", folder, expect=0)


def table_of(what):
    """Returns the section "Registrations that `what`" of docs/findings.md."""
    text = pathlib.Path(__file__).parents[2].joinpath("docs", "findings.md").read_text(encoding="utf-8")
    return text.split(f"## Registrations that {what}\n")[1].split("## ")[0]


def searched(names):
    """Returns the registrations that this run searches."""
    return [name for name in names if not SAMPLE or name in SAMPLE]


def listed(what):
    """Returns the registrations in the table `what`: "must fail" or "race"."""
    return set(re.findall(r"^\| `(\w+)` \|", table_of(what), re.M))


def listed_with_model():
    """Returns {registration: the one built-in model that finds it}."""
    return dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", table_of("fail in one model"), re.M))


class RealAllocators(unittest.TestCase):
    """These tests search the suite's allocators with reduced counts. Exactly the allocators of docs/findings.md must
    break.
    """

    def test_nothing_else_is_found(self):
        text = check("--list", workers=WORKERS, expect=0).stdout
        names = [line.strip() for line in text[:text.index("models\n")].splitlines()[1:]]
        self.assertLessEqual(SAMPLE, set(names))
        models = [line.split()[0] for line in text[text.index("models\n"):text.index("strategies\n")].splitlines()[1:] if line]
        in_one = {name: model for name, model in listed_with_model().items() if name in searched(names)}
        sound = set(searched(names)) - listed("must fail") - in_one.keys()
        racing = set(searched(listed("race")))
        self.assertTrue(racing)
        self.assertLessEqual(racing, sound)
        few_races = where_built(RACES_OF_ALLOCATORS, "--race-seeds", "30")
        searches = [(sound - racing, few_races), (racing, ["--no-races"])]
        for name, failing in in_one.items():
            self.assertIn(failing, models)
            searches.append(({name}, [item for model in models if model != failing for item in ("--model", model)] + few_races))
        for chosen, more in searches:
            options = [item for name in sorted(chosen) for item in ("--allocator", name)]
            with tempfile.TemporaryDirectory() as folder:
                result = check(*options, "--seeds", CHECK_SEEDS, *more, "--out", folder, workers=WORKERS)
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_those_whose_memory_changes_between_sizes(self):
        with tempfile.TemporaryDirectory() as folder:
            all_models = {"bulkalloc": SIZE_MODELS.keys() - ONLY_COMB, "comb": SIZE_MODELS.keys()}
            for name in searched(all_models):
                models = all_models[name]
                options = [item for model in sorted(models) for item in ("--model", str(SIZE_MODELS[model]))]
                for strategy in ("swarm", "swarm+stores"):
                    check("--allocator", name, *options, "--strategy", strategy, "--seeds", CHECK_SEEDS, "--out", folder,
                          *where_built(RACES_OF_ALLOCATORS, "--race-seeds", "30"), workers=WORKERS, expect=0)

    def test_a_crowd_that_a_small_heap_refuses_gets_null_and_its_memory_comes_back(self):
        # With these seeds, whole warps walk in vain, lanes share pages and blocks, or a crowd takes queue chunks.
        seeds = {"rw": 1, "rw_reworked": 1, "rw_malloc": 1, "rw_malloc_reworked": 1, "rw_bm": 3, "crw": 3, "corw": 3, "gallatin": 4, "xmalloc": 4,
                 "fdgmalloc": 17, "xmalloc_reworked": 1, "xmalloc_device_heap_reworked": 1, "ouroboros_c_va_reworked": 4}
        for name in searched(seeds):
            seed = seeds[name]
            with self.subTest(name, seed=seed):
                check("--replay", f"v1:{name}:crowded_warp:swarm:{seed}", "--times", "1", workers=WORKERS, expect=0)

    def test_what_is_known_to_break_is_found(self):
        breaking = searched(sorted(listed("must fail")))
        self.assertTrue(breaking)
        for name in breaking:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                check("--allocator", name, "--model", "mixed_sizes", "--model", "ping_pong", "--model", "cross_warp_free",
                      "--seeds", "300", "--no-races", "--out", folder, workers=WORKERS, expect=1)

    def test_what_fails_in_one_model_is_found(self):
        self.assertTrue(listed_with_model())
        for name, model in listed_with_model().items():
            if name not in searched([name]):
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                check("--allocator", name, "--model", model, "--seeds", "300", "--no-races", "--out", folder, workers=WORKERS, expect=1)


class Coverage(unittest.TestCase):
    """These tests run rocm_dm with one schedule for each model."""

    def test_lines_that_no_model_reaches_are_listed(self):
        done = check("--coverage", "--allocator", "rocm_dm", "--seeds", "1", "--quiet", workers=WORKERS)
        self.assertEqual(done.returncode, 1, done.stderr)  # with so few schedules, some unreached lines have no reason
        *rows, last = done.stdout.splitlines()
        numbers = re.fullmatch(r"(\d+) lines of \d+ headers are not reached, (\d+) of them without a reason", last)
        self.assertEqual([len(rows), sum(row.endswith(" | no reason yet") for row in rows)], [int(number) for number in numbers.groups()])
        kept = pathlib.Path(__file__).with_name("reach").joinpath("lines.txt").read_text(encoding="utf-8").splitlines()
        never = {row for row in kept if row.startswith("allocators/rocm_dm/")}
        self.assertTrue(never)
        self.assertLessEqual(never, set(rows))
        self.assertFalse([row for row in rows if "refuses(bytes)" in row])

    def test_workers_outside_of_a_build_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(pathlib.Path(WORKERS, "allocbench-worker-check"), folder)
            refused = check("--coverage", workers=folder, expect=3).stderr
            self.assertIn(f"{folder} is not the folder bin of a build. Run `make build` in the source tree, then", refused)

    def test_it_takes_no_model(self):
        self.assertIn("--model excludes --coverage", check("--coverage", "--model", "ring", expect=2).stderr)


class Usage(unittest.TestCase):
    def test_seeds_begin_where_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            found = check("--allocator", "zoo_lost_update", "--model", "pair", "--first-seed", "1000", "--jobs", "1", "--no-races", "--json",
                          "--out", folder, expect=1)
            seed = int(json.loads(found.stdout)["cells"][0]["seed_string"].split(":")[-1])
            self.assertGreaterEqual(seed, 1000)
            self.assertLess(seed, 1100)

    def test_counts_have_limits(self):
        for option, value in (("--seeds", "0"), ("--seeds", str(10**13)), ("--race-seeds", str(2**64 - 1)), ("--jobs", "1001")):
            with self.subTest(option=option, value=value):
                self.assertIn(f"{option}: Value {value} not in range", check(option, value, "--list", expect=2).stderr)

    def test_json_is_refused_where_it_would_do_nothing(self):
        for other in (["--list"], ["--by-strategy"], ["--print-model", "ring"], ["--replay", "v1:zoo_lost_update:pair:swarm:1"]):
            with self.subTest(option=other[0]):
                self.assertRegex(check("--json", *other, expect=2).stderr, f"--json excludes {other[0]}|{other[0]} excludes --json")

    def test_the_largest_search_needs_no_more_memory_than_a_small_one(self):
        with tempfile.TemporaryDirectory() as folder:
            found = check("--allocator", "zoo_lost_update", "--model", "pair", "--seeds", str(10**12), "--no-races", "--out",
                          folder, expect=1)
            self.assertIn("1 of 1 cell failed", found.stdout)

    def test_cells_that_an_interrupt_prevents_are_not_called_ok(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([PROGRAM, "check", "--workers", ZOO, "--allocator", "zoo_aba_repaired", "--seeds",
                                        "100000000", "--no-races", "--json", "--jobs", "1", "--out", folder],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, stderr)
            cells = json.loads(stdout)["cells"]
            self.assertEqual({cell["outcome"] for cell in cells if cell["tried"] == 0}, {"not tried"})
            self.assertTrue(all(cell["tried"] < cell["planned"] for cell in cells))

    def test_a_folder_for_findings_is_checked_before_the_search(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "file")
            file.touch()
            found = check("--allocator", "zoo_lost_update_repaired", "--seeds", str(10**12), "--no-races", "--out", str(file / "out"), expect=3)
            self.assertIn(f"Cannot create the folder {file}/out: Not a directory.", found.stderr)

    def test_the_output_is_short_without_verbose(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["--allocator", "zoo_lost_update", "--seeds", SEEDS, "--no-races", "--out", folder]
            short = check(*arguments, expect=1)
            lines = short.stdout.splitlines()
            self.assertRegex(lines[0], r"^zoo_lost_update: \d+ findings in \d+ schedules on \d+ models$")
            self.assertRegex(lines[1], r"^  \w+ \(failed check\): .*handed out twice")
            self.assertEqual(short.stdout.count("--replay"), 1)
            self.assertIn("--verbose", short.stderr)
            verbose = check(*arguments, "--verbose", expect=1).stdout
            self.assertGreater(verbose.count("--replay"), 1)
            self.assertRegex(verbose, r"(?m)^models:.*1 one_lane")

    def test_unknown_names_get_a_suggestion(self):
        result = check("--allocator", "zoo_lost_updat", expect=2)
        self.assertIn('There is no allocator "zoo_lost_updat" (did you mean "zoo_lost_update"?)', result.stderr)
        result = check("--model", "rin", expect=2)
        self.assertIn('There is no model or file "rin" (did you mean "ring"?)', result.stderr)

    def test_a_model_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            model = json.loads(check("--print-model", "pair", expect=0).stdout)
            model["name"] = "mine"
            path = pathlib.Path(folder, "mine.json")
            path.write_text(json.dumps(model), encoding="utf-8")
            result = check("--allocator", "zoo_lost_update", "--model", str(path), "--no-races", "--out", folder, expect=1)
            self.assertIn("v1:zoo_lost_update:mine:swarm:", result.stdout)
            seed = next(line.split()[-1] for line in result.stdout.splitlines() if "--replay" in line)
            check("--replay", seed, "--model", str(path), expect=1)

    def test_mistakes_of_a_model_are_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "mine.json")
            path.write_text('{"name": "mine", "steps": [{"do": "mallok"}]}', encoding="utf-8")
            result = check("--allocator", "zoo_lost_update", "--model", str(path))
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn('model "mine":\n  /steps/0/do', result.stderr)
            # Models and schedules of findings are checked as well.
            finding = {"format": 1, "allocator": "zoo_lost_update", "model": json.loads(path.read_text(encoding="utf-8"))}
            path.write_text(json.dumps(finding), encoding="utf-8")
            self.assertIn('model "mine":\n  /steps/0/do', check("--replay", str(path), expect=2).stderr)
            finding["model"] = {"name": "mine", "steps": [{"do": "malloc"}]}
            path.write_text(json.dumps({**finding, "schedule": "v1:1:x"}), encoding="utf-8")
            self.assertIn("the schedule is not valid", check("--replay", str(path), expect=2).stderr)

    def test_an_unknown_strategy_is_told(self):
        result = check("--allocator", "zoo_lost_update", "--strategy", "lockstp", expect=2)
        self.assertIn('"lockstp" is not a strategy; the strategies are swarm,', result.stderr)

    def test_exhaustive_search_of_two_lanes(self):
        with tempfile.TemporaryDirectory() as folder:
            found = check("--allocator", "zoo_lost_update", "--model", "pair", "--strategy", "dfs/2", "--no-races",
                          "--seeds", "100000", "--out", folder)
            self.assertEqual(found.returncode, 1, found.stdout)
            stored = next(line.split()[-1] for line in found.stdout.splitlines() if "--replay" in line)
            self.assertIn("2 of 2 repetitions identical", check("--replay", stored, "--out", folder, expect=1).stdout)
            check("--allocator", "zoo_lost_update_repaired", "--model", "pair", "--strategy", "dfs/2", "--no-races",
                  "--seeds", "100000", "--out", folder, expect=0)

    def test_bad_replay(self):
        self.assertIn("neither a file nor a seed string", check("--replay", "v1:x:y", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
