"""Tests tools/pack-worker.sh: a packed worker runs in any folder, with exactly the packed plug-ins."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from worker_process import BACKEND, WORKER

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "pack-worker.sh"


def pack(programs, archive):
    return subprocess.run([TOOL, BACKEND, archive], capture_output=True, text=True, check=False,
                          env={**os.environ, "PROGRAMS": str(programs)})


def plugins_of(worker):
    description = subprocess.run([worker, "--describe"], capture_output=True, text=True, check=True)
    return {allocator["plugin"] for allocator in json.loads(description.stdout)["allocators"]}


class Pack(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.archive = self.folder / "worker.tar.xz"

    # The test packs one plug-in of the build, because xz would take long for all plug-ins.
    def programs(self):
        built = pathlib.Path(WORKER).parent
        programs = self.folder / "programs"
        plugins = programs / "plugins" / BACKEND
        plugins.mkdir(parents=True)
        for name in ("allocbench", pathlib.Path(WORKER).name):
            (programs / name).symlink_to(built / name)
        (plugins / "atomic_malloc.so").symlink_to(built / "plugins" / BACKEND / "atomic_malloc.so")
        return programs

    def test_an_unpacked_worker_finds_its_plugins(self):
        packed = pack(self.programs(), self.archive)
        self.assertEqual(packed.returncode, 0, packed.stderr)
        self.assertIn(" 1 plug-in file", packed.stdout)
        subprocess.run(["tar", "-xf", self.archive, "-C", self.folder], check=True)
        self.assertEqual(plugins_of(self.folder / "allocbench" / pathlib.Path(WORKER).name), {"atomic_malloc"})

    def test_equal_programs_give_equal_archives(self):
        programs = self.programs()
        self.assertEqual(pack(programs, self.archive).returncode, 0)
        first = self.archive.read_bytes()
        self.assertEqual(pack(programs, self.archive).returncode, 0)
        self.assertEqual(self.archive.read_bytes(), first)

    def test_what_was_not_built_is_named(self):
        packed = pack(self.folder / "nowhere", self.archive)
        self.assertEqual(packed.returncode, 2)
        self.assertIn("nowhere/allocbench does not exist", packed.stderr)
        self.assertFalse(self.archive.exists())


if __name__ == "__main__":
    unittest.main()
