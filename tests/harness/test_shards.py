"""Tests `allocbench study --shard`, `allocbench merge` and the script of `--slurm`: several machines measure what one
machine would.
"""

import itertools
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from support import ended
from test_study import StudyTest


def statuses_and_rounds(folder):
    """Returns for each config and cell its status, and the number of samples in each round of each phase."""
    found = {}
    for path in sorted(folder.rglob("results.json")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["allocbench"]["cells"]:
            found[path.parent.relative_to(folder), cell["id"]] = (
                cell["status"], {phase["name"]: phase["rounds"] for phase in cell.get("phases", [])})
    return found


def without_samples(found):
    """Replaces the numbers of samples by the number of rounds. A long sample is alone in its round, and samples may be
    long on a busy machine.
    """
    return {key: (status, {phase: len(rounds) for phase, rounds in phases.items()}) for key, (status, phases) in found.items()}


class ShardsTest(StudyTest):
    def add_configs(self, count=5):
        for number in range(count):
            self.add_config(f"mine/fig{number}", ["steady", "crashing"] if number == 2 else ["steady"], seed=number, rounds=3, least_rounds=3)

    def shard(self, text, *more, out=None, expect=None, **environment):
        return self.run_program("study", "mine", "--configs", self.configs, "--shard", text, "--no-figures", "--out",
                                out or self.folder / f"shard-{text.split('/')[0]}", *more, expect=expect, environment=self.environment(**environment))

    def shards(self, count):
        return [self.folder / f"shard-{number}" for number in range(1, count + 1)]

    def run_shards(self, count):
        for number in range(1, count + 1):
            self.shard(f"{number}/{count}")
        return self.shards(count)

    def merge(self, *folders, expect=0, more=()):
        return self.run_program("merge", *folders, "--out", self.out, *more, expect=expect)

    def refused(self, *folders, more=()):
        result = self.merge(*folders, expect=2, more=more)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertFalse(self.out.exists(), "something was written")
        return result.stderr

    def shard_of(self, folder):
        return next(event["shard"] for event in self.events(folder) if event["event"] == "run")

    def change_log(self, folder, change):
        path = folder / "events.jsonl"
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
        return path


class Shards(ShardsTest):
    def test_merged_shards_equal_one_run(self):
        self.add_configs()
        whole = self.folder / "whole"
        told_of_whole = self.run_program("study", "mine", "--configs", self.configs, "--no-figures", "--out", whole).stdout
        self.assertIn("mine/fig2: 6 cells, 4 ok, 2 crashed", told_of_whole)
        shards = self.run_shards(4)
        names = [{path.parent.name for path in shard.rglob("results.json")} for shard in shards]
        self.assertEqual(sorted(map(len, names)), [1, 1, 1, 2])
        self.assertEqual(set.union(*names), {f"fig{number}" for number in range(5)})
        told = self.merge(*shards).stdout
        self.assertEqual(told.replace(str(self.out), str(whole)), told_of_whole)
        expected = statuses_and_rounds(whole)
        self.assertEqual(len(expected), 5 * 3 + 3)
        self.assertIn("crashed", {status for status, _ in expected.values()})
        self.assertIn([3, 3, 3], [rounds.get("alloc") for _, rounds in expected.values()])
        self.assertEqual(statuses_and_rounds(self.out), expected)
        self.assertTrue((self.out / "mine" / "fig0" / "results.csv").exists())

    def test_the_log_has_the_shard_and_its_partition(self):
        self.add_configs(3)
        first, second = self.run_shards(2)
        found = [self.shard_of(log.parent) for shard in (first, second) for log in shard.rglob("events.jsonl")]
        self.assertEqual({(shard["index"], shard["count"]) for shard in found}, {(1, 2), (2, 2)})
        self.assertEqual(len({shard["partition"] for shard in found}), 1)
        self.assertRegex(found[0]["partition"], "^[0-9a-f]{16}$")

    def test_kept_results_balance_the_shards(self):
        self.add_configs(4)
        self.add_config("mine/slow", ["steady"], workload={"id": "pulse", "seconds": 0.05}, rounds=3, least_rounds=3)
        self.run_program("study", "mine", "--configs", self.configs, "--no-figures", "--out", self.folder / "results" / "reference" / "some card")
        result = self.shard("1/2")
        self.assertIn("shard 1/2 has 1 of 5 configs", result.stderr)
        self.assertEqual([path.parent.name for path in (self.folder / "shard-1").rglob("events.jsonl")], ["slow"])
        # The order in which a file system lists folders, or another card of this machine, changes nothing.
        again = self.shard("1/2", out=self.folder / "again", FAKE_WORKER_UUID="GPU-7")
        self.assertIn("shard 1/2 has 1 of 5 configs", again.stderr)
        self.assertEqual(self.shard_of(self.folder / "again" / "mine" / "slow"), self.shard_of(self.folder / "shard-1" / "mine" / "slow"))

    def test_wrong_shards_get_one_sentence(self):
        self.add_configs(1)
        for text in ("5/4", "0/4", "x", "1/0", "1", "1/4/2", "-1/4", "1/99999", "1.5/4", "/"):
            with self.subTest(text=text):
                result = self.shard(text, out=self.out, expect=2)
                self.assertIn(f"--shard: must be I/N with I from 1 to N and N up to 1000, as in 1/4; found {text}", result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)
        self.assertFalse(self.out.exists())

    def test_more_shards_than_configs(self):
        self.add_configs(2)
        told = "This study of mine has 2 configs. A config is never divided, so the largest number of shards is 2; found 3."
        self.assertIn(told, self.shard("1/3", expect=2).stderr)
        self.assertIn(told, self.run_program("study", "mine", "--configs", self.configs, "--slurm", "3", expect=2).stderr)

    def test_the_last_shard_is_missed_where_each_has_one_config(self):
        self.add_configs(2)
        first, _ = self.run_shards(2)
        self.assertIn("no run of shard 2 of 2", self.merge(first, expect=1).stderr)

    def test_a_shard_continues_as_it_began(self):
        self.add_configs(2)
        self.shard("1/2", expect=None)
        log = next((self.folder / "shard-1").rglob("events.jsonl"))
        name = f"mine/{log.parent.name}"
        text = self.shard("1/1", "--only", name, "--resume", out=self.folder / "shard-1", expect=2).stderr
        self.assertIn(f"{log} belongs to shard 1/2 (partition ", text)
        self.assertIn("not to shard 1/1", text)
        self.change_log(log.parent, lambda lines: lines[:lines.index('"event":"end"') - 1])
        result = self.run_program("study", "mine", "--configs", self.configs, "--out", self.folder / "shard-1", "--no-figures", "--resume",
                                  "--started")
        self.assertIn(f"{name}: 3 cells, 3 ok", result.stdout)
        runs = [event for event in self.events(log.parent) if event["event"] == "run"]
        self.assertEqual([run["shard"]["index"] for run in runs], [1, 1])
        self.assertEqual(runs[0]["shard"], runs[1]["shard"])

    def test_devices_share_a_shard(self):
        self.add_worker("cuda")
        self.add_configs(5)
        self.shard("1/2", "--device", "all", "--no-known", FAKE_WORKER_DEVICES="2")
        self.shard("2/2", "--backend", "cuda", "--no-known", FAKE_WORKER_DEVICES="2")
        found = [self.shard_of(log.parent) for shard in self.shards(2) for log in shard.rglob("events.jsonl")]
        self.assertEqual(sorted(shard["index"] for shard in found), [1, 1, 1, 2, 2])
        self.assertEqual(len({shard["partition"] for shard in found}), 1)
        self.merge(*self.shards(2))
        self.assertEqual(len(list(self.out.rglob("events.jsonl"))), 5)


REAL_WORKERS = os.environ.get("ALLOCBENCH_REAL_WORKERS", "")


@unittest.skipUnless(pathlib.Path(REAL_WORKERS, "allocbench-worker-cpu").exists(), "the CPU worker is not built")
class RealShards(ShardsTest):
    def environment(self, **more):
        return super().environment(ALLOCBENCH_WORKERS=REAL_WORKERS, **more)

    def test_merged_shards_equal_one_run(self):
        for number, allocators in enumerate((["atomic_malloc"], ["kma"], ["atomic_malloc", "saboteur_overlap"], ["kma"], ["atomic_malloc"])):
            self.add_config(f"mine/fig{number}", allocators, workload={"id": "alloc_free", "threads": 32}, sweep={"request_bytes": [16, 64]},
                            pool_bytes="1MiB", repetitions=2, rounds=2, least_rounds=2, seed=number)
        whole = self.folder / "whole"
        self.run_program("study", "mine", "--configs", self.configs, "--no-figures", "--out", whole, expect=1)
        self.merge(*self.run_shards(4))
        expected = without_samples(statuses_and_rounds(whole))
        self.assertEqual({status for status, _ in expected.values()}, {"ok", "incorrect"})
        self.assertEqual({rounds["alloc"] for status, rounds in expected.values() if status == "ok"}, {2})
        self.assertEqual(without_samples(statuses_and_rounds(self.out)), expected)


class Merge(ShardsTest):
    def setUp(self):
        super().setUp()
        self.add_configs(3)

    def log_in(self, folder):
        return next(folder.rglob("events.jsonl"))

    def test_a_shard_that_was_run_twice(self):
        one, two = self.run_shards(2)
        twice = self.folder / "twice"
        self.shard("1/2", out=twice)
        text = self.refused(one, two, twice)
        self.assertRegex(text, rf"{one}/mine/\w+/events.jsonl and {twice}/mine/\w+/events.jsonl both belong to shard 1/2, which was run twice\. Name only one")

    def test_a_folder_that_is_named_twice(self):
        one, two = self.run_shards(2)
        for again in (one, self.folder, next(one.rglob("events.jsonl")).parent):
            with self.subTest(again=again):
                self.assertRegex(self.refused(one, two, again), rf"{self.folder}/shard-\d/mine/\w+/events.jsonl is in two of the given folders\. Name each folder once\.")

    def test_another_partition(self):
        one, _ = self.run_shards(2)
        other = self.folder / "other"
        self.shard("3/3", out=other)
        text = self.refused(one, other)
        self.assertRegex(text, rf"{one}/\S+ belongs to shard 1/2 of partition [0-9a-f]+, but {other}/\S+ to shard 3/3 of partition [0-9a-f]+\. Run all shards")
        self.change_log(self.log_in(one).parent, lambda lines: lines.replace(self.shard_of(self.log_in(one).parent)["partition"], "0" * 16))
        self.assertIn("of partition 0000000000000000", self.refused(*self.shards(2)))

    def test_a_missing_shard(self):
        one, _, three = self.run_shards(3)
        result = self.merge(one, three, expect=1)
        self.assertIn("These folders contain no run of shard 2 of 3. Run this shard with --shard 2/3, then merge again.", result.stderr)
        self.assertEqual(len(statuses_and_rounds(self.out)), len(statuses_and_rounds(one)) + len(statuses_and_rounds(three)))

    def test_a_shard_that_lacks_a_config(self):
        shards = self.run_shards(2)
        log = next(log for log in self.folder.glob("shard-*/mine/*/events.jsonl") if len(list(log.parents[1].iterdir())) > 1)
        configs = self.shard_of(log.parent)["configs"]
        self.assertEqual(configs, len(list(log.parents[1].iterdir())))
        shutil.rmtree(log.parent)
        self.assertRegex(self.merge(*shards, expect=1).stderr, rf"Shard ./2 has {configs} configs, but these folders contain readable runs of only {configs - 1} \(mine/")
        shutil.rmtree(self.out)
        for shard in self.folder.glob("shard-*/mine/*"):
            self.change_log(shard, lambda lines: re.sub(r',"configs":\d+', "", lines))
        self.merge(*shards)  # logs of earlier versions lack the number

    def test_a_shard_whose_only_log_is_damaged(self):
        one, two, three = self.run_shards(3)
        log = self.change_log(self.log_in(two).parent, lambda lines: lines.replace("\n", "x\n", 1))
        result = self.merge(one, two, three, expect=1)
        self.assertEqual([line for line in result.stderr.splitlines() if "valid event" not in line],
                         ["allocbench: These folders contain no readable run of shard 2 of 3. Run this shard with --shard 2/3, then merge again."])
        self.assertIn(f"{log}:1: not a valid event", result.stderr)

    def test_damage_costs_only_its_run(self):
        one, two = self.run_shards(2)
        log = self.log_in(one)
        lines = log.read_text(encoding="utf-8").split("\n")
        lines[4] = lines[4][:-5]
        log.write_text("\n".join(lines), encoding="utf-8")
        result = self.merge(one, two, self.folder / "nowhere", expect=1)
        self.assertIn(f"{log}:5: not a valid event", result.stderr)
        self.assertIn(f"{self.folder}/nowhere does not exist", result.stderr)
        readable = statuses_and_rounds(one) | statuses_and_rounds(two)
        lost = {key for key in readable if key[0].name == log.parent.name}
        self.assertEqual(statuses_and_rounds(self.out), {key: value for key, value in readable.items() if key not in lost})
        shutil.rmtree(self.out)
        self.assertIn(f"{log}:5: not a valid event", self.refused(log.parent))

    def test_a_half_line_at_the_end_is_no_damage(self):
        one, two = self.run_shards(2)
        self.change_log(self.log_in(one).parent, lambda lines: lines + '{"event":"sta')
        self.merge(one, two)
        for log in self.out.rglob("events.jsonl"):
            self.assertTrue(all(json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()))

    def test_other_formats_and_runs_without_samples(self):
        one, two = self.run_shards(2)
        log = self.change_log(self.log_in(one).parent, lambda lines: lines.replace('"format":2', '"format":7', 1))
        self.assertRegex(self.merge(one, two, expect=1).stderr, rf"{log}:1: not a valid event: its format is 7, but this allocbench reads format 2")
        shutil.rmtree(self.out)
        self.change_log(log.parent, lambda lines: lines.replace('"format":7', '"format":2', 1) + '{"event":"kept","time":""}\n')
        self.assertIn(f"{log} was kept without samples. Merge the folder that the run wrote.", self.merge(one, two, expect=1).stderr)
        shutil.rmtree(self.out)
        log.unlink()
        self.assertIn(f"{log.parent}/results.json has no event log in its folder", self.merge(one, two, expect=1).stderr)

    def test_mixed_origins(self):
        one, two = self.run_shards(2)
        log = self.log_in(two)
        for what, old, new in (("on", "Fake device", "Fake card 2"), ("by", '"seed":', '"executor":"--lockstep 1","seed":'), ("at revision", '"measured_revision":"', '"measured_revision":"0ther')):
            with self.subTest(what=what):
                before = log.read_text(encoding="utf-8")
                self.change_log(log.parent, lambda lines: lines.replace(old, new))
                text = self.refused(one, log.parent)
                self.assertRegex(text, rf"{one}/\S+ was measured {what} .*, but {log} {what} .*\. Merge only runs of the same revision, device model and options of the CPU executor, or pass --allow-mixed")
                self.merge(one, log.parent, more=["--allow-mixed"], expect=None)
                self.assertTrue((self.out / "mine" / log.parent.name / "results.json").exists())
                shutil.rmtree(self.out)
                log.write_text(before, encoding="utf-8")

    def test_nothing_is_overwritten(self):
        shards = self.run_shards(2)
        self.merge(*shards)
        before = {path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        result = self.merge(*shards, expect=2)
        self.assertRegex(result.stderr, rf"{self.out}/mine/fig\d already exists\. Nothing was written\. Choose another --out\.")
        self.assertEqual({path: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}, before)

    def test_inputs_and_output_are_apart(self):
        one, two = self.run_shards(2)
        files = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        link = self.folder / "link"
        link.symlink_to(one)
        for out in (one, one / "merged", self.folder, f"{one}/", f"{one}/../{one.name}/new", link / "new"):
            with self.subTest(out=str(out)):
                error = self.run_program("merge", one, two, "--out", out, expect=2).stderr
                self.assertIn(f"--out {out} and the input {one} must be two folders, and neither may contain the other. Nothing was written.", error)
        log = next(two.rglob("events.jsonl"))
        self.assertIn("neither may contain the other", self.run_program("merge", one, log, "--out", log.parent / "new", expect=None).stderr)
        link.unlink()
        self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}, files)
        self.run_program("merge", one, two, "--out", f"{one}-and-two", expect=0)

    def test_a_run_that_was_continued_in_a_copy(self):
        begun, copy = self.folder / "begun", self.folder / "copy"
        config = self.config(name="mine/one", rounds=3, least_rounds=3)
        self.measure(config, out=begun)
        whole = statuses_and_rounds(begun)
        self.change_log(begun, lambda lines: lines[:lines.index("\n", lines.index('"event":"end"')) + 1])
        shutil.copytree(begun, copy)
        self.measure(config, "--resume", out=copy)
        self.merge(begun, copy)
        self.assertEqual({key[1]: value for key, value in statuses_and_rounds(self.out).items()}, {key[1]: value for key, value in whole.items()})

    def test_a_copy_that_was_continued_beside_a_part_with_other_cells(self):
        run = self.folder / "run"
        self.measure(self.config(name="mine/one", rounds=3, least_rounds=3), out=run)
        events = self.events(run)
        ids = list(ended(events))
        lines_of = lambda kept: [json.dumps(event) + "\n" for event in events if event.get("cell", event.get("id")) in [None, *kept]]
        continued = lines_of(ids[:2])
        first_end = next(number for number, line in enumerate(continued) if json.loads(line)["event"] == "end")
        for name, lines in (("begun", continued[:first_end + 1]), ("continued", continued), ("rest", lines_of(ids[2:]))):
            (self.folder / name).mkdir()
            (self.folder / name / "events.jsonl").write_text("".join(lines), encoding="utf-8")
        merged = []
        for names in itertools.permutations(("begun", "continued", "rest")):
            self.merge(*(self.folder / name for name in names))
            merged.append((self.out / "mine/one/events.jsonl").read_bytes())
            self.assertEqual({key[1]: value for key, value in statuses_and_rounds(self.out).items()},
                             {key[1]: value for key, value in statuses_and_rounds(run).items()})
            shutil.rmtree(self.out)
        self.assertEqual(len(set(merged)), 1, "the order of the folders made a difference")

    def test_parts_that_finished_different_cells(self):
        run = self.folder / "run"
        config = self.config(name="mine/one", rounds=3, least_rounds=3)
        self.measure(config, out=run)
        events = self.events(run)
        ids = list(ended(events))
        for name, kept in (("early", ids[:1]), ("late", ids[1:])):
            (self.folder / name).mkdir()
            lines = [json.dumps(event) + "\n" for event in events if event.get("cell", event.get("id")) in [None, *kept]]
            (self.folder / name / "events.jsonl").write_text("".join(lines), encoding="utf-8")
        self.merge(self.folder / "late", self.folder / "early")
        self.assertEqual({key[1]: value for key, value in statuses_and_rounds(self.out).items()},
                         {key[1]: value for key, value in statuses_and_rounds(run).items()})
        shutil.rmtree(self.out)
        self.assertIn(f"both contain the finished cell {ids[0]} of mine/one, which was measured twice.", self.refused(run, self.folder / "early"))

    def test_what_a_later_part_left_out_keeps_its_numbers(self):
        run, late = self.folder / "run", self.folder / "late"
        config = self.config(name="mine/one", rounds=3, least_rounds=3)
        self.measure(config, out=run)
        self.measure(config, "--minutes", 0, out=late, expect=1)
        whole = {key[1]: value for key, value in statuses_and_rounds(run).items()}
        first_round = lambda lines: lines[:lines.index("\n", lines.index('"event":"round"')) + 1]
        for name, change, rounds in (("ended", lambda lines: lines, [3, 3, 3]), ("begun", first_round, [1])):
            self.change_log(run, change)
            for folders in ((run, late), (late, run)):
                with self.subTest(name=name, folders=folders):
                    self.merge(*folders)
                    merged = statuses_and_rounds(self.out)
                    self.assertEqual(len(merged), len(whole))
                    self.assertEqual([len(phases["total"]) for status, phases in merged.values() if status == "ok"], rounds)
                    shutil.rmtree(self.out)

    def test_runs_of_other_cells_and_back_ends(self):
        self.add_worker("cuda")
        runs = {"seed": {"seed": 5}, "base": {}, "cuda": {}}
        for name, more in runs.items():
            self.measure(self.config(name="mine/one", rounds=3, **more), "--backend", "cuda" if name == "cuda" else "cpu", out=self.folder / name)
        self.assertIn("are runs of mine/one with different cells", self.refused(self.folder / "base", self.folder / "seed"))
        self.assertIn("on the cpu back end", self.refused(self.folder / "base", self.folder / "cuda", more=["--allow-mixed"]))

    def test_a_name_that_leads_out_of_the_folder(self):
        one, _ = self.run_shards(2)
        log = self.log_in(one)
        self.change_log(log.parent, lambda lines: lines.replace(f'"name":"mine/{log.parent.name}"', '"name":"../stray"'))
        self.assertIn('"../stray", which cannot be a folder below --out', self.merge(log.parent, expect=2).stderr)
        self.assertFalse((self.folder / "stray").exists())

    def test_packed_logs(self):
        one, two = self.run_shards(2)
        log = self.log_in(one)
        log.with_suffix(".jsonl.xz").write_bytes(lzma.compress(log.read_bytes()))
        log.unlink()
        self.merge(one, two)
        self.assertEqual(statuses_and_rounds(self.out), statuses_and_rounds(one) | statuses_and_rounds(two))


