"""Checks the table of types and headers in docs/use-the-library.md with the compiler. Usage: COMPILER SOURCE."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMPILER, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| `(allocators/[\w/]+\.hpp)` \|$", re.M)


class Types(unittest.TestCase):
    def setUp(self):
        self.rows = ROW.findall((SOURCE / "docs/use-the-library.md").read_text(encoding="utf-8"))

    def test_every_plugin_of_the_package_is_there(self):
        added = re.findall(r"^allocbench_add_allocator\(\w+ HEADER (\S+?)[ )]", (SOURCE / "allocators/CMakeLists.txt").read_text(encoding="utf-8"), re.M)
        shipped = {f"allocators/{header}" for header in added if not header.startswith(("support/", "delayed/"))}
        self.assertGreater(len(shipped), 40)
        self.assertEqual({header for _, _, header in self.rows}, shipped)
        self.assertEqual(len({name for name, _, _ in self.rows}), len(self.rows))

    def test_the_compiler_agrees(self):
        lines = [f'#include "{header}"' for header in sorted({header for _, _, header in self.rows})]
        lines += ["template <class... All> constexpr unsigned count(allocbench::AllocatorList<All...>) { return sizeof...(All); }"]
        lines += [f'static_assert(allocbench::{type_}::traits.name == "{name}");' for name, type_, _ in self.rows]
        plugins = sorted({pathlib.Path(header).stem for _, _, header in self.rows})
        counted = " + ".join(f"count(allocbench::plugins::{name}{{}})" for name in plugins)
        lines += [f"static_assert({counted} == {len(self.rows)});"]
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, "types.cpp")
            unit.write_text("\n".join(lines) + "\n", encoding="utf-8")
            result = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", f"-I{SOURCE}", f"-I{SOURCE / 'library'}", unit],
                                    capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
