"""Tests that programs report their sources, and that an edit rebuilds only units that include the edited file."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(two_programs LANGUAGES CXX)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${{CMAKE_BINARY_DIR}}/bin")
include("{ROOT}/cmake/AllocbenchRevision.cmake")
foreach(program IN ITEMS front worker)
  allocbench_add_program(${{program}} simt/main.cpp "{ROOT}/protocol/sources.cpp")
  target_include_directories(${{program}}_program PRIVATE "{ROOT}")
  target_compile_features(${{program}}_program PRIVATE cxx_std_20)
endforeach()
"""
ALLOCATOR = "int pages = 1;  // of the pool\n"
MAIN = """#include <cstdio>
#include "protocol/sources.hpp"
int main() {
  const auto sources = allocbench::protocol::program_sources();
  std::printf("%s %s %d", sources.revision.c_str(), sources.measured_revision.c_str(), sources.dirty.value_or(false));
}
"""


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


class TwoPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="allocbench-sources-")
        cls.addClassCleanup(scratch.cleanup)
        cls.source = Path(scratch.name) / "source"
        cls.build_folder = Path(scratch.name) / "build"
        files = {"CMakeLists.txt": PROJECT, "simt/main.cpp": MAIN, "allocators/one.hpp": ALLOCATOR, "allocators/README.md": "", "docs/page.md": "",
                 "configs/one.json": "{}", "harness/front/app.cpp": ""}
        for name, text in files.items():
            (cls.source / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.source / name).write_text(text, encoding="utf-8")
        run("git", "init", "-q", cls.source)
        run("git", "add", ".", cwd=cls.source)
        run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Begin", cwd=cls.source)
        run("cmake", "-S", cls.source, "-B", cls.build_folder, "-G", "Ninja")
        cls.build()
        cls.committed = cls.says("front")

    @classmethod
    def build(cls, target="all"):
        return run("ninja", "-C", cls.build_folder, "-v", target)

    @classmethod
    def says(cls, program):
        """Returns the commit, the hash and whether the work tree has changes."""
        return run(cls.build_folder / "bin" / program).split(" ")

    def edit(self, name, text):
        def restore():
            run("git", "checkout", "-q", ".", cwd=self.source)
            self.build()

        self.addCleanup(restore)
        (self.source / name).write_text(text, encoding="utf-8")

    def test_both_say_what_was_committed(self):
        commit, measured, dirty = self.committed
        self.assertEqual(run("git", "describe", "--always", cwd=self.source).strip(), commit)
        self.assertEqual((len(measured), dirty), (12, "0"))
        self.assertEqual(self.says("worker"), self.committed)

    def test_an_edit_reaches_programs_that_are_not_linked_again(self):
        self.edit("allocators/one.hpp", "int pages = 2;  // of the pool\n")
        steps = self.build()
        self.assertNotIn("main.cpp", steps)
        self.assertNotIn("-o linked", steps)
        for program in ("front", "worker"):
            commit, measured, dirty = self.says(program)
            self.assertEqual((commit, dirty), (self.committed[0], "1"))
            self.assertNotEqual(measured, self.committed[1])
        run("git", "checkout", "-q", ".", cwd=self.source)
        self.build()
        self.assertEqual(self.says("front"), self.committed)

    def test_pages_configs_and_the_front_end_are_not_measured(self):
        before = os.stat(self.build_folder / "bin" / "front").st_mtime_ns
        for name in ("docs/page.md", "allocators/README.md", "configs/one.json", "harness/front/app.cpp"):
            self.edit(name, "edited\n")
        self.build()
        self.assertEqual(self.says("front"), [*self.committed[:2], "1"])  # the README lies in a measured folder
        run("git", "checkout", "-q", "allocators", cwd=self.source)
        self.build()
        self.assertEqual(self.says("front"), self.committed)
        self.assertGreater(os.stat(self.build_folder / "bin" / "front").st_mtime_ns, before)

    def test_comments_are_not_measured(self):
        for text in ("int pages = 1;  // free or not\n", "// The pool.\nint pages = 1;\n", "  // One.\n\t// Two.\nint pages = 1;\n// Three."):
            with self.subTest(text):
                self.edit("allocators/one.hpp", text)
                self.build()
                self.assertEqual(self.says("worker")[1], self.committed[1])

    def test_what_only_looks_like_a_comment_is_measured(self):
        for first, second in (('auto place = "a // b";\n', 'auto place = "a // c";\n'), ('auto place = "https://b";\n', 'auto place = "https://c";\n'),
                              ("int ratio = 8 /2;\n", "int ratio = 8 /4;\n")):
            with self.subTest(first):
                self.edit("allocators/one.hpp", first)
                self.build()
                measured = self.says("worker")[1]
                self.edit("allocators/one.hpp", second)
                self.build()
                self.assertNotEqual(self.says("worker")[1], measured)

    def test_programs_of_different_sources_differ(self):
        self.edit("simt/main.cpp", MAIN + "int edited;\n")
        self.build("front")
        self.assertNotEqual(self.says("front")[1], self.committed[1])
        self.assertEqual(self.says("worker"), self.committed)

    def test_a_stripped_copy_says_the_same(self):
        programs = self.build_folder / "bin"
        run("strip", "--strip-unneeded", "-o", programs / "packed", programs / "worker")
        self.assertEqual(self.says("packed"), self.committed)

    def test_a_program_of_no_build_says_so(self):
        run("g++", "-std=c++20", f"-I{ROOT}", "-o", self.build_folder / "bin" / "alone", self.source / "simt/main.cpp", ROOT / "protocol/sources.cpp")
        self.assertEqual(self.says("alone"), ["unknown", "", "0"])


class ANewAllocator(unittest.TestCase):
    def commands(self, build):
        return set(run("ninja", "-C", build, "-t", "commands", "programs").splitlines())

    def test_adds_only_its_own_units(self):
        with tempfile.TemporaryDirectory(prefix="allocbench-new-") as scratch:
            copy = Path(scratch) / "source"
            copy.mkdir()
            for each in ROOT.iterdir():
                if each.is_dir() and each.name not in ("build", "results", ".git"):
                    shutil.copytree(each, copy / each.name, ignore=shutil.ignore_patterns("checkouts", "__pycache__"))
                elif each.is_file():
                    shutil.copy(each, copy)
            build = Path(scratch) / "build"
            run("cmake", "-S", copy, "-B", build, "-G", "Ninja", "-DALLOCBENCH_CUDA=OFF", "-DALLOCBENCH_TESTS=OFF", "-DALLOCBENCH_BENCHMARKS=OFF")
            before = self.commands(build)
            with open(copy / "allocators" / "CMakeLists.txt", "a", encoding="utf-8") as file:
                file.write("\nallocbench_add_allocator(newcomer HEADER bump/atomic_malloc.hpp)\n")
            run("cmake", build)
            after = self.commands(build)
        self.assertEqual(before - after, set())
        self.assertEqual([each for each in after - before if "plugin_newcomer_" not in each], [])
        self.assertGreaterEqual(len(after - before), 4)


if __name__ == "__main__":
    unittest.main()
