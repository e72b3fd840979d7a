"""Tests the mistakes that mutation.py makes in headers, the tables of mutants.py, and the lines that no model reaches."""

import pathlib
import re
import tempfile
import unittest
import unittest.mock

import mutants
import mutation
import reach

LINES = pathlib.Path(__file__).parent / "reach" / "lines.txt"
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
        self.folder = pathlib.Path(scratch.name)
        self.found = {mutant.operator: mutant for mutant in self.mutants_of(HEADER)}

    def mutants_of(self, header):
        self.folder.joinpath("a.hpp").write_text(header, encoding="utf-8")
        return mutation.mutants_of("x", self.folder, "a.hpp")

    def changed(self, operator):
        """Returns the original text and the mutant's text."""
        mutant = self.found[operator]
        return HEADER[mutant.begin:mutant.end], mutant.text

    def test_device_code_alone_is_changed(self):
        self.assertEqual(sorted(mutant.operator for mutant in self.mutants_of(HEADER)), sorted(mutation.OPERATORS))

    def test_a_name_has_the_function_and_follows_from_the_line(self):
        names = {mutant.name for mutant in self.mutants_of(HEADER)}
        self.assertTrue(all(re.fullmatch(r"x:a\.hpp:take:\w+-[0-9a-f]{4}", name) for name in names), names)
        moved = "// One comment more.\n" + HEADER.replace("// a < b", "// less").replace("    thread.atomic(count)", "  thread.atomic(count)")
        self.assertEqual({mutant.name for mutant in self.mutants_of(moved)}, names)
        other = {mutant.name for mutant in self.mutants_of(HEADER.replace("old < 0", "old < 1"))}
        self.assertEqual(len(names - other), 2)

    def test_equal_lines_of_a_function_have_names_of_their_own(self):
        line = "  if (old < 0) return false;"
        names = [mutant.name for mutant in self.mutants_of(HEADER.replace(line, f"{line}\n{line}")) if mutant.operator == "bound"]
        self.assertEqual(len(set(names)), 2)
        self.assertIn(self.found["bound"].name, names)

    def test_each_operator(self):
        self.assertEqual(self.changed("order"), ("simt::acq_rel", "simt::relaxed"))
        self.assertEqual(self.changed("bit"), ("mask(bits, 1)", "(mask(bits, 1)) & 0"))
        self.assertEqual(self.changed("step"), ("1u", "(1u) * 0"))
        self.assertEqual(self.changed("bound"), ("<", "<="))
        self.assertEqual(self.changed("recheck"), ("(old < 0)", "(false && (old < 0))"))
        before, after = self.changed("exchange")
        self.assertTrue(before.startswith("thread.atomic(state)\n") and before.endswith("simt::relaxed)"), before)
        self.assertEqual(after, f"({before}, true)")

    def test_a_place_ends_the_process(self):
        def ending(operator):
            mutant = self.found[operator]
            return mutant.ending_there(HEADER[mutant.begin:mutant.end]).applied_to(HEADER)

        self.assertIn("if (old < allocbench_reached{}->* 0) return false;", ending("bound"))
        self.assertIn("if (allocbench_reached{}->*((old < 0))) return false;", ending("recheck"))
        self.assertIn(".fetch_or(mask(bits, 1), (allocbench_reached{}->*(simt::acq_rel)));", ending("order"))

    def test_the_rest_of_the_header_stays(self):
        mutant = self.found["step"]
        self.assertEqual(mutant.applied_to(HEADER), HEADER.replace("fetch_add(1u,", "fetch_add((1u) * 0,"))


class Order(unittest.TestCase):
    def mutants(self, count):
        return [mutation.Mutant("x", "a.hpp", operator, 0, 0, "", "f", f"{operator} {i}") for operator in mutation.OPERATORS for i in range(count)]

    def test_each_mutant_comes_once_and_the_seed_decides_when(self):
        mistakes = self.mutants(5)
        drawn = list(mutants.in_drawn_order(mistakes, "1 x"))
        self.assertEqual(sorted(mutant.name for mutant in drawn), sorted(mutant.name for mutant in mistakes))
        self.assertEqual(drawn, list(mutants.in_drawn_order(mistakes[::-1], "1 x")))
        self.assertNotEqual(drawn, list(mutants.in_drawn_order(mistakes, "2 x")))

    def test_a_mutant_that_goes_moves_those_of_its_operator_alone(self):
        drawn = list(mutants.in_drawn_order(self.mutants(40), "1 x"))[:60]
        gone = drawn[20]
        again = list(mutants.in_drawn_order([mutant for mutant in self.mutants(40) if mutant != gone], "1 x"))[:60]
        self.assertEqual([mutant for mutant in again if mutant.operator != gone.operator],
                         [mutant for mutant in drawn if mutant.operator != gone.operator])


