"""Checks the commands in pages that no test runs: their verbs, options, files and groups must exist.

The script reads blocks that begin with ```sh alone, indented lines and `code`. run_document.py runs the blocks that are
marked for it. With --dry-run, the script also plans the studies and configs of the tree, which needs all plug-ins.

    check_commands.py ROOT PROGRAM [--dry-run]
"""

import argparse
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys

_FENCE = re.compile(r"^ *```(\w*)( [^\n]*)?\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_KNOWN = re.compile(r"((build\S*/bin/)?allocbench|(/usr/bin/)?python3 -m plots|make|cmake|ctest|tools/\S+) ")
_PLACE = re.compile(r"[A-Z][A-Z_]*(\.\.\.)?|[A-Z]")  # word that the reader replaces: DIR, A, CONFIG
_OURS = ("configs/", "results/reference/", "tools/", "data/")  # folders whose files are in a checkout


def commands_of(text: str) -> list[str]:
    """Returns those commands of a page that no test runs. Each command is one line."""
    found = [line.strip() for language, action, body in _FENCE.findall(text) if language == "sh" and not action.strip() for line in body.splitlines()]
    prose = _FENCE.sub("", text)
    found += [match for match in re.findall(r"`([^`\n]+)`", prose) if _KNOWN.match(match)]
    found += [line.strip() for line in re.findall(r"^    (\S.*)$", prose, re.MULTILINE) if _KNOWN.match(line)]
    return [line for line in found if line and not line.startswith("#")]


def words_of(command: str) -> list[list[str]]:
    """Returns the programs of a line with their arguments, without comments and redirections."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|;&>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    programs: list[list[str]] = [[]]
    words = iter(lexer)
    for word in words:
        if set(word) <= set("|;&"):
            programs.append([])
        elif word == ">":
            next(words, None)
        else:
            programs[-1].append(word)
    return [program for program in programs if program]


class Programs:
    """The class knows the verbs and options of each program, from its help."""

    def __init__(self, root: pathlib.Path, allocbench: pathlib.Path, dry_run: bool):
        self.root, self.allocbench, self.dry_run = root, allocbench, dry_run
        listed = self._help(str(allocbench), "--help")
        self.verbs = set(re.findall(r"^  ([a-z]+)(?= |$)", listed[listed.index("\nSubcommands:"):], re.MULTILINE))
        self.presets = json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))
        self.targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    @functools.lru_cache(maxsize=None)
    def _help(self, *command: str) -> str:
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False).stdout

    def objection(self, words: list[str], made: frozenset[str] = frozenset()) -> str:
        """Returns why a program would refuse these words. The text is empty if the program accepts them or is not ours.
        `made` has the files that earlier commands of the page write.
        """
        name = pathlib.PurePath(words[0]).name
        missing = [word for word in words[1:] if word.startswith(_OURS) and "*" not in word and word not in made and not (self.root / word).exists()]
        if missing:
            return f"{missing[0]} does not exist"
        if name == "allocbench":
            return self._allocbench(words[1:])
        if words[1:3] == ["-m", "plots"]:
            return self._plots(words[3:])
        if name == "make":
            return next((f"the Makefile has no target {word}" for word in words[1:] if word not in self.targets), "")
        if name in ("cmake", "ctest"):
            return self._cmake(name, words[1:])
        if words[0].startswith("tools/"):
            if not (self.root / words[0]).exists():
                return f"{words[0]} does not exist"
            return self._unknown_option(words[1:], self._help(str(self.root / words[0]), "--help"))
        return ""

    def _unknown_option(self, words: list[str], text: str) -> str:
        options = [word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]
        return next((f"{option} is no option of it" for option in options if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text + " --help")), "")

    def _allocbench(self, words: list[str]) -> str:
        verb = words[0] if words and words[0] in self.verbs else ""
        if not verb and words and re.fullmatch(r"[a-z]+", words[0]):
            return f"{words[0]} is no command of allocbench"
        text = self._help(str(self.allocbench), *(["help", verb] if verb else ["--help"]))
        if verb == "help":
            return next((f"{word} is no command of allocbench" for word in words[1:] if word not in self.verbs and not _PLACE.fullmatch(word)), "")
        why = self._unknown_option(words, text + " --version")
        group = words[1] if verb == "study" and len(words) > 1 and not _PLACE.fullmatch(words[1]) else ""
        if why or not self.dry_run or not (group or (not verb and words and words[0].startswith("configs/"))):
            return why
        planned = [str(self.allocbench), *([verb, group] if group else words[:1]), "--backend", "cpu", "--dry-run"]
        result = subprocess.run(planned, cwd=self.root, capture_output=True, text=True, check=False)
        return "" if result.returncode == 0 else f"--dry-run ended with {result.returncode}: {result.stderr[-500:]}"

    def _plots(self, words: list[str]) -> str:
        plots = (sys.executable, "-B", "-m", "plots")
        verb = words[:1] if words and re.fullmatch(r"[a-z]+", words[0]) and not (self.root / words[0]).is_dir() else []
        if verb and not re.search(rf"python3 -m plots {verb[0]} ", self._help(*plots, "--help")):
            return f"{verb[0]} is no command of plots"
        return self._unknown_option(words, self._help(*plots, *verb, "--help"))

    def _cmake(self, name: str, words: list[str]) -> str:
        kind = "buildPresets" if "--build" in words else "testPresets" if name == "ctest" else "configurePresets"
        known = {each["name"] for each in self.presets[kind]}
        presets = [words[place + 1] for place, word in enumerate(words[:-1]) if word == "--preset"]
        return next((f"CMakePresets.json has no {kind[:-7]} preset {preset}" for preset in presets if preset not in known), "")


def pages(root: pathlib.Path) -> list[pathlib.Path]:
    """Returns the pages to check: all README files, and all pages outside of results/."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    return [root / name for name in listed if name.endswith("README.md") or not name.startswith("results/")]


def objections(text: str, programs: Programs) -> list[str]:
    """Returns each command of a page that its program would refuse, with the reason."""
    found: list[str] = []
    made: frozenset[str] = frozenset()
    for command in commands_of(text):
        for words in words_of(command):
            why = programs.objection(words, made)
            if words[0] == "tools/submit_results.py" and len(words) == 3:
                made |= {f"results/reference/{words[2]}"}
            if why:
                found.append(f"`{command}`: {why}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    programs = Programs(options.root.resolve(), options.program.resolve(), options.dry_run)
    found = [f"{page.relative_to(programs.root)}: {why}" for page in pages(programs.root) for why in objections(page.read_text(encoding="utf-8"), programs)]
    print("\n".join(found) or "all programs accept their commands")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
