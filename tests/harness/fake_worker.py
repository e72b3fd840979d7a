#!/usr/bin/python3
"""Runs a fake worker that speaks the protocol of harness/README.md and misbehaves on request.

Tests link it as allocbench-worker-cpu (or -cuda). The allocator's name and the workload parameter `trouble_from` decide
what it does. Cells with fewer request_bytes than `trouble_from` are ok. A sample takes `seconds`. The worker reports
`device_seconds` plus a microsecond per byte as the time of the sample, and `wall_factor` times this time as its wall
time. So results can be compared byte by byte. `noisy` doubles the time at random. FAKE_WORKER_FILL has the seconds that
an allocator needs to fill its pool; later samples with the same instance start from a copy.
"""

import fcntl
import json
import math
import os
import random
import signal
import sys
import time

BEGIN = time.monotonic()
BACKEND = "cuda" if sys.argv[0].endswith("-cuda") else "cpu"

OVERRUN_SECONDS = 0.3
LOCK_SECONDS = {"use": 2, "open": 0}

# Each name has its trouble, or None.
TROUBLES = {
    "steady": None,
    "hanging": "hang",
    "crashing": "crash",
    "garbling": "garbage",
    "misplacing": "wrong_cell",
    "malforming": "malformed_sample",
    "confused": "protocol_error",
    "incorrect": "incorrect",
    "exhausted": "oom",
    "faulting": "device_fault",
    "overrunning": "timeout",  # notices its deadline and ends the cell
    "exiting": "exit",
    "refusing": "refuse_allocator",
    "stuck": "hang_in_allocator",
    "per_process": None,
    # Requests of 32 B and more come from a share of the device heap, which only a new process refreshes.
    "thrifty": None,
    "keeping": None,  # keeps memory of the device heap, which only a new process refreshes
    "deaf": "close_events",
    "haunting": "leave_daemon",
    "lurking": "leave_hidden_daemon",
    "counting": None,
    "noisy": None,
    "heaped": None,  # has a share of the device heap: a quarter of its pool
    "roomy": None,   # has the same share, which serves requests of 32 B and more
    "shy": None,     # refuses to state its share of the device heap
    **({"gpu_only": None} if BACKEND == "cuda" else {}),
}


def parameter(name, kind, default, **more):
    return {"name": name, "type": kind, "unit": more.pop("unit", ""), "default": default,
            "description": f"the {name}", "source": "assumed", **more}


HEAPED = ("heaped", "roomy", "shy", "thrifty")


def describe():
    allocators = []
    for name in TROUBLES:
        allocators.append({
            "name": name, "display_name": name.title(), "paper": "Nobody 2026", "summary": f"A {name} allocator.",
            "plugin": f"fake_{name}", "frees": "individually", "alignment": 16,
            "pool": "arena_and_device_heap" if name in HEAPED else "arena",
            "fresh": "process" if name in ("per_process", "thrifty", "keeping") else "reset",
            "keeps_device_heap": name == "keeping", "test_only": name == "deaf",
            "restrictions": ["serves one size of block only"] if name == "steady" else [],
            "parameters": [parameter("page_bytes", "integer", 4096, unit="B", minimum=16, maximum=65536,
                                     power_of_two=True)]})
    workload = {
        "name": "pulse", "display_name": "Pulse", "paper": "Nobody 2026", "summary": "Allocates, then frees.",
        "phases": ["alloc", "free"], "untimed_kernels": ["one_malloc"], "null_expected": False,
        "parameters": [parameter("request_bytes", "integer", 16, unit="B", minimum=1, maximum=1 << 20),
                       parameter("blocks", "integer", 4, unit="blocks", minimum=1, maximum=1024),
                       parameter("trouble_from", "integer", 0, unit="B"),
                       parameter("seconds", "number", 0.0, unit="s", minimum=0, maximum=60),
                       parameter("device_seconds", "number", 0.0, unit="s", minimum=0, maximum=60),
                       parameter("wall_factor", "number", 2.0, minimum=1, maximum=100),
                       parameter("shape", "string", "flat", choices=["flat", "steep"]),
                       parameter("lanes", "integers", [32], minimum=1, maximum=32),
                       parameter("verify", "boolean", True)]}
    metrics = [{"name": "time", "unit": "s", "better": "lower", "description": "Time of a phase.",
                "source": "harness"},
               {"name": "null_returns", "unit": "count", "better": "none", "description": "Null pointers.",
                "source": "workload"}]
    plugins = [{"plugin": f"fake_{name}", "file": f"/plugins/fake_{name}.so", "measured_revision": f"of_{name}"} for name in TROUBLES]
    return {"protocol": 1, "backend": BACKEND, "revision": "fake", "compiler": "Python",
            "measured_revision": os.environ.get("FAKE_WORKER_REVISION", ""), "allocators": allocators,
            "workloads": [workload], "metrics": metrics, "plugins": plugins,
            "broken_plugins": json.loads(os.environ.get("FAKE_WORKER_BROKEN_PLUGINS", "[]"))}


