"""Runs the program with mutated configs, logs and options. Every run must end with 0, 1, 2 or 3, within 5 s and 1 GB, and
must never show the text of a C++ exception.

    ALLOCBENCH_PROGRAM=build/bin/allocbench python3 tests/harness/fuzz.py COUNT [SEED]

test_fuzz.py runs a few hundred mutations. A failure prints its seed and keeps the input.
"""

import copy
import json
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import fake_worker

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("ALLOCBENCH_PROGRAM", "allocbench")
SECONDS = 5
BYTES = 1 << 30
# These texts come from exceptions, assertions and the C++ library. main() prints "internal error" for an unexpected
# exception.
FORBIDDEN = ("what()", "terminate called", "nlohmann", "json.exception", "basic_string", "std::", "bad_alloc", "vector::",
             "Not enough memory", "internal error", "Sanitizer")

CONFIGS = [
    {"name": "fuzz/sweep", "allocators": ["steady", {"id": "hanging", "parameters": {"page_bytes": "8KiB"}, "label": "b"}],
     "workload": {"id": "pulse", "blocks": 8, "lanes": [1, 2], "shape": "flat"},
     "sweep": {"request_bytes": {"log2": [16, "1KiB"]}, "pool_bytes": ["1MiB", 2097152]},
     "exclude": [{"allocator": "steady", "request_bytes": [16, 32]}], "repetitions": 3, "deadline_s": 0.5,
     "plot": {"kind": "lines", "x": "request_bytes", "y": ["alloc", "free"], "metric": "time", "log": "xy",
              "marks": [{"metric": "time", "phase": "alloc", "where": {"request_bytes": 16}, "value": 1, "source": "p"}],
              "positions": [{"at": 32, "source": "p", "where": {"request_bytes": [16, 32]}}]},
     "claims": [{"says": "a", "source": "s", "ratio": {"of": "steady", "to": {"allocator": "hanging", "where": {"blocks": 8}}},
                 "between": [1, 2], "over": "mean"}]},
    {"name": "fuzz/zip", "allocators": ["all"], "workload": {"id": "pulse", "seconds": 0.5, "verify": False},
     "zip": [{"request_bytes": [16, 32], "blocks": [1, 2]}, {"allocator.page_bytes": [64, 128], "seconds": {"range": [0, 1, 1]}}],
     "pool_bytes": "64MiB", "rounds": 2, "warmups": 0, "counted_passes": 2, "state": "reused", "statistic": "mean", "seed": 7,
     "overrides": {"steady": {"repetitions": 2, "workload": {"blocks": 3}, "parameters": {"page_bytes": 64}}},
     "assumed": ["one"], "notes": ["two"], "cpu": {"pool_bytes": "1MiB", "workload": {"blocks": 2}},
     "cuda": {"sweep": {"blocks": [1, 2, 3]}, "zip": None, "allocators": ["steady"]}},
    {"name": "fuzz/table", "paper": "p", "plot": {"kind": "printed_table", "columns": ["a"], "rows": [["1"], ["2"]]}},
]

STRANGE = [None, True, -1, 0, 1, 2**31, 2**63, 2**64 - 1, -2**63, 0.5, -0.0, 1e-320, 1e18, 1e308, "", "1e400", "64KiB", "-1",
           "9" * 400, "a" * 3000, "\u0000", "\ud7ff\U0001f600", "../..", "/", "~", "~1", "id", "all", "relative_time", [], {},
           [[]], [{}], [1, "1", None], {"log2": [0, 4]}, {"log2": [1, 1e308]}, {"range": [1, 1e308, 1]}, {"range": [0, 1, 1e-300]},
           {"range": [1, 10]}, {"id": "pulse"}, {"a": {"b": {"c": 1}}}, list(range(300)), ["steady"] * 50]
PIECES = ["{", "}", "[", "]", ",", ":", '"', "\\", "\\u12", "1e400", "-", "nan", "null", "\x00", "\xff", "//", "'", "[" * 3000,
          '{"a":' * 500, '"' + "x" * 5000 + '"', "\n", "1" * 500, "0.", "tru"]
EXPRESSIONS = ["(", ")", "[", "*", "+", "?", "{9}", "{999999}", "|", ".", "\\1", "\\", "^", "$", "a", "steady", "(?=", "(a*)*", "[^"]


def places(node, found=None, path=()):
    """Yields every container of the document with the key or index of a member."""
    found = [] if found is None else found
    members = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in members:
        found.append((node, key))
        places(value, found, path + (key,))
    return found


def mutate_document(chance, document):
    document = copy.deepcopy(document)
    for _ in range(chance.randint(1, 4)):
        found = places(document)
        if not found:
            return document
        node, key = chance.choice(found)
        kind = chance.randrange(5)
        if kind == 0:
            node[key] = copy.deepcopy(chance.choice(STRANGE))
        elif kind == 1:
            del node[key]
        elif kind == 2 and isinstance(node, dict):
            name = list(key)
            if name:
                name[chance.randrange(len(name))] = chance.choice("abcxyz_/~. ")
            node["".join(name)] = node.pop(key)
        elif kind == 3:
            other, name = chance.choice(found)
            if name in (other if isinstance(other, dict) else range(len(other))):
                node[key] = copy.deepcopy(other[name])
        elif isinstance(node, list):
            node.extend(copy.deepcopy(node[: 20]))
        else:
            node[chance.choice(["id", "x", "kind", "where", "log2", "range", "cpu", "cuda", "plot"])] = copy.deepcopy(chance.choice(STRANGE))
    return document