class SlurmScript(ShardsTest):
    """These tests use an sbatch that runs each job at once. test_slurm.py has a real one."""

    SBATCH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$SBATCH_NOTES"
script=$(cat)
for word in "$@"; do [[ $word == --array=1-* ]] && count=${word#--array=1-}; done
for number in $(seq "${count:-1}"); do
  SLURM_ARRAY_TASK_ID=$number bash -c "$script" >> "$SBATCH_NOTES.out" 2>&1 || true
done
echo "4711;cluster"
"""

    def setUp(self):
        super().setUp()
        self.add_configs(3)
        self.odd = self.folder / "a b; touch stray"
        self.sbatch_notes = self.folder / "sbatch.txt"

    def script(self, *more, expect=0):
        return self.run_program("study", "mine", "--configs", self.configs, "--slurm", 2, "--out", self.odd, *more, expect=expect).stdout

    def bash(self, script, *arguments, with_sbatch=True):
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        for name in ("bash", "cat", "seq", "mkdir", "rm", "env", "python3"):
            if not (tools / name).exists():
                (tools / name).symlink_to(shutil.which(name))
        if with_sbatch:
            (tools / "sbatch").write_text(self.SBATCH, encoding="utf-8")
            (tools / "sbatch").chmod(0o755)
        file = self.folder / "study.sh"
        file.write_text(script, encoding="utf-8")
        return subprocess.run(["bash", file, *arguments], capture_output=True, text=True, check=False, cwd=self.folder, timeout=60,
                              env=self.environment(PATH=str(tools), SBATCH_NOTES=str(self.sbatch_notes)))

    def test_the_shards_and_their_merge(self):
        whole = self.folder / "whole"
        self.run_program("study", "mine", "--configs", self.configs, "--no-figures", "--out", whole)
        result = self.bash(self.script("--timeout", 9, "--workers", self.workers), "--partition=all")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Submitted the shards as job 4711, and the merge as job 4711.", result.stdout)
        array, merge = self.sbatch_notes.read_text(encoding="utf-8").splitlines()
        self.assertIn("--array=1-2 ", array)
        self.assertIn("--dependency=afterany:4711 ", merge)
        self.assertTrue(array.endswith(" --partition=all") and merge.endswith(" --partition=all"))
        self.assertEqual(statuses_and_rounds(self.odd / "merged"), statuses_and_rounds(whole))
        self.assertEqual(list(self.folder.rglob("stray")), [])
        again = self.bash(self.script())
        self.assertEqual(again.returncode, 2)
        self.assertIn(f"{self.odd}/merged already exists. Move it, then run this script again.", again.stderr)

    def test_options_are_passed_on(self):
        script = self.script("--only", "mine/fig1", "--only", "mine/fig2", "--timeout", 9, "--minutes", 3, "--seed", 4, "--full", "--no-known", "--backend", "cpu",
                             "--verify", "full", "--device-memory", "8GiB", "--allow-mixed", "--data", self.folder)
        call = next(line for line in script.splitlines() if " study mine " in line)
        for words in ("--only mine/fig1 --only mine/fig2", "--timeout 9", "--minutes 3", "--seed 4", "--full", "--no-known", "--no-figures", "--backend cpu",
                      "--verify full", f"--device-memory {8 << 30}", "--allow-mixed",
                      f"--data {self.folder}", "--resume", f"--configs {self.configs}"):
            self.assertIn(f" {words} ", f"{call} ")
        self.assertIn("/merged' --allow-mixed", script)
        self.assertIn(" --device all ", self.script("--device", "all"))

    def test_more_shards_than_selected_configs(self):
        result = self.run_program("study", "mine", "--configs", self.configs, "--slurm", 2, "--only", "mine/fig1", expect=2)
        self.assertIn("mine has 1 config. A config is never divided", result.stderr)

    def test_without_slurm_the_script_says_so(self):
        result = self.bash(self.script(), with_sbatch=False)
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("sbatch was not found. Run this script on a Slurm cluster, or start each shard by hand (--shard).", result.stderr)
        self.assertFalse(self.odd.exists())

    def test_what_a_script_cannot_do(self):
        for words in (["--shard", "1/2"], ["--dry-run"], ["--force"]):
            self.assertIn("excludes", self.run_program("study", "mine", "--configs", self.configs, "--slurm", 2, *words, expect=2).stderr)
        for count in ("0", "1001", "x"):
            self.assertIn("--slurm", self.run_program("study", "mine", "--configs", self.configs, "--slurm", count, expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
