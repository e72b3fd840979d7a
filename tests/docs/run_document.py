"""Follows a document to the letter: writes its files, runs its commands, in order.

A fenced block opened with ```LANG file=NAME is written to NAME; one opened with ```sh run is run by bash and must
succeed. Usage: run_document.py DOCUMENT SOURCE_DIR BUILD_DIR [--here]; with --here commands run in SOURCE_DIR (for a
README), else in an empty folder.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(?P<language>\w+) (?P<action>run|file=(?P<name>\S+))\n(?P<body>.*?)^```$", re.M | re.S)


def follow(document: pathlib.Path, source: pathlib.Path, build: pathlib.Path, folder: pathlib.Path) -> int:
    steps = list(FENCE.finditer(document.read_text()))
    if not steps:
        sys.exit(f"{document}: no block to follow; is the fence '```sh run' or '```cpp file=NAME'?")
    environment = dict(os.environ, ALLOCBENCH=str(source))
    for step in steps:
        if step["name"]:
            (folder / step["name"]).write_text(step["body"])
            continue
        # The documents speak of the default build folder; this test may run for another preset.
        commands = step["body"].replace("$ALLOCBENCH/build", str(build)).replace("build/bin/allocbench ", f"{build}/bin/allocbench ")
        print(commands, flush=True)
        result = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, timeout=900)
        if result.returncode != 0:
            print(f"{document}: the commands above ended with {result.returncode}", file=sys.stderr)
            return 1
    return 0


def main() -> int:
    document, source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    if "--here" in sys.argv[4:]:
        return follow(document, source, build, source)
    with tempfile.TemporaryDirectory(prefix="allocbench-docs-") as folder:
        return follow(document, source, build, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
