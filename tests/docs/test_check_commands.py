"""Checks that tests/docs/check_commands.py finds each kind of command that no program accepts.

Usage: test_check_commands.py ROOT PROGRAM.
"""

import pathlib
import sys
import unittest

import check_commands

ROOT, PROGRAM = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PAGE = """Look at `allocbench compare A B`, `make test` and `of code`.

```sh
# a comment
build/bin/allocbench study papers --out results/x   # measures
allocbench list --json | /usr/bin/python3 -m plots catalogue > page.md
```

```sh run
allocbench nothing
```

    tools/demo.sh --help
"""
WRONG = {
    "allocbench measure configs/smoke.json": "measure is no command of allocbench",
    "allocbench study papers --sharp 1/4": "--sharp is no option of it",
    "build/bin/allocbench configs/smoky.json": "configs/smoky.json does not exist",
    "allocbench help chekc": "chekc is no command of allocbench",
    "python3 -m plots claim results": "claim is no command of plots",
    "/usr/bin/python3 -m plots survival results --ut x": "--ut is no option of it",
    "make tests": "the Makefile has no target tests",
    "cmake --preset dew": "CMakePresets.json has no configure preset dew",
    "cmake --build --preset programms": "CMakePresets.json has no build preset programms",
    "tools/pack.sh cuda": "tools/pack.sh does not exist",
    "tools/lacking-values.py STUDY KEPT --all": "--all is no option of it",
}


class Commands(unittest.TestCase):
    def setUp(self):
        self.programs = check_commands.Programs(ROOT, PROGRAM, dry_run=False)

    def test_those_of_a_page_that_no_test_runs(self):
        self.assertEqual(check_commands.commands_of(PAGE), [
            "build/bin/allocbench study papers --out results/x   # measures", "allocbench list --json | /usr/bin/python3 -m plots catalogue > page.md",
            "allocbench compare A B", "make test", "tools/demo.sh --help"])

    def test_words(self):
        self.assertEqual(check_commands.words_of("a -x 'b c' | d --y > f   # e"), [["a", "-x", "b c"], ["d", "--y"]])

    def test_wrong_ones_are_found(self):
        for command, why in WRONG.items():
            self.assertEqual(self.programs.objection(check_commands.words_of(command)[0]), why, command)

    def test_a_folder_exists_only_after_the_command_that_makes_it(self):
        check, submit = "tools/check_card.py results/reference/some-card", "tools/submit_results.py results/papers some-card"
        refused = [f"`{check}`: results/reference/some-card does not exist"]
        for page, expected in ((f"`{submit}`, then `{check}`", []), (f"`{check}`, then `{submit}`", refused), (f"`{check}`", refused)):
            self.assertEqual(check_commands.objections(page, self.programs), expected)

    def test_right_ones_are_taken(self):
        for command in check_commands.commands_of(PAGE):
            self.assertEqual([self.programs.objection(words) for words in check_commands.words_of(command)],
                             [""] * len(check_commands.words_of(command)), command)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