def exists(name):
    allocator, path = name.split(":")[:2]
    return name in {mutant.name for mutant in mutation.mutants_of(allocator, mutants.ROOT, f"allocators/{path}")}


class Reach(unittest.TestCase):
    OFFER = {"allocators": [{"name": "comb", "plugin": "comb", "test_only": False}, {"name": "comb_broken", "plugin": "comb", "test_only": True}]}

    def test_the_chosen_allocators(self):
        self.assertEqual(reach.chosen_by_plugin(self.OFFER, []), {"comb": ["comb"]})
        self.assertEqual(reach.chosen_by_plugin(self.OFFER, ["comb_broken"]), {"comb": ["comb_broken"]})

    def test_an_unknown_allocator_is_named(self):
        with self.assertRaisesRegex(RuntimeError, "There is no allocator kmb. Known: comb, comb_broken"):
            reach.chosen_by_plugin(self.OFFER, ["comb", "kmb"])


class Tables(unittest.TestCase):
    def test_rates_leave_equivalent_mutants_out(self):
        rows = ["a | killed: failed check, v1:x:y:swarm:1 | text", "b | killed: invariant alone, v1:x:y:swarm:2 | text",
                "c | equivalent: the bit is never read (reached) | text", "d | open: needs a larger heap (not reached) | text",
                "e | survives: reached | text", "f | survives: not reached | text", "g | killed: failed check, v1:x:y:swarm+loads:3 | text"]
        self.assertEqual(mutants.summary(rows), "7 mutants, 1 equivalent; of the other 6: 3 killed (50 %), 1 of them by swarm+loads alone, "
                                                "0 by conflicts alone, 2 with invariants off (33 %); "
                                                "1 open, 2 not judged, 2 of both not reached")
        self.assertEqual(mutants.summary(rows[2:3]), "no mutant was judged")

    def test_a_verdict_stands_before_what_the_search_says(self):
        verdicts = {"a": ("equivalent", "stored (twice)"), "b": ("open", "needs a larger heap"), "c": ("open", "killed meanwhile")}
        for row, judged in (("a | survives: reached | text", "a | equivalent: stored (twice) (reached) | text"),
                            ("b | survives: not reached | x | y", "b | open: needs a larger heap (not reached) | x | y"),
                            ("c | killed: race, v1:x:y:swarm:1:race | text",) * 2, ("d | survives: reach unknown | text",) * 2):
            self.assertEqual(mutants.with_verdict(row, verdicts), judged)
            self.assertEqual(mutants.without_verdict(judged), row)

    def test_rows_of_another_search_are_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder, "table.txt")
            table.write_text("# 100 seeds\n\na | survives: reached | text\nb | survives: reached | gone\n\n2 mutants\n", encoding="utf-8")
            self.assertEqual(mutants.kept_rows(table, "# 100 seeds", {"a", "c"}), ["a | survives: reached | text"])
            with self.assertRaisesRegex(SystemExit, "another search"):
                mutants.kept_rows(table, "# 200 seeds", {"a"})

    def test_an_invariant_counts_only_where_nothing_else_finds_it(self):
        cell = {"summary": "invariant broken: x", "outcome": "failed check", "seed_string": "v1:x:y:swarm:7"}
        self.assertTrue(mutants.by_invariant(cell))
        self.assertEqual(mutants.killed_by([cell], mutants.INVARIANT_ALONE), "killed: invariant alone, v1:x:y:swarm:7")
        self.assertEqual(mutants.killed_by([cell]), "killed: failed check, v1:x:y:swarm:7")

    def test_a_race_plugin_that_was_refused_is_an_error(self):
        cells = [{"model": model, "part": part} for model in ("pair", "one_lane") for part in ("schedules", "races")]
        mutants.require_races(cells, "")
        with self.assertRaisesRegex(SystemExit, "did not search one_lane. `check` says:\nwarning: refused"):
            mutants.require_races(cells[:-1], "warning: refused\n")
        with self.assertRaisesRegex(SystemExit, "did not search one_lane, pair"):
            mutants.require_races([cell for cell in cells if cell["part"] == "schedules"], "")

    def test_the_last_line_of_the_kept_table_is_that_of_its_rows(self):
        lines = mutants.TABLE.read_text(encoding="utf-8").splitlines()
        rows = [line for line in lines if " | " in line]
        self.assertEqual(lines[-1], mutants.summary(rows) if len(rows) >= 60 else mutants.so_far(rows, 60))
        verdicts = mutants.read_verdicts()
        for row in rows:
            self.assertEqual(mutants.with_verdict(mutants.without_verdict(row), verdicts), row, "write the table again")

    def test_no_verdict_is_on_a_mutant_that_the_search_kills(self):
        rows = [line.split(" | ", 2) for line in mutants.TABLE.read_text(encoding="utf-8").splitlines() if " | " in line]
        killed = {name for name, fate, _ in rows if fate.startswith("killed")}
        self.assertFalse(killed & mutants.read_verdicts().keys(), "remove these lines of verdicts.txt")

    def test_most_of_the_kept_table_is_of_these_headers(self):
        rows = [line.split(" | ", 2) for line in mutants.TABLE.read_text(encoding="utf-8").splitlines() if " | " in line]
        here = [row for row in rows if exists(row[0])]
        self.assertGreaterEqual(len(here), 0.9 * len(rows), "run the target check_mutants: it replaces the mutants of lines that have changed")

    def test_verdicts_are_on_mutants_that_exist(self):
        for name, (word, reason) in mutants.read_verdicts().items():
            self.assertIn(word, ("equivalent", "open"))
            self.assertTrue(reason)
            self.assertTrue(exists(name), f"{name}: a header has changed, look for the line again")


