"""Tests that the worker answers every command as harness/README.md says."""

import json
import os
import signal
import subprocess
import unittest

from worker_process import BACKEND, QUIT, WORKER, allocator, events, on, open_cell, run, serve, serve_with_whole_leak_check


class Conversation(unittest.TestCase):
    def test_ready_names_the_device(self):
        ready = events(run("--serve", commands=[QUIT]))[0]
        self.assertEqual((ready["event"], ready["protocol"], ready["backend"]), ("ready", 1, BACKEND))
        self.assertEqual(
            list(ready["device"]),
            ["name", "compute_capability", "driver", "driver_version", "toolkit", "uuid", "sm_count", "memory_bytes",
             "free_memory_bytes", "l2_bytes", "sm_clock_mhz", "sm_clock_max_mhz", "device_heap_bytes",
             "sm_clock_limit_mhz", "throttle_reasons", "other_processes", "mig", "ecc"])

    def test_a_cell_from_allocator_to_close(self):
        answers, code = serve(allocator(), open_cell("alloc_free", threads=1000, warmups=2), on("verify"), on("sample"),
                              on("sample"), on("close"), QUIT)
        self.assertEqual(code, 0)
        self.assertEqual([a["event"] for a in answers],
                         ["allocator_ready", "opened", "verified", "sample", "sample", "closed"])
        ready, opened, verified, sample, _, _ = answers
        self.assertEqual(ready["pool_bytes"], 1 << 22)
        self.assertEqual(ready["metadata_bytes"], 8)
        self.assertGreater(ready["init_seconds"], 0)
        # The CPU executor has no registers to report.
        self.assertEqual([k["phase"] for k in opened["kernels"]], ["alloc", "free"] if BACKEND == "cuda" else [])
        self.assertEqual(verified["checks"], {"null_returns": 0, "blocks": 1000, "content": "checked", "leak_rounds": 0,
                                              "leak": "waived: AtomicMalloc never frees", "spurious_nulls": 0,
                                              "reset": "checked: 512 blocks of 512 B from a pool of 256 KiB"})
        self.assertEqual([(p["name"], p["operations"]) for p in sample["phases"]], [("alloc", 1000), ("free", 1000)])
        self.assertTrue(all(p["seconds"] > 0 for p in sample["phases"]))
        self.assertEqual(sample["counters"], {"null_returns": 0})
        if BACKEND == "cpu":
            self.assertIsNone(sample["throttled"])
        self.assertGreater(sample["wall_seconds"], sum(p["seconds"] for p in sample["phases"]))

    def test_a_command_may_ask_for_several_samples(self):
        answers, code = serve(allocator(), open_cell("alloc_free", threads=100), {**on("sample"), "samples": 5}, on("close"),
                              QUIT)
        self.assertEqual(([a["event"] for a in answers[2:]], code), (["sample"] * 5 + ["closed"], 0))
        totals = [sum(p["seconds"] for p in a["phases"]) for a in answers[2:7]]
        self.assertEqual(["loop" in a for a in answers[2:7]], [False] * 4 + [True])
        self.assertEqual(answers[6]["loop"]["iterations"], 5)
        self.assertAlmostEqual(answers[6]["loop"]["mean_seconds"], sum(totals) / 5, delta=1e-9 * sum(totals))

    def test_samples_before_a_failure_are_kept(self):
        cell = open_cell("alloc_free", threads=100, state="reused")
        answers, _ = serve(allocator("saboteur_leak", pool_bytes=4000), cell, {**on("sample"), "samples": 9}, QUIT)
        self.assertEqual([a["event"] for a in answers[2:]], ["sample", "sample", "failed"])
        self.assertEqual(answers[-1]["status"], "oom")

    # All but 3 % of the pool is taken before each sample, so a block that is not freed afterwards is missing in the next
    # sample.
    def test_a_sample_leaves_the_pool_as_it_was(self):
        for state in ("reused", "fresh"):
            cell = open_cell("get_page", state=state, threads=64, request_bytes=64, free_share=0.03, pattern="uniform")
            answers, code = serve(allocator("comb", pool_bytes=1 << 20), cell, {**on("sample"), "samples": 4},
                                  on("verify"), on("sample"), QUIT)
            self.assertEqual(([a["event"] for a in answers[2:]], code), (["sample"] * 4 + ["verified", "sample"], 0))
            for name in ("null_returns", "spurious_nulls"):
                self.assertEqual([a["counters"][name] for a in answers if a["event"] == "sample"], [0] * 5, name)

    def test_nulls_of_a_sample_have_a_cause_where_it_is_known(self):
        for workload, parameters, known in (("fragmentation", {}, True), ("recovery", {"freed_share": 1.0}, False)):
            cell = open_cell(workload, threads=1000, request_bytes=64, **parameters)
            answers, _ = serve(allocator("comb", pool_bytes=1 << 20), cell, on("sample"), QUIT)
            counters = answers[-1]["counters"]
            self.assertGreater(counters["null_returns"], 0)
            self.assertEqual(counters.get("spurious_nulls"), 0 if known else None, workload)

    def test_what_launches_at_once_was_held_back(self):
        answers, _ = serve(allocator(), open_cell("alloc_free", threads=100), on("verify"), on("sample"), QUIT)
        self.assertEqual([p for p in answers[-1]["phases"] if "not_held" in p], [])

    @unittest.skipIf(BACKEND == "cpu", "launches run in the caller: there is nothing to hold back")
    def test_a_phase_that_waits_for_the_device_says_so(self):
        answers, _ = serve(allocator("c_malloc_reworked", pool_bytes=1 << 26), open_cell("prefix_sum", threads=1000),
                           on("verify"), on("sample"), QUIT)
        reasons = {p["name"]: p.get("not_held") for p in answers[-1]["phases"]}
        self.assertEqual(reasons, {"malloc": None, "prefix_sum": "the phase copies to or from the host"})

    def test_a_worker_that_waits_says_that_it_has_loaded_and_serves_after_the_second_line(self):
        for lines, heard in ((0, ["loaded"]), (1, ["loaded"]), (2, ["loaded", "ready", "profile"])):
            process = run("--serve", "--wait", commands=lines * ["\n"] + (lines == 2) * [{"command": "profile"}, QUIT])
            answers = events(process)
            self.assertEqual(([answer["event"] for answer in answers], process.returncode), (heard, 0))
        self.assertGreater(answers[-1]["beside"], 0)

    def test_the_profile_counts_every_second_once(self):
        answers, _ = serve(allocator(), open_cell("alloc_free", threads=1000), on("verify"), on("sample"),
                           {"command": "profile"}, QUIT)
        seconds = answers[-1]["seconds"]
        self.assertEqual(list(seconds), ["start", "allocator", "open", "contents", "leaks", "resets", "deadlines",
                                         "reset", "kernels", "pointers", "other", "waiting"])
        sample = answers[-2]
        self.assertAlmostEqual(seconds["kernels"], sum(p["seconds"] for p in sample["phases"]), places=9)
        in_sample = sum(seconds[part] for part in ("reset", "kernels", "pointers", "other"))
        self.assertGreaterEqual(in_sample, sample["wall_seconds"])
        self.assertGreater(seconds["start"], 0)
        self.assertGreater(seconds["contents"], 0)

    def test_the_profile_has_no_contents_of_a_verification_that_ended_at_its_deadline(self):
        answers, _ = serve(allocator("comb"), open_cell("alloc_free", threads=96), {**on("verify"), "seconds": 0},
                           {"command": "profile"}, QUIT)
        seconds = answers[-1]["seconds"]
        self.assertGreater(seconds["deadlines"], 0)
        self.assertEqual([seconds[part] for part in ("contents", "leaks", "resets")], [0, 0, 0])

    def test_the_l2_cache_is_flushed_where_there_is_one(self):
        answers, _ = serve(allocator(), {**open_cell("alloc_free", threads=100), "l2": "flushed"}, on("sample"),
                           QUIT)
        if BACKEND == "cuda":
            self.assertEqual(answers[-1]["event"], "sample")
        else:
            self.assertEqual((answers[1]["status"], answers[1]["reason"]),
                             ("unsupported", 'the CPU back end has no L2 cache to flush; set l2 to "warm"'))

    def test_verifying_counts_steps_in_every_pass_asked_for(self):
        cell = {**open_cell("alloc_free", threads=96, request_bytes=16), "counted_passes": 3}
        answers, _ = serve(allocator(), cell, on("verify"), QUIT)
        counted = answers[-1]["counted"]
        # Each warp, or part of a warp, that calls together makes one addition.
        for steps in counted["values"]["steps_per_malloc"]:
            self.assertTrue(3 / 96 <= steps <= 1, steps)
        self.assertEqual({len(values) for values in counted["values"].values()}, {3})
        self.assertEqual(counted["values"]["operations_per_free"], [0, 0, 0])
        self.assertEqual(sum(count for _, count in counted["histograms"]["steps"]), 3 * 96)

    def test_an_allocator_that_does_not_count_has_no_counts(self):
        answers, _ = serve(allocator("cuda_malloc"), open_cell("alloc_free", threads=96), on("verify"), QUIT)
        self.assertEqual(answers[-1]["counted"], {"values": {}, "histograms": {}})

    def test_workloads_that_write_their_blocks_count_nothing(self):
        answers, _ = serve(allocator(), open_cell("atomic_latency", threads=2), on("verify"), on("sample"), QUIT)
        self.assertEqual(answers[-2]["counted"], {"values": {}, "histograms": {}})
        self.assertGreater(answers[-1]["counters"]["atomic_cycles"], 0)

    def test_every_workload_gives_its_operations(self):
        expected = {"alloc_dealloc": 2 * 16, "alloc_cycle_dealloc": 2 * 160}
        for workload, operations in expected.items():
            answers, _ = serve(allocator(), open_cell(workload, blocks=2), on("verify"), on("sample"), QUIT)
            self.assertEqual([(p["name"], p["operations"]) for p in answers[-1]["phases"]], [("total", operations)])

    def test_probability_counts_and_repeats_itself(self):
        cell = open_cell("probability", blocks=4, seed=5)
        answers, _ = serve(allocator(), cell, on("sample"), on("sample"), QUIT)
        counters = answers[-1]["counters"]
        self.assertEqual(answers[-1]["phases"][0]["operations"], counters["mallocs"] + counters["frees"])
        self.assertEqual(counters, answers[-2]["counters"])
        other, _ = serve(allocator(), open_cell("probability", blocks=4, seed=6), on("sample"), QUIT)
        self.assertNotEqual(counters, other[-1]["counters"])

    def test_cells_interleave(self):
        answers, code = serve(allocator(), open_cell("alloc_dealloc", "a", blocks=1, state="reused"),
                              open_cell("alloc_free", "b", threads=10, state="reused"), on("sample", "a"),
                              on("sample", "b"), on("sample", "a"), on("close", "a"), on("sample", "b"), QUIT)
        self.assertEqual(code, 0)
        self.assertEqual([a["cell"] for a in answers[3:6]], ["a", "b", "a"])

    def test_a_new_allocator_closes_the_cells_of_the_old(self):
        answers, code = serve(allocator(), open_cell("alloc_free", threads=10), allocator(), on("sample"))
        self.assertEqual((answers[-1]["event"], code), ("protocol_error", 64))

    def test_a_never_freeing_allocator_does_not_run_out_between_samples(self):
        answers, _ = serve(allocator(pool_bytes=1 << 14), open_cell("alloc_free", threads=1000, state="reused"),
                           *[on("sample")] * 4, QUIT)
        self.assertEqual([a["event"] for a in answers[2:]], ["sample"] * 4)

    def test_a_cell_says_whether_it_uses_the_device_heap(self):
        def uses_device_heap(name, workload, **parameters):
            answers, _ = serve(allocator(name, pool_bytes=1 << 24), open_cell(workload, threads=32, **parameters), QUIT)
            return answers[1]["uses_device_heap"]

        self.assertFalse(uses_device_heap("c_malloc", "alloc_free"))
        self.assertFalse(uses_device_heap("halloc", "alloc_free", request_bytes=3072))
        self.assertTrue(uses_device_heap("halloc", "alloc_free", request_bytes=4096), "the device heap serves it")
        self.assertFalse(uses_device_heap("ouroboros_p_s", "alloc_free", request_bytes=8192))
        self.assertTrue(uses_device_heap("ouroboros_p_s", "alloc_free", request_bytes=8193))
        self.assertTrue(uses_device_heap("halloc", "recovery", request_bytes=16), "nothing says that this is its largest request")
        self.assertTrue(uses_device_heap("cuda_malloc", "alloc_free"))

    def test_a_new_instance_is_as_fresh_as_a_process(self):
        cell = open_cell("fragmentation", threads=32, threads_per_block=32, request_bytes=3072)
        answers, code = serve(allocator("halloc", pool_bytes=1 << 24), cell, on("verify"), on("sample"), on("sample"), QUIT)
        self.assertEqual((code, [a["event"] for a in answers[1:]]), (0, ["opened", "verified", "sample", "sample"]))
        self.assertFalse(answers[1]["uses_device_heap"])
        self.assertEqual(answers[3]["counters"], answers[4]["counters"])

    def test_a_heap_ages_before_its_samples(self):
        def served(rounds):
            cell = {**open_cell("alloc_free", threads=64, request_bytes=64, state="aged"), "aged_rounds": rounds}
            answers, _ = serve(allocator("comb", pool_bytes=1 << 20), cell, on("verify"), on("sample"), on("sample"), QUIT)
            self.assertEqual([a["event"] for a in answers[1:]], ["opened", "verified", "sample", "sample"])
        served(0)
        served(70)
        answers, _ = serve(allocator(), {**open_cell("alloc_free", threads=10, state="aged"), "aged_rounds": 5}, QUIT)
        self.assertEqual((answers[-1]["status"], answers[-1]["reason"]),
                         ("unsupported", "AtomicMalloc never frees, so its heap cannot age"))

    def test_stages_are_told_where_they_are_wanted(self):
        def stages(answers):
            return [a.get("stage", a["event"]) for a in answers if a["event"] in ("stage", "sample", "verified")]

        told = {"stages": True}
        answers, _ = serve(allocator(), open_cell("alloc_free", threads=96, warmups=1), {**on("sample"), **told},
                           on("sample"), {**on("verify"), **told}, on("verify"), QUIT)
        self.assertEqual(stages(answers), ["prepare", "timed", "prepare", "timed", "judge", "sample", "sample",
                                           "contents", "leaks", "resets", "verified", "verified"])
        self.assertEqual({a["cell"] for a in answers if a["event"] == "stage"}, {"c0"})
        # From a fresh state, the pool is filled once and half of it is freed. Later samples restore a copy, and a reset
        # empties the pool.
        full = {"threads": 64, "request_bytes": 64, "free_share": 0.5, "pattern": "uniform"}
        twice = {**on("sample"), **told, "samples": 2}
        answers, _ = serve(allocator("comb", 1 << 18), open_cell("get_page", **full), twice, QUIT)
        self.assertEqual(stages(answers), ["prepare", "fill", "drain", "timed", "judge", "sample",
                                           "prepare", "drain", "timed", "judge", "sample"])
        answers, _ = serve(allocator("comb", 1 << 18), open_cell("get_page", state="reused", **full), twice, QUIT)
        self.assertEqual(stages(answers), 2 * ["prepare", "fill", "drain", "timed", "drain", "judge", "sample"])
        answers, _ = serve(allocator("comb", 1 << 18), open_cell("fill", state="reused", threads=64, taken_share=0.5),
                           {**on("sample"), **told}, QUIT)
        self.assertEqual(stages(answers), ["prepare", "fill", "timed", "drain", "judge", "sample"])

    def test_events_go_to_the_descriptor_asked_for(self):
        read_end, write_end = os.pipe()
        try:
            process = subprocess.run([WORKER, "--serve", "--events-fd", str(write_end)], input='{"command":"quit"}\n',
                                     capture_output=True, text=True, pass_fds=[write_end], timeout=60)
            os.close(write_end)
            self.assertEqual((process.returncode, process.stdout), (0, ""))
            self.assertIn('"event":"ready"', os.read(read_end, 4096).decode())
        finally:
            os.close(read_end)

    @unittest.skipIf(BACKEND == "cuda", "an option of the CPU executor")
    def test_deterministic_mode_serves_too(self):
        answers, _ = serve(allocator(), open_cell("alloc_dealloc", blocks=2), on("verify"), QUIT,
                           options=["--deterministic", "3"])
        self.assertEqual(answers[-1]["event"], "verified")

    @unittest.skipIf(BACKEND == "cuda", "an option of the CPU executor")
    def test_lanes_in_lockstep_lose_the_exchanges_that_the_paper_counts(self):
        """Huang et al. 2010, IV-A: 32 lanes that exchange one word make 32 * 33 / 2 attempts. Lanes that run one after
        the other lose no exchange.
        """
        cell = {**open_cell("alloc_free", state="reused", warmups=1, threads=32, threads_per_block=32, request_bytes=8), "counted_passes": 3}
        commands = (allocator("xmalloc", 1 << 24, coalescing=False, free_lists=1), cell, on("sample"), on("verify"), QUIT)
        for options, expected in ((["--lockstep", "1"], 16.5), (["--os-threads", "1"], 1)):
            answers, code = serve(*commands, options=options)
            self.assertEqual(([a["event"] for a in answers][-1], code), ("verified", 0), answers)
            self.assertEqual(answers[-1]["counted"]["values"]["compare_exchanges_per_malloc"], [expected] * 3)


