"""Tests plug-ins that cannot be used: each is named with the reason, and the others still run."""

import json
import unittest

from support import ProgramTest

REASON = "/plugins/cpu/odd.so: it is damaged. Rebuild it or remove it."
WARNING = f"allocbench: warning: the plug-in odd is unusable: {REASON}\n"


class Plugins(ProgramTest):
    def environment(self, **more):
        return super().environment(FAKE_WORKER_BROKEN_PLUGINS=json.dumps([{"plugin": "odd", "reason": REASON}]), **more)

    def test_list_and_describe_show_the_others(self):
        result = self.run_program("list", "allocators", "--names", expect=0)
        self.assertEqual(result.stderr, WARNING)
        self.assertIn("steady\n", result.stdout)
        self.assertIn("A steady allocator", self.run_program("describe", "steady", expect=0).stdout)
        self.assertIn(REASON, self.run_program("describe", "odd", expect=2).stderr)

    def test_a_config_without_it_is_measured(self):
        result = self.measure(self.config(), expect=0)
        self.assertEqual(result.stderr.count(WARNING), 1)
        self.assertEqual(self.statuses(), {"steady": ["ok"] * 3})

    def test_a_config_with_it_is_refused_with_the_reason(self):
        words = " ".join(self.measure(self.config(["steady", "odd"]), expect=2).stderr.split())
        self.assertIn(f'/allocators/1 found: "odd", of the plug-in odd, which is unusable', words)
        self.assertIn(f"The plug-in: {REASON}", words)
        words = " ".join(self.measure(self.config(["odd_variant"]), expect=2).stderr.split())
        self.assertIn('"odd_variant", perhaps of the plug-in odd, which is unusable', words)

    def test_the_log_has_the_revisions_of_the_plugins_that_are_used(self):
        self.measure(self.config(), expect=0)
        self.assertEqual(self.events()[0]["worker"]["plugins"], {"fake_steady.so": "of_steady"})

    def test_what_a_dying_worker_printed_is_shown(self):
        environment = self.environment(FAKE_WORKER_DIES_DESCRIBING="planned last words")
        result = self.run_program("list", expect=3, environment=environment)
        self.assertIn("allocbench-worker-cpu --describe was killed by SIGSEGV (Segmentation fault). Its output:\nplanned last words\n",
                      result.stderr)


if __name__ == "__main__":
    unittest.main()