REACHED = """int host(int a) {
  return a;
}
SIMT_FN void Heap::refuse(Thread& thread) const {
  thread.retry();  // if (a) {
}
SIMT_FN int declared(int a);
SIMT_FN bool take(Thread& thread, int bits) const {
  if (bits == 0) {
    return false;
  }
  return a | b;
}
struct Work {
  SIMT_FN void operator()(int a) const { a = 1; }
};
"""


class Reach(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        root = pathlib.Path(scratch.name)
        root.joinpath("a.hpp").write_text(REACHED, encoding="utf-8")
        root.joinpath("reasons.txt").write_text("# path | place | why\na.hpp | return a | b; | no model asks\na.hpp | refuse() | no memory\n",
                                                encoding="utf-8")
        for name, value in (("ROOT", root), ("REASONS", root / "reasons.txt")):
            replaced = unittest.mock.patch.object(reach, name, value)
            replaced.start()
            self.addCleanup(replaced.stop)

    def test_lines_of_device_functions_that_nothing_reached(self):
        counts = {"a.hpp": {2: 0, 5: 0, 9: 3, 10: 0, 12: 0, 15: 0}}
        self.assertEqual(reach.unreached(counts), [("a.hpp", "refuse", "thread.retry();  // if (a) {"), ("a.hpp", "take", "return false;"),
                                                   ("a.hpp", "take", "return a | b;"),
                                                   ("a.hpp", "operator()", "SIMT_FN void operator()(int a) const { a = 1; }")])

    def test_a_line_or_its_function_has_a_reason(self):
        rows, without = reach.rows_of({"a.hpp": {5: 0, 9: 3, 10: 0, 12: 0}}, reach.read_reasons())
        self.assertEqual(rows, ["a.hpp | refuse() | thread.retry();  // if (a) { | no memory", "a.hpp | take() | return false; | no reason yet",
                                "a.hpp | take() | return a | b; | no model asks", "3 lines of 1 headers are not reached, 1 of them without a reason"])
        self.assertEqual(without, 1)


class KeptReach(unittest.TestCase):
    """These tests read reach/lines.txt, which `check_reach` writes, and reach/reasons.txt."""

    def test_reasons_name_lines_and_functions_that_exist(self):
        for (path, place), reason in reach.read_reasons().items():
            source = (reach.ROOT / path).read_text(encoding="utf-8")
            functions = {f"{name}()" for name, _, _ in reach.functions_of(source)}
            self.assertIn(place, functions | {line.strip() for line in source.splitlines()}, f"{path}: correct tests/check/reach/reasons.txt")
            self.assertTrue(reason)

    def test_every_line_that_is_not_reached_has_a_reason(self):
        rows = LINES.read_text(encoding="utf-8").splitlines()
        self.assertRegex(rows[-1], r"^\d+ lines of \d+ headers are not reached, 0 of them without a reason$")
        reasons = reach.read_reasons()
        for row in rows[:-1]:
            path, function, rest = row.split(" | ", 2)
            text, reason = rest.rsplit(" | ", 1)
            self.assertEqual(reach.reason_for(reasons, path, function.removesuffix("()"), text), reason, row)

    def test_every_reason_is_needed(self):
        rows = LINES.read_text(encoding="utf-8").splitlines()[:-1]
        needed = set()
        for row in rows:
            path, function, rest = row.split(" | ", 2)
            needed |= {(path, function), (path, rest.rsplit(" | ", 1)[0])}
        self.assertLessEqual(reach.read_reasons().keys(), needed)


if __name__ == "__main__":
    unittest.main()