class Failures(unittest.TestCase):
    def fails(self, *commands):
        answers, code = serve(*commands, QUIT)
        self.assertEqual((answers[-1]["event"], code), ("failed", 0))
        self.assertIs(answers[-1]["fatal"], False)
        return answers[-1]["status"], answers[-1]["reason"]

    def test_a_pool_too_small_is_oom_in_words(self):
        status, reason = self.fails(allocator(pool_bytes=4096), open_cell("alloc_free", threads=960), on("verify"))
        self.assertEqual(status, "oom")
        self.assertEqual(reason, "704 of 960 requests returned null; 15 KiB asked of a pool of 4 KiB; the pool was exhausted")

    def test_nulls_beside_free_memory_are_spurious(self):
        status, reason = self.fails(allocator("saboteur_null"), open_cell("alloc_free", threads=1000), on("verify"))
        self.assertEqual(status, "oom")
        self.assertTrue(reason.endswith("; 15 of the nulls are spurious, because all requests fitted into the free memory"), reason)

    def test_one_null_is_spurious_and_several_are(self):
        _, reason = self.fails(allocator("saboteur_null"), open_cell("alloc_free", threads=100), on("verify"))
        self.assertTrue(reason.endswith("; 1 of the nulls is spurious, because all requests fitted into the free memory"), reason)

    def test_a_phase_that_serves_nothing_is_no_measurement(self):
        """A page of Ouroboros never leaves its size class."""
        cell = open_cell("recovery", threads=256, request_bytes=128, freed_share=1, growth=2)
        for answer in ("verify", "sample"):
            status, reason = self.fails(allocator("ouroboros_p_vl_reworked", pool_bytes=1 << 20), cell, on(answer))
            self.assertEqual(status, "oom")
            self.assertRegex(reason, r"^256 of 256 requests returned null, although [0-9.]+ KiB of a pool of 1 MiB was free$")

    def test_a_queue_without_room_for_the_free_pages_is_unsupported_and_says_what_would_do(self):
        """In published Ouroboros, a free that finds the queue full waits forever."""
        cells = {"get_page": {"free_share": 0.1}, "recovery": {}, "fragmentation": {}, "scenario": {"scenario": "alloc_256", "free_share": 0.5}}
        for workload, parameters in cells.items():
            if "scenario" not in parameters:
                parameters["request_bytes"] = 256
            for form, name, small, large in (("p_s", "ring_capacity", 4096, 16384), ("p_va", "directory_capacity", 8, 16)):
                with self.subTest(workload, form=form):
                    cell = open_cell(workload, threads=256, **parameters)
                    status, reason = self.fails(allocator(f"ouroboros_{form}", **{name: small}), cell)
                    self.assertEqual(status, "unsupported")
                    self.assertRegex(reason, f"queue holds at most [0-9]+ free pages of a class, and the pool has [0-9]+ of 256 B; "
                                             f'"parameters": {{"{name}": {large}}} bears them$')
                    answers, _ = serve(allocator(f"ouroboros_{form}", **{name: large}), cell, on("verify"), QUIT)
                    self.assertEqual(answers[-1]["event"], "verified", answers[-1])

    def test_what_an_aged_heap_has_free_is_not_known(self):
        cell = {**open_cell("alloc_free", threads=2000, request_bytes=4096, state="aged"), "aged_rounds": 2}
        status, reason = self.fails(allocator("comb", pool_bytes=1 << 20), cell, on("verify"))
        self.assertEqual(status, "oom")
        self.assertTrue(reason.endswith("asked of a pool of 1 MiB"), reason)

    def test_a_request_beyond_the_pool_is_unsupported(self):
        status, reason = self.fails(allocator(pool_bytes=4096), open_cell("alloc_free", request_bytes=8192))
        self.assertEqual(status, "unsupported")
        self.assertEqual(reason, "AtomicMalloc serves requests up to 4096 B here, asked for 8192 B")

    def test_a_pool_that_the_host_cannot_allocate_is_oom(self):
        status, reason = self.fails(allocator(pool_bytes=1 << 44))
        self.assertEqual(status, "oom")
        self.assertIn("the host could not allocate device memory", reason)

    def test_contradictory_parameters_are_unsupported(self):
        status, reason = self.fails(allocator(), open_cell("alloc_free", sizes="uniform", min_bytes=64, max_bytes=16))
        self.assertEqual((status, reason),
                         ("unsupported", "uniform request sizes: the minimum 64 exceeds the maximum 16"))