def leave_daemon(hidden):
    """Starts a process in its own session: the child of a child that ends or, if hidden, a child of the worker. A
    hidden one is started once per run.
    """
    path = os.environ["FAKE_WORKER_DAEMON"]
    if hidden and os.path.exists(path):
        return
    child = os.fork()
    if child == 0:
        os.setsid()
        if not hidden and os.fork() != 0:
            os._exit(0)
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
            file.write(str(os.getpid()))
        os.replace(file.name, path)  # the file must be whole, because the program may kill a daemon at any moment
        for descriptor in range(3, 20):
            try:
                os.close(descriptor)
            except OSError:
                pass
        time.sleep(600)
        os._exit(0)
    if not hidden:
        os.waitpid(child, 0)
    while not os.path.exists(path):
        time.sleep(0.001)


def device():
    return int(sys.argv[sys.argv.index("--device") + 1]) if "--device" in sys.argv else 0


def heap_bytes():
    """Returns the device heap that the worker was started with. With --device-heap-for, it is a quarter of the pool."""
    if "--device-heap-for" not in sys.argv:
        return int(sys.argv[sys.argv.index("--device-heap-bytes") + 1])
    question = json.loads(sys.argv[sys.argv.index("--device-heap-for") + 1])
    if question["allocator"] == "shy":
        sys.exit("the shy allocator does not tell")
    return question["pool_bytes"] // 4


def note_start():
    """Notes the start, because tests count processes and read their arguments."""
    path = os.environ.get("FAKE_WORKER_NOTES")
    if path:
        with open(path + ".starts", "a", encoding="utf-8") as file:
            file.write(json.dumps(sys.argv[1:]) + "\n")
        if "ALLOCBENCH_DATA" in os.environ:
            with open(path + ".data", "a", encoding="utf-8") as file:
                file.write(os.environ["ALLOCBENCH_DATA"] + "\n")
        scratch = os.environ.get("ALLOCBENCH_SCRATCH", "")
        if os.path.isdir(scratch):
            with open(path + ".scratch", "a", encoding="utf-8") as file:
                file.write(scratch + "\n")


def record(what):
    """Notes an action, because tests read the order of the actions of all workers."""
    path = os.environ.get("FAKE_WORKER_NOTES")
    if path:
        with open(path + ".order", "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {what}\n")


