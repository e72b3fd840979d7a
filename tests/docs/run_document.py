"""Follows a document literally: writes its files and runs its commands, in order.

The opening of a fenced block decides:

* ```LANG file=NAME: the block is written to NAME.
* ```sh run: Bash runs the block, which must succeed.
* ```python run: Python runs the block with the package `allocbench`, which must succeed.
* ```sh replay: every command shows a finding again. Its exit code must be 1, and its output must contain the comments
  after it.
* ```sh fixed: every command replays a repaired error. Its exit code must be 0.

Usage: run_document.py DOCUMENT SOURCE_DIR BUILD_DIR [--here]

With --here, commands run in SOURCE_DIR (for a README), else in an empty folder.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REPLAYED = {"replay": 1, "fixed": 0}  # exit code of each command, by the kind of its block
FENCE = re.compile(r"^```(?P<language>\w+) (?P<action>run|replay|fixed|file=(?P<name>\S+))\n(?P<body>.*?)^```$", re.M | re.S)


def for_this_build(commands: str, build: pathlib.Path) -> str:
    """Replaces the default build folder, and `allocbench` without a folder, because this test may run for another
    preset.
    """
    commands = commands.replace("$ALLOCBENCH/build", str(build)).replace("build/bin/allocbench ", f"{build}/bin/allocbench ")
    return re.sub(r"^allocbench ", f"{build}/bin/allocbench ", commands, flags=re.M)


def replays(body: str) -> list[tuple[str, list[str]]]:
    """Returns the commands, each with the texts that its output must contain."""
    found: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("# "):
            found[-1][1].append(line[2:])
        elif line.strip():
            found.append((line, []))
    return found


def replay(document: pathlib.Path, steps: list[tuple[str, list[str]]], build: pathlib.Path, environment: dict[str, str], code: int) -> bool:
    """Returns whether each command ends with `code` and, if `code` is 1, prints what its comments expect."""
    succeeded = True
    for command, expected in steps:
        print(command, flush=True)
        with tempfile.TemporaryDirectory(prefix="allocbench-docs-") as folder:
            result = subprocess.run(["bash", "-euo", "pipefail", "-c", for_this_build(command, build)], cwd=folder,
                                    env=environment, capture_output=True, text=True, timeout=900, check=False)
        missing = [text for text in expected if text not in result.stdout]
        if result.returncode != code or missing or (code == 1 and not expected):
            print(f"{document}: {command}\nended with {result.returncode}; not in its output: {missing or 'nothing expected'}\n"
                  f"{result.stdout[:2000]}{result.stderr}", file=sys.stderr)
            succeeded = False
    return succeeded


def follow(document: pathlib.Path, source: pathlib.Path, build: pathlib.Path, folder: pathlib.Path) -> int:
    text = document.read_text()
    steps = list(FENCE.finditer(text))
    shown = "".join(step["body"] for step in steps if step["action"] in REPLAYED)
    for seed in re.findall(r"\bv1:[a-z_]\S+:\d+\b", text):
        if seed not in shown:
            sys.exit(f"{document}: {seed} is in no block opened with '```sh replay' or '```sh fixed'")
    if not steps:
        sys.exit(f"{document}: no block to follow. Is the fence '```sh run' or '```cpp file=NAME'?")
    everywhere = dict(os.environ, ALLOCBENCH=str(source))
    for step in steps:
        if step["name"]:
            (folder / step["name"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / step["name"]).write_text(step["body"])
            continue
        if step["action"] in REPLAYED:
            if not replay(document, replays(step["body"]), build, everywhere, REPLAYED[step["action"]]):
                return 1
            continue
        commands = for_this_build(step["body"], build)
        print(commands, flush=True)
        shell, environment = ["bash", "-euo", "pipefail", "-c"], everywhere
        if step["language"] == "python":
            shell, environment = [sys.executable, "-c"], dict(everywhere, PYTHONPATH=str(source / "python"))
        result = subprocess.run([*shell, commands], cwd=folder, env=environment, timeout=900)
        if result.returncode != 0:
            print(f"{document}: the commands above ended with {result.returncode}", file=sys.stderr)
            return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("document", "source", "build"):
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--here", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="allocbench-docs-") as scratch:
        folder = options.source if options.here else pathlib.Path(scratch)
        return follow(options.document, options.source, options.build, folder)


if __name__ == "__main__":
    sys.exit(main())
