"""Checks that no function is longer than a screen of 60 lines. A body ends at the brace that is indented like its first line."""

import ast
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCREEN = 60
# Braces after these words enclose functions or data.
NO_FUNCTION = re.compile(r"\s*(namespace|extern|struct|class|enum|union|template .*(struct|class))\b|.*= (\w+\()?\{$|const \w+ = \(\(\) => \{$")


def sources(*suffixes):
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = files.stdout.splitlines() or [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
    return [name for name in names if name.endswith(suffixes) and not name.startswith(("build", "results/")) and (ROOT / name).exists()]


def bodies(text):
    """Returns the length of each block in braces, and the line that begins the block. This is the last line above the
    closing brace that is not indented more than the brace.
    """
    lines = text.splitlines()
    begins = []  # (indentation, line) of the lines that a later line may close
    for number, line in enumerate(lines):
        if not line.strip() or line.startswith("#"):
            continue
        indentation = len(line) - len(line.lstrip())
        while begins and begins[-1][0] > indentation:
            begins.pop()
        same = begins.pop() if begins and begins[-1][0] == indentation else None
        if same and line.lstrip().startswith("}"):
            yield number - same[1] + 1, lines[same[1]]
        begins.append((indentation, number))


class Bodies(unittest.TestCase):
    def test_a_body_begins_at_its_signature(self):
        text = "namespace a {\nvoid f(int a,\n       int b) {\n  if (a) {\n    b();\n  } else {\n    a();\n  }\n}\n}\n"
        self.assertEqual(list(bodies(text)), [(3, "  if (a) {"), (3, "  } else {"), (8, "void f(int a,"), (2, "}")])


class FunctionsFitAScreen(unittest.TestCase):
    def test_c_plus_plus_and_javascript(self):
        found = [f"{name}: {length} lines: {begin.strip()}" for name in sources(".hpp", ".cpp", ".cu", ".js")
                 for length, begin in bodies((ROOT / name).read_text(encoding="utf-8"))
                 if length > SCREEN and not NO_FUNCTION.match(begin)]
        self.assertEqual(found, [])

    def test_python(self):
        found = []
        for name in sources(".py"):
            for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= SCREEN:
                    found.append(f"{name}: {node.name}: {node.end_lineno - node.lineno + 1} lines")
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
