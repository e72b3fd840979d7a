"""Checks that CMake rejects a GPU that is too old before a compiler reads a header. Usage: CMAKE MODULE."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, MODULE = sys.argv[1:3]


def check(architectures):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "check.cmake")
        script.write_text(f'include("{MODULE}")\nallocbench_check_architectures("{architectures}")\n', encoding="utf-8")
        return subprocess.run([CMAKE, "-P", script], capture_output=True, text=True, check=False)


class Architectures(unittest.TestCase):
    def test_new_ones(self):
        for architectures in ("90", "70;80-real;90a-real", "75-virtual", "native", ""):
            with self.subTest(architectures=architectures):
                result = check(architectures)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_old_ones(self):
        for architectures, found in (("52", "is sm_52"), ("61-real;90", "is sm_61"), ("all", "asks for older ones too"),
                                     ("all-major", "asks for older ones too")):
            with self.subTest(architectures=architectures):
                result = check(architectures)
                self.assertNotEqual(result.returncode, 0)
                words = " ".join(result.stderr.split())
                self.assertIn("allocbench needs sm_70 or newer", words)
                self.assertIn(found, words)
                self.assertIn("Set CMAKE_CUDA_ARCHITECTURES", words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