def mutate_text(chance, text):
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + chance.randint(1, 20):]
        elif kind == 2:
            text = text[:at]
        else:
            text = text[:at] + text[max(0, at - chance.randint(1, 60)):]
    return text


def mutate_log(chance, lines):
    """Changes, moves or deletes lines of a log, up to three times. A line is changed as JSON or as text."""
    lines = list(lines)
    for _ in range(chance.randint(1, 3)):
        if not lines:
            break
        at = chance.randrange(len(lines))
        kind = chance.randrange(5)
        try:
            if kind <= 1:
                lines[at] = json.dumps(mutate_document(chance, json.loads(lines[at])))
        except ValueError:
            pass
        if kind == 2:
            lines[at] = mutate_text(chance, lines[at])
        elif kind == 3:
            lines.insert(chance.randrange(len(lines)), lines.pop(at))
        elif kind == 4:
            del lines[at:at + chance.randint(1, 5)]
    return "\n".join(lines) + chance.choice(["\n", ""])


# No mutation changes this worker. A worker in Python would take most of the time.
WORKER = """#!/bin/sh
case "$1" in
--describe) cat "{folder}/description.json" ;;
--device-heap-for) echo 0 ;;
*) eval "cat '{folder}/ready.json' >&$3"; read -r line ;;
esac
"""


class Fuzzer:
    def __init__(self, folder):
        self.folder = folder
        self.out = folder / "out"
        self.out.mkdir()
        workers = folder / "workers"
        workers.mkdir()
        (folder / "description.json").write_text(json.dumps(fake_worker.describe()), encoding="utf-8")
        ready = json.dumps({"event": "ready", "protocol": 1, "backend": "cpu", "device": {"name": "Fake", "memory_bytes": 1 << 34}})
        (folder / "ready.json").write_text(ready + "\n", encoding="utf-8")
        worker = workers / "allocbench-worker-cpu"
        worker.write_text(WORKER.format(folder=folder), encoding="utf-8")
        worker.chmod(0o755)
        self.environment = {**os.environ, "ALLOCBENCH_WORKERS": str(workers)}
        self.log = (HERE / "golden" / "events.jsonl").read_text(encoding="utf-8").splitlines()
        # A program with a sanitizer reserves more address space than any limit, so its memory has no limit.
        self.limit = BYTES if self.run(["--version"], BYTES)[0] == 0 else None

    def run(self, arguments, limit):
        def restrict():
            if limit:
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        # subprocess cannot pass null characters.
        arguments = [str(argument).replace("\x00", "") for argument in arguments]
        try:
            result = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=SECONDS, env=self.environment,
                                    cwd=self.folder, preexec_fn=restrict, check=False)
        except subprocess.TimeoutExpired:
            return None, f"no end after {SECONDS} s"
        return result.returncode, (result.stdout + result.stderr).decode("utf-8", "replace")

    def case(self, chance):
        """Writes the files of one run and returns its arguments."""
        if chance.random() < 0.35:
            (self.out / "events.jsonl").write_text(mutate_log(chance, self.log), encoding="utf-8", errors="replace")
            return ["report", self.out]
        document = chance.choice(CONFIGS)
        if chance.random() < 0.65:
            text = json.dumps(mutate_document(chance, document))
        else:
            text = mutate_text(chance, json.dumps(document, indent=chance.choice([None, 1])))
        path = self.folder / "config.json"
        path.write_text(text, encoding="utf-8", errors="replace")
        arguments = ["--config", path, "--backend", "cpu", "--dry-run"]
        if chance.random() < 0.2:
            arguments += ["--filter", "".join(chance.choice(EXPRESSIONS) for _ in range(chance.randint(1, 60)))]
        if chance.random() < 0.1:
            arguments += [chance.choice(["--timeout", "--seed", "--device", "--os-threads"]),
                          chance.choice(["1e10", "-1", "0", "1e400", "nan", "inf", "", "9" * 30, "x"])]
        return arguments

    def failure(self, seed):
        """Returns what is wrong with the run of this seed, or an empty text."""
        arguments = self.case(random.Random(seed))
        code, text = self.run(arguments, self.limit)
        if code is None:
            return text
        if code not in (0, 1, 2, 3):
            return f"exit code {code}: {text[-300:]}"
        shown = [word for word in FORBIDDEN if word in text]
        if shown:
            return f"shows {shown}: {text[-300:]}"
        if code == 2 and "allocbench: " not in text:
            return f"no complaint: {text[-300:]}"
        return ""

    def keep(self, seed):
        kept = pathlib.Path(tempfile.mkdtemp(prefix=f"allocbench-fuzz-{seed}-"))
        shutil.copytree(self.folder, kept, dirs_exist_ok=True)
        return kept


def fuzz(count, first_seed, report=print):
    """Returns the number of failures among `count` mutations."""
    failures = 0
    with tempfile.TemporaryDirectory(prefix="allocbench-fuzz-") as scratch:
        fuzzer = Fuzzer(pathlib.Path(scratch))
        for seed in range(first_seed, first_seed + count):
            problem = fuzzer.failure(seed)
            if problem:
                failures += 1
                report(f"seed {seed}: {problem}\n  kept in {fuzzer.keep(seed)}")
    return failures


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    found = fuzz(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 1)
    print(f"{sys.argv[1]} mutations, {found} failures")
    sys.exit(1 if found else 0)
