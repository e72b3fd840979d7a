"""Runs a worker program under test: it sends JSON commands and returns the final events."""

import json
import os
import subprocess

WORKER = os.environ.get("ALLOCBENCH_WORKER", "")
BACKEND = "cuda" if WORKER.endswith("cuda") else "cpu"
SECONDS = 60


def run(*arguments, commands=()):
    """Runs the worker to its end and returns the finished process."""
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in commands)
    return subprocess.run([WORKER, *arguments], input=text, capture_output=True, text=True, timeout=SECONDS)


def events(process):
    """Returns the events that a finished `--serve` wrote to its standard output."""
    return [json.loads(line) for line in process.stdout.splitlines()]


def serve(*commands, options=()):
    """Returns the events after `ready`, and the exit code."""
    process = run("--serve", *options, commands=commands)
    all_events = events(process)
    assert all_events[0]["event"] == "ready", process.stderr
    return all_events[1:], process.returncode


# A leak check stops after 50 ms and reports that. On a busy machine, a whole check needs further tries.
def serve_with_whole_leak_check(*commands, tries=50):
    for _ in range(tries):
        answers, code = serve(*commands)
        if not any(answer.get("checks", {}).get("leak", "").startswith("partial: ") for answer in answers):
            break
    return answers, code


def allocator(name="atomic_malloc", pool_bytes=1 << 22, **parameters):
    return {"command": "allocator", "allocator": name, "parameters": parameters, "pool_bytes": pool_bytes}


def open_cell(workload, cell="c0", state="fresh", warmups=0, seed=1, **parameters):
    return {"command": "open", "cell": cell, "workload": workload, "parameters": parameters, "seed": seed,
            "state": state, "warmups": warmups}


def on(command, cell="c0"):
    return {"command": command, "cell": cell}


QUIT = {"command": "quit"}