class Saboteurs(unittest.TestCase):
    """Every planted fault must end with its own status, and never with a number."""

    EXPECTED = {
        "trap": ("device_fault", "trap" if BACKEND == "cpu" else "cudaErrorLaunchFailure", 70),
        "null": ("oom", "15 of 1000 requests returned null", 0),
        "overlap": ("incorrect", "15 overlapping", 0),
        "stale": ("incorrect", "15 overlapping", 0),
        "misalign": ("incorrect", "15 misaligned", 0),
        "leak": ("incorrect", "leak: ", 0),
        "reset": ("incorrect", "after a reset() of the full pool the pool serves 0 blocks of 512 B; a new one serves 512", 0),
        "free_null": ("incorrect", "after free(null): wrong pointers (of 512 blocks): ", 0),
    }
    # Two owners of one block race. A worker built for ThreadSanitizer reports this by its exit code.
    RACING = ("overlap", "stale")
    RACE_REPORTED = 66

    def test_verify_names_the_fault(self):
        for fault, (status, words, expected_code) in self.EXPECTED.items():
            with self.subTest(fault):
                answers, code = serve_with_whole_leak_check(allocator("saboteur_" + fault), open_cell("alloc_free", threads=1000),
                                                            on("verify"), QUIT)
                self.assertEqual((answers[-1]["event"], answers[-1]["status"]), ("failed", status))
                self.assertIn(words, answers[-1]["reason"])
                if not (fault in self.RACING and code == self.RACE_REPORTED):
                    self.assertEqual(code, expected_code)

    def test_samples_are_checked_even_without_verify(self):
        for fault in ("null", "overlap", "stale", "misalign"):
            with self.subTest(fault):
                answers, _ = serve(allocator("saboteur_" + fault), open_cell("alloc_free", threads=1000), on("sample"),
                                   QUIT)
                self.assertEqual(answers[-1]["event"], "failed")

    def test_other_workloads_are_unsupported_and_say_so(self):
        answers, code = serve(allocator("saboteur_null"), open_cell("pairs", threads=32), QUIT)
        self.assertEqual((answers[-1]["event"], answers[-1]["status"], code), ("failed", "unsupported", 0))
        self.assertIn("runs only in alloc_free", answers[-1]["reason"])

    @unittest.skipIf(BACKEND == "cuda", "a GPU hangs in earnest: only the front end's deadline ends it")
    def test_the_executor_proves_a_hang(self):
        answers, code = serve(allocator("saboteur_hang"), open_cell("alloc_free", threads=1000), on("verify"), QUIT)
        self.assertEqual((answers[-1]["status"], code), ("timeout", 0))
        self.assertIn("livelock", answers[-1]["reason"])

    @unittest.skipIf(BACKEND == "cpu", "on the CPU the worker itself dies")
    def test_an_illegal_address_loses_the_device(self):
        answers, code = serve(allocator("saboteur_segfault"), open_cell("alloc_free", threads=1000), on("verify"))
        self.assertEqual((answers[-1]["status"], answers[-1]["fatal"], code), ("device_fault", True, 70))

    @unittest.skipIf(BACKEND == "cuda", "on a GPU the device faults instead")
    def test_a_segmentation_fault_takes_the_worker_down(self):
        process = run("--serve", commands=[allocator("saboteur_segfault"), open_cell("alloc_free", threads=1000),
                                           on("verify")])
        self.assertEqual(process.returncode, -signal.SIGSEGV)


