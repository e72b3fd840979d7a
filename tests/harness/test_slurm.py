"""Tests the script of `study --slurm` with a real Slurm: munged, slurmctld and slurmd of this machine, in their own
folder.

If they cannot start, the test is skipped with the reason.
"""

import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import time
import unittest

from support import PROGRAM
from test_shards import ShardsTest, statuses_and_rounds

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo", "squeue")
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
START_SECONDS = 30
JOB_SECONDS = 90

CONFIGURATION = """ClusterName=test
SlurmctldHost={host}
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={host} CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as bound:
        bound.bind(("", 0))
        return bound.getsockname()[1]


class Slurm:
    """A cluster consists of this machine only."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self):
        """Returns the reason why the cluster cannot be started, or an empty text if it runs."""
        missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
        if missing:
            return f"{', '.join(missing)} not found (tools/install-dependencies.sh --dev)"
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)  # folder of munge's socket
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, folder=self.folder, controller_port=free_port(), node_port=free_port(), user=getpass.getuser(),
                                 cpus=os.cpu_count()), encoding="utf-8")
        self.run("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                 f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        limit = time.monotonic() + START_SECONDS
        while not (self.folder / "munge.socket").exists():
            if reason := self.not_started(limit):
                return reason
        for name, *options in (("slurmctld", "-D", "-i"), ("slurmd", "-D")):
            self.run(name, *options, "-f", self.environment["SLURM_CONF"])
        while self.ask("sinfo", "--noheader", "--format=%T") != "idle":
            if reason := self.not_started(limit):
                return reason
        return ""

    def run(self, name, *arguments):
        output = (self.folder / f"{name}.out").open("wb")
        self.processes.append((name, subprocess.Popen([name, *arguments], stdout=output, stderr=subprocess.STDOUT, env=self.environment)))
        output.close()

    def not_started(self, limit):
        time.sleep(0.1)
        for name, process in self.processes:
            if process.poll() is not None:
                return f"{name} ended with {process.returncode}: {self.last_line(name)}"
        return f"no node is idle after {START_SECONDS} s: {self.last_line('slurmd')}" if time.monotonic() > limit else ""

    def last_line(self, name):
        lines = (self.folder / f"{name}.out").read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-1] if lines else "it said nothing"

    def ask(self, *command):
        return subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment, timeout=30).stdout.strip()

    def stop(self):
        for _, process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class RealSlurm(ShardsTest):
    def setUp(self):
        super().setUp()
        folder = self.folder / "slurm"
        folder.mkdir()
        self.slurm = Slurm(folder)
        self.addCleanup(self.slurm.stop)
        if reason := self.slurm.start():
            self.skipTest(f"Slurm cannot be started here: {reason}")

    def submit(self, script):
        environment = self.environment(PATH=f"{pathlib.Path(PROGRAM).parent}:{PATH}", SLURM_CONF=self.slurm.environment["SLURM_CONF"])
        result = subprocess.run(["bash", "-s"], input=script, capture_output=True, text=True, check=False, cwd=self.folder, env=environment,
                                timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        limit = time.monotonic() + JOB_SECONDS
        while self.slurm.ask("squeue", "--noheader"):
            self.assertLess(time.monotonic(), limit, "the jobs did not end")
            time.sleep(0.2)
        return result.stdout

    def test_an_array_of_shards_and_its_merge(self):
        self.add_configs(5)
        whole, out = self.folder / "whole", self.folder / "on the cluster"
        study = ("study", "mine", "--configs", self.configs)
        self.run_program(*study, "--no-figures", "--out", whole)
        told = self.submit(self.run_program(*study, "--out", out, "--slurm", 4, "--workers", self.workers, expect=0).stdout)
        self.assertRegex(told, r"Submitted the shards as job \d+, and the merge as job \d+\.")
        logs = {path.name: path.read_text(encoding="utf-8") for path in out.glob("*.log")}
        self.assertEqual(sorted(logs), ["merge.log", "shard-1.log", "shard-2.log", "shard-3.log", "shard-4.log"])
        self.assertIn("shard 2/4 has ", logs["shard-2.log"])
        self.assertTrue((out / "merged").is_dir(), logs["merge.log"])
        self.assertEqual(statuses_and_rounds(out / "merged"), statuses_and_rounds(whole))
        print("\n".join(f"{name}:\n{text}" for name, text in sorted(logs.items())))


if __name__ == "__main__":
    unittest.main()
