"""Tests the installed files and the Debian package of the library. Usage: BUILD_DIR CMAKE CPACK."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, CMAKE, CPACK = sys.argv[1:4]

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(other LANGUAGES CXX)
find_package(allocbench 0.1 REQUIRED)
file(WRITE other.cpp "")
add_library(other STATIC other.cpp)
target_link_libraries(other PRIVATE allocbench::allocators)
get_target_property(linked allocbench::allocators INTERFACE_LINK_LIBRARIES)
message(STATUS "linked: ${linked}")
"""


class Package(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="allocbench-package-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_in_folder(self, *command):
        result = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def install(self, *more):
        self.run_in_folder(CMAKE, "--install", BUILD, "--component", "library", "--prefix", self.folder / "installed", *more)

    def configure(self, prefix):
        (self.folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        return self.run_in_folder(CMAKE, "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}")

    def test_another_project_finds_the_installed_package(self):
        self.install()
        self.assertIn("linked: allocbench::allocators_cpu", self.configure(self.folder / "installed"))

    def test_it_can_be_moved(self):
        self.install()
        (self.folder / "installed").rename(self.folder / "moved")
        self.configure(self.folder / "moved")

    def test_what_is_broken_on_purpose_stays_here(self):
        self.install()
        headers = self.folder / "installed/include/allocbench/allocators"
        self.assertTrue((headers / "comb/comb.hpp").exists())
        self.assertFalse((headers / "support/saboteur").exists())

    def test_the_umbrella_header_has_every_allocator(self):
        self.install()
        root = self.folder / "installed/include/allocbench"
        umbrella = (root / "allocbench/allocators.hpp").read_text(encoding="utf-8")
        for header in (root / "allocators").rglob("*.hpp"):
            name = str(header.relative_to(root))
            if "\nALLOCBENCH_REGISTER(" in header.read_text(encoding="utf-8"):
                with self.subTest(header=name):
                    self.assertIn(f'#include "{name}"', umbrella)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
    def test_the_debian_package(self):
        self.run_in_folder(CPACK, "--config", pathlib.Path(BUILD, "CPackConfig.cmake"), "-G", "DEB", "-B", self.folder,
                           "-D", "CPACK_COMPONENTS_ALL=library")
        package = next(self.folder.glob("allocbench-dev_*_all.deb"))
        fields = self.run_in_folder("dpkg-deb", "--field", package, "Depends", "Architecture")
        self.assertIn("librandom123-dev", fields)
        self.assertIn("Architecture: all", fields)
        self.run_in_folder("dpkg-deb", "--extract", package, self.folder / "root")
        self.assertIn("linked: allocbench::allocators_cpu", self.configure(self.folder / "root/usr"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