class BadCommands(unittest.TestCase):
    CASES = {
        "nonsense\n": "a command must be a JSON object",
        '{"command":"dance"}\n': 'there is no command "dance"',
        '{"order":"open"}\n': '"command" is missing',
        '{"command":"allocator","allocator":"no_malloc","pool_bytes":1}\n': 'this worker has no allocator "no_malloc"',
        '{"command":"allocator","allocator":"atomic_malloc","pool_bytes":-1}\n': '"pool_bytes" must be a non-negative integer; found -1',
        '{"command":"allocator","allocator":"atomic_malloc","pool_bytes":64,"parameters":{"x":1}}\n':
            'atomic_malloc has no parameter "x"',
        '{"command":"open","cell":"a","workload":"alloc_free"}\n': "no allocator is loaded",
        '{"command":"open","cell":"a","workload":"alloc_free","parameters":{"threads":"many"}}\n':
            'alloc_free: parameter "threads" must be of type integer; found "many"',
        '{"command":"open","cell":"a","workload":"alloc_free","parameters":{"lanes_per_warp":33}}\n':
            'must be from 1 to 32; found 33',
        '{"command":"open","cell":"a","workload":"alloc_free","parameters":{"sizes":"odd"}}\n':
            'must be one of fixed, uniform, list; found "odd"',
        '{"command":"open","cell":"a","workload":"alloc_free","state":"old"}\n': '"state" must be fresh, reused or aged',
        '{"command":"sample","cell":"z"}\n': "the cell z is not open",
    }

    def test_every_malformed_command_ends_the_worker_with_a_reason(self):
        for command, reason in self.CASES.items():
            with self.subTest(command):
                answers, code = serve(command, QUIT)
                self.assertEqual([a["event"] for a in answers], ["protocol_error"])
                self.assertIn(reason, answers[0]["reason"])
                self.assertEqual(code, 64)

    def test_a_device_that_is_not_there_is_an_environment_event(self):
        process = run("--serve", "--device", "99")
        self.assertEqual((events(process)[0]["event"], process.returncode), ("environment", 3))


class ByHand(unittest.TestCase):
    def test_device_heap_bytes(self):
        self.assertEqual(run("--device-heap-for", '{"allocator":"atomic_malloc","pool_bytes":4096}').stdout, "0\n")

    def test_run_prints_googles_table(self):
        process = run("--run", '{"allocator":"atomic_malloc","pool_bytes":65536,"workload":"alloc_free",'
                               '"parameters":{"threads":64}}', "--samples", "3")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("atomic_malloc/alloc_free", process.stdout)

    def test_a_worker_of_one_plugin_sets_its_heap(self):
        description = json.loads(run("--describe", "--plugin", "atomic_malloc").stdout)
        self.assertEqual([a["name"] for a in description["allocators"]], ["atomic_malloc"])
        ready = events(run("--serve", "--plugin", "cuda_malloc", "--device-heap-for",
                           '{"allocator":"cuda_malloc","pool_bytes":33554432}', commands=[QUIT]))[0]
        self.assertGreaterEqual(ready["device"]["device_heap_bytes"], 33554432)

    def test_usage(self):
        self.assertEqual(run("--help").returncode, 0)
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("--serve", "--describe").returncode, 2)


if __name__ == "__main__":
    unittest.main()
