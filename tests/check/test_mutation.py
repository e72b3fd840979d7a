"""Which mistakes are made in a header, and what the tables say about them."""

import pathlib
import tempfile
import unittest

import mutants
import mutation
import reach

HEADER = """// thread.atomic(x).load(simt::acquire)
inline int host(int a) { return a < 3; }
template <class Thread>
SIMT_FN int declared(Thread& thread);
template <class Thread>
SIMT_FN bool take(Thread& thread, int bits) {
  const int old = thread.atomic(word(0))
                      .fetch_or(mask(bits, 1), simt::acq_rel);
  if (old < 0) return false;  // a < b
  if (!thread.atomic(state)
           .compare_exchange(expected, 1, simt::relaxed, simt::relaxed)) {
    thread.atomic(count).fetch_add(1u, simt::relaxed);
  }
  return true;
}
"""


class Mistakes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        pathlib.Path(scratch.name, "a.hpp").write_text(HEADER, encoding="utf-8")
        self.found = {mutant.name: mutant for mutant in mutation.mutants_of("x", scratch.name, "a.hpp")}

    def changed(self, name):
        """What the mutant has in place of what."""
        mutant = self.found[name]
        return HEADER[mutant.begin:mutant.end], mutant.text

    def test_device_code_alone_is_changed(self):
        self.assertEqual(set(self.found), {"x:a.hpp:8:order1", "x:a.hpp:8:bit1", "x:a.hpp:12:step1", "x:a.hpp:9:bound1", "x:a.hpp:10:exchange1",
                                           "x:a.hpp:9:recheck1"})

    def test_each_operator(self):
        self.assertEqual(self.changed("x:a.hpp:8:order1"), ("simt::acq_rel", "simt::relaxed"))
        self.assertEqual(self.changed("x:a.hpp:8:bit1"), ("mask(bits, 1)", "(mask(bits, 1)) & 0"))
        self.assertEqual(self.changed("x:a.hpp:12:step1"), ("1u", "(1u) * 0"))
        self.assertEqual(self.changed("x:a.hpp:9:bound1"), ("<", "<="))
        self.assertEqual(self.changed("x:a.hpp:9:recheck1"), ("(old < 0)", "(false && (old < 0))"))
        before, after = self.changed("x:a.hpp:10:exchange1")
        self.assertTrue(before.startswith("thread.atomic(state)\n") and before.endswith("simt::relaxed)"), before)
        self.assertEqual(after, f"({before}, true)")

    def test_the_rest_of_the_header_stays(self):
        mutant = self.found["x:a.hpp:12:step1"]
        self.assertEqual(mutant.applied_to(HEADER), HEADER.replace("fetch_add(1u,", "fetch_add((1u) * 0,"))


class Tables(unittest.TestCase):
    def test_rates_leave_equivalent_mutants_out(self):
        rows = ["a | killed: failed check, 3 models, v1:x:y:swarm:1 | text", "b | killed: invariant alone, 1 models, v1:x:y:swarm:2 | text",
                "c | equivalent: the bit is never read | text", "d | open: needs a larger heap | text", "e | survives: not judged yet | text"]
        self.assertEqual(mutants.summary(rows), "5 mutants, 1 equivalent; of the other 4: 2 killed (50 %), 1 of them by an invariant alone; "
                                                "1 open, 1 not judged")
        self.assertEqual(mutants.summary(rows[2:3]), "no mutant was judged")

    def test_verdicts_and_reasons_can_be_read(self):
        self.assertLessEqual({word for word, _ in mutants.read_verdicts().values()}, {"equivalent", "open"})
        for (path, text), reason in reach.read_reasons().items():
            lines = [line.strip() for line in (reach.ROOT / path).read_text(encoding="utf-8").splitlines()]
            self.assertTrue(text == "*" or text in lines, f"{path} no longer has: {text}")
            self.assertTrue(reason)


if __name__ == "__main__":
    unittest.main()