class Worker:
    def __init__(self, events):
        self.events = events
        self.allocator = None
        self.is_filled = False
        self.cells = {}
        self.locks = {}
        self.begin = BEGIN

    def emit(self, **event):
        self.events.write(json.dumps(event) + "\n")
        self.events.flush()

    def note(self, command, cell=""):
        """Notes a command, because tests count the commands to all workers of a run."""
        path = os.environ.get("FAKE_WORKER_NOTES")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"{os.getpid()} {command} {self.allocator} {cell}\n")

    def wait_for_turn(self):
        """Waits for two lines. The first lets this worker open the device. The second says that the last worker has ended."""
        if "--wait" not in sys.argv:
            return
        if "FAKE_WORKER_FAILS_TO_LOAD" in os.environ:
            sys.exit("it fails to load")
        time.sleep(float(os.environ.get("FAKE_WORKER_SLOW_LOAD", "0")))
        record("loaded")
        self.emit(event="loaded")
        self.read_line()
        record("opens")
        self.lock_or_end("use", "another worker may have kernels running")
        if "FAKE_WORKER_ALONE" in os.environ:
            self.lock_or_end("open", "the device serves one process")
        self.read_line()
        self.begin = time.monotonic()

    def read_line(self):
        if not sys.stdin.readline():
            sys.exit(0)

    def lock_or_end(self, what, complaint):
        """Takes a lock that only one worker of a run may have. A worker that reads `quit` at this moment releases the
        lock soon.
        """
        path = os.environ.get("FAKE_WORKER_NOTES")
        if not path or what in self.locks:
            return
        self.locks[what] = open(f"{path}.{os.getppid()}.{device()}.{what}", "w", encoding="utf-8")
        limit = time.monotonic() + LOCK_SECONDS[what]
        while True:
            try:
                return fcntl.flock(self.locks[what], fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= limit:
                    self.emit(event="environment", reason=complaint)
                    sys.exit(3)
            time.sleep(0.001)

    def ready(self):
        if device() >= int(os.environ.get("FAKE_WORKER_DEVICES", "1")):
            self.emit(event="environment", reason=f"there is no device {device()}")
            sys.exit(3)
        self.lock_or_end("use", "another worker may have kernels running")
        self.lock_or_end("open", f"another worker has device {device()} open")
        time.sleep(float(os.environ.get("FAKE_WORKER_SLOW_READY", "0")))
        record("ready")
        if reason := os.environ.get("FAKE_WORKER_ENVIRONMENT"):
            self.emit(event="environment", reason=reason)
            sys.exit(3)
        self.emit(event="ready", protocol=int(os.environ.get("FAKE_WORKER_PROTOCOL", "1")), backend=BACKEND,
                  device={"name": "Fake device", "compute_capability": "", "driver": "", "driver_version": os.environ.get("FAKE_WORKER_DRIVER"),
                          "toolkit": "", "uuid": os.environ.get("FAKE_WORKER_UUID", f"GPU-{device()}" if BACKEND == "cuda" else ""), "sm_count": 4, "memory_bytes": int(os.environ.get("FAKE_WORKER_MEMORY", 1 << 30)),
                          "free_memory_bytes": 1 << 29, "l2_bytes": 0, "sm_clock_mhz": None, "sm_clock_max_mhz": None,
                          "mig": os.environ.get("FAKE_WORKER_MIG") == str(device()), "device_heap_bytes": heap_bytes()})

    def misbehave(self, kind, cell):
        """Misbehaves, and returns whether the worker continues normally afterwards."""
        print(f"about to {kind}", flush=True)
        if kind == "hang":
            while True:
                time.sleep(1)
        if kind == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if kind == "garbage":
            self.events.write("this is no event\n")
            self.events.flush()
        if kind == "wrong_cell":
            self.emit(event="sample", cell="0" * 16, phases=[], counters={})
        if kind == "malformed_sample":
            self.emit(event="sample", cell=cell, phases=[{"name": "alloc", "seconds": None, "operations": 1}])
        if kind == "protocol_error":
            self.emit(event="protocol_error", reason="planned confusion")
            sys.exit(64)
        if kind in ("incorrect", "oom"):
            self.emit(event="failed", cell=cell, status=kind, reason=f"planned {kind}", fatal=False)
        if kind == "device_fault":
            self.emit(event="failed", cell=cell, status=kind, reason="planned fault", fatal=True)
            sys.exit(70)
        if kind == "timeout":
            time.sleep(OVERRUN_SECONDS)
            self.emit(event="failed", cell=cell, status=kind, reason="planned overrun", fatal=True)
            sys.exit(70)
        if kind == "exit":
            sys.exit(5)
        if kind in ("leave_daemon", "leave_hidden_daemon"):
            leave_daemon(hidden=kind == "leave_hidden_daemon")
            self.answer_sample(cell)
            return True
        if kind == "close_events":
            self.events.close()
            time.sleep(600)
        return False

    def on_allocator(self, command):
        self.allocator = command["allocator"]
        self.is_filled = False
        trouble = TROUBLES[self.allocator]
        if trouble == "refuse_allocator":
            return self.emit(event="failed", status="unsupported", reason="planned refusal", fatal=False)
        if trouble == "hang_in_allocator":
            self.misbehave("hang", None)
        self.emit(event="allocator_ready", pool_bytes=command["pool_bytes"], metadata_bytes=4096, init_seconds=0.001)

    def on_open(self, command):
        self.cells[command["cell"]] = {"parameters": command["parameters"], "samples": 0}
        self.emit(event="opened", cell=command["cell"], kernels=[
            {"phase": "alloc", "registers": 30, "local_bytes": 0}, {"phase": "free", "registers": 20, "local_bytes": 0}],
            uses_device_heap=self.uses_device_heap(command["parameters"]))

    def uses_device_heap(self, parameters):
        if self.allocator in ("roomy", "thrifty"):
            return parameters["request_bytes"] >= 32
        return self.allocator in HEAPED

    def on_verify(self, command):
        if path := os.environ.get("FAKE_WORKER_NOTES"):
            with open(path + ".limits", "a", encoding="utf-8") as file:
                file.write(json.dumps([command.get("contents_seconds", math.inf), command["seconds"]]) + "\n")
        self.emit(event="note", text="events that do not answer may come before it")
        self.emit(event="verified", cell=command["cell"], checks={"null_returns": 0, "blocks": 32, "leak": "checked",
                          "reset": os.environ.get("FAKE_WORKER_RESET_CHECK", "checked")},
                  counted={"values": {"operations_per_malloc": [2 if self.allocator == "counting" else 0],
                                      "operations_per_free": [0]}, "histograms": {}})

    def on_sample(self, command):
        record("samples")
        cell = self.cells[command["cell"]]
        parameters = cell["parameters"]
        trouble = TROUBLES[self.allocator]
        for _ in range(command.get("samples", 1)):
            if command.get("stages"):
                self.emit(event="stage", cell=command["cell"], stage="prepare")
            self.fill(command)
            if command.get("stages"):
                self.emit(event="stage", cell=command["cell"], stage=os.environ.get("FAKE_WORKER_STAGE", "timed"))
            time.sleep(parameters["seconds"])
            if parameters["request_bytes"] >= int(os.environ.get("FAKE_WORKER_LOSES_GPU_FROM", 1 << 30)):
                self.emit(event="environment", reason="planned loss of the GPU")
                sys.exit(3)
            if trouble and parameters["request_bytes"] >= parameters["trouble_from"] and cell["samples"] >= 1:
                if not self.misbehave(trouble, command["cell"]):
                    return
                trouble = None  # once per command
            else:
                self.answer_sample(command["cell"])

    def fill(self, command):
        seconds = json.loads(os.environ.get("FAKE_WORKER_FILL", "{}")).get(self.allocator, 0)
        if self.is_filled or not seconds:
            return
        if command.get("stages"):
            self.emit(event="stage", cell=command["cell"], stage="fill")
        self.note("fill", command["cell"])
        time.sleep(seconds)
        self.is_filled = True

    def answer_sample(self, name):
        cell = self.cells[name]
        cell["samples"] += 1
        seconds = 1e-6 * cell["parameters"]["request_bytes"] + cell["parameters"]["device_seconds"]
        if self.allocator == "noisy":
            seconds *= random.uniform(1, 2)
        self.emit(event="sample", cell=name,
                  phases=[{"name": "alloc", "seconds": seconds, "operations": 1000},
                          {"name": "free", "seconds": seconds / 2, "operations": 1000}],
                  counters={"null_returns": 0}, sm_clock_mhz=None, temperature_c=None, throttled=None,
                  wall_seconds=seconds * cell["parameters"]["wall_factor"])

    def on_profile(self, command):
        more = json.loads(os.environ.get("FAKE_WORKER_PROFILE", "{}"))
        self.emit(event="profile", seconds={"start": 0.0, "kernels": time.monotonic() - self.begin, **more}, beside=0.25)

    def on_close(self, command):
        del self.cells[command["cell"]]
        self.emit(event="closed", cell=command["cell"])

    def serve(self):
        self.wait_for_turn()
        self.ready()
        for line in sys.stdin:
            command = json.loads(line)
            self.note(command["command"], command.get("cell", ""))
            if command["command"] == "quit":
                record("quits")
                if "use" in self.locks:
                    self.locks["use"].close()
                time.sleep(float(os.environ.get("FAKE_WORKER_SLOW_END", "0")))
                record("gone")
                sys.exit(0)
            getattr(self, "on_" + command["command"])(command)


def main():
    arguments = sys.argv[1:]
    note_start()
    if "--describe" in arguments:
        time.sleep(float(os.environ.get("FAKE_WORKER_SLOW_DESCRIPTION", "0")))
        if death := os.environ.get("FAKE_WORKER_DIES_DESCRIBING"):
            print(death, file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        print(os.environ.get("FAKE_WORKER_DESCRIPTION") or json.dumps(describe()))
    elif "--serve" not in arguments:
        print(heap_bytes())
    else:
        record("starts")
        descriptor = int(arguments[arguments.index("--events-fd") + 1])
        with os.fdopen(descriptor, "w", encoding="utf-8") as events:
            Worker(events).serve()


if __name__ == "__main__":
    main()
