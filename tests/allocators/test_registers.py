"""Checks the registers of Comb's malloc kernels on sm_90, as ptxas of CUDA 13.0 counts them."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

NVCC = os.environ.get("ALLOCBENCH_NVCC", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 40  # docs/comb.md


def registers(report):
    """Returns the registers of each kernel from the output of `ptxas -v`: a line names the entry, and a later line has
    its count.
    """
    found = {}
    entry = None
    for line in report.splitlines():
        if named := re.search(r"Compiling entry function '(\w+)'", line):
            entry = named[1]
        elif (used := re.search(r"Used (\d+) registers", line)) and entry is not None:
            found[entry] = int(used[1])
            entry = None
    return found


class Registers(unittest.TestCase):
    def test_the_report_is_read(self):
        self.assertEqual(registers("ptxas info : Compiling entry function 'first' for 'sm_90'\nptxas info : 0 bytes stack frame\n"
                                   "ptxas info : Used 41 registers, used 0 barriers\nptxas info : Used 7 registers"), {"first": 41})

    @unittest.skipUnless(NVCC and "release 13.0" in subprocess.run([NVCC, "--version"], capture_output=True, text=True, check=False).stdout,
                         "other compilers count otherwise")
    def test_malloc_kernels_of_comb(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                [NVCC, f"-I{ROOT}", "-O1", "-DNDEBUG", "-std=c++20", "--expt-relaxed-constexpr", "-arch=sm_90", "-Xptxas=-v", "-cubin",
                 str(ROOT / "tests/allocators/registers.cu"), "-o", os.path.join(folder, "registers.cubin")],
                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        kernels = {name: count for name, count in registers(result.stdout + result.stderr).items() if "AllocKernel" in name}
        self.assertEqual(len(kernels), 2, kernels)
        self.assertLessEqual(max(kernels.values()), MOST, kernels)


if __name__ == "__main__":
    unittest.main()
